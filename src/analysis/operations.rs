//! AI runs, one function an operation.

use std::time::Duration;

use actors::ids::{self, Document, Id, User};
use actors::live::RequestId;
use actors::meeting::Meeting;
use actors::run::{self, Command, Draft, Refusal, Status};
use sha2::{Digest, Sha256};

use super::Run;
use super::model::{AiAnalysisRun, AnalysisType, EngineName};
use super::run_loop;
use super::store::{self, Filter};
use crate::access::caller::Caller;
use crate::accounts::model::Language;
use crate::accounts::operations::hold;
use crate::analysis::state::Analysis;
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::http::reason::Reason;
use crate::meetings::operations::answered;
use crate::projects::documents;
use crate::projects::documents::model::DocumentStatus;
use crate::projects::model::Project;

/// When somebody who has as many unfinished runs as they may is to try again.
const UNTIL_ENDED: Duration = Duration::from_secs(10);

/// What is to be analysed.
#[derive(Debug)]
pub struct Wanted {
    pub document_ids: Option<Vec<Id<Document>>>,
    pub meeting_id: Option<Id<Meeting>>,
    pub analysis_type: AnalysisType,
    pub language: Language,
    pub engine: EngineName,
}

/// Queues a run over some documents, or all that are READY. Over the same input as an unfinished run, gives that run.
///
/// A document that could not be read is taken where it is named: the run then ends PARTIAL, and says so.
///
/// # Errors
/// 422 for sources of another project or none at all; 409 for ones that are still being read.
pub async fn start(
    state: &Analysis,
    caller: Caller,
    project: &Project,
    id: Id<run::Run>,
    wanted: Wanted,
    request: RequestId,
) -> Result<AiAnalysisRun, Failure> {
    crate::projects::must_be_active(project)?;
    let now = state.now();
    let project_id = project.id;
    let (most, most_runs) = (state.config.limits.documents_per_run, state.config.limits.unfinished_runs);
    let (run, told) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // Those of one account one by one, so that runs that are begun at once are counted too.
                if !hold(conn, caller.user_id).await? {
                    return Err(Failure::of(Code::UNAUTHORIZED));
                }
                if let Some(run) = store::find(conn, id).await? {
                    return Ok((run, Vec::new()));
                }
                let sources = sources(conn, project_id, &wanted, most).await?;
                let input_hash = input_hash(&wanted, &sources);
                if let Some(run) = store::unfinished(conn, project_id, &input_hash).await? {
                    return Ok((run, Vec::new()));
                }
                if store::unfinished_of(conn, caller.user_id, most_runs).await? >= most_runs {
                    return Err(too_many_unfinished("You have", most_runs));
                }
                let draft = Draft {
                    id,
                    project_id,
                    created_by: caller.user_id,
                    document_ids: sources.into_iter().map(|(id, _)| id).collect(),
                    meeting_id: wanted.meeting_id,
                    analysis_type: wanted.analysis_type.of_run(),
                    language: wanted.language.as_str().to_owned(),
                    engine: wanted.engine.0.to_owned(),
                    ai_job_id: Id::draw(),
                    input_hash,
                };
                let hash = draft.input_hash.clone();
                let change = run::Run::queue(draft, now);
                if let Some(told) = store::insert(conn, &change, &request, now).await? {
                    return Ok::<_, Failure>((change.next, told));
                }
                // Somebody else was first, a moment ago.
                let first = store::unfinished(conn, project_id, &hash).await?;
                Ok((first.ok_or_else(|| Failure::unavailable("a run came and went"))?, Vec::new()))
            })
        })
        .await?;
    state.hub.tell(told);
    if !run.is_over() {
        run_loop::begin(state, run.id);
    }
    Ok(AiAnalysisRun::of(&run))
}

/// Each takes its turn and is held until then, so that nobody can pile them up.
fn too_many_unfinished(whoever_has: &str, most: usize) -> Failure {
    let message =
        format!("{whoever_has} {most} runs under way, as many as one may have. Begin this one when some have ended.");
    Failure { message, ..Failure::too_many(UNTIL_ENDED) }
}

/// The documents of a run with the hashes of their contents.
async fn sources(
    conn: &mut crate::db::Conn,
    project_id: Id<ids::Project>,
    wanted: &Wanted,
    most: usize,
) -> Result<Vec<(Id<Document>, String)>, Failure> {
    if let Some(meeting_id) = wanted.meeting_id {
        let meeting = crate::meetings::store::find(conn, meeting_id).await?;
        if meeting.is_none_or(|meeting| meeting.project_id != project_id) {
            return Err(Failure::field("meetingId", Reason::InvalidValue, "The project has no such meeting."));
        }
        // Recordings come with a later part of the interface; until then no meeting has one.
        return Err(Failure::of(Code::RECORDING_NOT_READY));
    }
    let of_project = documents::store::of_project(conn, project_id).await?;
    let chosen: Vec<_> = match &wanted.document_ids {
        None => of_project.into_iter().filter(|document| document.status == DocumentStatus::Ready).collect(),
        Some(ids) => {
            let chosen: Vec<_> = of_project.into_iter().filter(|document| ids.contains(&document.id)).collect();
            if chosen.len() != ids.len() {
                return Err(Failure::field(
                    "documentIds",
                    Reason::InvalidValue,
                    "The project has not all of these documents.",
                ));
            }
            chosen
        }
    };
    if chosen.is_empty() {
        return Err(Failure::saying(Code::NO_SOURCES, Code::NO_SOURCES.sentence));
    }
    if chosen.len() > most {
        return Err(Failure::field(
            "documentIds",
            Reason::TooLong,
            format!("At most {most} documents are taken at once."),
        ));
    }
    if chosen.iter().any(|document| document.status.is_open()) {
        return Err(Failure::of(Code::SOURCE_NOT_READY));
    }
    let mut chosen: Vec<_> = chosen.into_iter().map(|document| (document.id, document.sha256)).collect();
    chosen.sort();
    Ok(chosen)
}

fn input_hash(wanted: &Wanted, sources: &[(Id<Document>, String)]) -> String {
    let mut hash = Sha256::new();
    let engine = (wanted.engine.0, wanted.analysis_type.as_str(), wanted.language.as_str());
    hash.update(format!("{engine:?}"));
    for (id, sha256) in sources {
        hash.update(format!("{id}{sha256}"));
    }
    hex::encode(hash.finalize())
}

/// A project's runs, newest first.
///
/// # Errors
/// The database's own.
pub async fn list(
    state: &Analysis,
    project_id: Id<ids::Project>,
    filter: Filter,
    page: Page,
) -> Result<List<AiAnalysisRun>, Failure> {
    let found = state.db.read(move |conn| Box::pin(async move { store::list(conn, project_id, &filter, &page).await }));
    let (found, total_count) = found.await.map_err(|failed: Failed| Failure::from(failed))?;
    let (found, next_cursor) = page.cut(found, |run| run.id.uuid());
    Ok(List { items: found.iter().map(AiAnalysisRun::of).collect(), next_cursor, total_count })
}

/// Ends a run that is not over. Its work stops within a second.
///
/// # Errors
/// 409 for a run that is over.
pub async fn cancel(state: &Analysis, run: &Run, caller: Caller, request: RequestId) -> Result<AiAnalysisRun, Failure> {
    stop(state, run.state.id, caller.user_id, request).await
}

/// Has a run's actor end it, and its work stop.
pub(super) async fn stop(
    state: &Analysis,
    id: Id<run::Run>,
    by: Id<User>,
    request: RequestId,
) -> Result<AiAnalysisRun, Failure> {
    let cancelled = ask(state, id, Command::Cancel { by }, request).await?;
    state.runner.cancel(id);
    Ok(AiAnalysisRun::of(&cancelled.state))
}

/// Queues a run again that failed, was cancelled, or is partial. `job_id` is the new attempt's: the same one again changes
/// nothing.
///
/// # Errors
/// 409 for a run in any other state, or while another run over the same input is unfinished.
pub async fn retry(
    state: &Analysis,
    run: &Run,
    job_id: Id<ids::AiJob>,
    request: RequestId,
) -> Result<AiAnalysisRun, Failure> {
    let (project_id, input_hash) = (run.state.project_id, run.state.input_hash.clone());
    let (owner, most) = (run.state.created_by, state.config.limits.unfinished_runs);
    let project = state.db.read(move |conn| {
        Box::pin(async move {
            let project = crate::projects::store::find(conn, project_id).await?;
            let unfinished = store::unfinished(conn, project_id, &input_hash).await?;
            Ok::<_, Failed>((project, unfinished, store::unfinished_of(conn, owner, most).await?))
        })
    });
    let (project, unfinished, of_owner) = project.await?;
    crate::projects::must_be_active(&project.ok_or_else(|| Failure::of(Code::NOT_FOUND))?)?;
    if unfinished.is_some_and(|other| other.id != run.state.id) {
        return Err(Failure::saying(Code::INVALID_STATE, "Another run over the same input is under way."));
    }
    if of_owner >= most && run.state.is_over() {
        return Err(too_many_unfinished("Whoever began this run has", most));
    }
    let retried = ask(state, run.state.id, Command::Retry { job_id }, request).await?;
    run_loop::begin(state, run.state.id);
    Ok(AiAnalysisRun::of(&retried.state))
}

async fn ask(state: &Analysis, id: Id<run::Run>, command: Command, request: RequestId) -> Result<Run, Failure> {
    answered(&state.registry, id, command, request, Code::NOT_FOUND, |refusal| match refusal {
        Refusal::OldAttempt { .. } => Failure::saying(Code::INVALID_STATE, "The run was started again meanwhile."),
        Refusal::InvalidState { status } => Failure::saying(
            Code::INVALID_STATE,
            match status {
                Status::Queued | Status::Processing => "The run is under way.",
                Status::Completed | Status::Partial => "The run is complete.",
                Status::Rejected => "The run was rejected: there was nothing to analyse.",
                Status::Failed => "The run has failed.",
                Status::Cancelled => "The run was cancelled.",
            },
        ),
    })
    .await
}
