//! A stateful fake of GitHub with its OAuth, in Node. The tests of one process share it; each makes a world of its own, with an
//! account, its token and repositories.

use std::ops::Deref;
use std::sync::OnceLock;

use reqwest::Method;
use serde_json::Value;

use super::fake_tracker::FakeTracker;
use super::server::APP_URL;

const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/github/openapi.json");

pub struct FakeGitHub(FakeTracker);

impl Deref for FakeGitHub {
    type Target = FakeTracker;
    fn deref(&self) -> &FakeTracker {
        &self.0
    }
}

impl FakeGitHub {
    /// Returns `None` without Node on this machine: the test should return then.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<FakeGitHub>> = OnceLock::new();
        let start = || {
            let redirect = format!("{APP_URL}/api/tracker/callback");
            FakeTracker::start("github", &[("SPEC", SPEC), ("REDIRECT_URI", &redirect)], "port").map(Self)
        };
        SHARED.get_or_init(start).as_ref()
    }

    /// The settings with which a server uses it.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("COLLOQUY__GITHUB__CLIENT_ID", "client".to_owned()),
            ("COLLOQUY__GITHUB__CLIENT_SECRET", "secret".to_owned()),
            ("COLLOQUY__GITHUB__WEB_URL", self.base.clone()),
            ("COLLOQUY__GITHUB__API_URL", self.base.clone()),
        ]
    }

    pub async fn world(&'static self, wished: Value) -> GitHubWorld {
        let made = self.control(Method::POST, "worlds", wished).await;
        GitHubWorld { github: self, made }
    }
}

/// An account of the fake with its repositories.
pub struct GitHubWorld {
    github: &'static FakeGitHub,
    made: Value,
}

impl GitHubWorld {
    pub fn token(&self) -> &str {
        self.made["token"].as_str().unwrap()
    }

    /// The address of the fake, which a connection with a token names.
    pub fn address(&self) -> &str {
        &self.github.base
    }

    /// The id of its first repository.
    pub fn repository(&self) -> String {
        self.made["repositories"][0]["id"].to_string()
    }

    pub async fn control(&self, method: Method, path: &str, body: Value) -> Value {
        self.github.control(method, &format!("worlds/{}/{path}", self.token()), body).await
    }

    pub async fn issues(&self) -> Vec<Value> {
        self.control(Method::GET, "issues", Value::Null).await.as_array().unwrap().clone()
    }

    pub async fn count(&self, operation: &str) -> u64 {
        self.control(Method::GET, "counts", Value::Null).await[operation].as_u64().unwrap_or(0)
    }

    /// Permits the access, as the account's owner does in a browser; returns the path and query of the callback.
    pub async fn permit(&self, authorize_url: &str) -> String {
        self.github.permit(authorize_url, self.token()).await
    }
}
