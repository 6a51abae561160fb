//! Atlassian's OAuth 2.0 (3LO): the sign-in of a user, and the sites that it permits.
//!
//! Atlassian documents no endpoint that revokes tokens: an access token ends after an hour, a refresh token when it is not used
//! for 90 days, and both when the user removes the app from their account's connected apps.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::form_urlencoded::Serializer;

use super::super::http::{TrackerHttp, words};
use super::super::{TrackerError, TrackerOAuth, TrackerSite, TrackerTokens};
use super::adf::web_address;
use super::calls::{CallEffect, call_failed, failure};

/// What is asked for. `offline_access` is for a refresh token.
const SCOPES: &str = "read:jira-work write:jira-work read:jira-user offline_access";
/// The scope without which no issue can be created.
const NEEDED_SCOPE: &str = "write:jira-work";

/// The OAuth application that the server's operator registered at Atlassian.
#[derive(Clone)]
pub struct JiraOAuthSettings {
    pub client_id: String,
    pub client_secret: String,
    /// Where the user comes back with a code.
    pub redirect_url: String,
    /// `https://auth.atlassian.com`, without a trailing slash.
    pub auth_url: String,
    /// `https://api.atlassian.com`, without a trailing slash.
    pub api_url: String,
}

/// A client of Atlassian's authorization server.
pub(super) struct JiraOAuth {
    pub settings: JiraOAuthSettings,
    pub http: TrackerHttp,
}

#[derive(Deserialize)]
struct JiraTokenAnswer {
    access_token: String,
    refresh_token: Option<String>,
    expires_in: Option<u64>,
    #[serde(default)]
    scope: String,
}

#[derive(Deserialize)]
struct AccessibleResource {
    id: String,
    name: String,
    url: String,
    #[serde(default)]
    scopes: Vec<String>,
}

impl JiraOAuth {
    /// The interface of a site.
    ///
    /// # Errors
    /// `Missing` for what can't be the id of a site.
    pub(super) fn root(&self, site_id: &str, version: u8) -> Result<String, TrackerError> {
        if !is_site_id(site_id) {
            return Err(TrackerError::Missing("Jira has no site with such an id.".to_owned()));
        }
        Ok(format!("{}/ex/jira/{site_id}/rest/api/{version}", self.settings.api_url))
    }

    /// Asks for tokens. The answer is in doubt where a code or a refresh token may have been used up without one.
    async fn tokens(&self, grant: Value) -> Result<TrackerTokens, TrackerError> {
        let url = format!("{}/oauth/token", self.settings.auth_url);
        let request = self.http.request(Method::POST, &url);
        let request = request.map_err(|failure| call_failed(&failure, CallEffect::Change))?.json(&grant);
        let answer = self.http.send(request).await.map_err(|failure| call_failed(&failure, CallEffect::Change))?;
        if !answer.is_success() {
            let said: Value = answer.json().unwrap_or_default();
            let is_of_grant = matches!(answer.status, 400 | 403) && said.get("error") == Some(&json!("invalid_grant"));
            // A code and a refresh token are as secret as what they are exchanged for.
            let secrets = ["code", "code_verifier", "refresh_token", "client_secret"];
            let secrets = secrets.map(|key| grant.get(key).and_then(Value::as_str).unwrap_or_default());
            return Err(match failure(&answer, CallEffect::Change, &secrets) {
                TrackerError::Forbidden(text) if is_of_grant => TrackerError::Refused(text),
                // Such as a wrong address in this server's settings: to sign in again does not help.
                TrackerError::Refused(text) if !is_of_grant => TrackerError::Forbidden(text),
                other => other,
            });
        }
        // The reason why it can't be read could show a token.
        let tokens: JiraTokenAnswer =
            answer.json().map_err(|_| TrackerError::InDoubt("its tokens can't be read".to_owned()))?;
        if tokens.access_token.is_empty() {
            return Err(TrackerError::InDoubt("its access token is empty".to_owned()));
        }
        Ok(TrackerTokens {
            access: tokens.access_token,
            refresh: tokens.refresh_token.filter(|token| !token.is_empty()),
            expires_in: tokens.expires_in.map(Duration::from_secs),
            scopes: tokens.scope.split_whitespace().map(str::to_owned).collect(),
        })
    }
}

#[async_trait]
impl TrackerOAuth for JiraOAuth {
    fn authorize_url(&self, state: &str, verifier: &str) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let query = Serializer::new(String::new())
            .extend_pairs([
                ("audience", "api.atlassian.com"),
                ("client_id", &self.settings.client_id),
                ("scope", SCOPES),
                ("redirect_uri", &self.settings.redirect_url),
                ("state", state),
                ("response_type", "code"),
                ("prompt", "consent"),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
            ])
            .finish();
        format!("{}/authorize?{query}", self.settings.auth_url)
    }

    async fn exchange(&self, code: &str, verifier: &str) -> Result<TrackerTokens, TrackerError> {
        let grant = json!({
            "grant_type": "authorization_code",
            "client_id": self.settings.client_id,
            "client_secret": self.settings.client_secret,
            "code": code,
            "redirect_uri": self.settings.redirect_url,
            "code_verifier": verifier,
        });
        self.tokens(grant).await
    }

    async fn refresh(&self, refresh: &str) -> Result<TrackerTokens, TrackerError> {
        let grant = json!({
            "grant_type": "refresh_token",
            "client_id": self.settings.client_id,
            "client_secret": self.settings.client_secret,
            "refresh_token": refresh,
        });
        self.tokens(grant).await
    }

    /// Does nothing: Atlassian documents no endpoint for it.
    async fn revoke(&self, _tokens: &TrackerTokens) -> Result<(), TrackerError> {
        Ok(())
    }

    async fn sites(&self, access: &str) -> Result<Vec<TrackerSite>, TrackerError> {
        let url = format!("{}/oauth/token/accessible-resources", self.settings.api_url);
        let request = self.http.request(Method::GET, &url);
        let request = request.map_err(|failure| call_failed(&failure, CallEffect::None))?.bearer_auth(access);
        let answer = self.http.send(request).await.map_err(|failure| call_failed(&failure, CallEffect::None))?;
        if !answer.is_success() {
            return Err(failure(&answer, CallEffect::None, &[access]));
        }
        let resources: Vec<AccessibleResource> = answer.json().map_err(TrackerError::Invalid)?;
        Ok(usable(resources))
    }
}

/// The sites where issues can be created. A site is listed once for each of its products.
fn usable(resources: Vec<AccessibleResource>) -> Vec<TrackerSite> {
    let mut seen = BTreeSet::new();
    let sites = resources.into_iter().filter_map(|resource| {
        let is_usable = resource.scopes.iter().any(|scope| scope == NEEDED_SCOPE)
            && is_site_id(&resource.id)
            && web_address(&resource.url).is_some_and(|url| url.scheme() == "https")
            && seen.insert(resource.id.clone());
        let url = resource.url.trim().trim_end_matches('/').to_owned();
        is_usable.then(|| TrackerSite { id: resource.id, name: words(&resource.name), url })
    });
    sites.collect()
}

fn is_site_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'-')
}

#[cfg(test)]
mod tests;
