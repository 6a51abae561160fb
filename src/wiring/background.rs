//! What goes on by itself beside requests: jobs, waking, sweeping.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{others, sweeps};
use crate::accounts::{self, profile};
use crate::analysis::operator::Cancelling;
use crate::analysis::runner::Runner;
use crate::app::App;
use crate::config::Analysis;
use crate::jobs::mail::Postman;
use crate::jobs::{self, Desk, Handlers};
use crate::meetings::invitations::delivery::Deliveries;
use crate::meetings::invitations::notices::Notices;
use crate::meetings::participants::{attendance, renaming, sweep};
use crate::meetings::rooms::errands::Errands;
use crate::meetings::rooms::lookout;
use crate::metrics;
use crate::pipeline::process::{Analyser, Limits as AnalyserLimits};
use crate::pipeline::readers::{Limits as ReaderLimits, Reader};
use crate::projects::documents::contents;
use crate::projects::documents::reading::Reading;
use crate::{meetings, projects};

/// What works at runs.
///
/// # Errors
/// The program can't find itself.
pub fn runner(settings: &Analysis) -> Result<Runner, String> {
    let limits =
        AnalyserLimits { memory_mib: settings.run_memory_mib, wall: Duration::from_secs(settings.run_seconds) };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let at_once = if settings.workers == 0 { cores.saturating_sub(1) } else { settings.workers };
    Ok(Runner::new(Analyser::new(program()?, limits), at_once))
}

/// This server's own binary, which its children run too.
fn program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("the program can't be found: {error}"))
}

/// Begins all of it.
///
/// # Errors
/// What can't be made of the settings, in words.
pub fn begin(app: &App, data: &Path) -> Result<(), String> {
    let mail = others::mail(&app.config.mail, data)?;
    let program = program()?;
    let limits = ReaderLimits { parallel: app.config.analysis.readers, ..ReaderLimits::default() };
    let handlers = Handlers::default()
        .with(Postman::new(mail, app.post.clone(), Arc::clone(&app.clock)).telling(Deliveries))
        .with(Notices { app: app.clone() })
        .with(profile::avatar::Forgetting { app: app.clone() })
        .with(profile::erasing::Erasing { app: app.clone() })
        .with(profile::erasing::Overwriting { app: app.clone() })
        .with(contents::Forgetting { app: app.clone() })
        .with(projects::deletion::Deleting { app: app.clone() })
        .with(meetings::leaving::Forgetting { app: app.clone() })
        .with(renaming::Renaming { app: app.clone() })
        .with(meetings::membership::Excluding { app: app.clone() })
        .with(Errands { app: app.clone() })
        .with(Cancelling { app: app.clone() })
        .with(Reading { app: app.clone(), reader: Reader::new(program, limits) });
    let desk = Desk { db: app.db.clone(), hub: app.hub.clone(), jobs: app.jobs.clone(), tasks: app.tasks.clone() };
    app.tasks.spawn(jobs::work(desk, handlers));
    app.tasks.spawn(follow_meetings(app.clone()));
    app.tasks.spawn(tell_what_was_settled(app.clone()));
    app.tasks.spawn(lookout::look(app.clone()));
    let runs = app.runs.clone();
    app.tasks.spawn(async move {
        if let Err(away) = runs.wake_all().await {
            tracing::error!(why = away.0, "unfinished runs could not be woken");
        }
    });
    app.tasks.spawn(accounts::endings::follow(app.clone()));
    app.tasks.spawn(app.runner.clone().sweep(app.clone()));
    app.tasks.spawn(sweeps::hourly(app.clone()));
    app.tasks.spawn(Arc::clone(&app.lines).watch(app.tasks.stopping()));
    app.tasks.spawn(metrics::keep_up(app.metrics.clone(), metrics::UPKEEP, app.tasks.stopping()));
    Ok(())
}

/// Has listeners hear of what was written with nobody knowing it: who wrote it could tell nobody.
async fn tell_what_was_settled(app: App) {
    let (stopping, mut settled) = (app.tasks.stopping(), app.db.settled());
    loop {
        tokio::select! {
            goes_on = settled.next() => if !goes_on { return },
            () = stopping.cancelled() => return,
        }
        app.hub.look_at_all();
    }
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
