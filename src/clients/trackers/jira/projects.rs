//! The projects that an account sees.

use serde::Deserialize;

use super::super::http::words;
use super::super::{TrackerError, TrackerProjectOption, TrackerProjectPage};
use super::calls::{JiraApi, checked_id};
use super::secure_url;

/// The most projects of one page.
const PAGE: u64 = 100;

#[derive(Deserialize)]
struct JiraProjectsAnswer {
    #[serde(default)]
    values: Vec<JiraProjectAnswer>,
    total: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JiraProjectAnswer {
    id: String,
    key: String,
    name: String,
    #[serde(default)]
    avatar_urls: AvatarUrls,
}

#[derive(Default, Deserialize)]
struct AvatarUrls {
    #[serde(rename = "48x48")]
    large: Option<String>,
}

/// Returns a page of at most 100 projects whose name or key contains `search`.
pub(super) async fn page(
    api: &JiraApi<'_>,
    search: Option<&str>,
    page: u64,
    page_size: u64,
) -> Result<TrackerProjectPage, TrackerError> {
    let size = page_size.clamp(1, PAGE);
    let start = page.saturating_sub(1).saturating_mul(size);
    let search = search.map(str::trim).filter(|search| !search.is_empty());
    if !api.dialect.searches_projects() {
        let all: Vec<JiraProjectAnswer> = api.get("/project", &[]).await?;
        return Ok(cut(all, search, start, size));
    }
    let (start, size) = (start.to_string(), size.to_string());
    let mut query = vec![("startAt", &*start), ("maxResults", &*size), ("orderBy", "name")];
    query.extend(search.map(|search| ("query", search)));
    match api.get::<JiraProjectsAnswer>("/project/search", &query).await {
        Ok(found) => {
            let items = found.values.into_iter().map(option).collect();
            Ok(TrackerProjectPage { items, total: found.total })
        }
        // It says so where nothing matches.
        Err(TrackerError::Missing(_)) => Ok(TrackerProjectPage { items: Vec::new(), total: 0 }),
        Err(error) => Err(error),
    }
}

pub(super) async fn one(api: &JiraApi<'_>, project_id: &str) -> Result<TrackerProjectOption, TrackerError> {
    api.get(&format!("/project/{}", checked_id(project_id)?), &[]).await.map(option)
}

fn cut(all: Vec<JiraProjectAnswer>, search: Option<&str>, start: u64, size: u64) -> TrackerProjectPage {
    let wanted = search.unwrap_or_default().to_lowercase();
    let is_wanted = |project: &JiraProjectAnswer| {
        project.name.to_lowercase().contains(&wanted) || project.key.to_lowercase().contains(&wanted)
    };
    let mut matching: Vec<JiraProjectAnswer> = all.into_iter().filter(is_wanted).collect();
    matching.sort_by_cached_key(|project| (project.name.to_lowercase(), project.key.clone()));
    let total = u64::try_from(matching.len()).unwrap_or(u64::MAX);
    let skipped = usize::try_from(start).unwrap_or(usize::MAX);
    let taken = usize::try_from(size).unwrap_or(usize::MAX);
    TrackerProjectPage { items: matching.into_iter().skip(skipped).take(taken).map(option).collect(), total }
}

fn option(project: JiraProjectAnswer) -> TrackerProjectOption {
    TrackerProjectOption {
        id: project.id,
        key: project.key,
        name: words(&project.name),
        avatar_url: project.avatar_urls.large.filter(|url| secure_url(url)),
    }
}
