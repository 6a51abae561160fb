//! Issues that exist: those that carry a marker, and those with known ids.

use std::collections::BTreeMap;

use actors::time::Time;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::super::{CurrentIssue, MarkedIssue, TrackerError, TrackerIssueState};
use super::calls::{JiraApi, checked_id};
use super::dialect::{JiraSearch, SEARCH_PAGE, SearchCursor, SearchPage};
use super::fingerprint::fingerprint;
use super::{MARKER_KEY, reference};

/// The most issues that are looked through for markers.
const SEARCHED: usize = 5000;
/// The most pages of a search: the Cloud may return fewer issues on a page than it could.
const PAGES: usize = 200;
/// Added to the minutes since a time: what two clocks may differ, and the minute that has begun.
const SPARE_MINUTES: u64 = 2;
const READ_FIELDS: [&str; 4] = ["summary", "description", "status", "project"];

#[derive(Deserialize)]
struct FoundIssue {
    id: String,
    key: String,
    #[serde(default)]
    fields: FoundFields,
    #[serde(default)]
    properties: BTreeMap<String, Value>,
}

#[derive(Default, Deserialize)]
struct FoundFields {
    summary: Option<String>,
    #[serde(default)]
    description: Value,
    #[serde(default)]
    status: Value,
    #[serde(default)]
    project: Value,
}

/// A property of an issue.
#[derive(Deserialize)]
struct PropertyAnswer {
    value: Value,
}

/// Returns the issues with a marker that this account created in a project since a time.
pub(super) async fn find_marked(
    api: &JiraApi<'_>,
    project_id: &str,
    since: Time,
    now: Time,
) -> Result<Vec<MarkedIssue>, TrackerError> {
    let search = JiraSearch {
        jql: created_since(checked_id(project_id)?, since, now),
        fields: &["id"],
        property: Some(MARKER_KEY),
        reconcile: Vec::new(),
    };
    let mut marked = Vec::new();
    for mut issue in issues(api, &search).await? {
        let marker = match issue.properties.remove(MARKER_KEY) {
            None if !api.dialect.searches_properties() => read_marker(api, &issue.id).await?,
            found => found,
        };
        let marker = marker.as_ref().and_then(|value| value.get("story")?.as_str()?.parse::<Uuid>().ok());
        marked.extend(marker.map(|marker| MarkedIssue { marker, issue: reference(api.site_url, issue.id, issue.key) }));
    }
    Ok(marked)
}

/// The issues that this account created in a project since a time. Told as a span, which Jira measures by its own clock.
pub(super) fn created_since(project_id: &str, since: Time, now: Time) -> String {
    let minutes = now.since(since).as_secs().div_ceil(60) + SPARE_MINUTES;
    format!(
        "project = \"{project_id}\" AND creator = currentUser() AND created >= \"-{minutes}m\" ORDER BY created DESC"
    )
}

async fn read_marker(api: &JiraApi<'_>, issue_id: &str) -> Result<Option<Value>, TrackerError> {
    let path = format!("/issue/{}/properties/{MARKER_KEY}", checked_id(issue_id)?);
    match api.get::<PropertyAnswer>(&path, &[]).await {
        Ok(property) => Ok(Some(property.value)),
        Err(TrackerError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns issues as they are now. An id that is not a number is none of Jira's.
pub(super) async fn read(api: &JiraApi<'_>, issue_ids: &[String]) -> Result<Vec<CurrentIssue>, TrackerError> {
    let ids: Vec<u64> = issue_ids.iter().filter_map(|id| id.parse().ok()).collect();
    let mut current = Vec::new();
    for ids in ids.chunks(SEARCH_PAGE) {
        let list = ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let jql = format!("id in ({list}) ORDER BY id ASC");
        let search = JiraSearch { jql, fields: &READ_FIELDS, property: None, reconcile: ids.to_vec() };
        let found = match issues(api, &search).await {
            // One id of a deleted issue makes Jira refuse the whole search.
            Err(TrackerError::Refused(_)) => one_by_one(api, ids).await?,
            found => found?,
        };
        for issue in found {
            current.push(current_issue(api, issue)?);
        }
    }
    Ok(current)
}

async fn one_by_one(api: &JiraApi<'_>, ids: &[u64]) -> Result<Vec<FoundIssue>, TrackerError> {
    let mut found = Vec::new();
    for id in ids {
        match api.get(&format!("/issue/{id}"), &[("fields", &READ_FIELDS.join(","))]).await {
            Ok(issue) => found.push(issue),
            Err(TrackerError::Missing(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// All pages of a search. Issues that move between its pages meanwhile are returned once.
async fn issues(api: &JiraApi<'_>, search: &JiraSearch) -> Result<Vec<FoundIssue>, TrackerError> {
    let mut found = BTreeMap::new();
    let mut cursor = SearchCursor::default();
    for _ in 0..PAGES {
        let (method, path, body) = api.dialect.search(search, &cursor);
        let page: SearchPage = api.ask(method, path, &body).await?;
        let next = api.dialect.next(&cursor, &page);
        for issue in page.issues {
            let issue = FoundIssue::deserialize(issue);
            let issue = issue.map_err(|error| TrackerError::Invalid(format!("an issue can't be read: {error}")))?;
            found.insert(issue.id.clone(), issue);
        }
        match next {
            None => return Ok(found.into_values().collect()),
            Some(next) if next.seen < SEARCHED => cursor = next,
            Some(_) => break,
        }
    }
    Err(TrackerError::Invalid("it finds more issues than can be looked through".to_owned()))
}

fn current_issue(api: &JiraApi<'_>, issue: FoundIssue) -> Result<CurrentIssue, TrackerError> {
    let FoundIssue { id, key, fields, .. } = issue;
    let project_id = fields.project.get("id").and_then(Value::as_str);
    let project_id = project_id.ok_or_else(|| TrackerError::Invalid(format!("the issue {key} has no project")))?;
    let category = fields.status.pointer("/statusCategory/key").and_then(Value::as_str);
    Ok(CurrentIssue {
        project_id: project_id.to_owned(),
        fingerprint: fingerprint(fields.summary.as_deref().unwrap_or_default(), &fields.description),
        state: match category {
            Some("done") => TrackerIssueState::Done,
            Some("indeterminate") => TrackerIssueState::InProgress,
            _ => TrackerIssueState::Open,
        },
        issue: reference(api.site_url, id, key),
    })
}

#[cfg(test)]
mod tests;
