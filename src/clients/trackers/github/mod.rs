//! GitHub Issues, at github.com and on GitHub Enterprise Server: a project is a repository.
//!
//! ```text
//! mod            who calls where: settings, logins, the trait
//! oauth          sign-in          api, answers    calls, and what their answers mean
//! repositories   projects, issue types and fields
//! issues         creating, finding, reading, updating
//! body           title and body of an issue       markdown    texts in it
//! ```
//! An issue's identity is `REPOSITORY#NUMBER`, with the numeric id of the repository: the API finds no issue by its own id. It
//! stays when the repository is renamed or transferred; an issue that is transferred becomes another one, and is gone here.

mod answers;
mod api;
mod body;
mod issues;
mod markdown;
mod oauth;
mod repositories;

use std::time::Duration;

use actors::time::Time;
use async_trait::async_trait;
use serde::Deserialize;
use url::Url;

use self::api::GitHubApi;
use self::body::{IssueMarkdown, TickedCriteria};
use self::oauth::GitHubOAuth;
pub use self::oauth::GitHubOAuthSettings;
use super::http::TrackerHttp;
use super::{
    CurrentIssue, IssueDraft, IssueForm, IssueReference, IssueRefusal, IssueTarget, MarkedIssue, Tracker,
    TrackerAccess, TrackerAccount, TrackerError, TrackerLogin, TrackerOAuth, TrackerProjectOption, TrackerProjectPage,
    TrackerSite,
};

const WEB_URL: &str = "https://github.com";
const API_URL: &str = "https://api.github.com";
/// GitHub documents 80 creations a minute and 500 an hour, but slows accounts down earlier: cli/cli#4801.
const PACE: [(u32, Duration); 2] = [(20, Duration::from_secs(60)), (150, Duration::from_secs(3600))];

/// Where GitHub is, and this server's application there.
#[derive(Clone)]
pub struct GitHubSettings {
    /// `None`: only connections with a token.
    pub oauth: Option<GitHubOAuthSettings>,
    /// `https://api.github.com`.
    pub api_url: String,
}

/// A client of GitHub.
pub struct GitHub {
    api_url: String,
    web_url: String,
    oauth: Option<GitHubOAuth>,
    http: TrackerHttp,
}

#[derive(Deserialize)]
struct GitHubUser {
    id: u64,
    login: String,
}

impl GitHub {
    #[must_use]
    pub fn new(settings: GitHubSettings, http: TrackerHttp) -> Self {
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let api_url = bare(&settings.api_url);
        let web_url = settings.oauth.as_ref().map_or_else(|| WEB_URL.to_owned(), |oauth| bare(&oauth.web_url));
        let site = site(&api_url, &web_url);
        let oauth = settings.oauth.map(|settings| GitHubOAuth::new(settings, api_url.clone(), site, http.clone()));
        Self { api_url, web_url, oauth, http }
    }

    /// Where the API is for users who find GitHub at `base_url`.
    fn api_url(&self, base_url: &str) -> String {
        if base_url == self.web_url {
            return self.api_url.clone();
        }
        // Where the settings are of another server, a token of github.com must not go there.
        if base_url == WEB_URL {
            return API_URL.to_owned();
        }
        // Enterprises of github.com with their own place for data: https://acme.ghe.com has https://api.acme.ghe.com.
        match base_url.strip_prefix("https://") {
            Some(host) if host.ends_with(".ghe.com") => format!("https://api.{host}"),
            _ => format!("{base_url}/api/v3"),
        }
    }

    fn site_at(&self, base_url: &str) -> TrackerSite {
        site(&self.api_url(base_url), base_url)
    }

    /// Makes calls with a login.
    async fn with<T>(
        &self,
        access: &TrackerAccess,
        call: impl AsyncFnOnce(GitHubApi<'_>) -> Result<T, TrackerError>,
    ) -> Result<T, TrackerError> {
        let (url, token) = match &access.login {
            TrackerLogin::OAuth { access } => (self.api_url.clone(), access),
            TrackerLogin::Token { base_url, token, .. } => (self.api_url(base_url), token),
        };
        call(GitHubApi { http: &self.http, url: &url, token }).await
    }
}

/// Each API is one site.
fn site(api_url: &str, web_url: &str) -> TrackerSite {
    let origin = Url::parse(api_url).ok().map(|url| match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    });
    TrackerSite { id: origin.unwrap_or_default(), name: "GitHub".to_owned(), url: web_url.to_owned() }
}

async fn user(api: GitHubApi<'_>) -> Result<GitHubUser, TrackerError> {
    api.get(&["user"], &[]).await
}

#[async_trait]
impl Tracker for GitHub {
    fn oauth(&self) -> Option<&dyn TrackerOAuth> {
        self.oauth.as_ref().map(|oauth| oauth as &dyn TrackerOAuth)
    }

    fn base_url(&self, given: &str) -> Result<String, String> {
        let base_url = self.http.base_url(given)?;
        if base_url == self.api_url {
            return Ok(self.web_url.clone());
        }
        if [API_URL, "https://www.github.com"].contains(&&*base_url) {
            return Ok(WEB_URL.to_owned());
        }
        Ok(base_url.strip_suffix("/api/v3").unwrap_or(&base_url).to_owned())
    }

    async fn site_of(&self, login: &TrackerLogin) -> Result<TrackerSite, TrackerError> {
        Ok(match login {
            TrackerLogin::OAuth { .. } => self.site_at(&self.web_url),
            TrackerLogin::Token { base_url, .. } => self.site_at(base_url),
        })
    }

    async fn account(&self, access: &TrackerAccess) -> Result<TrackerAccount, TrackerError> {
        let user = self.with(access, async |api| user(api).await).await?;
        Ok(TrackerAccount { id: user.id.to_string(), name: user.login })
    }

    async fn projects(
        &self,
        access: &TrackerAccess,
        search: Option<&str>,
        page: u64,
        page_size: u64,
    ) -> Result<TrackerProjectPage, TrackerError> {
        self.with(access, async |api| repositories::page(api, search, page, page_size).await).await
    }

    async fn project(&self, access: &TrackerAccess, project_id: &str) -> Result<TrackerProjectOption, TrackerError> {
        self.with(access, async |api| repositories::one(api, project_id).await).await
    }

    async fn issue_forms(&self, access: &TrackerAccess, project_id: &str) -> Result<Vec<IssueForm>, TrackerError> {
        self.with(access, async |api| repositories::forms(api, project_id).await).await
    }

    fn batch(&self) -> usize {
        1
    }

    fn pace(&self) -> &[(u32, Duration)] {
        &PACE
    }

    async fn create(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        drafts: &[IssueDraft],
    ) -> Result<Vec<Result<IssueReference, IssueRefusal>>, TrackerError> {
        let [draft] = drafts else {
            return Err(TrackerError::Refused("GitHub creates one issue at a time.".to_owned()));
        };
        let created = self.with(access, async |api| issues::create(api, &access.site, target, draft).await).await?;
        Ok(vec![created])
    }

    async fn find_marked(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        since: Time,
        _: Time,
    ) -> Result<Vec<MarkedIssue>, TrackerError> {
        let find = async |api: GitHubApi<'_>| {
            let user = user(api).await?;
            issues::find_marked(api, &access.site, target, &user.login, since).await
        };
        self.with(access, find).await
    }

    async fn read(&self, access: &TrackerAccess, issue_ids: &[String]) -> Result<Vec<CurrentIssue>, TrackerError> {
        self.with(access, async |api| issues::read(api, &access.site, issue_ids).await).await
    }

    fn fingerprint(&self, _: &TrackerAccess, _: &IssueTarget, draft: &IssueDraft) -> String {
        // A draft that is too long is in no issue, so that its fingerprint must equal none.
        IssueMarkdown::of(draft, &TickedCriteria::default()).map(|issue| issue.fingerprint()).unwrap_or_default()
    }

    async fn update(
        &self,
        access: &TrackerAccess,
        _: &IssueTarget,
        issue_id: &str,
        draft: &IssueDraft,
    ) -> Result<Result<(), IssueRefusal>, TrackerError> {
        self.with(access, async |api| issues::update(api, issue_id, draft).await).await
    }

    fn check(&self, _: &TrackerAccess, _: &IssueTarget, draft: &IssueDraft) -> Result<(), IssueRefusal> {
        IssueMarkdown::of(draft, &TickedCriteria::default()).map(drop)
    }
}

#[cfg(test)]
mod tests;
