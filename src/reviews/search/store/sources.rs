//! What is indexed, as it is stored now.

use actors::ids::{self, Id};
use diesel::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl};
use uuid::Uuid;

use crate::db::schema::{document_texts, documents, items, meetings, projects, recordings, transcript_segments, transcripts};
use crate::db::{Conn, DbError, Key, RunQueryDsl};
use crate::reviews::search::model::SearchKind;
use crate::reviews::search::passages::{self, Passage, SourcePassages, SpokenSegment};

const BURIED: &str = "BURIED";

/// The passages of items that exist, with their ids.
pub async fn items(conn: &mut Conn, ids: Vec<Uuid>) -> Result<Vec<(Uuid, SourcePassages)>, DbError> {
    let ids: Vec<Key<()>> = ids.into_iter().map(|id| Key(Id::from_uuid(id))).collect();
    let found: Vec<(Key<()>, Key<ids::Project>, String, String)> = items::table
        .inner_join(projects::table.on(projects::id.eq(items::project_id)))
        .filter(items::id.eq_any(ids))
        .filter(projects::status.ne(BURIED))
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

fn readable(passages: Result<Vec<Passage>, serde_json::Error>) -> Result<Vec<Passage>, DbError> {
    passages.map_err(|error| DbError::Broken(format!("what is to be searched is invalid: {error}")))
}

/// The passages of a document; `None` if it does not exist.
pub async fn document(conn: &mut Conn, id: Uuid) -> Result<Option<SourcePassages>, DbError> {
    let found: Option<(Key<ids::Project>, String, String)> = documents::table
        .inner_join(document_texts::table.on(document_texts::document_id.eq(documents::id)))
        .inner_join(projects::table.on(projects::id.eq(documents::project_id)))
        .filter(documents::id.eq(Key(Id::from_uuid(id))))
        .filter(projects::status.ne(BURIED))
        .select((documents::project_id, documents::file_name, document_texts::source_text))
        .first(conn)
        .await
        .optional()?;
    let Some((project_id, file_name, text)) = found else { return Ok(None) };
    let passages = readable(passages::of_document(&file_name, &text))?;
    Ok(Some(SourcePassages { project_id: project_id.0, kind: SearchKind::Document, passages }))
}

/// The passages of the transcript that is shown of a recording: the newest one that is complete. `None` if there is none.
pub async fn recording(conn: &mut Conn, id: Uuid) -> Result<Option<SourcePassages>, DbError> {
    let found: Option<(Key<ids::Project>, String, Key<ids::Transcript>)> = transcripts::table
        .inner_join(recordings::table.on(recordings::id.eq(transcripts::recording_id)))
        .inner_join(meetings::table.on(meetings::id.eq(recordings::meeting_id)))
        .inner_join(projects::table.on(projects::id.eq(meetings::project_id)))
        .filter(transcripts::recording_id.eq(Key(Id::from_uuid(id))))
        .filter(transcripts::status.eq("READY"))
        .filter(projects::status.ne(BURIED))
        .order(transcripts::number.desc())
        .select((meetings::project_id, meetings::title, transcripts::id))
        .first(conn)
        .await
        .optional()?;
    let Some((project_id, title, transcript)) = found else { return Ok(None) };
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
