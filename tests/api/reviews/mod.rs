//! Tests of reviews: what people decide about the results of an analysis.

mod approvals;
mod baselines;
mod edits;
mod fat;
mod feedback;
mod invitations;
mod races;
mod search;
mod sequences;
mod signatures;
mod stakeholder_dashboard;
pub mod stakeholders;
mod trace;
mod trail;

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::{Answer, Server, User};

/// Two requirements, one of which is written as a story.
pub const NOTE: &str = "# Booking\n\n\
    The system must let a patient cancel an appointment until 24 hours before it begins.\n\n\
    As a clerk, I want to see the waiting list, so that I can fill free slots.\n\n\
    The system shall answer every search within two seconds.\n";

/// A project of Ada's whose document was analysed.
pub struct Reviewed {
    pub ada: User,
    pub project: String,
}

impl Reviewed {
    pub async fn new(server: &Server) -> Self {
        Self::of(server, NOTE).await
    }

    pub async fn of(server: &Server, text: &str) -> Self {
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "booking.md", text.as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let over = ada.over(&path).await;
        assert_eq!(over["status"], "COMPLETED", "{over}");
        Self { ada, project }
    }

    pub fn at(&self, path: &str) -> String {
        format!("/api/projects/{}/{path}", self.project)
    }

    /// The specification as it stands.
    pub async fn dashboard(&self) -> Value {
        self.ada.client.get(self.at("ai/results-dashboard")).await.is(200).data().clone()
    }

    /// Returns the items of a kind, `requirements` or `user-stories`, in the order of their codes.
    pub async fn items(&self, kind: &str) -> Vec<Value> {
        let listed = self.ada.client.get(self.at(&format!("{kind}?limit=100"))).await.is(200);
        let mut items = listed.data()["items"].as_array().unwrap().clone();
        items.sort_by_key(|item| item["code"].as_str().unwrap().to_owned());
        items
    }

    /// Returns the item of a kind whose words contain `words`. Panics unless there is exactly one.
    pub async fn item(&self, kind: &str, words: &str) -> Value {
        let all = self.items(kind).await;
        let text = |item: &Value| item["statement"].as_str().or(item["description"].as_str()).unwrap().to_owned();
        let found: Vec<&Value> = all.iter().filter(|item| text(item).contains(words)).collect();
        assert_eq!(found.len(), 1, "{words} in {all:#?}");
        found[0].clone()
    }

    /// The story of the clerk, and the requirement that it covers.
    pub async fn story(&self) -> (Value, Value) {
        let story = self.item("user-stories", "waiting list").await;
        let covered = story["requirementIds"][0].as_str().unwrap().to_owned();
        let all = self.items("requirements").await;
        let requirement = all.into_iter().find(|item| item["id"] == covered.as_str()).unwrap();
        (story, requirement)
    }

    /// The path of an item.
    pub fn path(&self, item: &Value) -> String {
        let kind = if item["statement"].is_string() { "requirements" } else { "user-stories" };
        self.at(&format!("{kind}/{}", item["id"].as_str().unwrap()))
    }

    pub fn judging(&self, item: &Value, decision: Value) -> Request {
        self.ada.client.patch(format!("{}/status", self.path(item))).json(decision)
    }

    pub async fn judge(&self, item: &Value, decision: Value) -> Answer {
        self.judging(item, decision).await
    }

    pub async fn approve(&self, item: &Value) -> Value {
        self.judge(item, json!({"workflowStatus": "APPROVED"})).await.is(200).data().clone()
    }

    /// The item as it is now.
    pub async fn now(&self, item: &Value) -> Value {
        let kind = if item["statement"].is_string() { "requirements" } else { "user-stories" };
        self.items(kind).await.into_iter().find(|now| now["id"] == item["id"]).unwrap()
    }

    /// Returns the events of the trail, oldest first.
    pub async fn trail(&self, query: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = self.at(&format!("approval-events?limit=100&{query}{cursor}"));
            let page = self.ada.client.get(path).await.is(200);
            all.extend(page.data()["items"].as_array().unwrap().clone());
            let Some(next) = page.data()["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        all.reverse();
        all
    }

    pub async fn verification(&self) -> Value {
        self.ada.client.get(self.at("approval-events/verification")).await.is(200).data().clone()
    }
}

/// The named fields of a value.
pub fn named(value: &Value, names: &[&str]) -> Value {
    Value::Object(names.iter().map(|name| ((*name).to_owned(), value[*name].clone())).collect())
}
