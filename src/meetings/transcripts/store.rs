//! Versions of transcripts and their segments as rows.

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, TranscriptStatus};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::model::{Correction, NamedSpeaker, StoredSegment, TranscriptVersion};
use crate::db::schema::{transcript_segments, transcripts};
use crate::db::sweep::Part;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, many, number, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = transcripts)]
struct Row {
    id: Id<ids::Transcript>,
    recording_id: Id<ids::Recording>,
    number: i64,
    status: TranscriptStatus,
    engine: String,
    model: String,
    asked_language: Option<String>,
    language: Option<String>,
    done_ms: i64,
    segment_count: i64,
    crashes: i64,
    error_message: Option<String>,
    created_by_id: Option<Id<User>>,
    created_at: Time,
    attached_bytes: Option<i64>,
}

impl From<&TranscriptVersion> for Row {
    fn from(version: &TranscriptVersion) -> Self {
        Self {
            id: version.id,
            recording_id: version.recording_id,
            number: i64::from(version.number),
            status: version.status,
            engine: version.engine.clone(),
            model: version.model.clone(),
            asked_language: version.asked_language.clone(),
            language: version.language.clone(),
            done_ms: number(version.done_ms),
            segment_count: i64::from(version.segment_count),
            crashes: i64::from(version.crashes),
            error_message: version.error_message.clone(),
            created_by_id: version.created_by,
            created_at: version.created_at,
            attached_bytes: version.attached_bytes.map(number),
        }
    }
}

impl TryFrom<Row> for TranscriptVersion {
    type Error = DbError;
    fn try_from(row: Row) -> Result<Self, DbError> {
        let broken = || DbError::Broken(format!("the transcript {} has an invalid column", row.id));
        let small = |value: i64| u32::try_from(value).map_err(|_| broken());
        Ok(Self {
            id: row.id,
            recording_id: row.recording_id,
            number: small(row.number)?,
            status: row.status,
            done_ms: u64::try_from(row.done_ms).map_err(|_| broken())?,
            segment_count: small(row.segment_count)?,
            crashes: small(row.crashes)?,
            engine: row.engine,
            model: row.model,
            asked_language: row.asked_language,
            language: row.language,
            error_message: row.error_message,
            created_by: row.created_by_id,
            created_at: row.created_at,
            attached_bytes: row.attached_bytes.map(u64::try_from).transpose().map_err(|_| broken())?,
        })
    }
}

/// Inserts a version.
///
/// # Errors
/// `Violated(Unique)` when there is one with that number; `Violated(ForeignKey)` when there is no such recording.
pub async fn insert(conn: &mut Conn, version: &TranscriptVersion) -> Result<(), DbError> {
    diesel::insert_into(transcripts::table).values(&Row::from(version)).execute(conn).await?;
    Ok(())
}

/// Returns all versions of a recording's transcript, in the order of their numbers.
pub async fn versions(conn: &mut Conn, id: Id<ids::Recording>) -> Result<Vec<TranscriptVersion>, DbError> {
    let all = transcripts::table.filter(transcripts::recording_id.eq(id)).order(transcripts::number.asc());
    let rows: Vec<Row> = all.select(Row::columns()).load(conn).await?;
    rows.into_iter().map(TranscriptVersion::try_from).collect()
}

/// Lists the versions of a recording's transcript, newest first.
pub async fn list(
    conn: &mut Conn,
    id: Id<ids::Recording>,
    page: PageQuery,
) -> Result<List<TranscriptVersion>, DbError> {
    let listed = transcripts::table.filter(transcripts::recording_id.eq(id));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, transcripts::id, Row::columns());
    page.list(rows, total, |row| row.id.uuid()).try_map(TranscriptVersion::try_from)
}

/// Returns the recordings with a version that waits for a model, and the models.
pub async fn waiting(conn: &mut Conn, most: i64) -> Result<Vec<TranscriptVersion>, DbError> {
    let waiting = transcripts::table
        .filter(transcripts::status.eq(TranscriptStatus::WaitingForModel))
        .order(transcripts::recording_id.asc())
        .limit(most);
    let rows: Vec<Row> = waiting.select(Row::columns()).load(conn).await?;
    rows.into_iter().map(TranscriptVersion::try_from).collect()
}

/// Returns the versions that are complete or failed and were begun by then, oldest first.
pub async fn finished_by(conn: &mut Conn, then: Time, most: i64) -> Result<Vec<TranscriptVersion>, DbError> {
    let ends = [TranscriptStatus::Ready, TranscriptStatus::Failed];
    let due = transcripts::table
        .filter(transcripts::created_at.le(then))
        .filter(transcripts::status.eq_any(ends))
        .order(transcripts::created_at.asc())
        .limit(most);
    let rows: Vec<Row> = due.select(Row::columns()).load(conn).await?;
    rows.into_iter().map(TranscriptVersion::try_from).collect()
}

/// The segments of a version, which are deleted before it.
pub const SEGMENTS: Part = Part { table: "transcript_segments", key: "transcript_id, position", of: "transcript_id" };

/// Deletes a version.
pub async fn delete(conn: &mut Conn, id: Id<ids::Transcript>) -> Result<(), DbError> {
    diesel::delete(transcripts::table.find(id)).execute(conn).await?;
    Ok(())
}

/// The columns of a version that change while it is made.
pub struct TranscriptProgress {
    pub status: TranscriptStatus,
    pub language: Option<String>,
    pub done_ms: u64,
    pub segment_count: u32,
    pub crashes: u32,
    pub error_message: Option<String>,
}

impl TranscriptProgress {
    #[must_use]
    pub fn of(version: &TranscriptVersion) -> Self {
        Self {
            status: version.status,
            language: version.language.clone(),
            done_ms: version.done_ms,
            segment_count: version.segment_count,
            crashes: version.crashes,
            error_message: version.error_message.clone(),
        }
    }
}

/// Updates a version that is as `before` says. Returns false when it is not: somebody else works on it.
pub async fn advance(conn: &mut Conn, before: &TranscriptVersion, to: &TranscriptProgress) -> Result<bool, DbError> {
    let same = transcripts::table
        .find(before.id)
        .filter(transcripts::status.eq(before.status))
        .filter(transcripts::done_ms.eq(number(before.done_ms)))
        .filter(transcripts::segment_count.eq(i64::from(before.segment_count)))
        .filter(transcripts::crashes.eq(i64::from(before.crashes)));
    let changed = diesel::update(same).set((
        transcripts::status.eq(to.status),
        transcripts::language.eq(to.language.clone()),
        transcripts::done_ms.eq(number(to.done_ms)),
        transcripts::segment_count.eq(i64::from(to.segment_count)),
        transcripts::crashes.eq(i64::from(to.crashes)),
        transcripts::error_message.eq(to.error_message.clone()),
    ));
    Ok(changed.execute(conn).await? == 1)
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = transcript_segments)]
struct SegmentRow {
    transcript_id: Id<ids::Transcript>,
    position: i64,
    meeting_id: Id<Meeting>,
    start_ms: i64,
    end_ms: i64,
    text: String,
    confidence: i64,
    participant_id: Option<Id<ids::Participant>>,
    speaker_name: Option<String>,
    heard_text: Option<String>,
    corrected_by_id: Option<Id<User>>,
    corrected_at: Option<Time>,
}

impl SegmentRow {
    fn of(meeting_id: Id<Meeting>, id: Id<ids::Transcript>, segment: &StoredSegment) -> Self {
        let (participant_id, speaker_name) = columns_of(segment.speaker.as_ref());
        let correction = segment.correction.as_ref();
        Self {
            transcript_id: id,
            position: i64::from(segment.position),
            meeting_id,
            start_ms: number(segment.start_ms),
            end_ms: number(segment.end_ms),
            text: segment.text.clone(),
            confidence: i64::from(segment.confidence),
            participant_id,
            speaker_name,
            heard_text: correction.and_then(|correction| correction.heard_text.clone()),
            corrected_by_id: correction.map(|correction| correction.by),
            corrected_at: correction.map(|correction| correction.at),
        }
    }
}

fn columns_of(speaker: Option<&NamedSpeaker>) -> (Option<Id<ids::Participant>>, Option<String>) {
    match speaker {
        Some(NamedSpeaker::Participant(id)) => (Some(*id), None),
        Some(NamedSpeaker::Name(name)) => (None, Some(name.clone())),
        None => (None, None),
    }
}

impl TryFrom<SegmentRow> for StoredSegment {
    type Error = DbError;
    fn try_from(row: SegmentRow) -> Result<Self, DbError> {
        let broken = || DbError::Broken(format!("segment {} of {} is invalid", row.position, row.transcript_id));
        let speaker = match (row.participant_id, row.speaker_name) {
            (Some(id), _) => Some(NamedSpeaker::Participant(id)),
            (None, name) => name.map(NamedSpeaker::Name),
        };
        let correction = match (row.corrected_by_id, row.corrected_at) {
            (Some(by), Some(at)) => Some(Correction { heard_text: row.heard_text, by, at }),
            _ => None,
        };
        Ok(Self {
            position: u32::try_from(row.position).map_err(|_| broken())?,
            start_ms: u64::try_from(row.start_ms).map_err(|_| broken())?,
            end_ms: u64::try_from(row.end_ms).map_err(|_| broken())?,
            text: row.text,
            confidence: u32::try_from(row.confidence).map_err(|_| broken())?,
            speaker,
            correction,
        })
    }
}

/// Stores which engine and model make a version.
pub async fn adopt(conn: &mut Conn, id: Id<ids::Transcript>, engine: String, model: String) -> Result<(), DbError> {
    let changes = (transcripts::engine.eq(engine), transcripts::model.eq(model));
    diesel::update(transcripts::table.find(id)).set(changes).execute(conn).await?;
    Ok(())
}

/// Inserts segments.
///
/// # Errors
/// `Violated(Unique)` when one of the positions is taken.
pub async fn insert_segments(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    id: Id<ids::Transcript>,
    segments: &[StoredSegment],
) -> Result<(), DbError> {
    let rows: Vec<SegmentRow> = segments.iter().map(|segment| SegmentRow::of(meeting_id, id, segment)).collect();
    many!(conn, &rows, |some| diesel::insert_into(transcript_segments::table).values(some));
    Ok(())
}

/// Returns the segments of a version, in their order.
pub async fn segments(conn: &mut Conn, id: Id<ids::Transcript>) -> Result<Vec<StoredSegment>, DbError> {
    let all = transcript_segments::table.filter(transcript_segments::transcript_id.eq(id));
    let all = all.order(transcript_segments::position.asc());
    let rows: Vec<SegmentRow> = all.select(SegmentRow::columns()).load(conn).await?;
    rows.into_iter().map(StoredSegment::try_from).collect()
}

/// Returns one segment.
pub async fn segment(
    conn: &mut Conn,
    id: Id<ids::Transcript>,
    position: u32,
) -> Result<Option<StoredSegment>, DbError> {
    let found = transcript_segments::table.find((id, i64::from(position))).select(SegmentRow::columns());
    let found: Option<SegmentRow> = found.first(conn).await.optional()?;
    found.map(StoredSegment::try_from).transpose()
}

/// Stores what was corrected in a segment.
pub async fn correct(conn: &mut Conn, id: Id<ids::Transcript>, segment: &StoredSegment) -> Result<(), DbError> {
    let (participant_id, speaker_name) = columns_of(segment.speaker.as_ref());
    let correction = segment.correction.as_ref();
    let of_it = transcript_segments::table.find((id, i64::from(segment.position)));
    let changed = diesel::update(of_it).set((
        transcript_segments::text.eq(&segment.text),
        transcript_segments::participant_id.eq(participant_id),
        transcript_segments::speaker_name.eq(speaker_name),
        transcript_segments::heard_text.eq(correction.and_then(|correction| correction.heard_text.as_deref())),
        transcript_segments::corrected_by_id.eq(correction.map(|correction| correction.by)),
        transcript_segments::corrected_at.eq(correction.map(|correction| correction.at)),
    ));
    changed.execute(conn).await?;
    Ok(())
}

/// Gives all segments of one speaker to another one; `None` is whoever speaks where nobody was named.
pub async fn correct_speaker(
    conn: &mut Conn,
    id: Id<ids::Transcript>,
    was: Option<NamedSpeaker>,
    to: Option<&NamedSpeaker>,
    by: Id<User>,
    at: Time,
) -> Result<(), DbError> {
    let (participant_id, speaker_name) = columns_of(to);
    let changes = (
        transcript_segments::participant_id.eq(participant_id),
        transcript_segments::speaker_name.eq(speaker_name),
        transcript_segments::corrected_by_id.eq(by),
        transcript_segments::corrected_at.eq(at),
    );
    let all = transcript_segments::table.filter(transcript_segments::transcript_id.eq(id));
    let nameless = || all.filter(transcript_segments::participant_id.is_null());
    match was {
        Some(NamedSpeaker::Participant(who)) => {
            let theirs = all.filter(transcript_segments::participant_id.eq(who));
            diesel::update(theirs).set(changes).execute(conn).await?
        }
        Some(NamedSpeaker::Name(name)) => {
            let theirs = nameless().filter(transcript_segments::speaker_name.eq(name));
            diesel::update(theirs).set(changes).execute(conn).await?
        }
        None => {
            let theirs = nameless().filter(transcript_segments::speaker_name.is_null());
            diesel::update(theirs).set(changes).execute(conn).await?
        }
    };
    Ok(())
}
