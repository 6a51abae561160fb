//! Tests of issue trackers, against stateful fakes: no real Jira or GitHub was reached.

mod access;
mod connections;
mod destinations;
mod exports;
mod github;
mod kills;
mod known_issues;
mod limits;
mod refreshes;

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::github::FakeGitHub;
use crate::support::jira::{FakeJira, JiraSite};
use crate::support::world::Where;
use crate::support::{Answer, Kind, Server, ServerSetup, User};

/// A server that uses the fake Jira, shared by the tests of the process.
pub struct TrackerWorld {
    pub server: &'static Server,
    pub jira: &'static FakeJira,
}

impl Where for TrackerWorld {
    fn arrange(kind: Kind) -> Option<Self> {
        static SQLITE: OnceLock<Option<Server>> = OnceLock::new();
        static POSTGRES: OnceLock<Option<Server>> = OnceLock::new();
        let shared = match kind {
            Kind::Sqlite => &SQLITE,
            Kind::Postgres => &POSTGRES,
        };
        let jira = FakeJira::shared()?;
        let start = || Some(begin(&ServerSetup::shared(kind)?, jira));
        let server = shared.get_or_init(start).as_ref()?;
        Some(Self { server, jira })
    }
}

impl Drop for TrackerWorld {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.server.print_log();
        }
    }
}

/// Starts a server that uses the fake.
pub fn begin(setup: &ServerSetup, jira: &FakeJira) -> Server {
    let github = FakeGitHub::shared().map(FakeGitHub::settings).unwrap_or_default();
    let settings = [jira.settings(), github].concat();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    setup.start(&settings)
}

/// A project of Ada's, to be connected to a site.
pub struct Tracked {
    pub ada: User,
    pub project: String,
    pub site: JiraSite,
}

impl Tracked {
    /// A project without anything in it.
    pub async fn empty(server: &Server, site: JiraSite) -> Self {
        let ada = server.user().await;
        let project = ada.project().await;
        Self { ada, project, site }
    }

    /// A connected project with approved stories and a destination.
    pub async fn with_stories(server: &Server, site: JiraSite, stories: usize) -> Self {
        let tracked = Self::with_approved(server, site, stories).await;
        tracked.connect().await;
        tracked.choose("10000", "10001", json!({})).await.is(200);
        tracked
    }

    /// A project with approved stories, not connected yet.
    pub async fn with_approved(server: &Server, site: JiraSite, stories: usize) -> Self {
        let tracked = Self::empty(server, site).await;
        tracked.ada.read(&tracked.project, "stories.md", text_of(stories).as_bytes()).await;
        let (path, _) = tracked.ada.run(&tracked.project).await;
        let over = tracked.ada.over(&path).await;
        assert_eq!(over["status"], "COMPLETED", "{over}");
        let all = tracked.stories().await;
        assert_eq!(all.len(), stories, "every sentence is a story");
        for some in all.chunks(200) {
            let items: Vec<Value> =
                some.iter().map(|story| json!({"targetType": "USER_STORY", "id": story["id"]})).collect();
            let body = json!({"items": items, "workflowStatus": "APPROVED"});
            tracked.ada.client.post(tracked.at("items/status")).json(body).await.is(200);
        }
        tracked
    }

    pub fn at(&self, path: &str) -> String {
        format!("/api/projects/{}/{path}", self.project)
    }

    /// The same at another server, after a restart.
    pub fn moved_to(self, server: &Server) -> Self {
        Self { ada: self.ada.at(server), ..self }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ada.client.get(self.at(path)).await
    }

    /// Begins to connect the project by OAuth. Returns the answer and the cookie of the browser.
    pub async fn begin(&self) -> (Answer, String) {
        let body = json!({"provider": "JIRA", "returnUrl": "/projects/1?tab=tracker"});
        let begun = self.ada.client.post(self.at("tracker/connection")).json(body).await.is(201);
        let cookie = begun.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        (begun, cookie)
    }

    /// Permits what was begun as the site's account. Returns the path of the callback.
    pub async fn permit(&self, begun: &Answer) -> String {
        self.site.jira.permit(begun.data()["authorizeUrl"].as_str().unwrap(), self.site.account_id()).await
    }

    /// Comes back from the tracker. Returns where the browser goes.
    pub async fn come_back(&self, callback: &str, cookie: &str) -> String {
        let nobody = crate::support::Client::at(self.ada.client.base().to_owned());
        let answer = nobody.get(callback).header("cookie", cookie).await.is(302);
        answer.header("location").unwrap().to_owned()
    }

    /// Connects the project by OAuth.
    pub async fn connect(&self) {
        let (begun, cookie) = self.begin().await;
        let location = self.come_back(&self.permit(&begun).await, &cookie).await;
        assert!(location.contains("#trackerConnection=ACTIVE"), "{location}");
    }

    pub async fn connection(&self) -> Value {
        self.get("tracker").await.is(200).data()["connection"].clone()
    }

    pub async fn choose(&self, project: &str, issue_type: &str, defaults: Value) -> Answer {
        let body = json!({"trackerProjectId": project, "issueTypeId": issue_type, "fieldDefaults": defaults,
            "labels": ["colloquy"]});
        self.ada.client.put(self.at("tracker/destination")).json(body).await
    }

    pub async fn export(&self, body: Value) -> Answer {
        self.ada.client.post(self.at("tracker/exports")).json(body).await
    }

    /// Exports and waits for the end.
    pub async fn exported(&self, body: Value) -> Value {
        let begun = self.export(body).await.is(202);
        self.ended(&begun.text_of("id")).await
    }

    /// Returns an export once it has ended.
    pub async fn ended(&self, id: &str) -> Value {
        self.until(id, Duration::from_secs(60), |export| !is_active(export)).await
    }

    /// Returns an export once it is as wished.
    pub async fn until(&self, id: &str, limit: Duration, wished: impl Fn(&Value) -> bool) -> Value {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            let export = self.get(&format!("tracker/exports/{id}")).await.is(200).data().clone();
            if wished(&export) {
                return export;
            }
            assert!(tokio::time::Instant::now() < deadline, "still {export}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// All stories, in the order of their codes.
    pub async fn stories(&self) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("user-stories?limit=100{cursor}")).await.is(200);
            all.extend(page.data()["items"].as_array().unwrap().clone());
            let Some(next) = page.data()["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        all.sort_by_key(|story| story["code"].as_str().unwrap().to_owned());
        all
    }

    /// Edits the title of a story and approves it again.
    pub async fn edit(&self, story: &Value, title: &str) {
        let path = self.at(&format!("user-stories/{}", story["id"].as_str().unwrap()));
        self.ada.client.patch(&path).json(json!({"title": title})).await.is(200);
        let approved = json!({"workflowStatus": "APPROVED"});
        self.ada.client.patch(format!("{path}/status")).json(approved).await.is(200);
    }
}

pub fn is_active(export: &Value) -> bool {
    ["QUEUED", "RUNNING"].contains(&export["status"].as_str().unwrap())
}

/// The item of a story in an export.
pub fn item<'a>(export: &'a Value, story: &Value) -> &'a Value {
    let items = export["items"].as_array().unwrap();
    items.iter().find(|item| item["userStoryId"] == story["id"]).unwrap()
}

/// The statuses of an export's items, each with its number.
pub fn counts(export: &Value) -> Value {
    json!({"created": export["created"], "updated": export["updated"], "skipped": export["skipped"], "failed": export["failed"]})
}

/// A document with as many stories: of persons, each with a wish of their own.
fn text_of(stories: usize) -> String {
    const WHO: [&str; 10] =
        ["clerk", "nurse", "patient", "driver", "teacher", "cashier", "librarian", "plumber", "gardener", "auditor"];
    const VERB: [&str; 10] =
        ["print", "archive", "sort", "translate", "download", "rename", "compare", "approve", "forward", "annotate"];
    const WHAT: [&str; 10] = [
        "the delivery notes",
        "the insurance letters",
        "the fuel receipts",
        "the exam papers",
        "the seed catalogue",
        "the loan records",
        "the wiring diagrams",
        "the prescriptions",
        "the tax forms",
        "the parking permits",
    ];
    let mut text = String::from("# Wishes\n\n");
    for index in 0..stories {
        let (who, verb, what) = (WHO[index % 10], VERB[index / 10 % 10], WHAT[(index + index / 100) % 10]);
        text.push_str(&format!(
            "As a {who}, I want to {verb} {what}, so that I can finish task number {index} sooner.\n\n"
        ));
    }
    text
}
