//! An HTTP client of the API. It checks of every response what must hold for all of them: the envelope, the echoed
//! request id, the headers.

use std::borrow::Cow;
use std::future::{Future, IntoFuture};
use std::io::Read;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flate2::read::GzDecoder;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Connections that were idle for longer are not reused: the server closes them after five seconds, and a POST that is
/// sent while the connection closes can't be retried automatically.
pub const IDLE: Duration = Duration::from_secs(3);

/// Returns a builder of clients that speak HTTP without TLS, and to which no proxy applies. They load no certificates: the
/// system's take longer to parse than most stories do.
pub fn plain_http() -> reqwest::ClientBuilder {
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}

/// A client, with or without an access token.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    review_token: Option<String>,
}

impl Client {
    pub fn at(base: String) -> Self {
        let http = plain_http().timeout(Duration::from_secs(60)).pool_idle_timeout(IDLE);
        let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, base, token: None, review_token: None }
    }

    /// Returns this client with an access token.
    pub fn bearing(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Returns this client with a review token, and without an access token.
    pub fn reviewing(&self, token: &str) -> Self {
        Self { token: None, review_token: Some(token.to_owned()), ..self.clone() }
    }

    /// Returns this client with a connection pool of its own.
    pub fn apart(&self) -> Self {
        Self { token: self.token.clone(), review_token: self.review_token.clone(), ..Self::at(self.base.clone()) }
    }

    /// Returns a client with the same token for a server that was started again.
    pub fn moved_to(&self, server: &super::Server) -> Self {
        Self { token: self.token.clone(), review_token: self.review_token.clone(), ..server.client() }
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
        if let Some(token) = &self.review_token {
            headers.insert("x-review-token", token.parse().unwrap());
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

/// A request under construction; `.await` sends it and returns the [`Answer`]. Panics when the connection fails, or
/// when the response breaks a rule that holds for all of them.
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
    /// Sets a header, replacing any of the same name.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers.insert(name, HeaderValue::from_bytes(value.as_ref()).unwrap());
        self
    }

    /// Adds a header and keeps existing ones of the same name.
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

    /// As `.await`, for one of many concurrent requests: a 503 is retried after its `Retry-After`, up to 60 times, and
    /// then panics.
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

    /// As `.await`, for requests that may find no server: returns the connection error instead of panicking.
    pub async fn tried(self) -> Result<Answer, reqwest::Error> {
        let sent_id = self.headers.get("x-request-id").cloned();
        let call = format!("{} {}", self.method, self.path);
        let mut request = self.http.request(self.method, &self.url).headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await?;
        let mut answer = Answer { call, status, headers, bytes: bytes.to_vec(), body: Value::Null };
        answer.body = serde_json::from_slice(&answer.unpacked()).unwrap_or(Value::Null);
        answer.check(&self.path, sent_id.as_ref());
        Ok(answer)
    }
}

impl IntoFuture for Request {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let call = format!("{} {}", self.method, self.path);
            self.tried().await.unwrap_or_else(|error| panic!("{call}: {error:?}"))
        })
    }
}

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Method and path of the request.
    pub call: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    /// The whole JSON body, or null where the body is no JSON.
    pub body: Value,
}

const EVERYWHERE: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-resource-policy", "same-origin"),
];

impl Answer {
    /// Returns the response. Panics unless it has this status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.call, self.text());
        self
    }

    /// Returns the response. Panics unless it has this status and `errors` contains `why`, as a code, or as a reason
    /// where a value is invalid.
    #[track_caller]
    pub fn refused(self, status: u16, why: &str) -> Self {
        let this = self.is(status);
        let is_there = this.codes().contains(&why) || this.faults().iter().any(|(_, said)| said == why);
        assert!(is_there, "{}: {why} is not in {}", this.call, this.text());
        this
    }

    #[track_caller]
    pub fn data(&self) -> &Value {
        assert!(self.status < 300, "{}: {}", self.call, self.text());
        &self.body["data"]
    }

    /// Returns a string field of `data`. Panics when there is none.
    #[track_caller]
    pub fn text_of(&self, name: &str) -> String {
        self.data()[name].as_str().unwrap_or_else(|| panic!("{}: no {name} in {}", self.call, self.text())).to_owned()
    }

    pub fn codes(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array();
        errors.into_iter().flatten().filter_map(|error| error["code"].as_str()).collect()
    }

    /// Returns the invalid fields, each with its reason, or with its code where it has no reason; sorted.
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
        self.header("etag").unwrap_or_else(|| panic!("{}: no ETag", self.call)).to_owned()
    }

    /// Returns the body as it was before it was compressed.
    pub fn unpacked(&self) -> Cow<'_, [u8]> {
        match self.header("content-encoding") {
            Some("gzip") => {
                let mut bytes = Vec::new();
                GzDecoder::new(self.bytes.as_slice()).read_to_end(&mut bytes).unwrap();
                bytes.into()
            }
            Some("zstd") => zstd::decode_all(self.bytes.as_slice()).unwrap().into(),
            _ => self.bytes.as_slice().into(),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn is_json(&self) -> bool {
        self.header("content-type") == Some("application/json")
    }

    /// Checks what must hold for every response.
    fn check(&self, path: &str, sent_id: Option<&HeaderValue>) {
        let call = &self.call;
        let id = self.headers.get("x-request-id").unwrap_or_else(|| panic!("{call}: no X-Request-Id"));
        let is_good = |id: &HeaderValue| {
            let bytes = id.as_bytes();
            (1..=128).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
        };
        assert!(is_good(id), "{call}: X-Request-Id {id:?}");
        if let Some(sent) = sent_id.filter(|sent| is_good(sent)) {
            assert_eq!(id, sent, "{call}: another X-Request-Id");
        }
        assert_eq!(self.headers.get_all("x-request-id").iter().count(), 1, "{call}");
        for (name, value) in EVERYWHERE {
            assert_eq!(self.header(name), Some(value), "{call} ({}): {name}", self.status);
        }
        let policy = self.header("content-security-policy").unwrap_or_else(|| panic!("{call}: no CSP"));
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{call}: {policy}");
        let is_document = ["/api/openapi.json", "/api/asyncapi.json"]
            .iter()
            .any(|document| path.trim_end_matches('/').eq_ignore_ascii_case(document));
        let bare = is_document && self.status < 400;
        if self.status >= 400 {
            assert!(self.is_json(), "{call}: an error that is no JSON: {}", self.text());
        }
        if self.is_json() && !bare {
            // A file that is downloaded may be of JSON itself.
            if self.header("content-disposition").is_none() {
                self.check_envelope();
            }
            assert_eq!(self.header("cache-control"), Some("no-store"), "{call}: what is private may be kept");
        }
        super::messages::check(self);
        if matches!(self.status, 429 | 503) {
            let seconds = self.header("retry-after").unwrap_or_else(|| panic!("{call}: no Retry-After"));
            assert!(seconds.parse::<u64>().is_ok_and(|seconds| seconds >= 1), "{call}: Retry-After {seconds}");
        }
    }

    fn check_envelope(&self) {
        let (call, text) = (&self.call, self.text());
        let envelope = self.body.as_object().unwrap_or_else(|| panic!("{call}: no envelope: {text}"));
        let mut keys: Vec<&str> = envelope.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["data", "errors", "isSuccess", "message", "statusCode"], "{call}: {text}");
        assert_eq!(envelope["statusCode"], self.status, "{call}: {text}");
        let success = self.status < 400;
        assert_eq!(envelope["isSuccess"], success, "{call}: {text}");
        assert!(envelope["message"].as_str().is_some_and(|message| !message.is_empty()), "{call}: {text}");
        let errors = envelope["errors"].as_array().unwrap_or_else(|| panic!("{call}: {text}"));
        if success {
            assert!(envelope["data"].is_object() && errors.is_empty(), "{call}: {text}");
            assert_eq!(envelope["message"], super::messages::of(call), "{call}: {text}");
            return;
        }
        assert!(envelope["data"].is_null() && (1..=20).contains(&errors.len()), "{call}: {text}");
        for error in errors {
            let error = error.as_object().unwrap_or_else(|| panic!("{call}: {text}"));
            let mut keys: Vec<&str> = error.keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(keys, ["code", "field", "message", "reason"], "{call}: {text}");
            let is_pascal = |code: &str| {
                code.starts_with(|first: char| first.is_ascii_uppercase()) && code.chars().all(char::is_alphanumeric)
            };
            assert!(error["code"].as_str().is_some_and(is_pascal), "{call}: {text}");
            assert!(error["message"].is_string(), "{call}: {text}");
            assert!(error["field"].is_null() || error["field"].is_string(), "{call}: {text}");
            let breaks_a_rule = error["code"] == "ValidationError";
            assert_eq!(breaks_a_rule, self.status == 422 && !error["reason"].is_null(), "{call}: {text}");
            assert!(error["reason"].is_null() || error["reason"].as_str().is_some_and(is_pascal), "{call}: {text}");
        }
    }
}
