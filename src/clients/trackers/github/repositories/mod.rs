//! Repositories as projects, and what issues can be created in them.

use serde::Deserialize;

use super::api::{GitHubApi, PAGE};
use crate::clients::trackers::{
    AllowedValue, IssueField, IssueFieldKind, IssueForm, TrackerError, TrackerProjectOption, TrackerProjectPage,
};

/// Of the repositories that an account sees, so many are searched: each page is a call.
const REPOSITORY_PAGES: usize = 10;
/// The id of the form of issues without a type.
pub const UNTYPED: &str = "issue";

/// A repository, as far as it matters.
#[derive(Deserialize)]
pub struct GitHubRepository {
    id: u64,
    name: String,
    full_name: String,
    owner: GitHubOwner,
    #[serde(default)]
    has_issues: bool,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    permissions: GitHubPermissions,
}

#[derive(Deserialize)]
struct GitHubOwner {
    login: String,
    #[serde(default, rename = "type")]
    kind: String,
    avatar_url: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GitHubPermissions {
    push: bool,
    triage: bool,
}

#[derive(Deserialize)]
struct GitHubIssueType {
    id: u64,
    name: String,
    #[serde(default = "yes")]
    is_enabled: bool,
}

#[derive(Deserialize)]
struct GitHubMilestone {
    number: u64,
    title: String,
}

const fn yes() -> bool {
    true
}

impl GitHubRepository {
    /// Without `push` or `triage`, GitHub drops labels, assignees and types silently.
    const fn takes_issues(&self) -> bool {
        self.has_issues && !self.archived && !self.disabled && (self.permissions.push || self.permissions.triage)
    }

    fn into_option(self) -> TrackerProjectOption {
        TrackerProjectOption {
            id: self.id.to_string(),
            key: self.full_name,
            name: self.name,
            avatar_url: self.owner.avatar_url.filter(|url| url.starts_with("https://")),
        }
    }
}

pub async fn page(
    api: GitHubApi<'_>,
    search: Option<&str>,
    page: u64,
    page_size: u64,
) -> Result<TrackerProjectPage, TrackerError> {
    let (all, _) = api.list::<GitHubRepository>(&["user", "repos"], &[("sort", "full_name")], REPOSITORY_PAGES).await?;
    let search = search.unwrap_or_default().trim().to_lowercase();
    let found = all.into_iter().filter(|one| one.takes_issues() && one.full_name.to_lowercase().contains(&search));
    let found: Vec<TrackerProjectOption> = found.map(GitHubRepository::into_option).collect();
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let before = count(page.saturating_sub(1).saturating_mul(page_size));
    Ok(TrackerProjectPage { items: found.into_iter().skip(before).take(count(page_size)).collect(), total })
}

pub async fn one(api: GitHubApi<'_>, id: &str) -> Result<TrackerProjectOption, TrackerError> {
    let repository = repository(api, id).await?;
    if !repository.takes_issues() {
        let why = "is archived, has its issues disabled, or does not permit this account to label issues";
        return Err(TrackerError::Refused(format!("{} {why}.", repository.full_name)));
    }
    Ok(repository.into_option())
}

async fn repository(api: GitHubApi<'_>, id: &str) -> Result<GitHubRepository, TrackerError> {
    if id.is_empty() || !id.chars().all(|sign| sign.is_ascii_digit()) {
        return Err(TrackerError::Missing("GitHub has no such repository.".to_owned()));
    }
    api.get(&["repositories", id], &[]).await
}

/// Returns a form for each issue type of the organisation, or one where there are none.
pub async fn forms(api: GitHubApi<'_>, id: &str) -> Result<Vec<IssueForm>, TrackerError> {
    let repository = repository(api, id).await?;
    let (owner, name) = (&*repository.owner.login, &*repository.name);
    let types = if repository.owner.kind == "Organization" { types(api, owner).await? } else { Vec::new() };
    // The first page is as long as a list to choose from may be.
    let path = ["repos", owner, name, "milestones"];
    let (milestones, _) = api.list::<GitHubMilestone>(&path, &[("state", "open")], 1).await?;
    let form = |id: String, name: String| IssueForm { id, name, icon_url: None, fields: fields(&milestones) };
    let forms: Vec<IssueForm> =
        types.into_iter().filter(|one| one.is_enabled).map(|one| form(one.id.to_string(), one.name)).collect();
    Ok(if forms.is_empty() { vec![form(UNTYPED.to_owned(), "Issue".to_owned())] } else { forms })
}

async fn types(api: GitHubApi<'_>, organisation: &str) -> Result<Vec<GitHubIssueType>, TrackerError> {
    match api.get(&["orgs", organisation, "issue-types"], &[]).await {
        // Servers without issue types, and tokens that may not see those of the organisation.
        Err(TrackerError::Missing(_) | TrackerError::Forbidden(_)) => Ok(Vec::new()),
        read => read,
    }
}

fn fields(milestones: &[GitHubMilestone]) -> Vec<IssueField> {
    let field = |id: &str, name: &str, kind, allowed| IssueField {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        required: id == "title",
        allowed,
    };
    let allowed = milestones.iter().take(PAGE).map(|one| AllowedValue {
        id: one.number.to_string(),
        name: one.title.clone(),
        children: Vec::new(),
    });
    vec![
        field("title", "Title", IssueFieldKind::FromStory, Vec::new()),
        field("body", "Description", IssueFieldKind::FromStory, Vec::new()),
        field("labels", "Labels", IssueFieldKind::FromStory, Vec::new()),
        field("assignees", "Assignees", IssueFieldKind::Words, Vec::new()),
        field("milestone", "Milestone", IssueFieldKind::Choice, allowed.collect()),
    ]
}

#[cfg(test)]
mod tests;
