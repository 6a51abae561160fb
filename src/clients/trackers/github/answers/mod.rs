//! What GitHub's answers mean.

use std::time::Duration;

use chrono::DateTime;
use reqwest::header::{DATE, RETRY_AFTER};
use serde::Deserialize;

use crate::clients::trackers::http::{CallFailure, TrackerAnswer, words};
use crate::clients::trackers::{IssueRefusal, TrackerError};

/// The pause after a secondary limit that names none, as GitHub documents it.
const SECONDARY_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause that is waited for.
const MAX_PAUSE: Duration = Duration::from_secs(3600);
const TOO_QUICK: &str = "was submitted too quickly";
/// The most faults of a request that are passed on.
const FAULTS: usize = 10;

/// Whether a call may have changed something when no answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitHubEffect {
    Reads,
    Writes,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GitHubMessage {
    message: String,
    errors: Vec<serde_json::Value>,
}

/// Why there is no complete answer.
pub fn unanswered(failure: CallFailure, effect: GitHubEffect) -> TrackerError {
    match (failure, effect) {
        (CallFailure::NotSent(why), _) | (CallFailure::NoAnswer(why), GitHubEffect::Reads) => TrackerError::Away(why),
        (CallFailure::NoAnswer(why), GitHubEffect::Writes) => TrackerError::InDoubt(why),
    }
}

/// Passes on an answer that is a success.
///
/// # Errors
/// What another one means.
pub fn success(answer: TrackerAnswer, effect: GitHubEffect) -> Result<TrackerAnswer, TrackerError> {
    let said = || said(&answer);
    match answer.status {
        200..=299 => Ok(answer),
        401 => Err(TrackerError::Unauthorized(said())),
        403 | 429 => Err(match limit(&answer) {
            Some(pause) => TrackerError::Limited { pause, reason: said(), is_of_issue: false },
            None => TrackerError::Forbidden(said()),
        }),
        // Redirects are not followed: what was moved has another identity.
        300..=399 => Err(TrackerError::Missing(format!("It was moved or renamed: {}", said()))),
        404 => Err(TrackerError::Missing(said())),
        410 if effect == GitHubEffect::Reads => Err(TrackerError::Missing(said())),
        400..=407 | 409..=499 => Err(TrackerError::Refused(said())),
        _ if effect == GitHubEffect::Reads => Err(TrackerError::Away(said())),
        _ => Err(TrackerError::InDoubt(said())),
    }
}

/// Passes on an answer to a call that creates or changes an issue; inside, whether the issue was refused for what it has.
///
/// # Errors
/// See [`success`].
pub fn of_issue(answer: TrackerAnswer) -> Result<Result<TrackerAnswer, IssueRefusal>, TrackerError> {
    if answer.status == 422 {
        let message = said(&answer);
        // A limit of creating content that is told as a fault of the content: cli/cli#4801.
        if message.contains(TOO_QUICK) {
            return Err(TrackerError::Limited { pause: SECONDARY_PAUSE, reason: message, is_of_issue: false });
        }
        return Ok(Err(IssueRefusal { code: "FieldRejected", message }));
    }
    success(answer, GitHubEffect::Writes).map(Ok)
}

/// How long to pause, if the answer refuses because of a limit.
fn limit(answer: &TrackerAnswer) -> Option<Duration> {
    if answer.headers.contains_key(RETRY_AFTER) {
        return Some(answer.pause());
    }
    if answer.header("x-ratelimit-remaining").is_some_and(|left| left.trim() == "0") {
        return Some(until_reset(answer).unwrap_or(SECONDARY_PAUSE).min(MAX_PAUSE));
    }
    let message = message(answer).message.to_lowercase();
    let is_limit = message.contains("rate limit") || message.contains("abuse detection") || answer.status == 429;
    is_limit.then_some(SECONDARY_PAUSE)
}

/// Both times are GitHub's: this server's clock may go wrong.
fn until_reset(answer: &TrackerAnswer) -> Option<Duration> {
    let reset: i64 = answer.header("x-ratelimit-reset")?.trim().parse().ok()?;
    let now = DateTime::parse_from_rfc2822(answer.header(DATE.as_str())?).ok()?.timestamp();
    // The second after: the limit counts until the end of the one that is named.
    u64::try_from(reset.saturating_sub(now).saturating_add(1)).ok().map(Duration::from_secs)
}

/// GitHub's own words: its message, and what is wrong with which field.
pub fn said(answer: &TrackerAnswer) -> String {
    let GitHubMessage { message, errors } = message(answer);
    let faults: Vec<String> = errors.iter().take(FAULTS).map(fault).filter(|fault| !fault.is_empty()).collect();
    let message = if message.is_empty() { format!("GitHub answered {}", answer.status) } else { message };
    words(&if faults.is_empty() { message } else { format!("{message}: {}", faults.join("; ")) })
}

fn fault(error: &serde_json::Value) -> String {
    let text = |name: &str| error.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    if let Some(plain) = error.as_str() {
        return plain.to_owned();
    }
    let what = if text("message").is_empty() { text("code").replace('_', " ") } else { text("message").to_owned() };
    // Some messages begin with the field's name.
    if what.starts_with(text("field")) { what } else { format!("{}: {what}", text("field")) }
}

fn message(answer: &TrackerAnswer) -> GitHubMessage {
    answer.json().unwrap_or_default()
}

#[cfg(test)]
mod tests;
