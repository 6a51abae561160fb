//! Starts the background tasks that run beside requests: jobs, loading of live actors, sweeps.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use speech::media::Prober;
use speech::{LocalTranscriber, SoundCutter, Transcriber, TurnFinder};

use super::analysers::{program, reader};
use super::states::States;
use super::{others, sweeps};
use crate::accounts::{endings, profile};
use crate::analysis::exports::making::MakeExportHandler;
use crate::analysis::findings::grounding::GroundItemsAgainHandler;
use crate::analysis::imports::planner::ImportPlanner;
use crate::analysis::imports::reading::ReadImportHandler;
use crate::analysis::operator::CancelRunHandler;
use crate::analysis::pairs::comparing::CompareRequirementsHandler;
use crate::analysis::proposals::forgetting::ForgetProposalDraftsHandler;
use crate::analysis::run_loop;
use crate::clients::speech::{SpeechService, SpeechServiceSettings};
use crate::core::Core;
use crate::http::raw_connection::Connections;
use crate::jobs::mail::SendEmailHandler;
use crate::jobs::{self, Handlers, WorkerContext};
use crate::meetings::invitations::calendar_updates::SendCalendarUpdatesHandler;
use crate::meetings::invitations::delivery::Deliveries;
use crate::meetings::lifecycle::sweep;
use crate::meetings::media::jobs::SyncMediaRoomHandler;
use crate::meetings::media::reconcile;
use crate::meetings::participants::erase_names;
use crate::meetings::recordings::assembly::AssembleRecordingHandler;
use crate::meetings::recordings::files::DeleteRecordingFilesHandler;
use crate::meetings::state::Meetings;
use crate::meetings::transcripts::attached::reading::ReadTranscriptHandler;
use crate::meetings::transcripts::making::TranscribeRecordingHandler;
use crate::meetings::transcripts::voices::KnownVoices;
use crate::meetings::transcripts::{expiry, waiting};
use crate::meetings::{attendance, recordings};
use crate::projects::documents::contents;
use crate::projects::documents::reading::ParseDocumentHandler;
use crate::projects::documents::versions::deletion::DeleteFormerVersionsHandler;
use crate::reviews::search::indexing;
use crate::tasks::Tasks;
use crate::trackers::exports::exporting::ExportStoriesHandler;
use crate::trackers::issues::polling;
use crate::{meetings, metrics, projects};

fn transcriber(core: &Core, program: &Path) -> Result<Arc<dyn Transcriber>, String> {
    let speech = &core.config.speech;
    if speech.engine != "http" {
        return Ok(Arc::new(LocalTranscriber::new(program.to_owned(), speech.memory_mib)));
    }
    let settings = SpeechServiceSettings {
        url: speech.service_url.clone(),
        key: speech.service_key.reveal().to_owned(),
        limit: Duration::from_secs(speech.service_seconds),
    };
    let cutter = SoundCutter::new(program.to_owned(), speech.memory_mib, 1);
    Ok(Arc::new(SpeechService::new(settings, cutter, Arc::clone(&core.clock))?))
}

/// Returns the handlers of all kinds of jobs.
///
/// # Errors
/// Returns a message if the settings are unusable.
pub fn handlers(states: &States, data: &Path) -> Result<Handlers, String> {
    let States { core, accounts, deletion, projects, meetings, analysis, .. } = states;
    let mail = others::mail(&core.config.mail, data)?;
    let program = program()?;
    Ok(Handlers::default()
        .with(SendEmailHandler::new(mail, core.outbox.clone(), Arc::clone(&core.clock)).recording(Deliveries))
        .with(SendCalendarUpdatesHandler { state: meetings.clone() })
        .with(profile::avatar::DeleteAvatarFileHandler { state: accounts.clone() })
        .with(profile::erase::EraseAccountHandler { state: deletion.clone() })
        .with(profile::erase::OverwriteDeletedHandler { state: accounts.clone() })
        .with(contents::DeleteContentsHandler { state: projects.clone() })
        .with(DeleteFormerVersionsHandler { state: projects.clone() })
        .with(projects::deletion::DeleteProjectHandler { state: projects.clone() })
        .with(meetings::deletion::EraseGuestNameHandler { state: meetings.clone() })
        .with(erase_names::EraseNameInEventsHandler { state: meetings.clone() })
        .with(meetings::membership::RemoveFromMeetingsHandler { state: meetings.clone() })
        .with(SyncMediaRoomHandler { state: meetings.clone() })
        .with(CancelRunHandler { state: analysis.clone() })
        .with(ForgetProposalDraftsHandler { state: analysis.clone() })
        .with(MakeExportHandler { state: analysis.clone() })
        .with(ReadImportHandler { state: analysis.clone(), planner: ImportPlanner::new(program.clone()) })
        .with(ExportStoriesHandler { state: states.trackers.clone() })
        .with(GroundItemsAgainHandler { state: analysis.clone() })
        .with(CompareRequirementsHandler { state: analysis.clone() })
        .with(DeleteRecordingFilesHandler { state: meetings.clone() })
        .with(AssembleRecordingHandler { state: meetings.clone(), prober: Prober::new(program.clone()) })
        .with(ReadTranscriptHandler { state: meetings.clone() })
        .with(TranscribeRecordingHandler {
            state: meetings.clone(),
            transcriber: transcriber(core, &program)?,
            turns: TurnFinder::new(program.clone(), core.config.speech.memory_mib),
            voices: KnownVoices::default(),
        })
        .with(ParseDocumentHandler { state: projects.clone(), reader: reader(&core.config.analysis)? }))
}

/// Starts all background tasks.
///
/// # Errors
/// Returns a message if the settings are unusable.
pub fn begin(states: &States, data: &Path) -> Result<(), String> {
    let States { core, accounts, meetings, analysis, .. } = states;
    let handlers = handlers(states, data)?;
    let context = WorkerContext {
        db: core.db.clone(),
        hub: core.hub.clone(),
        jobs: core.jobs.clone(),
        tasks: core.tasks.clone(),
    };
    let tasks = &core.tasks;
    // What it has begun goes on after a panic, and would be begun twice.
    tasks.spawn_vital("the worker of jobs", jobs::work(context, handlers));
    tasks.spawn_vital("the start of live meetings", follow_meetings(meetings.clone()));
    let runs = analysis.registry.clone();
    tasks.spawn(async move {
        if let Err(away) = runs.wake_all().await {
            tracing::error!(why = away.0, "unfinished analysis runs could not be resumed");
        }
    });
    let all = states.clone();
    tasks.spawn_loop("reloading after settled writes", move || reload_after_settled_writes(all.clone()));
    let state = meetings.clone();
    tasks.spawn_loop("the watch of transcripts that wait", move || waiting::watch(state.clone()));
    let state = meetings.clone();
    tasks.spawn_loop("the expiry of transcripts", move || expiry::watch(state.clone()));
    let state = meetings.clone();
    tasks.spawn_loop("the media server check", move || reconcile::run(state.clone()));
    let state = accounts.clone();
    tasks.spawn_loop("the watch of ended sessions", move || endings::follow(state.clone()));
    let state = analysis.clone();
    tasks.spawn_loop("the sweep of runs", move || run_loop::sweep(state.clone()));
    let state = states.reviews.clone();
    tasks.spawn_loop("indexing for search", move || indexing::watch(state.clone()));
    let state = states.trackers.clone();
    tasks.spawn_loop("polling of trackers", move || polling::watch(state.clone()));
    let state = analysis.clone();
    tasks.spawn_loop("the hourly sweep", move || sweeps::hourly(state.clone()));
    watch_connections(tasks, &states.http.connections);
    keep_up(tasks, &states.probes.metrics);
    Ok(())
}

/// Has connections cut that are too slow.
pub(super) fn watch_connections(tasks: &Tasks, connections: &Arc<Connections>) {
    let (connections, stopping) = (Arc::clone(connections), tasks.stopping());
    tasks.spawn_loop("the watch of connections", move || Arc::clone(&connections).watch(stopping.clone()));
}

/// Has the samples of metrics folded.
pub(super) fn keep_up(tasks: &Tasks, metrics: &PrometheusHandle) {
    let (metrics, stopping) = (metrics.clone(), tasks.stopping());
    tasks.spawn_loop("the upkeep of metrics", move || {
        metrics::run_periodically(metrics.clone(), metrics::UPKEEP, stopping.clone())
    });
}

/// Makes subscribers re-read their topics, and readers the database, after a write whose outcome was unknown has been
/// settled: its writer could neither publish the events nor drop what is cached.
async fn reload_after_settled_writes(states: States) {
    let core = &states.core;
    let (stopping, mut settled) = (core.tasks.stopping(), core.db.settled());
    loop {
        tokio::select! {
            goes_on = settled.next() => if !goes_on { return },
            () = stopping.cancelled() => return,
        }
        states.meetings.projects.roles.invalidate_all();
        states.meetings.registry.reread_asleep();
        states.analysis.registry.reread_asleep();
        core.hub.reread_all();
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
        Ok(woken) => tracing::info!(due = woken.due, awake = woken.awake, "live meetings resumed"),
        Err(away) => tracing::error!(why = away.0, "live meetings could not be resumed"),
    }
    let tasks = state.tasks.clone();
    tasks.spawn(attendance::report_all(state.attendance.clone(), state.db.clone()));
    let swept = state.clone();
    tasks.spawn_loop("the sweep of recordings", move || recordings::sweep::sweep(swept.clone()));
    tasks.spawn_loop("the sweep of meetings", move || sweep::sweep(state.clone()));
}
