//! Calls to one site's interface, and what a refusal of them means.

use reqwest::{Method, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::super::http::{CallFailure, TrackerAnswer, TrackerHttp, words};
use super::super::{IssueField, TrackerError, TrackerLogin};
use super::dialect::JiraDialect;

/// The value of `RateLimit-Reason` for too many changes of one issue.
const ISSUE_LIMIT: &str = "jira-per-issue-on-write";
/// What became of a login: `OK`, or why it was refused.
const LOGIN_REASON: &str = "X-Seraph-LoginReason";

/// The interface of a site, as one login may call it.
pub(super) struct JiraApi<'a> {
    pub http: &'a TrackerHttp,
    pub login: &'a TrackerLogin,
    /// The address below which its operations are, without a trailing slash.
    pub root: String,
    pub site_url: &'a str,
    pub dialect: JiraDialect,
}

/// Whether a call may have changed something by the time it fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEffect {
    None,
    Change,
}

/// What Jira says about a request that it refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JiraWords {
    pub text: String,
    /// Whether it names fields.
    pub is_of_fields: bool,
}

impl JiraApi<'_> {
    /// Makes a call that changes nothing, and reads its answer.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<T, TrackerError> {
        let mut path = path.to_owned();
        if !query.is_empty() {
            path.push('?');
            path.push_str(&Serializer::new(String::new()).extend_pairs(query).finish());
        }
        self.read(self.request(Method::GET, &path)?).await
    }

    /// Makes a call with a body that changes nothing, and reads its answer.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<T, TrackerError> {
        self.read(self.request(method, path)?.json(body)).await
    }

    /// Makes a call that changes something, and returns the answer whatever its status is.
    pub(super) async fn change(&self, method: Method, path: &str, body: &Value) -> Result<TrackerAnswer, TrackerError> {
        let request = self.request(method, path)?.json(body);
        self.http.send(request).await.map_err(|failure| call_failed(&failure, CallEffect::Change))
    }

    /// What an answer that is no success means.
    pub(super) fn failure(&self, answer: &TrackerAnswer, effect: CallEffect) -> TrackerError {
        failure(answer, effect, &[secret(self.login)])
    }

    /// Jira's words about a refused request. Fields are named as in the form.
    pub(super) fn words(&self, said: &Value, fields: &[IssueField]) -> JiraWords {
        words_of(said, fields, &[secret(self.login)])
    }

    async fn read<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, TrackerError> {
        let sent = self.http.send(request).await;
        let answer = sent.map_err(|failure| call_failed(&failure, CallEffect::None))?;
        // Where anybody may ask, Jira answers a token that is not valid as it answers nobody: with nothing found.
        if !answer.is_success() || is_login_refused(&answer) {
            return Err(self.failure(&answer, CallEffect::None));
        }
        answer.json().map_err(TrackerError::Invalid)
    }

    pub(super) fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, TrackerError> {
        let request = self.http.request(method, &format!("{}{path}", self.root));
        let request = request.map_err(|failure| call_failed(&failure, CallEffect::None))?;
        Ok(match self.login {
            TrackerLogin::OAuth { access } => request.bearer_auth(access),
            TrackerLogin::Token { email: Some(email), token, .. } => request.basic_auth(email, Some(token)),
            TrackerLogin::Token { email: None, token, .. } => request.bearer_auth(token),
        })
    }
}

pub(super) const fn secret(login: &TrackerLogin) -> &str {
    match login {
        TrackerLogin::OAuth { access } => access.as_str(),
        TrackerLogin::Token { token, .. } => token.as_str(),
    }
}

/// An id as a part of a path or a query.
///
/// # Errors
/// `Missing` if it can't be the id of anything.
pub(super) fn checked_id(id: &str) -> Result<&str, TrackerError> {
    let is_id = (1..=255).contains(&id.len())
        && id.bytes().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_'));
    if is_id { Ok(id) } else { Err(TrackerError::Missing("Jira has nothing with such an id.".to_owned())) }
}

pub(super) fn call_failed(failure: &CallFailure, effect: CallEffect) -> TrackerError {
    match (failure, effect) {
        (CallFailure::NoAnswer(why), CallEffect::Change) => TrackerError::InDoubt(why.clone()),
        (CallFailure::NotSent(why) | CallFailure::NoAnswer(why), _) => TrackerError::Away(why.clone()),
    }
}

/// What an answer that is no success means. Jira's words are passed on without the secrets of the request.
pub(super) fn failure(answer: &TrackerAnswer, effect: CallEffect, secrets: &[&str]) -> TrackerError {
    let said = words_of(&answer.json().unwrap_or_default(), &[], secrets).text;
    let text = if said.is_empty() { format!("Jira answered {}.", answer.status) } else { said };
    match (answer.status, effect) {
        (401, _) => TrackerError::Unauthorized(text),
        // 403 where a person has to solve a captcha first.
        (200..=299 | 403, _) if is_login_refused(answer) => {
            TrackerError::Unauthorized("Jira does not accept the login.".to_owned())
        }
        (403, _) => TrackerError::Forbidden(text),
        (404, _) => TrackerError::Missing(text),
        (429, _) => {
            let named = answer.header("RateLimit-Reason").map(words);
            let is_of_issue = named.as_deref() == Some(ISSUE_LIMIT);
            TrackerError::Limited { pause: answer.pause(), reason: named.unwrap_or(text), is_of_issue }
        }
        (408 | 500..=599, CallEffect::None) => TrackerError::Away(text),
        // A time-out between a proxy and Jira says nothing about what Jira does.
        (408, CallEffect::Change) => TrackerError::InDoubt(text),
        (400..=499, _) => TrackerError::Refused(text),
        (status, CallEffect::None) => TrackerError::Invalid(format!("Jira answered {status}, which is not followed.")),
        (_, CallEffect::Change) => TrackerError::InDoubt(text),
    }
}

/// Whether Jira says that it took the request for one without a login.
fn is_login_refused(answer: &TrackerAnswer) -> bool {
    let reason = answer.header(LOGIN_REASON).unwrap_or_default();
    reason.contains("AUTHENTICATED_FAILED") || reason.contains("AUTHENTICATION_DENIED")
}

/// Jira's words in an answer or in the errors of one of several issues. Fields are named as in the form.
pub(super) fn words_of(said: &Value, fields: &[IssueField], secrets: &[&str]) -> JiraWords {
    let messages = said.get("errorMessages").and_then(Value::as_array).into_iter().flatten();
    let mut texts: Vec<String> = messages.filter_map(Value::as_str).map(str::to_owned).collect();
    let of_fields = said.get("errors").and_then(Value::as_object);
    for (id, message) in of_fields.into_iter().flatten() {
        let name = fields.iter().find(|field| field.id == *id).map_or(id.as_str(), |field| field.name.as_str());
        let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
        texts.push(format!("{name}: {message}"));
    }
    for key in ["error_description", "message"] {
        texts.extend(said.get(key).and_then(Value::as_str).map(str::to_owned));
    }
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    let text = secrets.fold(texts.join(" "), |text, secret| text.replace(secret, "…"));
    JiraWords { text: words(&text), is_of_fields: of_fields.is_some_and(|errors| !errors.is_empty()) }
}
