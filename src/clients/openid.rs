//! A client of one OpenID provider: builds the log-in URL and identifies the user who comes back.
//!
//! The discovery document of the provider and its keys are fetched on demand and cached for an hour; a key id that is
//! not in the cache causes one more fetch. Requests go to the configured discovery URL and to the URLs in that
//! document, without following redirects, each with a timeout and a limit on the size of the response. No response is
//! trusted until the signature of the ID token is verified.
//!
//! The flow is implemented with the crate `oauth2`, tokens with `jsonwebtoken`. The crate `openidconnect` would do
//! both, but it depends on the crate `rsa`, which has an open advisory (RUSTSEC-2023-0071).

use std::fmt;
use std::time::{Duration, Instant};

use actors::time::{NumericDate, Time};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet,
    ExtraTokenFields, HttpRequest, HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    Scope, StandardRevocableToken, StandardTokenResponse, TokenResponse, TokenUrl,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use url::Url;

use super::without_url;

/// The signature algorithms that Google and most other providers use; no other is accepted, whatever the header of a
/// token says.
const ALGORITHMS: [Algorithm; 2] = [Algorithm::RS256, Algorithm::ES256];
const CACHED_FOR: Duration = Duration::from_secs(3600);
/// For this long after a failed fetch, further requests fail immediately instead of waiting for the same failure.
const PAUSE: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// Tolerated difference between the provider's clock and this server's.
const LEEWAY: Duration = Duration::from_secs(30);

/// The address of a provider, and the credentials of this server as its client.
#[derive(Debug, Clone)]
pub struct OpenIdSettings {
    pub client_id: String,
    pub client_secret: String,
    pub discovery_url: String,
    pub issuer: String,
    /// A second spelling of the issuer that ID tokens may use.
    pub issuer_alias: Option<String>,
    pub redirect_url: String,
}

/// An OpenID provider, with its cached discovery document and keys.
pub struct OpenId {
    settings: OpenIdSettings,
    http: reqwest::Client,
    known: Mutex<CachedProvider>,
}

/// What was fetched from the provider, and when.
#[derive(Default)]
struct CachedProvider {
    description: Option<(Time, ProviderMetadata)>,
    keys: Option<(Time, Vec<Jwk>)>,
    /// When the last fetch failed; `None` after a success.
    failed: Option<Instant>,
}

/// Why a log-in at the provider could not be started or completed. The texts are for the log.
#[derive(Debug)]
pub enum OpenIdError {
    /// The provider is unreachable or temporarily unavailable.
    Unavailable(String),
    /// The provider violated the standard, or its token is not valid.
    Wrong(String),
    /// The provider rejected the request.
    Refused(String),
}

/// The identity of a user at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Unique to the user at this issuer and never reassigned or changed, unlike an e-mail address.
    pub subject: String,
    pub email: Option<String>,
    pub email_verified: bool,
    pub name: Option<String>,
    pub locale: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct ProviderMetadata {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WithIdToken {
    id_token: String,
}
impl ExtraTokenFields for WithIdToken {}

type AuthorizationFlow<Auth = EndpointNotSet, Token = EndpointNotSet> = Client<
    BasicErrorResponse,
    StandardTokenResponse<WithIdToken, BasicTokenType>,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    Auth,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    Token,
>;

#[derive(Debug, Deserialize)]
struct IdTokenClaims {
    sub: String,
    aud: AudienceClaim,
    azp: Option<String>,
    exp: NumericDate,
    iat: NumericDate,
    nonce: Option<String>,
    at_hash: Option<String>,
    email: Option<String>,
    #[serde(default)]
    email_verified: bool,
    name: Option<String>,
    locale: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum AudienceClaim {
    One(String),
    Several(Vec<String>),
}

impl OpenId {
    /// # Errors
    /// Returns a message when no HTTP client can be created.
    pub fn new(settings: OpenIdSettings) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIMEOUT)
            .connect_timeout(TIMEOUT)
            .user_agent("Colloquy")
            .build()
            .map_err(|error| format!("the OpenID provider's client can't be created: {error}"))?;
        Ok(Self { settings, http, known: Mutex::default() })
    }

    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// Returns the URL at which the user logs in, and which sends the user back with a code. `verifier` is the PKCE
    /// secret of this log-in.
    ///
    /// # Errors
    /// `Unavailable` when the provider is unreachable; `Wrong` when its discovery document is invalid.
    pub async fn authorize_url(
        &self,
        state: &str,
        nonce: &str,
        verifier: &str,
        now: Time,
    ) -> Result<String, OpenIdError> {
        let flow = self.flow(&self.description(now).await?)?;
        let verifier = PkceCodeVerifier::new(verifier.to_owned());
        let (url, _) = flow
            .authorize_url(|| CsrfToken::new(state.to_owned()))
            .add_scopes(["openid", "email", "profile"].map(|scope| Scope::new(scope.to_owned())))
            .add_extra_param("nonce", nonce)
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    /// Exchanges `code` for tokens and returns the identity in the verified ID token.
    ///
    /// # Errors
    /// `Refused` when the provider rejects the code; `Unavailable` when it is unreachable; `Wrong` when its ID token is
    /// not valid for this log-in.
    pub async fn identify(&self, code: &str, verifier: &str, nonce: &str, now: Time) -> Result<Identity, OpenIdError> {
        let description = self.description(now).await?;
        // Cloned, so that the future borrows nothing during the request.
        let http = self.http.clone();
        let call = move |request| call(http.clone(), request);
        let answered = self
            .flow(&description)?
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()))
            .request_async(&call)
            .await;
        let tokens = answered.map_err(|error| match error {
            RequestTokenError::ServerResponse(said) => {
                OpenIdError::Refused(format!("the code was refused: {}", said.error()))
            }
            RequestTokenError::Request(why) => OpenIdError::Unavailable(why.0),
            // Leaves out the body that could not be parsed: it may contain tokens.
            RequestTokenError::Parse(why, _) => {
                OpenIdError::Wrong(format!("its token response is invalid: {}", why.inner()))
            }
            RequestTokenError::Other(why) => OpenIdError::Wrong(why),
        })?;
        let claims = self.verified(&description, &tokens.extra_fields().id_token, now).await?;
        self.checked(claims, tokens.access_token().secret(), nonce, now)
    }

    /// Returns the claims of an ID token after verifying its signature, issuer and audience.
    async fn verified(
        &self,
        description: &ProviderMetadata,
        id_token: &str,
        now: Time,
    ) -> Result<IdTokenClaims, OpenIdError> {
        let wrong = |what: &str| OpenIdError::Wrong(format!("its ID token: {what}"));
        let header = decode_header(id_token).map_err(|_| wrong("no header"))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(wrong("unsupported algorithm"));
        }
        let kid = header.kid.as_deref().ok_or_else(|| wrong("no key id"))?;
        let key = self.key(description, kid, now).await?.ok_or_else(|| wrong("unknown key id"))?;
        let names_another = |name: &str| key.common.key_algorithm.is_some_and(|own| own.to_string() != name);
        if names_another(&format!("{:?}", header.alg))
            || key.common.public_key_use.as_ref().is_some_and(|used| *used != PublicKeyUse::Signature)
        {
            return Err(wrong("the key has another purpose"));
        }
        let key = DecodingKey::from_jwk(&key).map_err(|_| wrong("the key is unusable"))?;
        let mut validation = Validation::new(header.alg);
        let alias = self.settings.issuer_alias.as_deref();
        validation.set_issuer(&[Some(self.issuer()), alias].into_iter().flatten().collect::<Vec<_>>());
        validation.set_audience(&[&self.settings.client_id]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Compared with this server's clock, in `checked`.
        validation.validate_exp = false;
        let decoded = decode::<IdTokenClaims>(id_token, &key, &validation);
        Ok(decoded.map_err(|error| wrong(&format!("{:?}", error.kind())))?.claims)
    }

    /// Checks what the signature does not cover: that the token is meant for this client alone, for this log-in, and
    /// for the present time.
    fn checked(
        &self,
        claims: IdTokenClaims,
        access_token: &str,
        nonce: &str,
        now: Time,
    ) -> Result<Identity, OpenIdError> {
        let wrong = |what: &str| Err(OpenIdError::Wrong(format!("its ID token: {what}")));
        let ours = &self.settings.client_id;
        let is_for_others = match &claims.aud {
            AudienceClaim::One(party) => party != ours,
            AudienceClaim::Several(several) => several.len() > 1 && claims.azp.is_none(),
        };
        if is_for_others || claims.azp.as_ref().is_some_and(|party| party != ours) {
            return wrong("issued for another client");
        }
        if claims.exp.0 + LEEWAY <= now || claims.iat.0 > now + LEEWAY {
            return wrong("expired, or not valid yet");
        }
        if claims.nonce.as_deref() != Some(nonce) {
            return wrong("issued for another sign-in");
        }
        let digest = Sha256::digest(access_token);
        let half = digest.get(..16).map(|half| URL_SAFE_NO_PAD.encode(half));
        if claims.at_hash.is_some() && claims.at_hash != half {
            return wrong("issued with another access token");
        }
        if claims.sub.is_empty() || claims.sub.len() > 255 {
            return wrong("no subject");
        }
        Ok(Identity {
            subject: claims.sub,
            email: claims.email,
            email_verified: claims.email_verified,
            name: claims.name,
            locale: claims.locale,
        })
    }

    fn flow(&self, description: &ProviderMetadata) -> Result<AuthorizationFlow<EndpointSet, EndpointSet>, OpenIdError> {
        let methods = &description.token_endpoint_auth_methods_supported;
        let has = |name: &str| methods.iter().any(|method| method == name);
        // Basic authentication is the default where the provider lists no methods.
        let by_body = has("client_secret_post") && !has("client_secret_basic");
        let redirect = RedirectUrl::new(self.settings.redirect_url.clone());
        Ok(AuthorizationFlow::new(ClientId::new(self.settings.client_id.clone()))
            .set_client_secret(ClientSecret::new(self.settings.client_secret.clone()))
            .set_auth_type(if by_body { AuthType::RequestBody } else { AuthType::BasicAuth })
            .set_auth_uri(AuthUrl::from_url(description.authorization_endpoint.clone()))
            .set_token_uri(TokenUrl::from_url(description.token_endpoint.clone()))
            .set_redirect_uri(
                redirect.map_err(|error| OpenIdError::Wrong(format!("the redirect URL is invalid: {error}")))?,
            ))
    }

    async fn description(&self, now: Time) -> Result<ProviderMetadata, OpenIdError> {
        // The lock is held during the fetch: concurrent log-ins wait for that one request.
        let mut known = self.known.lock().await;
        if let Some((at, description)) = &known.description
            && now.since(*at) < CACHED_FOR
        {
            return Ok(description.clone());
        }
        let description: ProviderMetadata = self.fetch(&mut known, &self.settings.discovery_url).await?;
        if description.issuer != self.settings.issuer {
            return Err(OpenIdError::Wrong(format!("its description names the issuer {}", description.issuer)));
        }
        let is_secret = self.settings.discovery_url.starts_with("https://");
        let endpoints = [&description.authorization_endpoint, &description.token_endpoint, &description.jwks_uri];
        if is_secret && endpoints.iter().any(|url| url.scheme() != "https") {
            return Err(OpenIdError::Wrong("it announces endpoints without TLS".to_owned()));
        }
        known.description = Some((now, description.clone()));
        Ok(description)
    }

    /// Returns the provider's key with this id. Keys are rotated: for an id that is not in the cache the keys are
    /// fetched once more.
    async fn key(&self, description: &ProviderMetadata, kid: &str, now: Time) -> Result<Option<Jwk>, OpenIdError> {
        let mut known = self.known.lock().await;
        let named = |keys: &[Jwk]| keys.iter().find(|key| key.common.key_id.as_deref() == Some(kid)).cloned();
        if let Some((at, keys)) = &known.keys
            && now.since(*at) < CACHED_FOR
            && let Some(key) = named(keys)
        {
            return Ok(Some(key));
        }
        let set: KeySet = self.fetch(&mut known, description.jwks_uri.as_str()).await?;
        // Skips keys of an unknown type, so that they do not hide the others.
        let keys: Vec<Jwk> = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
        let key = named(&keys);
        known.keys = Some((now, keys));
        Ok(key)
    }

    async fn fetch<T: DeserializeOwned>(&self, known: &mut CachedProvider, url: &str) -> Result<T, OpenIdError> {
        if known.failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
            return Err(OpenIdError::Unavailable("it was unavailable a moment ago".to_owned()));
        }
        let fetched = self.fetch_now(url).await;
        known.failed = fetched.is_err().then(Instant::now);
        fetched
    }

    async fn fetch_now<T: DeserializeOwned>(&self, url: &str) -> Result<T, OpenIdError> {
        let request = self.http.get(url).build().map_err(|error| OpenIdError::Wrong(without_url(error)))?;
        let answer = send(&self.http, request).await.map_err(|why| OpenIdError::Unavailable(why.0))?;
        if !answer.status().is_success() {
            return Err(OpenIdError::Unavailable(format!("{url} answered {}", answer.status())));
        }
        serde_json::from_slice(answer.body())
            .map_err(|error| OpenIdError::Wrong(format!("{url} can't be read: {error}")))
    }
}

async fn call(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Unanswered> {
    send(&http, request.try_into().map_err(|error| Unanswered(without_url(error)))?).await
}

async fn send(http: &reqwest::Client, request: reqwest::Request) -> Result<HttpResponse, Unanswered> {
    let unanswered = |error| Unanswered(without_url(error));
    let mut answer = http.execute(request).await.map_err(unanswered)?;
    let mut response = HttpResponse::new(Vec::new());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    while let Some(chunk) = answer.chunk().await.map_err(unanswered)? {
        if response.body().len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(Unanswered("its response is too long".to_owned()));
        }
        response.body_mut().extend_from_slice(&chunk);
    }
    Ok(response)
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

/// A request without a complete response.
#[derive(Debug)]
struct Unanswered(String);

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Unanswered {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Claims are read once their signature is verified: these are what a provider itself may say.
    #[test]
    fn an_id_token_with_times_that_nobody_reaches_is_taken_or_refused_and_nothing_overflows() {
        let now = Time::nearest(1_800_000_000_000);
        let openid = OpenId::new(OpenIdSettings {
            client_id: "us".to_owned(),
            client_secret: "secret".to_owned(),
            discovery_url: "https://provider.example/.well-known/openid-configuration".to_owned(),
            issuer: "https://provider.example".to_owned(),
            issuer_alias: None,
            redirect_url: "https://colloquy.example/callback".to_owned(),
        })
        .unwrap();
        let late = ["1800000001", "9223372036854775807", "18446744073709551615", "1e308", "253402300800"];
        let early = ["0", "-1", "-9223372036854775808", "-1e308", "-62135596801", "0.5"];
        for (number, is_late) in late.map(|text| (text, true)).into_iter().chain(early.map(|text| (text, false))) {
            let time: serde_json::Value = serde_json::from_str(number).unwrap();
            let is_taken = |iat: &serde_json::Value, exp: &serde_json::Value| {
                let claims = json!({"sub": "7", "aud": "us", "iat": iat, "exp": exp, "nonce": "n"});
                openid.checked(serde_json::from_value(claims).unwrap(), "token", "n", now).is_ok()
            };
            assert_eq!(is_taken(&json!(1_800_000_000), &time), is_late, "exp {number}");
            let is_soon = number == "1800000001";
            assert_eq!(is_taken(&time, &json!(1_800_003_600)), !is_late || is_soon, "iat {number}");
        }
    }
}
