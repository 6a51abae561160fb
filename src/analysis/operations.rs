//! Operations on AI analysis runs, one function each.

use std::collections::HashSet;
use std::time::Duration;

use actors::ids::{self, Document, Id, User};
use actors::language::Language;
use actors::live::RequestId;
use actors::meeting::Meeting;
use actors::run::{self, AiRunStatus, AnalysisType, Command, Refusal, RunDraft};
use sha2::{Digest, Sha256};

use super::bodies::{DocumentScope, Filter, StartAiAnalysisRun};
use super::model::{AiAnalysisRun, EngineName};
use super::{RunSnapshot, journal, run_loop, store};
use crate::access::principal::Caller;
use crate::accounts::operations::lock_account;
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::http::reason::Reason;
use crate::meetings::transcripts;
use crate::meetings::transcripts::sources::{RecordingSource, SourceTranscript};
use crate::projects::documents;
use crate::projects::documents::model::{Document as StoredDocument, DocumentStatus};
use crate::projects::model::Project;
use crate::quotas::model::CountedKind;

/// `Retry-After` of a caller who has reached the limit of unfinished runs.
const UNTIL_ENDED: Duration = Duration::from_secs(10);

/// Queues a run over the given documents, or over the READY documents that no run has read. If a run over the same input is unfinished,
/// returns that run.
///
/// A document that could not be read is accepted when it is named explicitly: the run then ends as PARTIAL with a
/// warning.
///
/// # Errors
/// 422 for sources of another project, when there are none, or for an engine that the project may not use; 409 for
/// documents that are still being read, for a meeting alone without anything that is or will be a transcript, and in an
/// archived project; 429 at the limit of unfinished runs.
pub async fn start(
    state: &Analysis,
    caller: Caller,
    project: &Project,
    id: Id<run::Run>,
    body: StartAiAnalysisRun,
    request: RequestId,
) -> Result<AiAnalysisRun, ApiError> {
    crate::projects::must_be_active(project)?;
    let now = state.now();
    let project_id = project.id;
    let analysis_type = body.analysis_type.unwrap_or(AnalysisType::Full);
    let language = body.language.unwrap_or(project.language);
    let engine = engine_of(state, project_id, body.engine)?;
    let (kind, owner) = (CountedKind::RunsOfProject, project_id.uuid());
    let counted = state.quotas.count_unless_made(kind, owner, 1, move |conn| Box::pin(store::find(conn, id))).await?;
    let (most, most_runs) = (state.config.limits.documents_per_run, state.config.limits.unfinished_runs);
    let (run, records) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // Locks the account's row, so that runs which the account starts concurrently are counted one after the
                // other.
                if !lock_account(conn, caller.user_id).await? {
                    return Err(ApiError::of(Code::UNAUTHORIZED));
                }
                if let Some(run) = store::find(conn, id).await? {
                    return Ok((run, Vec::new()));
                }
                // A meeting alone is analysed alone.
                let is_alone = body.document_ids.is_none();
                let spoken = match body.meeting_id {
                    Some(meeting_id) => recordings(conn, project_id, meeting_id, is_alone).await?,
                    None => Vec::new(),
                };
                let sources = match body.meeting_id {
                    Some(_) if is_alone => Vec::new(),
                    _ => sources(conn, project_id, &body, analysis_type, most).await?,
                };
                let input_hash = input_hash(analysis_type, language, engine, &sources, &spoken);
                if let Some(run) = store::unfinished(conn, project_id, &input_hash).await? {
                    return Ok((run, Vec::new()));
                }
                if store::unfinished_of(conn, caller.user_id, most_runs).await? >= most_runs {
                    return Err(too_many_unfinished("You have", most_runs));
                }
                let draft = RunDraft {
                    id,
                    project_id,
                    created_by: caller.user_id,
                    document_ids: sources.iter().map(|document| document.id).collect(),
                    document_versions: sources.iter().map(|document| document.version).collect(),
                    meeting_id: body.meeting_id,
                    analysis_type,
                    language,
                    engine: engine.to_owned(),
                    ai_job_id: Id::generate(),
                    input_hash,
                };
                let hash = draft.input_hash.clone();
                let change = run::Run::queue(draft, now);
                if let Some(records) = journal::insert(conn, &change, &request, now).await? {
                    return Ok::<_, ApiError>((change.next, records));
                }
                // A concurrent request inserted a run over the same input first.
                let first = store::unfinished(conn, project_id, &hash).await?;
                Ok((
                    first.ok_or_else(|| {
                        ApiError::unavailable("another run for the same input started and ended at the same time")
                    })?,
                    Vec::new(),
                ))
            })
        })
        .await?;
    drop(counted);
    state.hub.publish(records);
    if !run.is_over() {
        run_loop::begin(state, run.id);
    }
    Ok(AiAnalysisRun::of(&run))
}

/// Returns the engine that was asked for, or the default one of the project. Whether texts of a project may be sent to a
/// language model is the operator's choice.
fn engine_of(
    state: &Analysis,
    project_id: Id<ids::Project>,
    wanted: Option<EngineName>,
) -> Result<&'static str, ApiError> {
    let allowed = state.config.engines(&project_id.to_string());
    let wanted = match wanted {
        Some(EngineName(kind)) => allowed.iter().find(|name| **name == kind.into_str()),
        None => allowed.first(),
    };
    wanted.copied().ok_or_else(|| {
        let message =
            format!("Texts of this project may not be sent to a language model. Its engines: {}.", allowed.join(", "));
        ApiError::field("engine", Reason::InvalidValue, message)
    })
}

/// The error for an account at its limit. A waiting run occupies memory until its turn, so the number per account is
/// limited.
fn too_many_unfinished(whoever_has: &str, most: usize) -> ApiError {
    let message =
        format!("{whoever_has} {most} unfinished runs, which is the maximum. Start this one when some have ended.");
    ApiError { message, ..ApiError::too_many(UNTIL_ENDED) }
}

/// The recordings of a meeting that are analysed, each with the version of its transcript. Beside documents, a meeting may
/// have none.
async fn recordings(
    conn: &mut crate::db::Conn,
    project_id: Id<ids::Project>,
    meeting_id: Id<Meeting>,
    is_alone: bool,
) -> Result<Vec<RecordingSource>, ApiError> {
    let meeting = crate::meetings::store::find(conn, meeting_id).await?;
    let meeting = meeting.filter(|meeting| meeting.project_id == project_id);
    let meeting = meeting
        .ok_or_else(|| ApiError::field("meetingId", Reason::InvalidValue, "The project has no such meeting."))?;
    let found = transcripts::sources::of_meeting(conn, &meeting).await?;
    if is_alone {
        transcripts::sources::must_have_speech(&meeting, &found)?;
    }
    Ok(found)
}

/// The documents of a run, in their present versions, by their ids.
async fn sources(
    conn: &mut crate::db::Conn,
    project_id: Id<ids::Project>,
    body: &StartAiAnalysisRun,
    analysis_type: AnalysisType,
    most: usize,
) -> Result<Vec<StoredDocument>, ApiError> {
    let of_project = documents::store::of_project(conn, project_id).await?;
    let mut chosen: Vec<_> = match &body.document_ids {
        None => {
            let ready = of_project.into_iter().filter(|document| document.status == DocumentStatus::Ready);
            let mut chosen = ready.collect();
            if body.document_scope != Some(DocumentScope::All) {
                let read = store::documents_read(conn, project_id, analysis_type).await?;
                chosen = unread(chosen, &read);
            }
            // The next run reads the others.
            chosen.truncate(most);
            chosen
        }
        Some(ids) => {
            let chosen: Vec<_> = of_project.into_iter().filter(|document| ids.contains(&document.id)).collect();
            if chosen.len() != ids.len() {
                return Err(ApiError::field(
                    "documentIds",
                    Reason::InvalidValue,
                    "Some of these documents are not in the project.",
                ));
            }
            chosen
        }
    };
    if chosen.is_empty() {
        return Err(ApiError::with_message(Code::NO_SOURCES, Code::NO_SOURCES.sentence));
    }
    if chosen.len() > most {
        return Err(ApiError::field(
            "documentIds",
            Reason::TooLong,
            format!("At most {most} documents are allowed in one run."),
        ));
    }
    if chosen.iter().any(|document| document.status.is_open()) {
        return Err(ApiError::of(Code::SOURCE_NOT_READY));
    }
    chosen.sort_by_key(|document| document.id);
    Ok(chosen)
}

/// Leaves those that were not read in their present versions; all, if all were.
fn unread(documents: Vec<StoredDocument>, read: &HashSet<(Id<Document>, i64)>) -> Vec<StoredDocument> {
    let is_read = |document: &StoredDocument| read.contains(&(document.id, document.version));
    let (read, unread): (Vec<_>, Vec<_>) = documents.into_iter().partition(is_read);
    if unread.is_empty() { read } else { unread }
}

fn input_hash(
    analysis_type: AnalysisType,
    language: Language,
    engine: &str,
    sources: &[StoredDocument],
    spoken: &[RecordingSource],
) -> String {
    let mut hash = Sha256::new();
    let engine = (engine, analysis_type.into_str(), language.into_str());
    hash.update(format!("{engine:?}"));
    for StoredDocument { id, version, sha256, .. } in sources {
        hash.update(format!("{id}{version}{sha256}"));
    }
    for RecordingSource { id, transcript, .. } in spoken {
        match transcript {
            SourceTranscript::Ready(version) | SourceTranscript::Unfinished { id: version, .. } => {
                hash.update(format!("{id}{version}"));
            }
            SourceTranscript::Missing(_) => hash.update(format!("{id}-")),
        }
    }
    hex::encode(hash.finalize())
}

/// Lists a project's runs, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Analysis,
    project_id: Id<ids::Project>,
    listing: Listing<Filter>,
) -> Result<List<AiAnalysisRun>, ApiError> {
    let found = state.db.read(move |conn| Box::pin(store::list(conn, project_id, listing))).await;
    Ok(found.map_err(ApiError::from)?.map(|run| AiAnalysisRun::of(&run)))
}

/// Cancels an unfinished run. Its work stops within a second.
///
/// # Errors
/// 409 for a run that has ended.
pub async fn cancel(
    state: &Analysis,
    run: &RunSnapshot,
    caller: Caller,
    request: RequestId,
) -> Result<AiAnalysisRun, ApiError> {
    stop(state, run.state.id, caller.user_id, request).await
}

/// Sends `Cancel` to the run's actor, then stops the work.
pub(super) async fn stop(
    state: &Analysis,
    id: Id<run::Run>,
    by: Id<User>,
    request: RequestId,
) -> Result<AiAnalysisRun, ApiError> {
    let cancelled = ask(state, id, Command::Cancel { by }, request).await?;
    state.runner.cancel(id);
    Ok(AiAnalysisRun::of(&cancelled.state))
}

/// Queues a run again that failed, was cancelled, or is partial. `job_id` belongs to the new attempt; repeating the
/// call with the same id changes nothing.
///
/// # Errors
/// 409 for a run in any other state, while another run over the same input is unfinished, and in an archived project;
/// 429 at the limit of unfinished runs.
pub async fn retry(
    state: &Analysis,
    run: &RunSnapshot,
    job_id: Id<ids::AiJob>,
    request: RequestId,
) -> Result<AiAnalysisRun, ApiError> {
    let (project_id, input_hash) = (run.state.project_id, run.state.input_hash.clone());
    let (owner, most) = (run.state.created_by, state.config.limits.unfinished_runs);
    let project = state.db.read(move |conn| {
        Box::pin(async move {
            let project = crate::projects::store::find(conn, project_id).await?;
            let unfinished = store::unfinished(conn, project_id, &input_hash).await?;
            Ok::<_, DbError>((project, unfinished, store::unfinished_of(conn, owner, most).await?))
        })
    });
    let (project, unfinished, of_owner) = project.await?;
    crate::projects::must_be_active(&project.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?)?;
    if unfinished.is_some_and(|other| other.id != run.state.id) {
        return Err(ApiError::with_message(Code::INVALID_STATE, "Another run with the same input is in progress."));
    }
    if of_owner >= most && run.state.is_over() {
        return Err(too_many_unfinished("The user who started this run has", most));
    }
    let retried = ask(state, run.state.id, Command::Retry { job_id }, request).await?;
    run_loop::begin(state, run.state.id);
    Ok(AiAnalysisRun::of(&retried.state))
}

async fn ask(
    state: &Analysis,
    id: Id<run::Run>,
    command: Command,
    request: RequestId,
) -> Result<RunSnapshot, ApiError> {
    let done = state.registry.ask(id, command, request).await;
    done.map_err(|failure| ApiError::of_command(failure, Code::NOT_FOUND, refused))
}

fn refused(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::OldAttempt { .. } => {
            ApiError::with_message(Code::INVALID_STATE, "The run was restarted in the meantime.")
        }
        Refusal::InvalidState { status } => ApiError::with_message(
            Code::INVALID_STATE,
            match status {
                AiRunStatus::Queued | AiRunStatus::Processing => "The run is in progress.",
                AiRunStatus::Completed | AiRunStatus::Partial => "The run is complete.",
                AiRunStatus::Rejected => "The run was rejected: there was nothing to analyse.",
                AiRunStatus::Failed => "The run has failed.",
                AiRunStatus::Cancelled => "The run was cancelled.",
            },
        ),
    }
}
