//! Issue trackers: one trait, and a folder for each provider.
//!
//! ```text
//! sign-in (OAuth or a token) -> sites -> projects -> issue types with their fields -> issues: create, find, read, update
//! ```
//! A provider renders a [`IssueDraft`] in its own markup and marks the issue with the draft's marker, in a place that people
//! neither see nor change by accident, in the call that creates it: so that an issue whose creation was not confirmed can be
//! found before it is created again. Nothing here creates an issue twice by itself: calls are never repeated, and a call that
//! may have had an effect fails with [`TrackerError::InDoubt`].

pub mod github;
pub mod http;
pub mod jira;
pub mod model;

use std::time::Duration;

use actors::time::Time;
use async_trait::async_trait;

pub use model::{
    AllowedChild, AllowedValue, CurrentIssue, IssueBlock, IssueDraft, IssueField, IssueFieldKind, IssueForm,
    IssueReference, IssueRefusal, IssueTarget, MarkedIssue, TrackerAccess, TrackerAccount, TrackerIssueState,
    TrackerLogin, TrackerProjectOption, TrackerProjectPage, TrackerProvider, TrackerSite, TrackerTokens,
};

/// Why a call failed. The texts are the tracker's own words, or for the log; they never contain a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackerError {
    /// The tracker can't be reached, or answers that it is unavailable. Nothing was changed.
    Away(String),
    /// No answer, a cut one, or a server error, to a call that may have changed something.
    InDoubt(String),
    /// Too many calls. Nothing was changed.
    Limited { pause: Duration, reason: String, is_of_issue: bool },
    /// The login is not valid, or not any more. Nothing was changed.
    Unauthorized(String),
    /// The account may not do this. Nothing was changed.
    Forbidden(String),
    /// There is no such thing, or the account may not see it. Nothing was changed.
    Missing(String),
    /// The request was refused as a whole. Nothing was changed.
    Refused(String),
    /// The answer to a call that changes nothing is not in a known form.
    Invalid(String),
}

/// The OAuth side of a tracker.
#[async_trait]
pub trait TrackerOAuth: Send + Sync {
    /// Returns the address at which the user permits the access. `verifier` is the PKCE secret of this sign-in.
    fn authorize_url(&self, state: &str, verifier: &str) -> String;

    /// Exchanges a code for tokens. `Refused` if the code is not valid.
    async fn exchange(&self, code: &str, verifier: &str) -> Result<TrackerTokens, TrackerError>;

    /// Exchanges a refresh token, which may be used up by that. `Refused` if it is not valid any more.
    async fn refresh(&self, refresh: &str) -> Result<TrackerTokens, TrackerError>;

    /// Revokes tokens, where the tracker can do that.
    async fn revoke(&self, tokens: &TrackerTokens) -> Result<(), TrackerError>;

    /// Returns the sites that an access token permits to use.
    async fn sites(&self, access: &str) -> Result<Vec<TrackerSite>, TrackerError>;
}

/// An issue tracker. Each function makes the calls that it needs, once each.
#[async_trait]
pub trait Tracker: Send + Sync {
    /// `None` if this server has no OAuth application there.
    fn oauth(&self) -> Option<&dyn TrackerOAuth>;

    /// Checks a token connection's address, and returns it without a trailing slash.
    ///
    /// # Errors
    /// Returns what is wrong with it, for the user.
    fn base_url(&self, given: &str) -> Result<String, String>;

    /// Returns the only site of a token connection.
    async fn site_of(&self, login: &TrackerLogin) -> Result<TrackerSite, TrackerError>;

    async fn account(&self, access: &TrackerAccess) -> Result<TrackerAccount, TrackerError>;

    /// Returns a page of projects whose name or key contains `search`. Pages count from 1.
    async fn projects(
        &self,
        access: &TrackerAccess,
        search: Option<&str>,
        page: u64,
        page_size: u64,
    ) -> Result<TrackerProjectPage, TrackerError>;

    async fn project(&self, access: &TrackerAccess, project_id: &str) -> Result<TrackerProjectOption, TrackerError>;

    /// Returns the issue types of a project whose issues can stand alone.
    async fn issue_forms(&self, access: &TrackerAccess, project_id: &str) -> Result<Vec<IssueForm>, TrackerError>;

    /// How many issues one call creates at most.
    fn batch(&self) -> usize;

    /// The limits of creating content: at most so many creations within so long, for each login. The caller keeps the times
    /// and waits before a call that would exceed one; empty where the tracker says itself when to wait.
    fn pace(&self) -> &[(u32, Duration)] {
        &[]
    }

    /// Creates issues, and returns what became of each draft, in their order. Any error but [`TrackerError::InDoubt`] means
    /// that none was created.
    async fn create(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        drafts: &[IssueDraft],
    ) -> Result<Vec<Result<IssueReference, IssueRefusal>>, TrackerError>;

    /// Returns the issues with a marker that this account created in the project since a time. `now` is this server's time:
    /// a tracker is told how long ago that was, so that its clock and its time zone don't matter.
    async fn find_marked(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        since: Time,
        now: Time,
    ) -> Result<Vec<MarkedIssue>, TrackerError>;

    /// Returns issues as they are now, by their ids; those that are gone are missing in the answer. Takes any number of ids.
    async fn read(&self, access: &TrackerAccess, issue_ids: &[String]) -> Result<Vec<CurrentIssue>, TrackerError>;

    /// Returns what [`CurrentIssue::fingerprint`] of an issue is that was created from a draft. The markup, and so the
    /// fingerprint, may depend on the kind of login.
    fn fingerprint(&self, access: &TrackerAccess, target: &IssueTarget, draft: &IssueDraft) -> String;

    /// Replaces title and description of an issue. Safe to repeat.
    async fn update(
        &self,
        access: &TrackerAccess,
        target: &IssueTarget,
        issue_id: &str,
        draft: &IssueDraft,
    ) -> Result<Result<(), IssueRefusal>, TrackerError>;

    /// Checks a draft without sending anything.
    ///
    /// # Errors
    /// Returns why the tracker would refuse it.
    fn check(&self, access: &TrackerAccess, target: &IssueTarget, draft: &IssueDraft) -> Result<(), IssueRefusal>;
}
