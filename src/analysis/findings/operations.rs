//! Operations on what a run found: reading it, and undoing the run.

use std::collections::HashSet;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::run::Run;
use actors::time::Time;
use uuid::Uuid;

use super::model::{RunFinding, RunFindings, UndoneRun};
use super::store::{self, undo};
use crate::access::principal::Caller;
use crate::analysis::RunSnapshot;
use crate::analysis::changes::{ItemChanges, item_changed};
use crate::analysis::effects::store::{StoredFinding, findings_of};
use crate::analysis::effects::{FindingEffect, telling};
use crate::analysis::items::comparing;
use crate::analysis::items::project_item::ReferenceKind;
use crate::analysis::items::store::item_of;
use crate::analysis::pairs::links::follow_pairs;
use crate::analysis::pairs::store::{contradictions_of_run, partners as partners_of};
use crate::analysis::state::Analysis;
use crate::analysis::store as runs;
use crate::analysis::trail::decider;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects;
use crate::projects::item_kind::ItemKind;

/// For how long a run can be undone after it has ended.
pub const UNDO_FOR: Duration = Duration::from_secs(10 * 60);
/// Maximum number of items that a run or its undoing announces one by one. Of a run, its end says to read all again.
pub const MAX_ANNOUNCED: i64 = 200;

/// Returns what a run did to the specification.
///
/// # Errors
/// 409 for a run without a result.
pub async fn findings(state: &Analysis, run: &RunSnapshot) -> Result<RunFindings, ApiError> {
    let run_id = run.state.id;
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let Some(ended) = undo::ended_at(conn, run_id).await? else { return Ok(None) };
            let undone = undo::undone_at(conn, run_id).await?;
            let contradictions = contradictions_of_run(conn, run_id, telling::MAX_TOLD).await?;
            Ok::<_, DbError>(Some((ended, undone, findings_of(conn, run_id).await?, contradictions)))
        })
    });
    let (ended, undone_at, found, contradictions) = found.await?.ok_or_else(no_result)?;
    let of = |effect: FindingEffect| found.iter().filter(|row| row.3 == effect).map(shown).collect();
    Ok(RunFindings {
        run_id,
        summary: telling::summary(&found, &contradictions),
        added: of(FindingEffect::Added),
        confirmed: of(FindingEffect::Confirmed),
        changed: of(FindingEffect::Changed),
        gone: of(FindingEffect::Gone),
        warnings: run.state.warnings.clone(),
        undoable_until: undone_at.is_none().then(|| ended + UNDO_FOR),
        undone_at,
    })
}

fn shown((kind, id, number, _, reason, proposal_id): &StoredFinding) -> RunFinding {
    RunFinding {
        target_type: *kind,
        id: id.uuid(),
        code: kind.code(*number),
        reason: *reason,
        proposal_id: *proposal_id,
    }
}

fn no_result() -> ApiError {
    ApiError::with_message(Code::INVALID_STATE, "The run has no result.")
}

/// Takes back what a run did to the specification, and nobody has touched since: items that it added go, those that it changed
/// become as they were, and its open proposals go.
///
/// # Errors
/// 409 for a run without a result, one that ended more than [`UNDO_FOR`] ago or was undone, and in an archived project.
pub async fn undo(
    state: &Analysis,
    run: &RunSnapshot,
    caller: Caller,
    request: RequestId,
) -> Result<UndoneRun, ApiError> {
    let (run_id, project_id, now) = (run.state.id, run.state.project_id, state.now());
    let refused = |why: &str| ApiError::with_message(Code::INVALID_STATE, why);
    // A run that is written down has looked at the items as they are.
    let _one_at_a_time = state.runner.results_lock().await;
    let status = run.state.status();
    let undone = state.db.write(move |conn| {
        let request = request.clone();
        Box::pin(async move {
            let gone = || ApiError::of(Code::NOT_FOUND);
            // Whoever accepts a proposal locks the project too.
            let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
            projects::must_be_active(&project)?;
            let ended = undo::ended_at(conn, run_id).await?.ok_or_else(no_result)?;
            if !runs::SUCCESSFUL.contains(&status) {
                return Err(refused("The run is tried again, or its last attempt failed."));
            }
            if undo::undone_at(conn, run_id).await?.is_some() {
                return Err(refused("The run was undone before."));
            }
            if ended + UNDO_FOR < now {
                return Err(refused("A run can be undone within ten minutes after it has ended."));
            }
            let (undone, partners) = take_back(conn, project_id, run_id, ended, now).await?;
            undo::note(conn, run_id, caller.user_id, now).await?;
            let mut changes = ItemChanges::new(project_id, decider(conn, caller).await?, now);
            follow_pairs(conn, project_id, &mut changes, &partners).await?;
            let mut records = changes.finish(conn, &request).await?;
            records.extend(announce(conn, project_id, &undone.taken_back, now, &request).await?);
            comparing::enqueue(conn, project_id, now, &request).await?;
            Ok::<_, ApiError>((undone, records))
        })
    });
    let (undone, records): (UndoneRun, Vec<EventRecord>) = undone.await?;
    state.hub.publish(records);
    Ok(undone)
}

/// Returns also the requirements that were pairs with what is gone.
async fn take_back(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
    ended: Time,
    now: Time,
) -> Result<(UndoneRun, Vec<Id<()>>), DbError> {
    let found = findings_of(conn, run_id).await?;
    let restorable = undo::restorable(conn, run_id).await?;
    let is_written = |(_, id, _, effect, ..): &&StoredFinding| match effect {
        FindingEffect::Added => true,
        // One that it would change may be confirmed too.
        FindingEffect::Confirmed | FindingEffect::Changed => restorable.contains(&id.uuid()),
        FindingEffect::Gone => false,
    };
    let written: Vec<&StoredFinding> = found.iter().filter(is_written).collect();
    let ids: Vec<Id<()>> = written.iter().map(|row| row.1).collect();
    undo::lock(conn, project_id, &ids).await?;
    let touched = touched_since(conn, project_id, run_id, ended).await?;
    let (kept, taken_back): (Vec<_>, Vec<_>) = written.into_iter().partition(|row| touched.contains(&row.1.uuid()));
    let (added, changed): (Vec<_>, Vec<_>) =
        taken_back.iter().partition(|row: &&&StoredFinding| row.3 == FindingEffect::Added);
    let is_refreshed = |row: &&&StoredFinding| row.3 == FindingEffect::Changed && row.5.is_none();
    let (refreshed, confirmed): (Vec<_>, Vec<_>) = changed.into_iter().partition(is_refreshed);
    let ids_of = |rows: Vec<&&StoredFinding>| rows.into_iter().map(|row| row.1).collect::<Vec<Id<()>>>();
    undo::restore_confirmed(conn, run_id, &ids_of(confirmed), now).await?;
    for (kind, id, ..) in refreshed {
        undo::restore_refreshed(conn, run_id, *kind, *id, now).await?;
    }
    let removed = ids_of(added);
    let partners = partners_of(conn, &removed).await?;
    undo::remove(conn, project_id, &removed).await?;
    undo::withdraw_proposals(conn, project_id, run_id).await?;
    let shown = |rows: &[&StoredFinding]| rows.iter().map(|row| shown(row)).collect();
    let undone = UndoneRun { run_id, undone_at: now, taken_back: shown(&taken_back), kept: shown(&kept) };
    Ok((undone, partners))
}

/// The items that were touched since a run, and those that such items refer to, directly or not.
async fn touched_since(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
    ended: Time,
) -> Result<HashSet<Uuid>, DbError> {
    let mut touched = undo::touched_since(conn, project_id, run_id, ended).await?;
    let mut next: Vec<Uuid> = touched.iter().copied().collect();
    while !next.is_empty() {
        let bodies = undo::bodies(conn, project_id, &next).await?;
        next.clear();
        for (kind, body) in bodies {
            let referred = item_of(kind, &body)?.references();
            // What it may repeat or contradict is a claim about both, and no reason to keep the other one.
            let covered = referred.into_iter().filter(|(how, _)| *how == ReferenceKind::Requirement);
            next.extend(covered.map(|(_, id)| id).filter(|id| touched.insert(*id)));
        }
    }
    Ok(touched)
}

async fn announce(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    taken_back: &[RunFinding],
    now: Time,
    request: &RequestId,
) -> Result<Vec<EventRecord>, DbError> {
    let most = usize::try_from(MAX_ANNOUNCED).unwrap_or(usize::MAX);
    let mut records = Vec::new();
    for RunFinding { target_type, id, .. } in taken_back.iter().take(most) {
        records.push(item_changed(conn, project_id, *target_type, *id, now, request).await?);
    }
    Ok(records)
}

/// Appends the events of the items that a run has changed: of those that were there before, as the end of the run tells of the
/// new ones.
///
/// # Errors
/// Only database errors.
pub async fn announce_changed(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
    now: Time,
    request: &RequestId,
) -> Result<Vec<EventRecord>, DbError> {
    let mut records = Vec::new();
    let changed: Vec<(ItemKind, Uuid)> = store::changed_items(conn, run_id, MAX_ANNOUNCED).await?;
    for (kind, id) in changed {
        records.push(item_changed(conn, project_id, kind, id, now, request).await?);
    }
    Ok(records)
}
