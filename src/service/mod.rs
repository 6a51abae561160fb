//! Service endpoints: liveness, readiness, metrics, the OpenAPI document, and the page on which users join meetings.

pub mod docs;
pub mod pages;
pub mod readiness;
pub mod state;

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::policy::{Internal, Public};
use crate::api::operation::Authorized;
use crate::db::DbError;
use crate::http::answer::{Bare, Text};
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::Empty;
use crate::http::ready::JSON;
use crate::service::state::Probes;

/// What the liveness probe says.
#[derive(Serialize, ToSchema)]
pub struct Alive {
    /// Always `colloquy`.
    #[schema(example = "colloquy")]
    service: &'static str,
    /// The version of the server.
    version: &'static str,
}

pub async fn liveness(_: Authorized<Public, Empty>, _: Probes) -> Result<Reply<Alive>, ApiError> {
    Ok(Reply::ok(Alive { service: "colloquy", version: env!("CARGO_PKG_VERSION") }))
}

/// What the readiness probe says.
#[derive(Serialize, ToSchema)]
pub struct Ready {
    /// Whether the database answers, and commits writes.
    database: bool,
}

pub async fn readiness(_: Authorized<Public, Empty>, state: Probes) -> Result<Reply<Ready>, ApiError> {
    if !state.readiness.get() {
        return Err(ApiError::unavailable("the server is stopping or has not started yet"));
    }
    let answered = state.db.read(|conn| {
        Box::pin(async move {
            conn.batch("SELECT 1").await?;
            Ok::<_, DbError>(())
        })
    });
    tokio::try_join!(answered, state.db.check_writes()).map_err(ApiError::from)?;
    Ok(Reply::ok(Ready { database: true }))
}

pub async fn metrics(_: Authorized<Internal, Empty>, state: Probes) -> Result<Text, ApiError> {
    crate::metrics::gather(&state, &state.http, &state.mailboxes).await;
    Ok(Text(HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(state.metrics.render())))
}

pub async fn asyncapi_document(_: Authorized<Public, Empty>, state: Probes) -> Result<Bare, ApiError> {
    Ok(Bare(HttpResponse::Ok().content_type(JSON).body(state.asyncapi.clone())))
}

pub async fn openapi_document(_: Authorized<Public, Empty>, state: Probes) -> Result<Bare, ApiError> {
    Ok(Bare(HttpResponse::Ok().content_type(JSON).body(state.openapi.clone())))
}
