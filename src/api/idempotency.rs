//! Idempotency-Key: a request that is sent again has its effect once, and the same answer for 24 hours.
//!
//! A row holds the key's scope (whose, method, path), the body's hash, an id drawn in advance for what the request
//! makes, and a lease. Operations make things under that id and give back what stands there already, so that a request
//! whose server was killed half-way can simply run again: 30 s later, with the same id.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::{StatusCode, header};
use actors::ids::{Id, User};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::access::caller::Visitor;
use crate::core::Core;
use crate::db::idempotency::{self as store, Asked, Claim};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::ready::Ready;
use crate::http::reason::Reason;

const LEASE: Duration = Duration::from_secs(30);
/// How long an answer is kept.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Who asked what.
pub struct Key {
    /// Hashed.
    scope: String,
    /// `None`: a guest's.
    user_id: Option<Id<User>>,
}

/// What became of a key.
pub enum Begun {
    /// The answer that was given before.
    Answered(Ready),
    Fresh(Fresh),
}

/// A key that this request holds.
pub struct Fresh {
    scope: String,
    pub drawn: Uuid,
}

/// The key that the request carries, if it does.
///
/// # Errors
/// 422: it is not 1–255 visible characters.
pub fn key(request: &HttpRequest, visitor: Option<Visitor>) -> Result<Option<Key>, Failure> {
    let (Some(header), Some(visitor)) = (request.headers().get("idempotency-key"), visitor) else { return Ok(None) };
    let text = header.to_str().unwrap_or_default();
    if !(1..=255).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::unfit(Reason::InvalidValue, "An Idempotency-Key has 1 to 255 visible ASCII characters."));
    }
    let path = request.path().to_ascii_lowercase();
    let scope = format!("{}\n{}\n{}\n{}", visitor.uuid(), request.method(), path, text);
    let user_id = visitor.account().ok().map(|caller| caller.user_id);
    Ok(Some(Key { scope: digest(scope.as_bytes()), user_id }))
}

#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Takes the key, or finds what it gave before.
///
/// # Errors
/// 409 while another request holds it, 422 for another body.
pub async fn begin(core: &Core, Key { scope, user_id }: Key, body_hash: String) -> Result<Begun, Failure> {
    let now = core.now();
    let drawn = Id::<()>::draw();
    let claim = {
        let (scope, body_hash) = (scope.clone(), body_hash.clone());
        let lease_until = now + LEASE;
        core.db
            .write(move |conn| {
                Box::pin(async move {
                    let asked = Asked { scope: &scope, user_id, body_hash: &body_hash, drawn };
                    store::claim(conn, asked, now, lease_until, now - KEPT).await
                })
            })
            .await?
    };
    match claim {
        Claim::Mine { drawn } => Ok(Begun::Fresh(Fresh { scope, drawn: drawn.uuid() })),
        Claim::Other => Err(Failure::of(Code::IDEMPOTENCY_KEY_REUSED)),
        Claim::Busy => {
            Err(Failure { retry_after: Some(Duration::from_secs(1)), ..Failure::of(Code::REQUEST_IN_PROGRESS) })
        }
        Claim::Answered { status, etag, body } => {
            let status = StatusCode::from_u16(status).map_err(Failure::internal)?;
            let ready = Ready::json(status, body);
            Ok(Begun::Answered(match etag {
                Some(etag) => ready.with(header::ETAG, etag),
                None => ready,
            }))
        }
    }
}

/// Stores the answer, or lets go of the key where the answer is not to be repeated (5xx, 429).
///
/// A failure to store is logged, no more: the effect stands, and after the lease the request runs again with its id.
pub async fn finish(core: &Core, fresh: Fresh, ready: Ready) -> Ready {
    let status = ready.status;
    let etag = ready.etag().map(str::to_owned);
    let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let text = std::str::from_utf8(&ready.body).ok().filter(|_| !passing).map(str::to_owned);
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
        tracing::warn!(%error, "an answer could not be kept under its Idempotency-Key");
    }
    ready
}
