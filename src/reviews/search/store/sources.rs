//! What is indexed, as it is stored now: read here, and taken apart elsewhere, as that takes time.

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use crate::db::schema::{document_texts, documents, items, meetings, recordings, transcript_segments, transcripts};
use crate::db::{Conn, DbError, Key, RunQueryDsl, bytes_of, octet_length};
use crate::reviews::search::passages::SpokenSegment;

pub struct StoredItem {
    pub id: Id<()>,
    pub project_id: Id<ids::Project>,
    pub kind: String,
    pub body: String,
}

/// The sizes of items, in bytes, of those that exist.
pub async fn item_bytes(conn: &mut Conn, ids: Vec<Id<()>>) -> Result<Vec<(Id<()>, usize)>, DbError> {
    let wanted: Vec<Key<()>> = ids.into_iter().map(Key).collect();
    let found: Vec<(Key<()>, i32)> =
        items::table.filter(items::id.eq_any(wanted)).select((items::id, octet_length(items::body))).load(conn).await?;
    Ok(found.into_iter().map(|(id, bytes)| (id.0, bytes_of(bytes))).collect())
}

/// Those of some items that exist.
pub async fn items(conn: &mut Conn, ids: Vec<Id<()>>) -> Result<Vec<StoredItem>, DbError> {
    let ids: Vec<Key<()>> = ids.into_iter().map(Key).collect();
    let found: Vec<(Key<()>, Key<ids::Project>, String, String)> = items::table
        .filter(items::id.eq_any(ids))
        .select((items::id, items::project_id, items::kind, items::body))
        .load(conn)
        .await?;
    let item = |(id, project_id, kind, body): (Key<()>, Key<ids::Project>, String, String)| StoredItem {
        id: id.0,
        project_id: project_id.0,
        kind,
        body,
    };
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
    let id: Key<ids::Document> = Key(Id::from_uuid(id.uuid()));
    let named = documents::table.find(id).select((documents::project_id, documents::file_name));
    let named: Option<(Key<ids::Project>, String)> = named.first(conn).await.optional()?;
    let text = document_texts::table.find(id).select(document_texts::source_text);
    let text: Option<String> = text.first(conn).await.optional()?;
    let (Some((project_id, file_name)), Some(source_text)) = (named, text) else { return Ok(None) };
    Ok(Some(StoredDocument { project_id: project_id.0, file_name, source_text }))
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
    let id: Key<ids::Recording> = Key(Id::from_uuid(id.uuid()));
    let meeting = recordings::table.find(id).select(recordings::meeting_id);
    let meeting: Option<Key<Meeting>> = meeting.first(conn).await.optional()?;
    let Some(meeting) = meeting else { return Ok(None) };
    let named = meetings::table.find(meeting).select((meetings::project_id, meetings::title));
    let named: Option<(Key<ids::Project>, String)> = named.first(conn).await.optional()?;
    let newest = transcripts::table
        .filter(transcripts::recording_id.eq(id))
        .filter(transcripts::status.eq("READY"))
        .order(transcripts::number.desc());
    let newest: Option<Key<ids::Transcript>> = newest.select(transcripts::id).first(conn).await.optional()?;
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
    Ok(Some(StoredTranscript { project_id: project_id.0, title, segments }))
}
