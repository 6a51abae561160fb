//! The service about itself: whether it lives, whether it is ready, its figures, its description, and the page that people
//! join meetings on.

pub mod docs;
pub mod pages;
pub mod readiness;
pub mod state;

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::guard::{Internal, Public};
use crate::api::operation::Allowed;
use crate::db::Failed;
use crate::http::answer::{Bare, Text};
use crate::http::envelope::Reply;
use crate::http::failure::Failure;
use crate::http::input::Empty;
use crate::http::ready::JSON;
use crate::service::state::Probes;

#[derive(Serialize, ToSchema)]
pub struct Alive {
    #[schema(example = "colloquy")]
    service: &'static str,
    version: &'static str,
}

pub async fn liveness(_: Allowed<Public, Empty>, _: Probes) -> Result<Reply<Alive>, Failure> {
    Ok(Reply::ok(Alive { service: "colloquy", version: env!("CARGO_PKG_VERSION") }))
}

#[derive(Serialize, ToSchema)]
pub struct Ready {
    /// Whether the database answers.
    database: bool,
}

pub async fn readiness(_: Allowed<Public, Empty>, state: Probes) -> Result<Reply<Ready>, Failure> {
    if !state.readiness.get() {
        return Err(Failure::unavailable("the server is stopping or has not started yet"));
    }
    let asked = state.db.read(|conn| {
        Box::pin(async move {
            conn.batch("SELECT 1").await?;
            Ok::<_, Failed>(())
        })
    });
    asked.await.map_err(Failure::from)?;
    Ok(Reply::ok(Ready { database: true }))
}

pub async fn metrics(_: Allowed<Internal, Empty>, state: Probes) -> Result<Text, Failure> {
    crate::metrics::gather(&state, &state.http, &state.watch).await;
    Ok(Text(HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(state.metrics.render())))
}

pub async fn openapi_document(_: Allowed<Public, Empty>, state: Probes) -> Result<Bare, Failure> {
    Ok(Bare(HttpResponse::Ok().content_type(JSON).body(state.openapi.clone())))
}
