//! The service about itself: whether it lives, whether it is ready, its figures, its description, and the page that people
//! join meetings on.

pub mod docs;
pub mod pages;

use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::guard::{Internal, Public};
use crate::app::App;
use crate::db::Failed;
use crate::http::answer::{Bare, Text};
use crate::http::envelope::{JSON, Reply};
use crate::http::failure::Failure;
use crate::http::input::Empty;
use crate::http::operation::Allowed;

/// Whether the server takes new work; no longer once it was told to stop.
#[derive(Default)]
pub struct Readiness(AtomicBool);

impl Readiness {
    pub fn set(&self, ready: bool) {
        self.0.store(ready, Ordering::SeqCst);
    }
    #[must_use]
    pub fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[derive(Serialize, ToSchema)]
pub struct Alive {
    #[schema(example = "colloquy")]
    service: &'static str,
    version: &'static str,
}

pub async fn liveness(_: Allowed<Public, Empty>, _: App) -> Result<Reply<Alive>, Failure> {
    Ok(Reply::ok(Alive { service: "colloquy", version: env!("CARGO_PKG_VERSION") }))
}

#[derive(Serialize, ToSchema)]
pub struct Ready {
    /// Whether the database answers.
    database: bool,
}

pub async fn readiness(_: Allowed<Public, Empty>, app: App) -> Result<Reply<Ready>, Failure> {
    if !app.readiness.get() {
        return Err(Failure::unavailable("the server is stopping or has not started yet"));
    }
    let asked = app.db.read(|conn| {
        Box::pin(async move {
            conn.batch("SELECT 1").await?;
            Ok::<_, Failed>(())
        })
    });
    asked.await.map_err(Failure::from)?;
    Ok(Reply::ok(Ready { database: true }))
}

pub async fn metrics(_: Allowed<Internal, Empty>, app: App) -> Result<Text, Failure> {
    crate::metrics::gather(&app).await;
    Ok(Text(HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(app.metrics.render())))
}

pub async fn openapi_document(_: Allowed<Public, Empty>, app: App) -> Result<Bare, Failure> {
    Ok(Bare(HttpResponse::Ok().content_type(JSON).body(app.openapi.clone())))
}
