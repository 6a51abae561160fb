//! `Idempotency-Key`: a request that is repeated within 24 hours has one effect and gets the same response.
//!
//! A row holds the key's scope (owner, method, path), the hash of the body, an id that is generated in advance for
//! the resource that the request creates, and a lease. Operations create the resource under that id and return the one
//! that already exists. So a request whose server was killed half-way can simply run again, with the same id, once the
//! lease of 30 s has expired. Responses are stored encrypted: some have a link that whoever reads the database must not follow.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::{StatusCode, header};
use actors::ids::{Id, User};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::access::principal::KeyOwner;
use crate::core::Core;
use crate::db::idempotency::{self as store, KeyRequest, StoredClaim};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::ready::PreparedAnswer;
use crate::http::reason::Reason;

const LEASE: Duration = Duration::from_secs(30);
/// How long a response is stored.
pub const KEY_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The Idempotency-Key of a request.
pub struct IdempotencyKey {
    /// The hash of owner, method, path and key.
    scope: String,
    /// `None` for an owner without an account.
    user_id: Option<Id<User>>,
}

/// The result of claiming a key.
pub enum KeyClaim {
    /// The stored response to an earlier request.
    Answered(PreparedAnswer),
    Fresh(Fresh),
}

/// A key that this request has claimed.
pub struct Fresh {
    scope: String,
    pub new_id: Uuid,
}

/// Reads the request's Idempotency-Key. `None` if the header is absent or the request is unauthenticated.
///
/// # Errors
/// 422 if the key is not 1–255 visible ASCII characters.
pub fn key(request: &HttpRequest, owner: Option<KeyOwner>) -> Result<Option<IdempotencyKey>, ApiError> {
    let (Some(header), Some(owner)) = (request.headers().get("idempotency-key"), owner) else {
        return Ok(None);
    };
    let text = header.to_str().unwrap_or_default();
    if !(1..=255).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ApiError::invalid_request(
            Reason::InvalidValue,
            "An Idempotency-Key must have 1 to 255 visible ASCII characters.",
        ));
    }
    let path = request.path().trim_end_matches('/').to_ascii_lowercase();
    let scope = format!("{}\n{}\n{}\n{}", owner.id, request.method(), path, text);
    Ok(Some(IdempotencyKey { scope: digest(scope.as_bytes()), user_id: owner.user_id }))
}

#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Claims the key, or returns the stored response.
///
/// # Errors
/// 409 while another request holds the key; 422 if it was used with another body.
pub async fn begin(
    core: &Core,
    IdempotencyKey { scope, user_id }: IdempotencyKey,
    body_hash: String,
) -> Result<KeyClaim, ApiError> {
    let now = core.now();
    let new_id = Id::<()>::generate();
    let claim = {
        let (scope, body_hash) = (scope.clone(), body_hash.clone());
        let lease_until = now + LEASE;
        core.db
            .write(move |conn| {
                Box::pin(async move {
                    let request = KeyRequest { scope: &scope, user_id, body_hash: &body_hash, new_id };
                    store::claim(conn, request, now, lease_until, now - KEY_LIFETIME).await
                })
            })
            .await?
    };
    match claim {
        StoredClaim::Mine { new_id } => Ok(KeyClaim::Fresh(Fresh { scope, new_id: new_id.uuid() })),
        StoredClaim::Other => Err(ApiError::of(Code::IDEMPOTENCY_KEY_REUSED)),
        StoredClaim::Busy => {
            Err(ApiError { retry_after: Some(Duration::from_secs(1)), ..ApiError::of(Code::REQUEST_IN_PROGRESS) })
        }
        StoredClaim::Answered { status, etag, body } => {
            let status = StatusCode::from_u16(status).map_err(ApiError::internal)?;
            let body = open(core, &scope, body)?;
            let ready = PreparedAnswer::json(status, body);
            Ok(KeyClaim::Answered(match etag {
                Some(etag) => ready.with(header::ETAG, etag),
                None => ready,
            }))
        }
    }
}

/// Separates this use of the installation's key from others.
const PURPOSE: &str = "stored response";

fn seal(core: &Core, scope: &str, body: &[u8]) -> std::io::Result<String> {
    Ok(STANDARD.encode(core.secret.seal(PURPOSE, scope.as_bytes(), body)?))
}

/// Decrypts a stored response. One of a release that did not encrypt them is JSON.
fn open(core: &Core, scope: &str, stored: String) -> Result<Vec<u8>, ApiError> {
    if stored.starts_with('{') {
        return Ok(stored.into_bytes());
    }
    let sealed = STANDARD.decode(stored).map_err(ApiError::internal)?;
    let opened = core.secret.open(PURPOSE, scope.as_bytes(), &sealed);
    opened.ok_or_else(|| ApiError::internal("a stored response can't be decrypted"))
}

/// Stores the response, or releases the key if the response must not be repeated (5xx, 429).
///
/// A failure to store it is only logged: the effect is saved, and once the lease has expired a repeated request runs
/// again with the same id.
pub async fn finish(core: &Core, fresh: Fresh, ready: PreparedAnswer) -> PreparedAnswer {
    let status = ready.status;
    let etag = ready.etag().map(str::to_owned);
    let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let text = (!passing).then(|| seal(core, &fresh.scope, &ready.body)).transpose().unwrap_or_else(|error| {
        tracing::warn!(%error, "a response could not be encrypted");
        None
    });
    let stored = core
        .db
        .write(move |conn| {
            Box::pin(async move {
                match text {
                    Some(text) => store::answered(conn, &fresh.scope, status.as_u16(), etag.as_deref(), &text).await,
                    None => store::release(conn, &fresh.scope).await,
                }
            })
        })
        .await;
    if let Err(error) = stored {
        tracing::warn!(%error, "the response could not be stored under its Idempotency-Key");
    }
    ready
}
