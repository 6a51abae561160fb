//! Issues that are created or changed, and what Jira answers to that.

use std::collections::BTreeSet;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::http::TrackerAnswer;
use super::super::{IssueDraft, IssueFieldKind, IssueReference, IssueRefusal, IssueTarget, TrackerError};
use super::calls::{CallEffect, JiraApi, checked_id};
use super::dialect::{JiraDialect, RenderedIssue};
use super::{MARKER_KEY, reference};

/// The most issues that Jira creates in one call.
pub(super) const BATCH: usize = 50;
const LABELS: &str = "labels";
/// The longest label.
const LABEL: usize = 255;

type CreateOutcome = Result<IssueReference, IssueRefusal>;

#[derive(Deserialize)]
struct BulkAnswer {
    #[serde(default)]
    issues: Vec<CreatedIssueAnswer>,
    #[serde(default)]
    errors: Vec<BulkRefusal>,
}

#[derive(Deserialize)]
struct CreatedIssueAnswer {
    id: String,
    key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BulkRefusal {
    status: Option<u16>,
    #[serde(default)]
    element_errors: Value,
    failed_element_number: usize,
}

/// Creates issues in one call, and returns what became of each draft. Drafts that are known to be refused are not sent.
pub(super) async fn create(
    api: &JiraApi<'_>,
    target: &IssueTarget,
    drafts: &[IssueDraft],
) -> Result<Vec<CreateOutcome>, TrackerError> {
    if drafts.len() > BATCH {
        return Err(TrackerError::Refused(format!("Jira creates at most {BATCH} issues in one call.")));
    }
    let updates = drafts.iter().map(|draft| {
        let fields = fields(api.dialect, target, draft)?;
        let marker = json!([{ "key": MARKER_KEY, "value": { "story": draft.marker } }]);
        Ok(json!({ "fields": fields, "properties": marker }))
    });
    let updates: Vec<Result<Value, IssueRefusal>> = updates.collect();
    let sent: Vec<&Value> = updates.iter().filter_map(|update| update.as_ref().ok()).collect();
    if sent.is_empty() {
        return Ok(updates.into_iter().filter_map(Result::err).map(Err).collect());
    }
    let count = sent.len();
    let answer = api.change(Method::POST, "/issue/bulk", &json!({ "issueUpdates": sent })).await?;
    let mut outcomes = outcomes(api, target, &answer, count)?.into_iter();
    let outcome = |update: Result<Value, IssueRefusal>| match update {
        Ok(_) => outcomes.next().ok_or_else(|| short("it has fewer results than issues")),
        Err(refusal) => Ok(Err(refusal)),
    };
    updates.into_iter().map(outcome).collect()
}

/// Replaces summary and description of an issue.
pub(super) async fn update(
    api: &JiraApi<'_>,
    target: &IssueTarget,
    issue_id: &str,
    draft: &IssueDraft,
) -> Result<Result<(), IssueRefusal>, TrackerError> {
    let rendered = match api.dialect.render(draft) {
        Ok(rendered) => rendered,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Ok(issue_id) = checked_id(issue_id) else {
        return Ok(Err(refusal("Missing", "Jira has no issue with such an id.".to_owned())));
    };
    let RenderedIssue { summary, description } = rendered;
    let body = json!({ "fields": { "summary": summary, "description": description } });
    let answer = api.change(Method::PUT, &format!("/issue/{issue_id}"), &body).await?;
    let code = match answer.status {
        200..=299 => return Ok(Ok(())),
        400 => "FieldRejected",
        403 => "Forbidden",
        404 => "Missing",
        409 | 422 => "Rejected",
        413 => "TooLong",
        _ => return Err(api.failure(&answer, CallEffect::Change)),
    };
    let said = api.words(&answer.json().unwrap_or_default(), &target.form.fields).text;
    let said = if said.is_empty() { format!("Jira answered {}.", answer.status) } else { said };
    Ok(Err(refusal(code, said)))
}

/// The fields of an issue that is to be created.
pub(super) fn fields(
    dialect: JiraDialect,
    target: &IssueTarget,
    draft: &IssueDraft,
) -> Result<Map<String, Value>, IssueRefusal> {
    let RenderedIssue { summary, description } = dialect.render(draft)?;
    let mut fields = Map::new();
    for field in &target.form.fields {
        if field.id == LABELS {
            let labels = labels(&target.labels);
            if field.required && labels.is_empty() {
                return Err(refusal("FieldRejected", format!("{}: The destination has no label.", field.name)));
            }
            fields.insert(LABELS.to_owned(), Value::from(labels));
        } else if field.kind == IssueFieldKind::FromStory && field.id.starts_with("customfield_") {
            // The only such field is an epic's name.
            fields.insert(field.id.clone(), Value::from(summary.clone()));
        }
    }
    for (id, value) in &target.defaults {
        let kind = target.form.fields.iter().find(|field| field.id == *id).map(|field| field.kind);
        if kind != Some(IssueFieldKind::FromStory) {
            fields.insert(id.clone(), default_value(dialect, kind, value));
        }
    }
    // Last, so that no default replaces them.
    fields.insert("project".to_owned(), json!({ "id": target.project_id }));
    fields.insert("issuetype".to_owned(), json!({ "id": target.form.id }));
    fields.insert("summary".to_owned(), Value::from(summary));
    fields.insert("description".to_owned(), description);
    Ok(fields)
}

/// A label has no spaces in Jira.
fn labels(labels: &[String]) -> Vec<String> {
    let joined = labels.iter().map(|label| {
        let label = label.split_whitespace().collect::<Vec<_>>().join("_");
        label.chars().filter(|sign| !sign.is_control()).take(LABEL).collect::<String>()
    });
    joined.filter(|label| !label.is_empty()).collect()
}

/// A checked default in the form that Jira takes.
fn default_value(dialect: JiraDialect, kind: Option<IssueFieldKind>, value: &Value) -> Value {
    let with_id = |id: &Value| json!({ "id": id });
    match (kind, value) {
        (Some(IssueFieldKind::Choice), id) => with_id(id),
        (Some(IssueFieldKind::Choices), Value::Array(ids)) => ids.iter().map(with_id).collect(),
        (Some(IssueFieldKind::Cascade), Value::Array(ids)) => match ids.as_slice() {
            [parent, child] => json!({ "id": parent, "child": with_id(child) }),
            [parent] => with_id(parent),
            _ => value.clone(),
        },
        (Some(IssueFieldKind::LongText), Value::String(text)) => dialect.long_text(text),
        _ => value.clone(),
    }
}

/// What became of each of `count` issues. An answer that does not say it of every one leaves all of them in doubt.
fn outcomes(
    api: &JiraApi<'_>,
    target: &IssueTarget,
    answer: &TrackerAnswer,
    count: usize,
) -> Result<Vec<CreateOutcome>, TrackerError> {
    if answer.status == 400 {
        return all_refused(api, target, answer, count);
    }
    if !answer.is_success() {
        return Err(api.failure(answer, CallEffect::Change));
    }
    let BulkAnswer { issues, errors } = answer.json().map_err(TrackerError::InDoubt)?;
    let ids: BTreeSet<&str> = issues.iter().map(|issue| issue.id.as_str()).collect();
    let is_known = |issue: &CreatedIssueAnswer| checked_id(&issue.id).is_ok() && !issue.key.is_empty();
    if ids.len() != issues.len() || !issues.iter().all(is_known) {
        return Err(short("it names an issue twice, or without an id"));
    }
    if issues.len() + errors.len() != count {
        return Err(short("its results don't match the issues that were sent"));
    }
    let mut created = issues.into_iter();
    let outcome = |number: usize| match errors.iter().find(|error| error.failed_element_number == number) {
        Some(error) => Ok(Err(refused(api, target, error))),
        None => {
            // An error that is there twice, or of no issue that was sent, leaves too few of them.
            let created = created.next().ok_or_else(|| short("it has fewer results than issues"))?;
            Ok(Ok(reference(api.site_url, created.id, created.key)))
        }
    };
    (0..count).map(outcome).collect()
}

/// The outcomes of a call by which no issue was created.
fn all_refused(
    api: &JiraApi<'_>,
    target: &IssueTarget,
    answer: &TrackerAnswer,
    count: usize,
) -> Result<Vec<CreateOutcome>, TrackerError> {
    let Ok(BulkAnswer { issues, errors }) = answer.json::<BulkAnswer>() else {
        // It is about the call, not about its issues.
        return Err(api.failure(answer, CallEffect::Change));
    };
    if !issues.is_empty() {
        return Err(short("it refuses the call, and names created issues"));
    }
    if errors.is_empty() {
        return Err(api.failure(answer, CallEffect::Change));
    }
    let outcome = |number: usize| match errors.iter().find(|error| error.failed_element_number == number) {
        Some(error) => Err(refused(api, target, error)),
        None => Err(refusal("Rejected", "Jira created no issue of this call, and does not say why.".to_owned())),
    };
    Ok((0..count).map(outcome).collect())
}

fn refused(api: &JiraApi<'_>, target: &IssueTarget, error: &BulkRefusal) -> IssueRefusal {
    let said = api.words(&error.element_errors, &target.form.fields);
    let code = match error.status {
        Some(403) => "Forbidden",
        _ if said.is_of_fields => "FieldRejected",
        _ => "Rejected",
    };
    let unsaid =
        || error.status.map_or_else(|| "Jira does not say why.".to_owned(), |code| format!("Jira answered {code}."));
    refusal(code, if said.text.is_empty() { unsaid() } else { said.text })
}

const fn refusal(code: &'static str, message: String) -> IssueRefusal {
    IssueRefusal { code, message }
}

/// For an answer to a call that created issues, but does not say which.
fn short(why: &str) -> TrackerError {
    TrackerError::InDoubt(format!("its answer can't be used: {why}"))
}

#[cfg(test)]
mod tests;
