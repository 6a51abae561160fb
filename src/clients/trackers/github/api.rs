//! Calls to GitHub's REST API with one login.

use reqwest::header::ACCEPT;
use reqwest::{Method, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::answers::{GitHubEffect, success, unanswered};
use crate::clients::trackers::TrackerError;
use crate::clients::trackers::http::{TrackerAnswer, TrackerHttp};

/// The version of the API that its answers are read in. GitHub supports it until March 2028 at least, and so do all supported
/// versions of GitHub Enterprise Server.
const VERSION: &str = "2022-11-28";
/// The largest size of a page.
pub const PAGE: usize = 100;

/// Calls with a login.
#[derive(Clone, Copy)]
pub struct GitHubApi<'a> {
    pub http: &'a TrackerHttp,
    pub url: &'a str,
    pub token: &'a str,
}

impl GitHubApi<'_> {
    /// Reads from a path, such as `["repos", "acme", "clinic"]`.
    pub async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, &str)]) -> Result<T, TrackerError> {
        let request = self.request(Method::GET, path, query)?;
        let answer = self.http.send(request).await.map_err(|failure| unanswered(failure, GitHubEffect::Reads))?;
        success(answer, GitHubEffect::Reads)?.json().map_err(TrackerError::Invalid)
    }

    /// Reads all pages of a list, at most `pages`. Returns whether that was all.
    pub async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        pages: usize,
    ) -> Result<(Vec<T>, bool), TrackerError> {
        let mut items = Vec::new();
        for page in 1..=pages {
            let (page, size) = (page.to_string(), PAGE.to_string());
            let query = [query, &[("per_page", &*size), ("page", &*page)]].concat();
            let more: Vec<T> = self.get(path, &query).await?;
            let is_last = more.len() < PAGE;
            items.extend(more);
            if is_last {
                return Ok((items, true));
            }
        }
        Ok((items, false))
    }

    /// Sends a call that creates or changes something.
    pub async fn send(&self, method: Method, path: &[&str], body: &Value) -> Result<TrackerAnswer, TrackerError> {
        let request = self.request(method, path, &[])?.json(body);
        self.http.send(request).await.map_err(|failure| unanswered(failure, GitHubEffect::Writes))
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> Result<RequestBuilder, TrackerError> {
        if self.token.is_empty() || !self.token.chars().all(|sign| sign.is_ascii_graphic()) {
            return Err(TrackerError::Unauthorized("This is no token of GitHub.".to_owned()));
        }
        let url = address(self.url, path, query)?;
        let request = self.http.request(method, &url);
        let request = request.map_err(|failure| unanswered(failure, GitHubEffect::Reads))?;
        Ok(accepting(request).bearer_auth(self.token))
    }
}

/// Adds the form and version of the answer to a request.
pub fn accepting(request: RequestBuilder) -> RequestBuilder {
    request.header(ACCEPT, "application/vnd.github+json").header("x-github-api-version", VERSION)
}

/// Returns an address below another. Parts of the path can't lead to another place than their own.
///
/// # Errors
/// `Missing` if there can't be such a thing.
pub fn address(base: &str, path: &[&str], query: &[(&str, &str)]) -> Result<String, TrackerError> {
    let mut url = Url::parse(base).map_err(|error| TrackerError::Away(format!("{base} is no address: {error}")))?;
    if path.iter().any(|part| part.is_empty() || matches!(*part, "." | "..")) {
        return Err(TrackerError::Missing("GitHub has no such thing.".to_owned()));
    }
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url.into())
}
