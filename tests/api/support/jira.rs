//! A stateful fake of Jira Cloud with its OAuth 2.0, in Node, behind prism with Atlassian's own OpenAPI document: what is sent
//! and what is answered is checked against it. The tests of one process share it; each makes a site of its own.

use std::ops::Deref;
use std::sync::OnceLock;

use reqwest::Method;
use serde_json::{Value, json};

use super::fake_tracker::FakeTracker;

const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/jira/openapi.json");

pub struct FakeJira(FakeTracker);

impl Deref for FakeJira {
    type Target = FakeTracker;
    fn deref(&self) -> &FakeTracker {
        &self.0
    }
}

impl FakeJira {
    /// Returns `None` without Node on this machine: the test should return then.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<FakeJira>> = OnceLock::new();
        let start = || FakeTracker::start("jira", &[("SPEC", SPEC)], "http").map(Self);
        SHARED.get_or_init(start).as_ref()
    }

    /// The settings with which a server uses it. Issues in doubt are looked for after two seconds, states asked for every second.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("COLLOQUY__JIRA__CLIENT_ID", "client".to_owned()),
            ("COLLOQUY__JIRA__CLIENT_SECRET", "secret".to_owned()),
            ("COLLOQUY__JIRA__AUTH_URL", self.base.clone()),
            ("COLLOQUY__JIRA__API_URL", self.base.clone()),
            ("COLLOQUY__TRACKERS__SETTLE_SECONDS", "2".to_owned()),
            ("COLLOQUY__TRACKERS__POLL_SECONDS", "1".to_owned()),
        ]
    }

    /// Makes a site, with an account that may use it.
    pub async fn site(&'static self, wished: Value) -> JiraSite {
        let made = self.control(Method::POST, "sites", wished).await;
        JiraSite { jira: self, id: made["id"].as_str().unwrap().to_owned(), account: made["account"].clone() }
    }
}

/// A site of the fake.
pub struct JiraSite {
    pub jira: &'static FakeJira,
    pub id: String,
    pub account: Value,
}

impl JiraSite {
    pub fn account_id(&self) -> &str {
        self.account["id"].as_str().unwrap()
    }

    pub async fn get(&self, path: &str) -> Value {
        self.jira.control(Method::GET, &format!("sites/{}/{path}", self.id), Value::Null).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let path = format!("sites/{}/{path}", self.id);
        self.jira.control(Method::POST, path.trim_end_matches('/'), body).await
    }

    /// Controls the account.
    pub async fn account(&self, path: &str, body: Value) -> Value {
        let id: String = url::form_urlencoded::byte_serialize(self.account_id().as_bytes()).collect();
        let method = if body.is_null() { Method::GET } else { Method::POST };
        self.jira.control(method, &format!("accounts/{id}{path}"), body).await
    }

    /// The issues, in the order of their creation.
    pub async fn issues(&self) -> Vec<Value> {
        self.get("issues").await.as_array().unwrap().clone()
    }

    /// How often an operation was called.
    pub async fn calls(&self, operation: &str) -> u64 {
        self.get("calls").await[operation].as_u64().unwrap_or(0)
    }

    /// Fails an operation as `kind` says, once.
    pub async fn fault(&self, operation: &str, kind: &str) {
        self.post("faults", json!({"operation": operation, "kind": kind, "count": 1})).await;
    }

    /// Panics if a story has two issues, or a request or an answer was against Atlassian's document.
    pub async fn must_be_sound(&self) {
        assert_eq!(self.get("violations").await, json!([]));
        let repeated = self.get("duplicates?property=colloquy.story").await;
        assert_eq!(repeated["duplicates"], 0, "{repeated}");
    }
}
