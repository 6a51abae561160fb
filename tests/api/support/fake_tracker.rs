//! What the fakes of issue trackers have in common: a program in Node that keeps its state, how a test controls it, and the
//! browser of an account's owner.

use reqwest::Method;
use serde_json::Value;

use super::client::plain_http;
use super::node_program::NodeProgram;

pub struct FakeTracker {
    pub base: String,
    http: reqwest::Client,
    _program: NodeProgram,
}

impl FakeTracker {
    /// Starts a fake, whose first line names its port as `port`. Returns `None` without Node on this machine.
    pub fn start(name: &str, settings: &[(&str, &str)], port: &str) -> Option<Self> {
        let program = NodeProgram::start(name, settings)?;
        // Each test has a runtime of its own: a connection can't be used again in another one.
        let http = plain_http().pool_max_idle_per_host(0);
        let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Some(Self { base: format!("http://127.0.0.1:{}", program.port(port)), http, _program: program })
    }

    /// The address of its control API.
    pub fn control_url(&self) -> String {
        format!("{}/_control", self.base)
    }

    pub async fn control(&self, method: Method, path: &str, body: Value) -> Value {
        let asked = self.http.request(method, format!("{}/{path}", self.control_url()));
        let asked = if body.is_null() { asked } else { asked.json(&body) };
        let answer = asked.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Permits the access as an account, as its owner does in a browser; returns the path and query of the callback.
    pub async fn permit(&self, authorize_url: &str, account: &str) -> String {
        let account: String = url::form_urlencoded::byte_serialize(account.as_bytes()).collect();
        let answer = self.http.get(format!("{authorize_url}&as={account}")).send().await.unwrap();
        assert_eq!(answer.status(), 302, "{:?}", answer.text().await);
        let location = url::Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
        format!("{}?{}", location.path(), location.query().unwrap())
    }
}
