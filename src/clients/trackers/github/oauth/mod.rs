//! GitHub's OAuth for web applications, of OAuth apps and of GitHub Apps.
//!
//! GitHub answers a refused code with the status 200 and a field `error`, which the crate `oauth2` can't read.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::answers::{GitHubEffect, success, unanswered};
use super::api::{accepting, address};
use crate::clients::trackers::http::{TrackerAnswer, TrackerHttp, words};
use crate::clients::trackers::{TrackerError, TrackerOAuth, TrackerSite, TrackerTokens};

/// Reads and writes issues of all repositories that the user may; GitHub has no narrower scope for private ones.
const SCOPE: &str = "repo";
/// Errors that are not about the code or the refresh token, but about this server's application.
const OF_APPLICATION: [&str; 4] =
    ["incorrect_client_credentials", "redirect_uri_mismatch", "application_suspended", "unsupported_grant_type"];

/// This server's application at GitHub.
#[derive(Clone)]
pub struct GitHubOAuthSettings {
    pub client_id: String,
    pub client_secret: String,
    pub redirect_url: String,
    /// Where users permit the access: `https://github.com`.
    pub web_url: String,
}

/// The OAuth side of GitHub.
pub struct GitHubOAuth {
    settings: GitHubOAuthSettings,
    api_url: String,
    site: TrackerSite,
    http: TrackerHttp,
}

#[derive(Deserialize)]
struct GitHubTokens {
    access_token: Option<String>,
    #[serde(default)]
    scope: String,
    expires_in: Option<u64>,
    refresh_token: Option<String>,
    error: Option<String>,
    #[serde(default)]
    error_description: String,
}

impl GitHubOAuth {
    pub fn new(settings: GitHubOAuthSettings, api_url: String, site: TrackerSite, http: TrackerHttp) -> Self {
        Self { settings, api_url, site, http }
    }

    async fn tokens(&self, form: &[(&str, &str)]) -> Result<TrackerTokens, TrackerError> {
        let GitHubOAuthSettings { client_id, client_secret, web_url, .. } = &self.settings;
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("client_id", client_id), ("client_secret", client_secret)])
            .extend_pairs(form)
            .finish();
        let failed = |failure| unanswered(failure, GitHubEffect::Writes);
        let url = address(web_url, &["login", "oauth", "access_token"], &[])?;
        let request = self.http.request(Method::POST, &url).map_err(failed)?;
        let request = request.header(ACCEPT, "application/json");
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
        tokens_in(self.http.send(request).await.map_err(failed)?)
    }
}

#[async_trait]
impl TrackerOAuth for GitHubOAuth {
    fn authorize_url(&self, state: &str, verifier: &str) -> String {
        let GitHubOAuthSettings { client_id, redirect_url, web_url, .. } = &self.settings;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("client_id", &**client_id), ("redirect_uri", redirect_url), ("scope", SCOPE)])
            .extend_pairs([("state", state), ("code_challenge", &challenge), ("code_challenge_method", "S256")])
            .finish();
        format!("{}/login/oauth/authorize?{query}", web_url.trim_end_matches('/'))
    }

    async fn exchange(&self, code: &str, verifier: &str) -> Result<TrackerTokens, TrackerError> {
        let redirect_url = &self.settings.redirect_url;
        self.tokens(&[("code", code), ("redirect_uri", redirect_url), ("code_verifier", verifier)]).await
    }

    async fn refresh(&self, refresh: &str) -> Result<TrackerTokens, TrackerError> {
        self.tokens(&[("grant_type", "refresh_token"), ("refresh_token", refresh)]).await
    }

    async fn revoke(&self, tokens: &TrackerTokens) -> Result<(), TrackerError> {
        let GitHubOAuthSettings { client_id, client_secret, .. } = &self.settings;
        let failed = |failure| unanswered(failure, GitHubEffect::Writes);
        let url = address(&self.api_url, &["applications", client_id, "token"], &[])?;
        let request = accepting(self.http.request(Method::DELETE, &url).map_err(failed)?);
        let request = request.basic_auth(client_id, Some(client_secret));
        let request = request.json(&json!({ "access_token": tokens.access }));
        let answer = self.http.send(request).await.map_err(failed)?;
        match answer.status {
            // The token is not valid any more.
            404 | 422 => Ok(()),
            _ => success(answer, GitHubEffect::Writes).map(drop),
        }
    }

    async fn sites(&self, _: &str) -> Result<Vec<TrackerSite>, TrackerError> {
        Ok(vec![self.site.clone()])
    }
}

fn tokens_in(answer: TrackerAnswer) -> Result<TrackerTokens, TrackerError> {
    if matches!(answer.status, 401 | 404) {
        return Err(TrackerError::Forbidden("GitHub does not know this server's OAuth application.".to_owned()));
    }
    let answer = success(answer, GitHubEffect::Writes)?;
    // What can't be read is not shown: it may contain tokens.
    let said: GitHubTokens = answer.json().map_err(TrackerError::InDoubt)?;
    if let Some(error) = said.error {
        let why = words(&format!("{error}: {}", said.error_description));
        return Err(if OF_APPLICATION.contains(&&*error) {
            TrackerError::Forbidden(why)
        } else {
            TrackerError::Refused(why)
        });
    }
    let access = said.access_token.filter(|token| !token.is_empty());
    Ok(TrackerTokens {
        access: access.ok_or_else(|| TrackerError::InDoubt("its answer has no token".to_owned()))?,
        refresh: said.refresh_token.filter(|token| !token.is_empty()),
        expires_in: said.expires_in.map(Duration::from_secs),
        scopes: said.scope.split([',', ' ']).filter(|scope| !scope.is_empty()).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests;
