//! Keeps the index up to date: reads the notes of what changed, and replaces the passages that are no longer right.
//!
//! A note is deleted in the transaction that writes the last passages of what it names, so that a killed server goes on
//! where it was. What has been indexed already is compared and left alone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::passages::SourcePassages;
use super::store::{self, IndexedPassage, NewPassage, PendingNote, sources};
use crate::db::{Db, DbError};
use crate::reviews::state::Reviews;

/// The pause after which is looked for changes: no search waits longer for what is new, once all before is indexed.
const LOOK: Duration = Duration::from_secs(1);
/// How many notes are read at once.
const NOTES: i64 = 200;
/// How many passages one transaction writes.
const PASSAGES: usize = 200;

/// Indexes what changed until the server stops.
pub async fn watch(state: Reviews) {
    let stopping = state.tasks.stopping();
    while !stopping.is_cancelled() {
        match once(&state.db).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "what changed could not be indexed for search; retrying later"),
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stopping.cancelled() => return,
        }
    }
}

/// Indexes what the oldest notes name; returns whether there may be more.
///
/// # Errors
/// A database error; what was written before it stays, and the notes too.
pub async fn once(db: &Db) -> Result<bool, DbError> {
    let notes = db.read(move |conn| Box::pin(store::pending(conn, NOTES))).await?;
    if notes.is_empty() {
        return Ok(false);
    }
    let is_page = i64::try_from(notes.len()).is_ok_and(|count| count == NOTES);
    let mut by_source: BTreeMap<(String, Uuid), Vec<i64>> = BTreeMap::new();
    for PendingNote { id, kind, source_id } in notes {
        by_source.entry((kind, source_id.0.uuid())).or_default().push(id);
    }
    let (mut items, mut item_notes) = (Vec::new(), Vec::new());
    for ((kind, source_id), notes) in by_source {
        match kind.as_str() {
            "ITEM" => {
                items.push(source_id);
                item_notes.extend(notes);
            }
            "DOCUMENT" => {
                let found = db.read(move |conn| Box::pin(sources::document(conn, source_id))).await;
                let found = or_nothing(found, "document", source_id)?;
                update(db, vec![source_id], found.into_iter().map(|one| (source_id, one)).collect(), notes).await?;
            }
            "RECORDING" => {
                let found = db.read(move |conn| Box::pin(sources::recording(conn, source_id))).await;
                let found = or_nothing(found, "transcript", source_id)?;
                update(db, vec![source_id], found.into_iter().map(|one| (source_id, one)).collect(), notes).await?;
            }
            other => return Err(DbError::Broken(format!("{other} is to be searched"))),
        }
    }
    if !items.is_empty() {
        let ids = items.clone();
        let found = db.read(move |conn| Box::pin(sources::items(conn, ids))).await?;
        update(db, items, found, item_notes).await?;
    }
    Ok(is_page)
}

/// A text that can't be parsed is not found, and holds up nothing else.
fn or_nothing(
    found: Result<Option<SourcePassages>, DbError>,
    what: &'static str,
    id: Uuid,
) -> Result<Option<SourcePassages>, DbError> {
    match found {
        Err(DbError::Broken(error)) => {
            tracing::error!(error, %id, "a {what} can't be searched");
            Ok(None)
        }
        found => found,
    }
}

/// Makes the passages of sources those that were found, and deletes the notes.
async fn update(db: &Db, ids: Vec<Uuid>, found: Vec<(Uuid, SourcePassages)>, notes: Vec<i64>) -> Result<(), DbError> {
    let present = db.read(move |conn| Box::pin(store::passages_of(conn, ids))).await?;
    let compared = spawn_blocking(move || compare(present, found)).await;
    let (mut removed, mut added) = compared.map_err(|error| DbError::Broken(error.to_string()))?;
    loop {
        let some_removed: Vec<_> = removed.drain(..removed.len().min(PASSAGES)).collect();
        let some_added: Vec<_> = match removed.is_empty() {
            true => added.drain(..added.len().min(PASSAGES)).collect(),
            false => Vec::new(),
        };
        let is_last = removed.is_empty() && added.is_empty();
        let notes = if is_last { notes.clone() } else { Vec::new() };
        let written = db.write(move |conn| {
            Box::pin(async move {
                store::replace(conn, some_removed, some_added).await?;
                store::settle(conn, notes).await
            })
        });
        written.await?;
        if is_last {
            return Ok(());
        }
    }
}

/// Which passages are to be removed, and which added. One at the same place with the same content stays.
fn compare(present: Vec<IndexedPassage>, found: Vec<(Uuid, SourcePassages)>) -> (Vec<IndexedPassage>, Vec<NewPassage>) {
    let mut at_place: HashMap<(Uuid, usize), IndexedPassage> = HashMap::new();
    let mut removed = Vec::new();
    for one in present {
        removed.extend(at_place.insert((one.source_id, one.position), one));
    }
    let mut added = Vec::new();
    let mut kept = HashSet::new();
    for (source_id, SourcePassages { project_id, kind, passages }) in found {
        for (position, passage) in passages.into_iter().enumerate() {
            let same = at_place.get(&(source_id, position)).filter(|one| one.passage == passage);
            match same {
                Some(_) => drop(kept.insert((source_id, position))),
                None => added.push(NewPassage { project_id, kind: kind.into_str(), source_id, position, passage }),
            }
        }
    }
    removed.extend(at_place.into_iter().filter(|(place, _)| !kept.contains(place)).map(|(_, one)| one));
    (removed, added)
}
