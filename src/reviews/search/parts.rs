//! Reads what is to be indexed, a part at a time: neither a long transcript nor all items of a project are ever in memory
//! as a whole. (The size of a document's text is limited where it is read.) What was read is taken apart outside of the
//! read.

use actors::ids::Id;
use tokio::task::spawn_blocking;

use super::difference::WantedPassage;
use super::model::SearchKind;
use super::passages::{self, SpokenPassages};
use super::store::sources::{self, StoredDocument, StoredItem, StoredTranscript};
use crate::db::{Db, DbError};
use crate::projects::item_kind::ItemKind;

/// How many passages of a document are in one part.
const PASSAGES: usize = 400;
/// How many segments of a transcript are read at once.
const SEGMENTS: usize = 500;

/// Where a part begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartStart {
    pub passage: usize,
    /// Position of the first segment, of a transcript.
    pub segment: i64,
}

/// Passages of one source that follow each other. None if there is nothing to be found in it.
pub struct SourcePart {
    pub passages: Vec<WantedPassage>,
    /// No passages follow.
    pub is_end: bool,
    /// Where the next part begins.
    pub next: PartStart,
    /// The size of what was read for it.
    pub bytes: usize,
}

impl SourcePart {
    /// What is left of a source that does not exist.
    const fn nothing(start: PartStart) -> Self {
        Self { passages: Vec::new(), is_end: true, next: start, bytes: 0 }
    }
}

/// The passages of those items that exist.
///
/// # Errors
/// `Broken` if one can't be read.
pub async fn of_items(db: &Db, ids: Vec<Id<()>>) -> Result<Vec<WantedPassage>, DbError> {
    let found = db.read(move |conn| Box::pin(sources::items(conn, ids))).await?;
    apart(move || {
        let mut wanted = Vec::with_capacity(found.len());
        for StoredItem { id, project_id, kind, body } in found {
            let (kind, passages) = match kind {
                ItemKind::Requirement => (SearchKind::Requirement, passages::of_requirement(&body)),
                ItemKind::UserStory => (SearchKind::UserStory, passages::of_story(&body)),
                ItemKind::Risk | ItemKind::OpenQuestion | ItemKind::ActionItem | ItemKind::Decision => continue,
            };
            let passages = readable(passages)?.into_iter().enumerate();
            wanted.extend(passages.map(|(position, passage)| WantedPassage {
                project_id,
                kind,
                source_id: id,
                position,
                passage,
            }));
        }
        Ok(wanted)
    })
    .await
}

/// The passages of a document from a place on, some hundred at most.
///
/// # Errors
/// `Broken` if its text can't be read.
pub async fn of_document(db: &Db, id: Id<()>, start: PartStart) -> Result<SourcePart, DbError> {
    let found = db.read(move |conn| Box::pin(sources::document(conn, id))).await?;
    let Some(StoredDocument { project_id, file_name, source_text }) = found else {
        return Ok(SourcePart::nothing(start));
    };
    apart(move || {
        let bytes = source_text.len();
        let all = readable(passages::of_document(&file_name, &source_text))?;
        let is_end = all.len() <= start.passage.saturating_add(PASSAGES);
        let kind = SearchKind::Document;
        let some = all.into_iter().enumerate().skip(start.passage).take(PASSAGES);
        let passages: Vec<WantedPassage> = some
            .map(|(position, passage)| WantedPassage { project_id, kind, source_id: id, position, passage })
            .collect();
        let next = PartStart { passage: start.passage + passages.len(), segment: 0 };
        Ok(SourcePart { passages, is_end, next, bytes })
    })
    .await
}

/// The passages of the transcript of a recording from a place on, of some hundred segments.
///
/// # Errors
/// Only database errors in practice.
pub async fn of_recording(db: &Db, id: Id<()>, start: PartStart) -> Result<SourcePart, DbError> {
    // One more shows whether others follow.
    let most = i64::try_from(SEGMENTS + 1).unwrap_or(i64::MAX);
    let found = db.read(move |conn| Box::pin(sources::recording(conn, id, start.segment, most))).await?;
    let Some(StoredTranscript { project_id, title, mut segments }) = found else {
        return Ok(SourcePart::nothing(start));
    };
    apart(move || {
        let is_end = segments.len() <= SEGMENTS;
        segments.truncate(SEGMENTS);
        let bytes = segments.iter().map(|segment| segment.text.len()).sum();
        let SpokenPassages { passages, next_position } = readable(passages::of_transcript(&title, segments, is_end))?;
        let kind = SearchKind::Transcript;
        let passages: Vec<WantedPassage> = (start.passage..)
            .zip(passages)
            .map(|(position, passage)| WantedPassage { project_id, kind, source_id: id, position, passage })
            .collect();
        let segment = if passages.is_empty() { start.segment } else { next_position };
        let next = PartStart { passage: start.passage + passages.len(), segment };
        Ok(SourcePart { passages, is_end, next, bytes })
    })
    .await
}

fn readable<T>(read: Result<T, serde_json::Error>) -> Result<T, DbError> {
    read.map_err(|error| DbError::Broken(format!("what is to be searched is invalid: {error}")))
}

/// Takes apart what was read, on a thread for it; a panic is an error.
///
/// # Errors
/// Those of the work.
pub async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DbError> + Send + 'static,
) -> Result<T, DbError> {
    spawn_blocking(work).await.map_err(|error| DbError::Broken(error.to_string()))?
}
