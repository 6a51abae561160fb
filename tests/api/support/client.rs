//! A client of the interface. Whatever it is answered, it checks what holds for every answer: the envelope, the echoed
//! request id, the headers.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Connections are not used again that have been idle for longer: the server closes them after five seconds, and a POST that
/// meets the closing can't be sent again by itself.
pub const IDLE: Duration = Duration::from_secs(3);

/// Somebody who calls.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

impl Client {
    pub fn at(base: String) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(60)).no_proxy().pool_idle_timeout(IDLE);
        let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, base, token: None }
    }

    /// The same, with an access token.
    pub fn bearing(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same, on connections of its own.
    pub fn apart(&self) -> Self {
        Self { token: self.token.clone(), ..Self::at(self.base.clone()) }
    }

    /// The same person at a server that was started anew.
    pub fn moved_to(&self, server: &super::Server) -> Self {
        Self { token: self.token.clone(), ..server.client() }
    }

    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap()
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn get(&self, path: impl AsRef<str>) -> Request {
        self.request(Method::GET, path)
    }
    pub fn post(&self, path: impl AsRef<str>) -> Request {
        self.request(Method::POST, path)
    }
    pub fn put(&self, path: impl AsRef<str>) -> Request {
        self.request(Method::PUT, path)
    }
    pub fn patch(&self, path: impl AsRef<str>) -> Request {
        self.request(Method::PATCH, path)
    }
    pub fn delete(&self, path: impl AsRef<str>) -> Request {
        self.request(Method::DELETE, path)
    }

    pub fn request(&self, method: Method, path: impl AsRef<str>) -> Request {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let path = path.as_ref();
        let mut headers = HeaderMap::new();
        if let Some(token) = &self.token {
            headers.insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        let id = format!("story-{}", LAST.fetch_add(1, Ordering::Relaxed));
        headers.insert("x-request-id", id.parse().unwrap());
        Request {
            http: self.http.clone(),
            method,
            url: format!("{}{path}", self.base),
            path: path.to_owned(),
            headers,
            body: None,
        }
    }
}

/// A call that is being put together; `.await` makes it.
#[must_use]
pub struct Request {
    http: reqwest::Client,
    method: Method,
    url: String,
    path: String,
    headers: HeaderMap,
    body: Option<reqwest::Body>,
}

impl Request {
    /// Sets a header; one that is there already is replaced.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers.insert(name, HeaderValue::from_bytes(value.as_ref()).unwrap());
        self
    }

    /// Adds a header beside those of its name.
    pub fn also(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers.append(name, value.parse().unwrap());
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "called with json!({…})")]
    pub fn json(self, body: Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub fn body(self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        let mut this = self.header("content-type", content_type);
        this.body = Some(body.into());
        this
    }

    pub fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub fn if_match(self, version: impl std::fmt::Display) -> Self {
        self.header("if-match", format!("\"{version}\""))
    }

    /// As `.await`, for one of many at once: asks again when the answer says so, as long as there is no room for it.
    pub async fn served(mut self) -> Answer {
        for _ in 0..60 {
            let body = self.body.as_ref().and_then(reqwest::Body::as_bytes).map(<[u8]>::to_vec);
            let again = Self {
                http: self.http.clone(),
                method: self.method.clone(),
                url: self.url.clone(),
                path: self.path.clone(),
                headers: self.headers.clone(),
                body: body.map(Into::into),
            };
            let answer = self.await;
            if answer.status != 503 {
                return answer;
            }
            let seconds = answer.header("retry-after").unwrap().parse().unwrap();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            self = again;
        }
        panic!("{} {} is not served for a minute", self.method, self.path);
    }

    /// As `.await`, for calls that may meet no server.
    pub async fn tried(self) -> Result<Answer, reqwest::Error> {
        let sent_id = self.headers.get("x-request-id").cloned();
        let asked = format!("{} {}", self.method, self.path);
        let mut request = self.http.request(self.method, &self.url).headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await?;
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let answer = Answer { asked, status, headers, bytes: bytes.to_vec(), body };
        answer.check(&self.path, sent_id.as_ref());
        Ok(answer)
    }
}

impl IntoFuture for Request {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let asked = format!("{} {}", self.method, self.path);
            self.tried().await.unwrap_or_else(|error| panic!("{asked}: {error:?}"))
        })
    }
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Method and path of the call.
    pub asked: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    /// The whole JSON, or null where it is none.
    pub body: Value,
}

const EVERYWHERE: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-resource-policy", "same-origin"),
];

impl Answer {
    /// Fails the story unless the status is this one.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text());
        self
    }

    /// Fails the story unless it is refused with this status and, in `errors`, this code; or, where values break rules, with
    /// this reason.
    #[track_caller]
    pub fn refused(self, status: u16, why: &str) -> Self {
        let this = self.is(status);
        let is_there = this.codes().contains(&why) || this.faults().iter().any(|(_, said)| said == why);
        assert!(is_there, "{}: {why} is not in {}", this.asked, this.text());
        this
    }

    #[track_caller]
    pub fn data(&self) -> &Value {
        assert!(self.status < 300, "{}: {}", self.asked, self.text());
        &self.body["data"]
    }

    /// A string of the data.
    #[track_caller]
    pub fn text_of(&self, name: &str) -> String {
        self.data()[name].as_str().unwrap_or_else(|| panic!("{}: no {name} in {}", self.asked, self.text())).to_owned()
    }

    pub fn codes(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array();
        errors.into_iter().flatten().filter_map(|error| error["code"].as_str()).collect()
    }

    /// The fields at fault, each with the rule that it breaks, or with its code where that says it; sorted.
    pub fn faults(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let errors = self.body["errors"].as_array().into_iter().flatten();
        let why = |error: &Value| text(if error["reason"].is_string() { &error["reason"] } else { &error["code"] });
        let mut faults: Vec<_> = errors.map(|error| (text(&error["field"]), why(error))).collect();
        faults.sort();
        faults
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn etag(&self) -> String {
        self.header("etag").unwrap_or_else(|| panic!("{}: no ETag", self.asked)).to_owned()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn is_json(&self) -> bool {
        self.header("content-type") == Some("application/json")
    }

    /// What holds for every answer.
    fn check(&self, path: &str, sent_id: Option<&HeaderValue>) {
        let asked = &self.asked;
        let id = self.headers.get("x-request-id").unwrap_or_else(|| panic!("{asked}: no X-Request-Id"));
        let is_good = |id: &HeaderValue| {
            let bytes = id.as_bytes();
            (1..=128).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
        };
        assert!(is_good(id), "{asked}: X-Request-Id {id:?}");
        if let Some(sent) = sent_id.filter(|sent| is_good(sent)) {
            assert_eq!(id, sent, "{asked}: another X-Request-Id");
        }
        assert_eq!(self.headers.get_all("x-request-id").iter().count(), 1, "{asked}");
        for (name, value) in EVERYWHERE {
            assert_eq!(self.header(name), Some(value), "{asked} ({}): {name}", self.status);
        }
        let policy = self.header("content-security-policy").unwrap_or_else(|| panic!("{asked}: no CSP"));
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"),
            "{asked}: {policy}"
        );
        let bare = path.trim_end_matches('/').eq_ignore_ascii_case("/api/openapi.json") && self.status < 400;
        if self.status >= 400 {
            assert!(self.is_json(), "{asked}: an error that is no JSON: {}", self.text());
        }
        if self.is_json() && !bare {
            self.check_envelope();
            assert_eq!(self.header("cache-control"), Some("no-store"), "{asked}: what is private may be kept");
        }
        if matches!(self.status, 429 | 503) {
            let seconds = self.header("retry-after").unwrap_or_else(|| panic!("{asked}: no Retry-After"));
            assert!(seconds.parse::<u64>().is_ok_and(|seconds| seconds >= 1), "{asked}: Retry-After {seconds}");
        }
    }

    fn check_envelope(&self) {
        let (asked, text) = (&self.asked, self.text());
        let envelope = self.body.as_object().unwrap_or_else(|| panic!("{asked}: no envelope: {text}"));
        let mut keys: Vec<&str> = envelope.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["data", "errors", "isSuccess", "message", "statusCode"], "{asked}: {text}");
        assert_eq!(envelope["statusCode"], self.status, "{asked}: {text}");
        let success = self.status < 400;
        assert_eq!(envelope["isSuccess"], success, "{asked}: {text}");
        assert!(envelope["message"].as_str().is_some_and(|message| !message.is_empty()), "{asked}: {text}");
        let errors = envelope["errors"].as_array().unwrap_or_else(|| panic!("{asked}: {text}"));
        if success {
            assert!(envelope["data"].is_object() && errors.is_empty(), "{asked}: {text}");
            assert_eq!(envelope["message"], super::says::of(asked), "{asked}: {text}");
            return;
        }
        assert!(envelope["data"].is_null() && (1..=20).contains(&errors.len()), "{asked}: {text}");
        for error in errors {
            let error = error.as_object().unwrap_or_else(|| panic!("{asked}: {text}"));
            let mut keys: Vec<&str> = error.keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(keys, ["code", "field", "message", "reason"], "{asked}: {text}");
            let is_pascal = |code: &str| {
                code.starts_with(|first: char| first.is_ascii_uppercase()) && code.chars().all(char::is_alphanumeric)
            };
            assert!(error["code"].as_str().is_some_and(is_pascal), "{asked}: {text}");
            assert!(error["message"].is_string(), "{asked}: {text}");
            assert!(error["field"].is_null() || error["field"].is_string(), "{asked}: {text}");
            let breaks_a_rule = error["code"] == "ValidationError";
            assert_eq!(breaks_a_rule, self.status == 422 && !error["reason"].is_null(), "{asked}: {text}");
            assert!(error["reason"].is_null() || error["reason"].as_str().is_some_and(is_pascal), "{asked}: {text}");
        }
    }
}
