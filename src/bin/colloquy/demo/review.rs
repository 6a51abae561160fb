//! Reviews some of the requirements, so that the project looks as one does in the middle of the work.

use actors::time::{Clock, SystemClock};
use api_client::caller::ApiClient;
use chrono::Days;
use colloquy::analysis::dashboard::model::ResultsDashboard;
use colloquy::analysis::items::model::Requirement;
use serde_json::{Value, json};

const APPROVED: usize = 3;
/// For how many days the deferred requirement is put off.
const DEFERRED: Days = Days::new(14);

/// Approves the first good requirements, rejects one, defers one and comments on one. Returns what was done.
///
/// # Errors
/// Returns a message if a call fails.
pub async fn decide_some(caller: &ApiClient, project_id: &str, found: &ResultsDashboard) -> Result<String, String> {
    let is_good = |one: &&Requirement| one.quality_issues.is_empty() && one.conflicts_with.is_empty();
    let (good, other): (Vec<&Requirement>, Vec<&Requirement>) = found.requirements.iter().partition(is_good);
    let mut good = good.into_iter();
    let (mut approved, mut rejected, mut deferred, mut commented) = (0, 0, 0, 0);
    for one in good.by_ref().take(APPROVED) {
        decide(caller, project_id, one, &json!({ "workflowStatus": "APPROVED" })).await?;
        approved += 1;
    }
    let mut other = other.into_iter().chain(good);
    if let Some(one) = other.next() {
        let why = "The team decides this with the next release; this tender does not need it.";
        let verdict = json!({ "workflowStatus": "REJECTED", "reasonCode": "OUT_OF_SCOPE", "comment": why });
        decide(caller, project_id, one, &verdict).await?;
        rejected += 1;
    }
    if let Some(one) = other.next() {
        let until = SystemClock.now().utc().date_naive().checked_add_days(DEFERRED).map(|day| day.to_string());
        let why = "To be decided with the operations team.";
        let verdict = json!({ "workflowStatus": "NEEDS_REVIEW", "deferredUntil": until, "comment": why });
        decide(caller, project_id, one, &verdict).await?;
        deferred += 1;
    }
    if let Some(one) = other.next() {
        let comment = "Who measures this, and where?";
        let body = json!({ "targetType": "REQUIREMENT", "targetId": one.id, "comment": comment });
        let _: Value = caller.post(&format!("/api/projects/{project_id}/feedback"), &body).await?;
        commented += 1;
    }
    Ok(format!("requirements: {approved} approved, {rejected} rejected, {deferred} deferred, {commented} commented on"))
}

async fn decide(caller: &ApiClient, project_id: &str, one: &Requirement, verdict: &Value) -> Result<(), String> {
    let path = format!("/api/projects/{project_id}/requirements/{}/status", one.id);
    caller.patch(&path, one.version, verdict).await.map(|_: Value| ())
}
