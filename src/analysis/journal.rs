//! The journal of runs: saves what changed in a run and, with its end, what it found, together with the events that record it.

use std::sync::Arc;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{Batch, Change, Decided, EventRecord, RequestId, Topic, TopicKind};
use actors::run::{Event, Run};
use actors::time::Time;
use async_trait::async_trait;

use super::findings::operations::announce_changed;
use super::findings::store as findings;
use super::items::comparing;
use super::model::AiAnalysisRun;
use super::proposals::forgetting;
use super::proposals::store::drafts as proposals;
use super::store;
use crate::db::events::ChosenOffsets;
use crate::db::journal::{self, DbJournal, NotSaved, Tables};
use crate::db::{AtOnce, Conn, DbError, events};
use crate::meetings::transcripts::grounding;
use crate::projects;

/// Inserts a newly queued run and its first events. Returns `None` if the run exists already, or another run over the
/// same input is unfinished.
pub async fn insert(
    conn: &mut Conn,
    change: &Change<Run>,
    request: &RequestId,
    at: Time,
) -> Result<Option<Vec<EventRecord>>, DbError> {
    if !store::insert(conn, &change.next).await? {
        return Ok(None);
    }
    let first = Decided { change: change.clone(), request: Arc::clone(request), at };
    let mut records = journal::records_of(&RunTables, 0, std::slice::from_ref(&first))?;
    ChosenOffsets::of(&records)?.append(conn.at_once()).await?;
    let others = repeat(conn, change.next.project_id, &records).await?;
    records.extend(others);
    Ok(Some(records))
}

/// Loads and saves runs for their actors.
pub type RunJournal = DbJournal<RunTables>;

#[derive(Clone, Copy)]
pub struct RunTables;

#[async_trait]
impl Tables for RunTables {
    type Entity = Run;
    type Related = ();

    async fn find(conn: &mut Conn, key: Id<Run>) -> Result<Option<Run>, DbError> {
        store::find(conn, key).await
    }

    async fn awake(conn: &mut Conn) -> Result<Vec<Id<Run>>, DbError> {
        store::all_unfinished(conn).await
    }

    async fn update(conn: AtOnce<'_>, batch: &Batch<Run>) -> Result<Option<()>, DbError> {
        Ok(store::update(conn, batch.after(), batch.before.revision).await?.then_some(()))
    }

    async fn follow(&self, conn: &mut Conn, batch: &Batch<Run>, (): ()) -> Result<bool, DbError> {
        let mut is_any = false;
        for Decided { change, request, at } in &batch.changes {
            if !change.events.is_empty() && change.next.is_over() {
                is_any |= end(conn, &change.next, *at, request).await?;
            }
        }
        Ok(is_any)
    }

    fn topic(run: &Run) -> Topic {
        store::topic(run.id)
    }

    fn event(&self, run: &Run, event: &Event) -> Result<(EventKind, String), DbError> {
        let data = serde_json::to_string(&AiAnalysisRun::of(run));
        Ok((event.kind(), data.map_err(|error| DbError::Broken(error.to_string()))?))
    }

    async fn announce(conn: &mut Conn, batch: &Batch<Run>, own: &[EventRecord]) -> Result<Vec<EventRecord>, NotSaved> {
        let (run_id, project_id) = (batch.before.id, batch.before.project_id);
        let mut records = repeat(conn, project_id, own).await?;
        for Decided { change, request, at } in &batch.changes {
            if !change.events.is_empty() && store::SUCCESSFUL.contains(&change.next.status()) {
                records.extend(announce_changed(conn, project_id, run_id, *at, request).await?);
            }
        }
        Ok(records)
    }
}

/// Appends the events of a run to the topic of its project too.
async fn repeat(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    own: &[EventRecord],
) -> Result<Vec<EventRecord>, DbError> {
    let topic = Topic { kind: TopicKind::Project, id: project_id.uuid() };
    let mut records = Vec::with_capacity(own.len());
    for EventRecord { kind, data, at, request, .. } in own {
        records.push(events::append(conn, topic, *kind, data, *at, request).await?);
    }
    Ok(records)
}

/// Applies the end of an attempt: publishes its results if it succeeded, and deletes its draft and the stored outputs
/// of its nodes. Returns whether a job was enqueued.
///
/// Transcripts that the run has read may have changed since, or may not be analysed any more: what rests on them is
/// looked at again.
async fn end(conn: &mut Conn, run: &Run, now: Time, request: &RequestId) -> Result<bool, DbError> {
    let is_successful = store::SUCCESSFUL.contains(&run.status());
    if is_successful {
        // Whoever changes items locks the project: none is changed between the look at them and the writing.
        projects::store::find_to_change(conn, run.project_id).await?;
        // Before the items: whoever accepts a proposal locks them in this order too.
        proposals::publish(conn, run.id).await?;
    }
    if is_successful && !findings::publish(conn, run, now).await? {
        return Err(DbError::Broken(format!("the run {} can't be complete: nothing says what it found", run.id)));
    }
    if is_successful {
        comparing::enqueue(conn, run.project_id, now, request).await?;
    }
    if let Some(meeting_id) = run.meeting_id.filter(|_| is_successful) {
        grounding::enqueue_of_meeting(conn, meeting_id, now, request).await?;
    }
    findings::forget_draft(conn, run.id).await?;
    if !is_successful {
        findings::forget_findings(conn, run.id).await?;
    }
    store::delete_node_outputs(conn, run.id).await?;
    let is_enqueued = !is_successful && forgetting::enqueue(conn, run, now, request).await?;
    Ok(is_enqueued || is_successful)
}
