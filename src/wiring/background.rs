//! Starts the background tasks that run beside requests: jobs, loading of live actors, sweeps.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::states::States;
use super::{others, sweeps};
use crate::accounts::{endings, profile};
use crate::analysis::operator::CancelRuns;
use crate::analysis::run_loop;
use crate::analysis::supervisor::RunSupervisor;
use crate::config::Analysis;
use crate::core::Core;
use crate::jobs::mail::SendEmail;
use crate::jobs::{self, Handlers, WorkerContext};
use crate::meetings::invitations::calendar_updates::SendCalendarUpdates;
use crate::meetings::invitations::delivery::Deliveries;
use crate::meetings::media::jobs::MediaJobs;
use crate::meetings::media::reconcile;
use crate::meetings::participants::{attendance, erase_names, sweep};
use crate::meetings::state::Meetings;
use crate::metrics;
use crate::pipeline::process::{Analyser, ChildLimits as AnalyserLimits};
use crate::pipeline::readers::{Reader, ReaderLimits};
use crate::projects::documents::contents;
use crate::projects::documents::reading::ReadDocuments;
use crate::{meetings, projects};

/// Creates the supervisor that executes analysis runs.
///
/// # Errors
/// Returns a message if the path of this program can't be determined.
pub fn runner(settings: &Analysis) -> Result<RunSupervisor, String> {
    let limits =
        AnalyserLimits { memory_mib: settings.run_memory_mib, wall: Duration::from_secs(settings.run_seconds) };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let at_once = if settings.workers == 0 { cores.saturating_sub(1) } else { settings.workers };
    Ok(RunSupervisor::new(Analyser::new(program()?, limits), at_once))
}

/// Returns the path of the server's own binary, which its child processes run too.
fn program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("the program can't be found: {error}"))
}

/// Starts all background tasks.
///
/// # Errors
/// Returns a message if the settings are unusable.
pub fn begin(states: &States, data: &Path) -> Result<(), String> {
    let States { core, accounts, deletion, projects, meetings, analysis, .. } = states;
    let mail = others::mail(&core.config.mail, data)?;
    let program = program()?;
    let limits = ReaderLimits { parallel: core.config.analysis.readers, ..ReaderLimits::default() };
    let handlers = Handlers::default()
        .with(SendEmail::new(mail, core.post.clone(), Arc::clone(&core.clock)).telling(Deliveries))
        .with(SendCalendarUpdates { state: meetings.clone() })
        .with(profile::avatar::ForgetAvatars { state: accounts.clone() })
        .with(profile::erase::EraseAccount { state: deletion.clone() })
        .with(profile::erase::Overwriting { state: accounts.clone() })
        .with(contents::ForgetContents { state: projects.clone() })
        .with(projects::deletion::DeleteProjects { state: projects.clone() })
        .with(meetings::deletion::ForgetGuest { state: meetings.clone() })
        .with(erase_names::EraseNames { state: meetings.clone() })
        .with(meetings::membership::RemoveFromMeetings { state: meetings.clone() })
        .with(MediaJobs { state: meetings.clone() })
        .with(CancelRuns { state: analysis.clone() })
        .with(ReadDocuments { state: projects.clone(), reader: Reader::new(program, limits) });
    let desk = WorkerContext {
        db: core.db.clone(),
        hub: core.hub.clone(),
        jobs: core.jobs.clone(),
        tasks: core.tasks.clone(),
    };
    core.tasks.spawn(jobs::work(desk, handlers));
    core.tasks.spawn(follow_meetings(meetings.clone()));
    core.tasks.spawn(tell_what_was_settled(core.clone()));
    core.tasks.spawn(reconcile::look(meetings.clone()));
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

/// Makes subscribers re-read their topics after a write whose outcome was unknown has been settled: its writer could
/// not publish the events.
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

/// Wakes the live meetings first, and only then starts the tasks that send them timed commands: those would load each
/// meeting on its own, some more than once. Commands from users do not wait for this.
async fn follow_meetings(state: Meetings) {
    let stopping = state.tasks.stopping();
    let woken = tokio::select! {
        woken = state.registry.wake_all() => woken,
        () = stopping.cancelled() => return,
    };
    match woken {
        Ok(woken) => tracing::info!(due = woken.due, awake = woken.awake, "meetings woken"),
        Err(away) => tracing::error!(why = away.0, "live meetings could not be woken"),
    }
    state.tasks.spawn(attendance::tell_all(state.clone()));
    sweep::sweep(state).await;
}
