//! What goes on by itself beside requests: jobs, waking, sweeping.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::others;
use crate::accounts::{self, profile};
use crate::analysis::operator::Cancelling;
use crate::app::App;
use crate::http::idempotency;
use crate::jobs::mail::Postman;
use crate::jobs::{self, Desk, Handlers};
use crate::meetings;
use crate::meetings::invitations::delivery::Deliveries;
use crate::meetings::invitations::notices::Notices;
use crate::meetings::participants::{attendance, sweep};
use crate::meetings::rooms::errands::Errands;
use crate::meetings::rooms::lookout;
use crate::metrics;
use crate::pipeline::readers::{Limits as ReaderLimits, Reader};
use crate::projects::documents::contents;
use crate::projects::documents::reading::Reading;

/// What a reader may answer: the text of the largest document in many small paragraphs, as JSON.
const READ_BYTES: u64 = 128 * 1024 * 1024;
const HOURLY: Duration = Duration::from_secs(3600);

/// Begins all of it.
///
/// # Errors
/// What can't be made of the settings, in words.
pub fn begin(app: &App, data: &Path) -> Result<(), String> {
    let mail = others::mail(&app.config.mail, data)?;
    let program = std::env::current_exe().map_err(|error| format!("the program can't be found: {error}"))?;
    let limits = ReaderLimits { output: READ_BYTES, parallel: app.config.analysis.readers, ..ReaderLimits::default() };
    let handlers = Handlers::default()
        .with(Postman::new(mail, app.post.clone(), Arc::clone(&app.clock)).telling(Deliveries))
        .with(Notices { app: app.clone() })
        .with(profile::avatar::Forgetting { app: app.clone() })
        .with(profile::erasing::Erasing { app: app.clone() })
        .with(profile::erasing::Overwriting { app: app.clone() })
        .with(contents::Forgetting { app: app.clone() })
        .with(meetings::leaving::Forgetting { app: app.clone() })
        .with(meetings::membership::Excluding { app: app.clone() })
        .with(Errands { app: app.clone() })
        .with(Cancelling { app: app.clone() })
        .with(Reading { app: app.clone(), reader: Reader::new(program, limits) });
    let desk = Desk { db: app.db.clone(), hub: app.hub.clone(), jobs: app.jobs.clone(), tasks: app.tasks.clone() };
    app.tasks.spawn(jobs::work(desk, handlers));
    app.tasks.spawn(follow_meetings(app.clone()));
    app.tasks.spawn(lookout::look(app.clone()));
    let runs = app.runs.clone();
    app.tasks.spawn(async move {
        if let Err(away) = runs.wake_all().await {
            tracing::error!(why = away.0, "unfinished runs could not be woken");
        }
    });
    app.tasks.spawn(accounts::endings::follow(app.clone()));
    app.tasks.spawn(app.runner.clone().sweep(app.clone()));
    app.tasks.spawn(forget_old(app.clone()));
    app.tasks.spawn(Arc::clone(&app.lines).watch(app.tasks.stopping()));
    app.tasks.spawn(metrics::keep_up(app.metrics.clone(), metrics::UPKEEP, app.tasks.stopping()));
    Ok(())
}

/// Wakes the live meetings, and only then tells them what time has brought about: each would else be loaded by itself, and
/// more than once. Commands of people wait for nothing of it.
async fn follow_meetings(app: App) {
    let stopping = app.tasks.stopping();
    let woken = tokio::select! {
        woken = app.meetings.wake_all() => woken,
        () = stopping.cancelled() => return,
    };
    match woken {
        Ok(woken) => tracing::info!(asked = woken.asked, awake = woken.awake, "meetings woken"),
        Err(away) => tracing::error!(why = away.0, "live meetings could not be woken"),
    }
    app.tasks.spawn(attendance::tell_all(app.clone()));
    sweep::sweep(app).await;
}

/// Drops what has had its time: keys of idempotency, counted attempts, what is over of accounts, failed jobs. Safe to repeat.
async fn forget_old(app: App) {
    let stopping = app.tasks.stopping();
    loop {
        let now = app.now();
        let swept = app.db.write(move |conn| {
            Box::pin(async move {
                let keys = crate::db::idempotency::forget_old(conn, now - idempotency::KEPT).await?;
                let attempts = crate::db::attempts::sweep(conn, now).await?;
                let accounts = accounts::operations::sweep(conn, now).await?;
                Ok::<_, crate::db::Failed>(
                    keys + attempts + accounts + jobs::forget_failed(conn, now - 30 * 24 * HOURLY).await?,
                )
            })
        });
        match swept.await {
            Ok(rows) => tracing::debug!(rows, "swept"),
            Err(error) => tracing::warn!(%error, "sweeping failed; it comes again"),
        }
        if let Err(error) = app.db.overwrite_deleted().await {
            tracing::debug!(%error, "what was deleted is not overwritten yet");
        }
        tokio::select! {
            () = tokio::time::sleep(HOURLY) => {}
            () = stopping.cancelled() => return,
        }
    }
}
