//! What is indexed, as it is stored now: read here, and taken apart elsewhere, as that takes time.

use actors::ids::{self, Id};
use actors::meeting::{Meeting, TranscriptStatus};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use crate::db::schema::{document_texts, documents, items, meetings, recordings, transcript_segments, transcripts};
use crate::db::{Conn, DbError, RunQueryDsl, bytes_of, octet_length};
use crate::projects::item_kind::ItemKind;
use crate::reviews::search::passages::SpokenSegment;

pub struct StoredItem {
    pub id: Id<()>,
    pub project_id: Id<ids::Project>,
    pub kind: ItemKind,
    pub body: String,
}

/// The sizes of items, in bytes, of those that exist.
pub async fn item_bytes(conn: &mut Conn, ids: Vec<Id<()>>) -> Result<Vec<(Id<()>, usize)>, DbError> {
    let found: Vec<(Id<()>, i32)> =
        items::table.filter(items::id.eq_any(ids)).select((items::id, octet_length(items::body))).load(conn).await?;
    Ok(found.into_iter().map(|(id, bytes)| (id, bytes_of(bytes))).collect())
}

/// Those of some items that exist.
pub async fn items(conn: &mut Conn, ids: Vec<Id<()>>) -> Result<Vec<StoredItem>, DbError> {
    let found: Vec<(Id<()>, Id<ids::Project>, ItemKind, String)> = items::table
        .filter(items::id.eq_any(ids))
        .select((items::id, items::project_id, items::kind, items::body))
        .load(conn)
        .await?;
    let item = |(id, project_id, kind, body)| StoredItem { id, project_id, kind, body };
    Ok(found.into_iter().map(item).collect())
}

pub struct StoredDocument {
    pub project_id: Id<ids::Project>,
    pub file_name: String,
    /// JSON of what a reader wrote, which limits its size.
    pub source_text: String,
}

/// A document with its text; `None` if there is none.
pub async fn document(conn: &mut Conn, id: Id<()>) -> Result<Option<StoredDocument>, DbError> {
    let id: Id<ids::Document> = Id::from_uuid(id.uuid());
    let named = documents::table.find(id).select((documents::project_id, documents::file_name));
    let named: Option<(Id<ids::Project>, String)> = named.first(conn).await.optional()?;
    let text = document_texts::table.find(id).select(document_texts::source_text);
    let text: Option<String> = text.first(conn).await.optional()?;
    let (Some((project_id, file_name)), Some(source_text)) = (named, text) else { return Ok(None) };
    Ok(Some(StoredDocument { project_id, file_name, source_text }))
}

/// A part of a transcript.
pub struct StoredTranscript {
    pub project_id: Id<ids::Project>,
    /// Of the meeting.
    pub title: String,
    pub segments: Vec<SpokenSegment>,
}

/// The segments from a position on, so many at most, of the transcript that is shown of a recording: the newest one that
/// is complete. `None` if there is none.
pub async fn recording(conn: &mut Conn, id: Id<()>, from: i64, most: i64) -> Result<Option<StoredTranscript>, DbError> {
    let id: Id<ids::Recording> = Id::from_uuid(id.uuid());
    let meeting = recordings::table.find(id).select(recordings::meeting_id);
    let meeting: Option<Id<Meeting>> = meeting.first(conn).await.optional()?;
    let Some(meeting) = meeting else { return Ok(None) };
    let named = meetings::table.find(meeting).select((meetings::project_id, meetings::title));
    let named: Option<(Id<ids::Project>, String)> = named.first(conn).await.optional()?;
    let newest = transcripts::table
        .filter(transcripts::recording_id.eq(id))
        .filter(transcripts::status.eq(TranscriptStatus::Ready))
        .order(transcripts::number.desc());
    let newest: Option<Id<ids::Transcript>> = newest.select(transcripts::id).first(conn).await.optional()?;
    let (Some((project_id, title)), Some(transcript)) = (named, newest) else { return Ok(None) };
    let columns = (
        transcript_segments::position,
        transcript_segments::text,
        transcript_segments::start_ms,
        transcript_segments::end_ms,
    );
    let said: Vec<(i64, String, i64, i64)> = transcript_segments::table
        .filter(transcript_segments::transcript_id.eq(transcript))
        .filter(transcript_segments::position.ge(from))
        .order(transcript_segments::position.asc())
        .select(columns)
        .limit(most)
        .load(conn)
        .await?;
    let segment = |(position, text, from, to): (i64, String, i64, i64)| SpokenSegment {
        position,
        text,
        start_ms: u64::try_from(from).unwrap_or_default(),
        end_ms: u64::try_from(to).unwrap_or_default(),
    };
    let segments = said.into_iter().map(segment).collect();
    Ok(Some(StoredTranscript { project_id, title, segments }))
}
