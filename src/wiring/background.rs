//! What goes on by itself beside requests: jobs, waking, sweeping.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::states::States;
use super::{others, sweeps};
use crate::accounts::{endings, profile};
use crate::analysis::operator::Cancelling;
use crate::analysis::run_loop;
use crate::analysis::runner::Runner;
use crate::config::Analysis;
use crate::core::Core;
use crate::jobs::mail::Postman;
use crate::jobs::{self, Desk, Handlers};
use crate::meetings::invitations::delivery::Deliveries;
use crate::meetings::invitations::notices::Notices;
use crate::meetings::participants::{attendance, renaming, sweep};
use crate::meetings::rooms::errands::Errands;
use crate::meetings::rooms::lookout;
use crate::meetings::state::Meetings;
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
pub fn begin(states: &States, data: &Path) -> Result<(), String> {
    let States { core, accounts, deletion, projects, meetings, analysis, .. } = states;
    let mail = others::mail(&core.config.mail, data)?;
    let program = program()?;
    let limits = ReaderLimits { parallel: core.config.analysis.readers, ..ReaderLimits::default() };
    let handlers = Handlers::default()
        .with(Postman::new(mail, core.post.clone(), Arc::clone(&core.clock)).telling(Deliveries))
        .with(Notices { state: meetings.clone() })
        .with(profile::avatar::Forgetting { state: accounts.clone() })
        .with(profile::erasing::Erasing { state: deletion.clone() })
        .with(profile::erasing::Overwriting { state: accounts.clone() })
        .with(contents::Forgetting { state: projects.clone() })
        .with(projects::deletion::Deleting { state: projects.clone() })
        .with(meetings::leaving::Forgetting { state: meetings.clone() })
        .with(renaming::Renaming { state: meetings.clone() })
        .with(meetings::membership::Excluding { state: meetings.clone() })
        .with(Errands { state: meetings.clone() })
        .with(Cancelling { state: analysis.clone() })
        .with(Reading { state: projects.clone(), reader: Reader::new(program, limits) });
    let desk = Desk { db: core.db.clone(), hub: core.hub.clone(), jobs: core.jobs.clone(), tasks: core.tasks.clone() };
    core.tasks.spawn(jobs::work(desk, handlers));
    core.tasks.spawn(follow_meetings(meetings.clone()));
    core.tasks.spawn(tell_what_was_settled(core.clone()));
    core.tasks.spawn(lookout::look(meetings.clone()));
    let runs = analysis.registry.clone();
    core.tasks.spawn(async move {
        if let Err(away) = runs.wake_all().await {
            tracing::error!(why = away.0, "unfinished runs could not be woken");
        }
    });
    core.tasks.spawn(endings::follow(accounts.clone()));
    core.tasks.spawn(run_loop::sweep(analysis.clone()));
    core.tasks.spawn(sweeps::hourly(projects.clone()));
    core.tasks.spawn(Arc::clone(&states.http.lines).watch(core.tasks.stopping()));
    core.tasks.spawn(metrics::keep_up(states.probes.metrics.clone(), metrics::UPKEEP, core.tasks.stopping()));
    Ok(())
}

/// Has listeners hear of what was written with nobody knowing it: who wrote it could tell nobody.
async fn tell_what_was_settled(core: Core) {
    let (stopping, mut settled) = (core.tasks.stopping(), core.db.settled());
    loop {
        tokio::select! {
            goes_on = settled.next() => if !goes_on { return },
            () = stopping.cancelled() => return,
        }
        core.hub.look_at_all();
    }
}

/// Wakes the live meetings, and only then tells them what time has brought about: each would else be loaded by itself, and
/// more than once. Commands of people wait for nothing of it.
async fn follow_meetings(state: Meetings) {
    let stopping = state.tasks.stopping();
    let woken = tokio::select! {
        woken = state.registry.wake_all() => woken,
        () = stopping.cancelled() => return,
    };
    match woken {
        Ok(woken) => tracing::info!(asked = woken.asked, awake = woken.awake, "meetings woken"),
        Err(away) => tracing::error!(why = away.0, "live meetings could not be woken"),
    }
    state.tasks.spawn(attendance::tell_all(state.clone()));
    sweep::sweep(state).await;
}
