//! Keeps the index up to date: reads the notes of what changed, and replaces the passages that are no longer right.
//!
//! ```text
//!  notes, by project:  A ▪▪▪▪▪▪▪   B ▪   C ▪▪       turns: A, B, C, A, C, A, A …
//! ```
//! The projects with notes take turns. A turn reads a bounded amount and writes it in short transactions; a large source
//! goes on in the next turn of its project. A source that fails is put off, for longer each time, and holds up no other.
//!
//! A note is deleted in the transaction that writes the last passages of what it names, so that a killed server goes on
//! where it was. What has been indexed already is compared and left alone.

use std::collections::HashMap;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::time::Time;
use uuid::Uuid;

use super::difference::{IndexChange, WantedPassage};
use super::parts::{self, PartStart, SourcePart};
use super::store;
use super::store::pending::{self, FailedSource, PendingNote, PendingSource, PendingWork};
use super::store::sources;
use crate::db::{Db, DbError};
use crate::reviews::state::Reviews;

/// The pause between two checks for changes: no search waits longer for what is new, once all before is indexed.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How many notes of a project are read for a turn.
const NOTES: i64 = 200;
/// How many passages are compared and written in a turn, but for the end of the part that is under way.
const TURN: usize = 400;
/// So much of what was read counts as much as a passage.
const BYTES: usize = 4_096;
/// How many passages one transaction writes, and so long do others wait for it.
const WRITTEN: usize = 100;

/// Indexes what changed until the server stops.
pub async fn watch(state: Reviews) {
    let stopping = state.tasks.stopping();
    let mut indexer = SearchIndexer::on(state.db.clone());
    while !stopping.is_cancelled() {
        match indexer.turn(state.now()).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "what changed could not be indexed for search; retrying later"),
        }
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = stopping.cancelled() => return,
        }
    }
}

/// Indexes the changes of all projects in turns.
pub struct SearchIndexer {
    db: Db,
    /// The project that had the last turn.
    last: Id<ids::Project>,
    /// The large source of a project of which a part is indexed. It begins anew after a restart.
    under_way: HashMap<Id<ids::Project>, SourceUnderWay>,
}

/// A source of which a part is indexed.
struct SourceUnderWay {
    source: PendingSource,
    start: PartStart,
    /// Those that were there when it was begun: what changed later is in no part for certain. On PostgreSQL a note that is committed
    /// later may have a lower id.
    notes: Vec<i64>,
}

/// What is left of a turn.
struct RestOfTurn {
    at: Time,
    project_id: Id<ids::Project>,
    passages: usize,
}

impl RestOfTurn {
    const fn spend(&mut self, passages: usize) {
        self.passages = self.passages.saturating_sub(passages);
    }
}

impl SearchIndexer {
    #[must_use]
    pub fn on(db: Db) -> Self {
        Self { db, last: Id::from_uuid(Uuid::nil()), under_way: HashMap::new() }
    }

    /// Gives the next project its turn; returns whether there was anything to do.
    ///
    /// # Errors
    /// A database error; what was written before it stays, and the notes too.
    pub async fn turn(&mut self, at: Time) -> Result<bool, DbError> {
        let after = self.last;
        let next = self.db.read(move |conn| Box::pin(pending::next(conn, after, at))).await?;
        let PendingWork { is_retry_due, project_id } = next;
        if is_retry_due {
            self.db.write(move |conn| Box::pin(pending::note_due(conn, at))).await?;
        }
        let Some(project_id) = project_id else {
            self.under_way.clear();
            return Ok(is_retry_due);
        };
        self.last = project_id;
        let notes = self.db.read(move |conn| Box::pin(pending::notes(conn, project_id, NOTES))).await?;
        let mut rest = RestOfTurn { at, project_id, passages: TURN };
        let (items, others): (Vec<_>, Vec<_>) =
            by_source(notes).into_iter().partition(|noted| noted.source.kind == "ITEM");
        self.items(&mut rest, items).await?;
        for noted in others {
            if rest.passages == 0 {
                break;
            }
            let (source, notes) = (noted.source.clone(), noted.notes.clone());
            if let Err(error) = self.source(&mut rest, noted).await {
                self.put_off(&rest, source, notes, &error).await?;
            }
        }
        Ok(true)
    }

    /// Indexes items as far as the turn allows: some together, and one by one if that fails, so that only those are put off that
    /// can't be indexed.
    async fn items(&mut self, rest: &mut RestOfTurn, items: Vec<NotedSource>) -> Result<(), DbError> {
        if items.is_empty() {
            return Ok(());
        }
        let ids: Vec<Id<()>> = items.iter().map(|one| one.source.id).collect();
        let sizes = self.db.read(move |conn| Box::pin(sources::item_bytes(conn, ids))).await?;
        let sizes: HashMap<Id<()>, usize> = sizes.into_iter().collect();
        let bytes_of = |one: &NotedSource| sizes.get(&one.source.id).copied().unwrap_or_default();
        for some in slices(items, bytes_of) {
            if rest.passages == 0 {
                return Ok(());
            }
            rest.spend(some.len().max(some.iter().map(bytes_of).sum::<usize>() / BYTES));
            if self.some_items(&some).await.is_ok() {
                continue;
            }
            for one in some {
                if let Err(error) = self.some_items(std::slice::from_ref(&one)).await {
                    self.put_off(rest, one.source, one.notes, &error).await?;
                }
            }
        }
        Ok(())
    }

    async fn some_items(&self, items: &[NotedSource]) -> Result<(), DbError> {
        let ids: Vec<Id<()>> = items.iter().map(|one| one.source.id).collect();
        let notes = items.iter().flat_map(|one| one.notes.clone()).collect();
        let wanted = parts::of_items(&self.db, ids.clone()).await?;
        let of = ids.clone();
        let indexed = self.db.read(move |conn| Box::pin(store::first_passages(conn, of))).await?;
        let change = parts::apart(move || Ok(IndexChange::between(indexed, wanted))).await?;
        self.write(change, ids, notes).await
    }

    /// Indexes a document or a recording as far as the turn allows.
    async fn source(&mut self, rest: &mut RestOfTurn, noted: NotedSource) -> Result<(), DbError> {
        let NotedSource { source, notes } = noted;
        let begun = self.under_way.remove(&rest.project_id).filter(|begun| begun.source == source);
        let (mut start, notes) = begun.map_or((PartStart::default(), notes), |begun| (begun.start, begun.notes));
        while rest.passages > 0 {
            let part = match source.kind.as_str() {
                "DOCUMENT" => parts::of_document(&self.db, source.id, start).await?,
                "RECORDING" => parts::of_recording(&self.db, source.id, start).await?,
                other => return Err(DbError::Broken(format!("{other} is to be searched"))),
            };
            rest.spend((part.bytes / BYTES).max(1));
            let (is_end, next) = (part.is_end, part.next);
            let is_whole = self.part(rest, source.id, start, part, &notes).await?;
            start = next;
            if is_end && is_whole {
                return Ok(());
            }
        }
        self.under_way.insert(rest.project_id, SourceUnderWay { source, start, notes });
        Ok(())
    }

    /// Indexes a part; after the last one removes what is indexed behind it, as far as the turn allows, and then the
    /// notes. Returns whether nothing is left to be removed.
    async fn part(
        &self,
        rest: &mut RestOfTurn,
        source: Id<()>,
        start: PartStart,
        part: SourcePart,
        notes: &[i64],
    ) -> Result<bool, DbError> {
        let mut from = start.passage;
        let mut passages = part.passages.into_iter();
        loop {
            let wanted: Vec<WantedPassage> = passages.by_ref().take(WRITTEN).collect();
            let is_last = passages.as_slice().is_empty();
            let next = from + wanted.len();
            let (before, most) = if is_last && part.is_end { (usize::MAX, 2 * WRITTEN) } else { (next, WRITTEN) };
            let first = from;
            let indexed = self.db.read(move |conn| Box::pin(store::passages_of(conn, source, first, before, most)));
            let indexed = indexed.await?;
            let is_all = indexed.len() < most;
            rest.spend(wanted.len().max(indexed.len()));
            let change = parts::apart(move || Ok(IndexChange::between(indexed, wanted))).await?;
            from = next;
            if is_last && part.is_end && is_all {
                self.write(change, vec![source], notes.to_vec()).await?;
                return Ok(true);
            }
            if !change.is_empty() {
                self.write(change, Vec::new(), Vec::new()).await?;
            }
            if is_last && (!part.is_end || rest.passages == 0) {
                return Ok(false);
            }
        }
    }

    /// Writes a change, and deletes the notes of the sources that are indexed with it.
    async fn write(&self, change: IndexChange, sources: Vec<Id<()>>, notes: Vec<i64>) -> Result<(), DbError> {
        let written = self.db.write(move |conn| {
            Box::pin(async move {
                if !change.is_empty() {
                    store::replace(conn, change).await?;
                }
                pending::forget_indexed(conn, sources, notes).await
            })
        });
        written.await
    }

    /// Passes over a source that failed, for a while.
    ///
    /// # Errors
    /// The database fails altogether; its notes stay then.
    async fn put_off(
        &mut self,
        rest: &RestOfTurn,
        source: PendingSource,
        notes: Vec<i64>,
        error: &DbError,
    ) -> Result<(), DbError> {
        let PendingSource { kind, id } = source.clone();
        self.under_way.remove(&rest.project_id);
        let failed = FailedSource { project_id: rest.project_id, source, notes, at: rest.at };
        let (failures, pause) = self.db.write(move |conn| Box::pin(pending::put_off(conn, failed))).await?;
        metrics::counter!("colloquy_search_put_off_total").increment(1);
        let pause_seconds = pause.as_secs();
        tracing::warn!(kind, %id, %error, failures, pause_seconds, "a source can't be indexed for search; retrying later");
        Ok(())
    }
}

/// A source with its notes, oldest first.
struct NotedSource {
    source: PendingSource,
    notes: Vec<i64>,
}

/// Cuts items into those that are written together: as large as so many passages, and one at least.
fn slices(items: Vec<NotedSource>, bytes_of: impl Fn(&NotedSource) -> usize) -> Vec<Vec<NotedSource>> {
    let (mut slices, mut slice, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
    for one in items {
        let more = bytes_of(&one);
        if !slice.is_empty() && bytes.saturating_add(more) > WRITTEN * BYTES {
            slices.push(std::mem::take(&mut slice));
            bytes = 0;
        }
        bytes = bytes.saturating_add(more);
        slice.push(one);
    }
    slices.push(slice);
    slices
}

/// The sources of notes, in the order of their first ones.
fn by_source(notes: Vec<PendingNote>) -> Vec<NotedSource> {
    let mut places: HashMap<PendingSource, usize> = HashMap::new();
    let mut sources: Vec<NotedSource> = Vec::new();
    for PendingNote { id, kind, source_id } in notes {
        let source = PendingSource { kind, id: source_id };
        let place = *places.entry(source.clone()).or_insert(sources.len());
        match sources.get_mut(place) {
            Some(known) => known.notes.push(id),
            None => sources.push(NotedSource { source, notes: vec![id] }),
        }
    }
    sources
}
