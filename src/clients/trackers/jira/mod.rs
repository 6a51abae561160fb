//! Jira: the Cloud by OAuth or with an API token, and the Data Center with a personal access token.
//!
//! ```text
//! calls: what is sent to a site and what a refusal means   dialect: where Cloud and Data Center differ
//! oauth, forms, search, issues: the operations             text, adf, wiki, fingerprint: what an issue says
//! ```
//! An issue carries its story's id in the property `colloquy`, which is set in the call that creates it and is not shown to
//! people.

mod adf;
mod calls;
mod dialect;
mod fingerprint;
mod forms;
mod issues;
mod oauth;
mod projects;
mod search;
mod text;
mod wiki;

use actors::time::Time;
use async_trait::async_trait;
use serde::Deserialize;
use url::Url;

use self::calls::JiraApi;
use self::dialect::{JiraDialect, MyselfAnswer};
use self::oauth::JiraOAuth;
use super::http::{TrackerHttp, words};
use super::{
    CurrentIssue, IssueDraft, IssueForm, IssueReference, IssueRefusal, IssueTarget, MarkedIssue, Tracker,
    TrackerAccess, TrackerAccount, TrackerError, TrackerLogin, TrackerOAuth, TrackerProjectOption, TrackerProjectPage,
    TrackerSite,
};

pub use self::oauth::JiraOAuthSettings;

/// The property of an issue that holds its marker, as `{"story": "…"}`.
const MARKER_KEY: &str = "colloquy";

/// How this server reaches Jira.
#[derive(Clone)]
pub struct JiraSettings {
    /// `None` if only tokens can be used.
    pub oauth: Option<JiraOAuthSettings>,
}

/// A client of Jira.
pub struct Jira {
    oauth: Option<JiraOAuth>,
    http: TrackerHttp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerInfoAnswer {
    server_title: Option<String>,
}

impl Jira {
    #[must_use]
    pub fn new(settings: JiraSettings, http: TrackerHttp) -> Self {
        let oauth = settings.oauth.map(|settings| JiraOAuth { settings, http: http.clone() });
        Self { oauth, http }
    }

    fn api<'a>(&'a self, access: &'a TrackerAccess) -> Result<JiraApi<'a>, TrackerError> {
        self.api_of(&access.login, &access.site.id, &access.site.url)
    }

    fn api_of<'a>(
        &'a self,
        login: &'a TrackerLogin,
        site_id: &str,
        site_url: &'a str,
    ) -> Result<JiraApi<'a>, TrackerError> {
        let dialect = JiraDialect::of(login);
        let root = match (login, &self.oauth) {
            (TrackerLogin::OAuth { .. }, Some(oauth)) => oauth.root(site_id, dialect.version())?,
            (TrackerLogin::OAuth { .. }, None) => {
                return Err(TrackerError::Refused("This server has no OAuth application at Atlassian.".to_owned()));
            }
            (TrackerLogin::Token { base_url, .. }, _) => format!("{base_url}/rest/api/{}", dialect.version()),
        };
        Ok(JiraApi { http: &self.http, login, root, site_url, dialect })
    }
}

#[async_trait]
impl Tracker for Jira {
    fn oauth(&self) -> Option<&dyn TrackerOAuth> {
        self.oauth.as_ref().map(|oauth| oauth as &dyn TrackerOAuth)
    }

    fn base_url(&self, given: &str) -> Result<String, String> {
        self.http.base_url(given)
    }

    async fn site_of(&self, login: &TrackerLogin) -> Result<TrackerSite, TrackerError> {
        let TrackerLogin::Token { base_url, .. } = login else {
            return Err(TrackerError::Refused("The sites of an OAuth login are asked for at Atlassian.".to_owned()));
        };
        let id = site_id(base_url)?;
        let info: ServerInfoAnswer = self.api_of(login, &id, base_url)?.get("/serverInfo", &[]).await?;
        let title = info.server_title.map(|title| words(title.trim())).filter(|title| !title.is_empty());
        Ok(TrackerSite { name: title.unwrap_or_else(|| id.clone()), id, url: base_url.clone() })
    }

    async fn account(&self, access: &TrackerAccess) -> Result<TrackerAccount, TrackerError> {
        let api = self.api(access)?;
        let myself: MyselfAnswer = api.get("/myself", &[]).await?;
        let id = api.dialect.account_id(&myself);
        let id = id.ok_or_else(|| TrackerError::Invalid("the account has no id".to_owned()))?;
        Ok(TrackerAccount { name: myself.display_name.map_or_else(|| id.clone(), |name| words(&name)), id })
    }

    async fn projects(
        &self,
        access: &TrackerAccess,
        search: Option<&str>,
        page: u64,
        page_size: u64,
    ) -> Result<TrackerProjectPage, TrackerError> {
        projects::page(&self.api(access)?, search, page, page_size).await
    }

    async fn project(&self, access: &TrackerAccess, project_id: &str) -> Result<TrackerProjectOption, TrackerError> {
        projects::one(&self.api(access)?, project_id).await
    }

    async fn issue_forms(&self, access: &TrackerAccess, project_id: &str) -> Result<Vec<IssueForm>, TrackerError> {
        forms::issue_forms(&self.api(access)?, project_id).await
    }

    fn batch(&self) -> usize {
        issues::BATCH
    }

    async fn create(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        drafts: &[IssueDraft],
    ) -> Result<Vec<Result<IssueReference, IssueRefusal>>, TrackerError> {
        issues::create(&self.api(access)?, target, drafts).await
    }

    async fn find_marked(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        since: Time,
        now: Time,
    ) -> Result<Vec<MarkedIssue>, TrackerError> {
        search::find_marked(&self.api(access)?, &target.project_id, since, now).await
    }

    async fn read(&self, access: &TrackerAccess, issue_ids: &[String]) -> Result<Vec<CurrentIssue>, TrackerError> {
        search::read(&self.api(access)?, issue_ids).await
    }

    /// That of an empty text for a draft that can't be rendered: no issue was created from it.
    fn fingerprint(&self, access: &TrackerAccess, _target: &IssueTarget, draft: &IssueDraft) -> String {
        let rendered = JiraDialect::of(&access.login).render(draft);
        rendered.map_or_else(|_| fingerprint::fingerprint("", &serde_json::Value::Null), |issue| issue.fingerprint())
    }

    async fn update(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        issue_id: &str,
        draft: &IssueDraft,
    ) -> Result<Result<(), IssueRefusal>, TrackerError> {
        issues::update(&self.api(access)?, target, issue_id, draft).await
    }

    fn check(&self, access: &TrackerAccess, target: &IssueTarget, draft: &IssueDraft) -> Result<(), IssueRefusal> {
        issues::fields(JiraDialect::of(&access.login), target, draft).map(drop)
    }
}

/// The host and the path of an address: what a site is known by that has no id of its own.
fn site_id(base_url: &str) -> Result<String, TrackerError> {
    let url = Url::parse(base_url).map_err(|error| TrackerError::Refused(error.to_string()))?;
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Ok(format!("{host}{port}{}", url.path().trim_end_matches('/')))
}

fn reference(site_url: &str, id: String, key: String) -> IssueReference {
    IssueReference { url: format!("{}/browse/{key}", site_url.trim_end_matches('/')), id, key }
}

/// Whether a picture may be shown.
fn secure_url(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "https")
}

#[cfg(test)]
mod tests;
