//! What is indexed, as it is stored now.

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use uuid::Uuid;

use crate::db::schema::{document_texts, documents, items, meetings, recordings, transcript_segments, transcripts};
use crate::db::{Conn, DbError, Key, RunQueryDsl};
use crate::reviews::search::model::SearchKind;
use crate::reviews::search::passages::{self, SearchPassage, SourcePassages, SpokenSegment};

/// The passages of items that exist, with their ids.
pub async fn items(conn: &mut Conn, ids: Vec<Uuid>) -> Result<Vec<(Uuid, SourcePassages)>, DbError> {
    let ids: Vec<Key<()>> = ids.into_iter().map(|id| Key(Id::from_uuid(id))).collect();
    let found: Vec<(Key<()>, Key<ids::Project>, String, String)> = items::table
        .filter(items::id.eq_any(ids))
        .select((items::id, items::project_id, items::kind, items::body))
        .load(conn)
        .await?;
    let item = |(id, project_id, kind, body): (Key<()>, Key<ids::Project>, String, String)| {
        let (kind, passages) = match kind.as_str() {
            "REQUIREMENT" => (SearchKind::Requirement, passages::of_requirement(&body)),
            "USER_STORY" => (SearchKind::UserStory, passages::of_story(&body)),
            other => return Err(DbError::Broken(format!("an item is a {other}"))),
        };
        Ok((id.0.uuid(), SourcePassages { project_id: project_id.0, kind, passages: readable(passages)? }))
    };
    found.into_iter().map(item).collect()
}

fn readable(passages: Result<Vec<SearchPassage>, serde_json::Error>) -> Result<Vec<SearchPassage>, DbError> {
    passages.map_err(|error| DbError::Broken(format!("what is to be searched is invalid: {error}")))
}

/// The passages of a document; `None` if it does not exist.
pub async fn document(conn: &mut Conn, id: Uuid) -> Result<Option<SourcePassages>, DbError> {
    let id: Key<ids::Document> = Key(Id::from_uuid(id));
    let named = documents::table.find(id).select((documents::project_id, documents::file_name));
    let named: Option<(Key<ids::Project>, String)> = named.first(conn).await.optional()?;
    let text = document_texts::table.find(id).select(document_texts::source_text);
    let text: Option<String> = text.first(conn).await.optional()?;
    let (Some((project_id, file_name)), Some(text)) = (named, text) else { return Ok(None) };
    let passages = readable(passages::of_document(&file_name, &text))?;
    Ok(Some(SourcePassages { project_id: project_id.0, kind: SearchKind::Document, passages }))
}

/// The passages of the transcript that is shown of a recording: the newest one that is complete. `None` if there is none.
pub async fn recording(conn: &mut Conn, id: Uuid) -> Result<Option<SourcePassages>, DbError> {
    let id: Key<ids::Recording> = Key(Id::from_uuid(id));
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
    let said: Vec<(String, i64, i64)> = transcript_segments::table
        .filter(transcript_segments::transcript_id.eq(transcript))
        .order(transcript_segments::position.asc())
        .select((transcript_segments::text, transcript_segments::start_ms, transcript_segments::end_ms))
        .load(conn)
        .await?;
    let segment = |(text, from, to): (String, i64, i64)| SpokenSegment {
        text,
        start_ms: u64::try_from(from).unwrap_or_default(),
        end_ms: u64::try_from(to).unwrap_or_default(),
    };
    let passages = readable(passages::of_transcript(&title, said.into_iter().map(segment).collect()))?;
    Ok(Some(SourcePassages { project_id: project_id.0, kind: SearchKind::Transcript, passages }))
}
