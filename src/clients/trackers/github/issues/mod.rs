//! Issues of repositories.

use std::time::Duration;

use actors::time::Time;
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::of_issue;
use super::api::GitHubApi;
use super::body::{IssueMarkdown, TickedCriteria, marker_of};
use super::repositories::UNTYPED;
use crate::clients::trackers::{
    CurrentIssue, IssueDraft, IssueReference, IssueRefusal, IssueTarget, MarkedIssue, TrackerError, TrackerIssueState,
    TrackerSite,
};

/// How far GitHub's clock may be behind.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(600);
/// Of an account's issues in a repository, so many pages are searched for markers.
const SEARCHED_PAGES: u32 = 100;
/// How many issues are read at once. GitHub permits 100 calls at once for each account.
const READS: usize = 4;

/// An issue, or a pull request, as far as it matters.
#[derive(Deserialize)]
struct GitHubIssue {
    number: u64,
    html_url: String,
    title: String,
    /// `null` where it is empty.
    body: Option<String>,
    state: String,
    created_at: Time,
    repository_url: String,
    pull_request: Option<Value>,
}

#[derive(Deserialize)]
struct CreatedGitHubIssue {
    number: u64,
    html_url: String,
}

/// An issue's identity: `REPOSITORY#NUMBER`.
struct IssueIdentity<'a> {
    repository: &'a str,
    number: &'a str,
}

impl<'a> IssueIdentity<'a> {
    fn parse(id: &'a str) -> Option<Self> {
        let (repository, number) = id.split_once('#')?;
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|sign| sign.is_ascii_digit());
        (is_number(repository) && is_number(number)).then_some(Self { repository, number })
    }

    /// The address that GitHub itself redirects to where a repository was renamed: it needs no name.
    const fn path(&self) -> [&'a str; 4] {
        ["repositories", self.repository, "issues", self.number]
    }
}

pub async fn create(
    api: GitHubApi<'_>,
    site: &TrackerSite,
    target: &IssueTarget,
    draft: &IssueDraft,
) -> Result<Result<IssueReference, IssueRefusal>, TrackerError> {
    let content = match IssueMarkdown::of(draft, &TickedCriteria::default()) {
        Ok(content) => content,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (owner, name) = names(&target.project_key)?;
    let answer = api.send(Method::POST, &["repos", owner, name, "issues"], &request(target, &content)).await?;
    let answer = match of_issue(answer)? {
        Ok(answer) => answer,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let created: CreatedGitHubIssue = answer.json().map_err(TrackerError::InDoubt)?;
    let (project, key) = (&target.project_id, &target.project_key);
    Ok(Ok(reference(site, project, key, created.number, &created.html_url)))
}

fn request(target: &IssueTarget, content: &IssueMarkdown) -> Value {
    let mut request = json!({ "title": content.title, "body": content.body, "labels": target.labels });
    let mut set =
        |name: &str, value: Value| drop(request.as_object_mut().map(|fields| fields.insert(name.into(), value)));
    if target.form.id != UNTYPED {
        set("type", target.form.name.clone().into());
    }
    if let Some(words) = target.defaults.get("assignees").and_then(Value::as_array) {
        let logins = words.iter().filter_map(Value::as_str).map(|word| word.trim_start_matches('@'));
        set("assignees", logins.collect());
    }
    if let Some(number) = target.defaults.get("milestone").and_then(|id| id.as_str()?.parse::<u64>().ok()) {
        set("milestone", number.into());
    }
    request
}

pub async fn find_marked(
    api: GitHubApi<'_>,
    site: &TrackerSite,
    target: &IssueTarget,
    login: &str,
    since: Time,
) -> Result<Vec<MarkedIssue>, TrackerError> {
    let (owner, name) = names(&target.project_key)?;
    let since = since - CLOCK_DIFFERENCE;
    let mut found = Vec::new();
    for page in 1..=SEARCHED_PAGES {
        let page = page.to_string();
        let query = [
            ("creator", login),
            ("state", "all"),
            ("sort", "created"),
            ("direction", "desc"),
            ("per_page", "100"),
            ("page", &page),
        ];
        let issues: Vec<GitHubIssue> = api.get(&["repos", owner, name, "issues"], &query).await?;
        // Issues that are created meanwhile move others to the next page, where they are seen again: nothing is left out.
        let is_last = issues.len() < super::api::PAGE || issues.iter().any(|issue| issue.created_at < since);
        for issue in issues.iter().filter_map(|issue| marked(site, target, issue, since)) {
            if !found.contains(&issue) {
                found.push(issue);
            }
        }
        if is_last {
            return Ok(found);
        }
    }
    Err(TrackerError::Invalid(format!("{login} created more issues in {owner}/{name} than can be searched.")))
}

fn marked(site: &TrackerSite, target: &IssueTarget, issue: &GitHubIssue, since: Time) -> Option<MarkedIssue> {
    if issue.pull_request.is_some() || issue.created_at < since {
        return None;
    }
    let marker = marker_of(issue.body.as_deref()?)?;
    let (project, key) = (&target.project_id, &target.project_key);
    Some(MarkedIssue { marker, issue: reference(site, project, key, issue.number, &issue.html_url) })
}

pub async fn read(
    api: GitHubApi<'_>,
    site: &TrackerSite,
    issue_ids: &[String],
) -> Result<Vec<CurrentIssue>, TrackerError> {
    let reads: Vec<_> = issue_ids.iter().map(|id| read_one(api, site, id)).collect();
    stream::iter(reads).buffered(READS).try_filter_map(async |read| Ok(read)).try_collect().await
}

async fn read_one(api: GitHubApi<'_>, site: &TrackerSite, id: &str) -> Result<Option<CurrentIssue>, TrackerError> {
    let Some(identity) = IssueIdentity::parse(id) else { return Ok(None) };
    match api.get::<GitHubIssue>(&identity.path(), &[]).await {
        Ok(issue) => Ok(issue.pull_request.is_none().then(|| current(site, &identity, issue))),
        Err(TrackerError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn current(site: &TrackerSite, identity: &IssueIdentity<'_>, issue: GitHubIssue) -> CurrentIssue {
    let key = issue.repository_url.rsplit('/').take(2).collect::<Vec<_>>();
    let key = key.into_iter().rev().collect::<Vec<_>>().join("/");
    let content = IssueMarkdown { title: issue.title, body: issue.body.unwrap_or_default() };
    CurrentIssue {
        issue: reference(site, identity.repository, &key, issue.number, &issue.html_url),
        project_id: identity.repository.to_owned(),
        fingerprint: content.fingerprint(),
        state: if issue.state == "closed" { TrackerIssueState::Done } else { TrackerIssueState::Open },
    }
}

pub async fn update(
    api: GitHubApi<'_>,
    issue_id: &str,
    draft: &IssueDraft,
) -> Result<Result<(), IssueRefusal>, TrackerError> {
    let missing = |message: String| Ok(Err(IssueRefusal { code: "Missing", message }));
    let Some(identity) = IssueIdentity::parse(issue_id) else {
        return missing("GitHub has no such issue.".to_owned());
    };
    let before: GitHubIssue = match api.get(&identity.path(), &[]).await {
        Ok(issue) => issue,
        Err(TrackerError::Missing(message)) => return missing(message),
        Err(error) => return Err(error),
    };
    let ticked = TickedCriteria::of(before.body.as_deref().unwrap_or_default());
    let content = match IssueMarkdown::of(draft, &ticked) {
        Ok(content) => content,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let change = json!({ "title": content.title, "body": content.body });
    let answer = api.send(Method::PATCH, &identity.path(), &change).await?;
    match of_issue(answer) {
        Ok(outcome) => Ok(outcome.map(drop)),
        Err(TrackerError::Missing(message)) => missing(message),
        Err(error) => Err(error),
    }
}

/// The owner and the name of a repository.
fn names(full_name: &str) -> Result<(&str, &str), TrackerError> {
    let names = full_name.split_once('/').filter(|(_, name)| !name.contains('/'));
    names.ok_or_else(|| TrackerError::Missing("GitHub has no such repository.".to_owned()))
}

fn reference(site: &TrackerSite, repository: &str, full_name: &str, number: u64, html_url: &str) -> IssueReference {
    let is_shown = html_url.starts_with("https://") || html_url.starts_with(&format!("{}/", site.url));
    let url = if is_shown { html_url.to_owned() } else { format!("{}/{full_name}/issues/{number}", site.url) };
    IssueReference { id: format!("{repository}#{number}"), key: format!("{full_name}#{number}"), url }
}

#[cfg(test)]
mod tests;
