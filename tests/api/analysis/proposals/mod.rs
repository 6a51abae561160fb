//! Tests of the specification: what a later run finds is added to it, or proposed, and overwrites nothing.

mod decisions;
mod references;
mod runs;

use actors::ids::{self, Id};
use actors::time::{Clock, SystemClock};
use colloquy::analysis::items::model::WorkflowStatus;
use colloquy::analysis::items::project_item::ProjectItem;
use colloquy::analysis::items::store::change;
use colloquy::db::schema::proposals;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::runs as runs_of;
use crate::support::{Answer, Server, User};

const SEARCH: &str = "The system shall answer every search within two seconds.";
const SLOWER_SEARCH: &str = "The system shall answer every search within five seconds.";
const CANCEL: &str = "The system must let a patient cancel an appointment until 24 hours before it begins.";
const EXPORT: &str = "The system must export all bookings as a CSV file.";
const RECEIPT: &str = "The system must print a receipt for each payment.";

/// Returns a document of some sentences.
fn document(sentences: &[&str]) -> String {
    format!("# Booking\n\n{}\n", sentences.join("\n\n"))
}

/// A project of Ada's with one document, which a run has analysed.
struct Analysed {
    ada: User,
    project: String,
    /// The path of the document.
    document: String,
}

impl Analysed {
    async fn new(server: &Server, text: &str) -> Self {
        let ada = server.user().await;
        let project = ada.project().await;
        let (document, _) = ada.read(&project, "booking.md", text.as_bytes()).await;
        let analysed = Self { ada, project, document };
        analysed.run().await;
        analysed
    }

    /// The sentences about cancelling, searching and exporting; a person has approved the first two.
    async fn reviewed(server: &Server) -> Self {
        let analysed = Self::new(server, &document(&[CANCEL, SEARCH, EXPORT])).await;
        analysed.approve(server, CANCEL).await;
        analysed.approve(server, SEARCH).await;
        analysed
    }

    /// As [`Analysed::reviewed`], and a run has found one changed and one gone, and added one.
    async fn proposed(server: &Server) -> Self {
        let analysed = Self::reviewed(server).await;
        analysed.reread(server, &document(&[SLOWER_SEARCH, EXPORT, RECEIPT])).await;
        analysed.run().await;
        analysed
    }

    /// Analyses all documents; returns the run's id.
    async fn run(&self) -> String {
        let (path, _) = self.ada.run(&self.project).await;
        let over = self.ada.over(&path).await;
        assert_eq!(over["status"], "COMPLETED", "{over}");
        over["id"].as_str().unwrap().to_owned()
    }

    /// Lets the document have another text.
    async fn reread(&self, server: &Server, text: &str) {
        self.ada.reread(server, &self.project, &self.document, text).await;
    }

    /// Returns the project's items of a kind, `requirements` or `user-stories`, in the order of their codes.
    async fn items(&self, kind: &str) -> Vec<Value> {
        let listed = self.ada.client.get(format!("/api/projects/{}/{kind}?limit=100", self.project)).await.is(200);
        let mut items = listed.data()["items"].as_array().unwrap().clone();
        items.sort_by_key(|item| item["code"].as_str().unwrap().to_owned());
        items
    }

    async fn items_count(&self, kind: &str) -> usize {
        let listed = self.ada.client.get(format!("/api/projects/{}/{kind}?limit=1", self.project)).await.is(200);
        usize::try_from(listed.data()["totalCount"].as_u64().unwrap()).unwrap()
    }

    /// Returns the requirement with a statement. Panics unless there is exactly one.
    async fn requirement(&self, statement: &str) -> Value {
        let all = self.items("requirements").await;
        let found: Vec<&Value> = all.iter().filter(|item| item["statement"] == statement).collect();
        assert_eq!(found.len(), 1, "{statement} in {all:#?}");
        found[0].clone()
    }

    /// Approves a requirement, as a person does.
    async fn approve(&self, server: &Server, statement: &str) {
        let id = self.requirement(statement).await["id"].as_str().unwrap().to_owned();
        self.review(server, &id, |item| item.judged(WorkflowStatus::Approved, SystemClock.now())).await;
    }

    /// Changes an item, as a person does.
    async fn review(
        &self,
        server: &Server,
        id: &str,
        review: impl FnOnce(ProjectItem) -> ProjectItem + Send + 'static,
    ) {
        let (id, project) = (id.parse::<Id<()>>().unwrap(), self.project.parse::<Id<ids::Project>>().unwrap());
        let db = server.db().await;
        let reviewed = db.write(move |conn| {
            Box::pin(async move {
                let item = change::find_to_change(conn, project, id).await?.unwrap();
                change::update(conn, &review(item), None, SystemClock.now()).await
            })
        });
        reviewed.await.unwrap();
    }

    fn path(&self) -> String {
        format!("/api/projects/{}/proposals", self.project)
    }

    /// Returns the proposals that a query selects, newest first.
    async fn proposals(&self, query: &str) -> Vec<Value> {
        let listed = self.ada.client.get(format!("{}?limit=100&{query}", self.path())).await.is(200);
        let items = listed.data()["items"].as_array().unwrap().clone();
        assert_eq!(listed.data()["totalCount"], items.len());
        items
    }

    /// Returns the open proposal of a kind about a requirement. Panics unless there is exactly one.
    async fn open(&self, kind: &str) -> Value {
        let found = self.proposals(&format!("status=OPEN&targetType=REQUIREMENT&kind={kind}")).await;
        assert_eq!(found.len(), 1, "{kind}: {found:#?}");
        found[0].clone()
    }

    async fn decide(&self, proposal: &Value, decision: &str) -> Answer {
        self.ada.client.post(format!("{}/{}/{decision}", self.path(), proposal["id"].as_str().unwrap())).await
    }

    async fn dashboard(&self) -> Value {
        let path = format!("/api/projects/{}/ai/results-dashboard", self.project);
        self.ada.client.get(path).await.is(200).data().clone()
    }
}

/// Returns how many proposals of a project's run are only drafted.
async fn drafts(server: &Server, run: &str) -> i64 {
    let run = run.parse::<Id<()>>().unwrap();
    let db = server.db().await;
    let counted = db.read(move |conn| {
        Box::pin(async move {
            let own = proposals::table.filter(proposals::run_id.eq(run)).filter(proposals::status.eq("DRAFT"));
            Ok::<_, DbError>(own.count().get_result(conn).await?)
        })
    });
    counted.await.unwrap()
}

fn statements(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["statement"].as_str().unwrap()).collect()
}

fn named(value: &Value, names: &[&str]) -> Value {
    Value::Object(names.iter().map(|name| ((*name).to_owned(), value[*name].clone())).collect())
}

/// The fields of an item that a person sees and changes.
fn content(item: &Value) -> Value {
    named(item, &["id", "code", "statement", "workflowStatus", "version", "revisionSource"])
}

/// The path of the runs of a project.
fn of_project(project: &str) -> String {
    runs_of(project)
}

fn none() -> Value {
    json!(null)
}
