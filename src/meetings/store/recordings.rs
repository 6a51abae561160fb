//! Recordings and their chunks as rows. Written only by the journal of the meeting, together with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use actors::ids::{self, Id, User};
use actors::meeting::{
    Chunk, ChunkSpan, Digest, FailureReason, Meeting, Pause, Pauses, ReceivedChunks, Recording, RecordingBasis,
    RecordingContent, RecordingMimeType, RecordingStatus, RecordingWait, Recordings, Stage, TranscriptStatus,
    UploadMode,
};
use actors::time::Time;
use diesel::upsert::excluded;
use diesel::{ExpressionMethods, Insertable, JoinOnDsl, OptionalExtension, QueryDsl, Queryable, Selectable};

use crate::db::schema::{meetings, recording_chunks, recordings};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, is_wanted, many, number, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;

/// A new column also needs a line in [`save`].
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = recordings)]
struct Row {
    id: Id<ids::Recording>,
    meeting_id: Id<Meeting>,
    track_participant_id: Option<Id<ids::Participant>>,
    upload_mode: UploadMode,
    mime_type: RecordingMimeType,
    basis: RecordingBasis,
    status: RecordingStatus,
    failure_reason: Option<FailureReason>,
    last_chunk: Option<i64>,
    repairable: bool,
    stopped_at: Option<Time>,
    ready_at: Option<Time>,
    expires_at: Option<Time>,
    sha256: Option<String>,
    content_bytes: Option<i64>,
    duration_ms: Option<i64>,
    next_chunk: i64,
    chunk_count: i64,
    received_bytes: i64,
    latest_chunk_at: Option<Time>,
    upload: i64,
    announced_bytes: Option<i64>,
    announced_ms: Option<i64>,
    pauses: String,
    lacking: String,
    started_by_id: Id<User>,
    started_at: Time,
    wait: Option<RecordingWait>,
    wait_since: Option<Time>,
    transcript: TranscriptStatus,
}

impl Row {
    fn of(meeting_id: Id<Meeting>, recording: &Recording) -> Self {
        let content = recording.content();
        let failure_reason = match recording.stage {
            Stage::Failed { reason, .. } => Some(reason),
            _ => None,
        };
        let wait = recording.wait();
        Self {
            id: recording.id,
            meeting_id,
            track_participant_id: recording.track,
            upload_mode: recording.upload_mode,
            mime_type: recording.mime_type,
            basis: recording.basis,
            status: recording.status(),
            failure_reason,
            last_chunk: recording.last_chunk().map(i64::from),
            repairable: recording.is_repairable(),
            stopped_at: recording.stopped_at(),
            ready_at: recording.ready_at(),
            expires_at: recording.expires_at(),
            sha256: content.map(|content| content.sha256.to_string()),
            content_bytes: content.map(|content| number(content.bytes)),
            duration_ms: content.and_then(|content| content.duration_ms).map(number),
            next_chunk: i64::from(recording.received.next),
            chunk_count: i64::from(recording.received.count()),
            received_bytes: number(recording.received.bytes),
            latest_chunk_at: recording.received.latest_at,
            upload: i64::from(recording.upload),
            announced_bytes: recording.announced_bytes.map(number),
            announced_ms: recording.announced_ms.map(number),
            pauses: written(&recording.pauses.all),
            lacking: recording.pauses.lacking.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            started_by_id: recording.started_by,
            started_at: recording.started_at,
            wait: wait.map(|(wait, _)| wait),
            wait_since: wait.map(|(_, since)| since),
            transcript: recording.transcript,
        }
    }

    /// Returns the recording, whose chunks behind the first gap are `beyond`.
    fn recording(self, beyond: BTreeSet<u32>) -> Result<Recording, DbError> {
        let id = self.id;
        let wrong = |what: &str| DbError::Broken(format!("the recording {id} can't be: {what}"));
        let stage = self.stage().ok_or_else(|| wrong("its columns do not fit its status"))?;
        let unsigned = |value: i64| u64::try_from(value).map_err(|_| wrong("a number below zero"));
        let index = |value: i64| u32::try_from(value).map_err(|_| wrong("an invalid index"));
        let lacking = self.lacking.split(',').filter(|id| !id.is_empty()).map(str::parse).collect::<Result<_, _>>();
        Ok(Recording {
            id,
            track: self.track_participant_id,
            upload_mode: self.upload_mode,
            mime_type: self.mime_type,
            basis: self.basis,
            stage,
            received: ReceivedChunks {
                next: index(self.next_chunk)?,
                beyond: Arc::new(beyond),
                bytes: unsigned(self.received_bytes)?,
                latest_at: self.latest_chunk_at,
            },
            upload: index(self.upload)?,
            announced_bytes: self.announced_bytes.map(unsigned).transpose()?,
            announced_ms: self.announced_ms.map(unsigned).transpose()?,
            pauses: Pauses {
                all: Arc::new(read(&self.pauses).ok_or_else(|| wrong("invalid pauses"))?),
                lacking: lacking.map_err(|_| wrong("an invalid id"))?,
            },
            transcript: self.transcript,
            started_by: self.started_by_id,
            started_at: self.started_at,
        })
    }

    /// Returns `None` when these columns contradict each other.
    fn stage(&self) -> Option<Stage> {
        let last = self.last_chunk.map(u32::try_from).transpose().ok()?;
        let (ready_at, expires_at) = (self.ready_at, self.expires_at);
        let Some(stopped_at) = self.stopped_at else {
            return (self.status == RecordingStatus::Active).then_some(Stage::Active);
        };
        match self.status {
            RecordingStatus::Active => None,
            RecordingStatus::Stopped => Some(Stage::Stopped { stopped_at, last }),
            RecordingStatus::Finalizing => Some(Stage::Finalizing { stopped_at }),
            RecordingStatus::Ready => {
                Some(Stage::Ready { stopped_at, ready_at: ready_at?, content: self.content()?, expires_at })
            }
            RecordingStatus::Failed => {
                let reason = self.failure_reason?;
                Some(Stage::Failed { stopped_at, reason, last, repairable: self.repairable })
            }
            RecordingStatus::Expired => {
                let (ready_at, expired_at) = (ready_at?, expires_at?);
                Some(Stage::Expired { stopped_at, ready_at, content: self.content()?, expired_at })
            }
        }
    }

    fn content(&self) -> Option<RecordingContent> {
        Some(RecordingContent {
            sha256: self.sha256.as_deref()?.parse().ok()?,
            bytes: u64::try_from(self.content_bytes?).ok()?,
            duration_ms: self.duration_ms.map(u64::try_from).transpose().ok()?,
        })
    }
}

fn written(pauses: &[Pause]) -> String {
    let pauses: Vec<_> = pauses.iter().map(|pause| (pause.from.millis(), pause.to.map(Time::millis))).collect();
    serde_json::to_string(&pauses).unwrap_or_default()
}

fn read(pauses: &str) -> Option<Vec<Pause>> {
    let pauses: Vec<(i64, Option<i64>)> = serde_json::from_str(pauses).ok()?;
    let pause = |(from, to): (i64, Option<i64>)| {
        let to = match to {
            Some(to) => Some(Time::from_millis(to)?),
            None => None,
        };
        Some(Pause { from: Time::from_millis(from)?, to })
    };
    pauses.into_iter().map(pause).collect()
}

/// Returns all recordings of several meetings.
pub async fn of_meetings(conn: &mut Conn, ids: &[Id<Meeting>]) -> Result<HashMap<Id<Meeting>, Recordings>, DbError> {
    let of_these = recordings::table.filter(recordings::meeting_id.eq_any(ids));
    let rows: Vec<Row> = of_these.select(Row::columns()).load(conn).await?;
    let has_gaps = rows.iter().any(|row| row.chunk_count > row.next_chunk);
    let mut beyond = if has_gaps { beyond(conn, ids).await? } else { HashMap::new() };
    let mut all: HashMap<_, Vec<Recording>> = HashMap::new();
    for row in rows {
        let meeting_id = row.meeting_id;
        let beyond = beyond.remove(&row.id).unwrap_or_default();
        all.entry(meeting_id).or_default().push(row.recording(beyond)?);
    }
    Ok(all.into_iter().map(|(meeting_id, all)| (meeting_id, all.into_iter().collect())).collect())
}

/// Returns the chunks behind the first gap of each recording of these meetings.
async fn beyond(conn: &mut Conn, ids: &[Id<Meeting>]) -> Result<HashMap<Id<ids::Recording>, BTreeSet<u32>>, DbError> {
    let stored = recording_chunks::table
        .inner_join(recordings::table.on(recordings::id.eq(recording_chunks::recording_id)))
        .filter(recordings::meeting_id.eq_any(ids))
        .filter(recording_chunks::number.ge(recordings::next_chunk))
        .select((recording_chunks::recording_id, recording_chunks::number));
    let stored: Vec<(Id<ids::Recording>, i64)> = stored.load(conn).await?;
    let mut beyond: HashMap<_, BTreeSet<u32>> = HashMap::new();
    for (id, index) in stored {
        beyond.entry(id).or_default().extend(u32::try_from(index));
    }
    Ok(beyond)
}

/// Inserts or updates the recordings that are new or changed.
pub async fn save<'a>(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    changed: impl Iterator<Item = &'a Recording>,
) -> Result<(), DbError> {
    let rows: Vec<Row> = changed.map(|recording| Row::of(meeting_id, recording)).collect();
    many!(conn, &rows, |some| {
        let insert = diesel::insert_into(recordings::table).values(some).on_conflict(recordings::id);
        insert.do_update().set((
            recordings::status.eq(excluded(recordings::status)),
            recordings::failure_reason.eq(excluded(recordings::failure_reason)),
            recordings::last_chunk.eq(excluded(recordings::last_chunk)),
            recordings::repairable.eq(excluded(recordings::repairable)),
            recordings::stopped_at.eq(excluded(recordings::stopped_at)),
            recordings::ready_at.eq(excluded(recordings::ready_at)),
            recordings::expires_at.eq(excluded(recordings::expires_at)),
            recordings::sha256.eq(excluded(recordings::sha256)),
            recordings::content_bytes.eq(excluded(recordings::content_bytes)),
            recordings::duration_ms.eq(excluded(recordings::duration_ms)),
            recordings::next_chunk.eq(excluded(recordings::next_chunk)),
            recordings::chunk_count.eq(excluded(recordings::chunk_count)),
            recordings::received_bytes.eq(excluded(recordings::received_bytes)),
            recordings::latest_chunk_at.eq(excluded(recordings::latest_chunk_at)),
            recordings::upload.eq(excluded(recordings::upload)),
            recordings::announced_bytes.eq(excluded(recordings::announced_bytes)),
            recordings::announced_ms.eq(excluded(recordings::announced_ms)),
            recordings::pauses.eq(excluded(recordings::pauses)),
            recordings::lacking.eq(excluded(recordings::lacking)),
            recordings::wait.eq(excluded(recordings::wait)),
            recordings::wait_since.eq(excluded(recordings::wait_since)),
            recordings::transcript.eq(excluded(recordings::transcript)),
        ))
    });
    Ok(())
}

/// Deletes a recording, with its chunks' rows.
pub async fn delete(conn: &mut Conn, id: Id<ids::Recording>) -> Result<(), DbError> {
    diesel::delete(recordings::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Inserts the row of a stored chunk.
///
/// # Errors
/// `Violated(Unique)` when a chunk with this index is stored; otherwise any database error.
pub async fn insert_chunk(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    id: Id<ids::Recording>,
    chunk: &Chunk,
    now: Time,
) -> Result<(), DbError> {
    let row = ChunkRow {
        recording_id: id,
        number: i64::from(chunk.index),
        meeting_id,
        file_id: chunk.file,
        bytes: number(chunk.bytes),
        sha256: chunk.sha256.to_string(),
        from_ms: chunk.span.map(|span| number(span.from_ms)),
        to_ms: chunk.span.map(|span| number(span.to_ms)),
        stored_at: now,
    };
    diesel::insert_into(recording_chunks::table).values(&row).execute(conn).await?;
    Ok(())
}

/// Deletes the rows of the chunks from `index` on.
pub async fn delete_chunks(conn: &mut Conn, id: Id<ids::Recording>, index: u32) -> Result<(), DbError> {
    let chunks = recording_chunks::table.filter(recording_chunks::recording_id.eq(id));
    diesel::delete(chunks.filter(recording_chunks::number.ge(i64::from(index)))).execute(conn).await?;
    Ok(())
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = recording_chunks)]
struct ChunkRow {
    recording_id: Id<ids::Recording>,
    number: i64,
    meeting_id: Id<Meeting>,
    file_id: Id<ids::ChunkFile>,
    bytes: i64,
    sha256: String,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
    stored_at: Time,
}

impl TryFrom<ChunkRow> for Chunk {
    type Error = DbError;
    fn try_from(row: ChunkRow) -> Result<Self, DbError> {
        let broken =
            || DbError::Broken(format!("chunk {} of the recording {} is invalid", row.number, row.recording_id));
        let unsigned = |value: i64| u64::try_from(value).map_err(|_| broken());
        let span = match (row.from_ms, row.to_ms) {
            (Some(from_ms), Some(to_ms)) => Some(ChunkSpan { from_ms: unsigned(from_ms)?, to_ms: unsigned(to_ms)? }),
            _ => None,
        };
        let sha256: Digest = row.sha256.parse().map_err(|_| broken())?;
        let index = u32::try_from(row.number).map_err(|_| broken())?;
        Ok(Self { index, file: row.file_id, bytes: unsigned(row.bytes)?, sha256, span })
    }
}

/// Returns a stored chunk.
pub async fn chunk(conn: &mut Conn, id: Id<ids::Recording>, index: u32) -> Result<Option<Chunk>, DbError> {
    let found = recording_chunks::table.find((id, i64::from(index))).select(ChunkRow::columns());
    let found: Option<ChunkRow> = found.first(conn).await.optional()?;
    found.map(Chunk::try_from).transpose()
}

/// Returns at most `most` chunks in their order, from `index` on.
pub async fn chunks(conn: &mut Conn, id: Id<ids::Recording>, index: u32, most: i64) -> Result<Vec<Chunk>, DbError> {
    let chunks = recording_chunks::table
        .filter(recording_chunks::recording_id.eq(id))
        .filter(recording_chunks::number.ge(i64::from(index)))
        .order(recording_chunks::number.asc())
        .limit(most);
    let rows: Vec<ChunkRow> = chunks.select(ChunkRow::columns()).load(conn).await?;
    rows.into_iter().map(Chunk::try_from).collect()
}

/// Returns the meeting of a recording.
pub async fn meeting_of(conn: &mut Conn, id: Id<ids::Recording>) -> Result<Option<Id<Meeting>>, DbError> {
    let found = recordings::table.find(id).select(recordings::meeting_id);
    Ok(found.first(conn).await.optional()?)
}

/// Returns a recording as it is stored, with its meeting. Its chunks behind the first gap are left out.
pub async fn find(conn: &mut Conn, id: Id<ids::Recording>) -> Result<Option<(Id<Meeting>, Recording)>, DbError> {
    let row: Option<Row> = recordings::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    row.map(|row| Ok((row.meeting_id, row.recording(BTreeSet::new())?))).transpose()
}

/// Lists a meeting's recordings, of any status or of one, newest first: their ids, and the number of all.
pub async fn list(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    status: Option<RecordingStatus>,
    page: PageQuery,
) -> Result<List<Recording>, DbError> {
    let listed =
        recordings::table.filter(recordings::meeting_id.eq(meeting_id)).filter(is_wanted(recordings::status, status));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, recordings::id, Row::columns());
    let mut beyond = beyond(conn, &[meeting_id]).await?;
    page.list(rows, total, |row| row.id.uuid()).try_map(|row| {
        let beyond = beyond.remove(&row.id).unwrap_or_default();
        row.recording(beyond)
    })
}

/// The status of the newest recording of the meeting of a row; null without recordings.
#[diesel::dsl::auto_type(no_type_alias)]
pub fn newest_status(meeting_id: meetings::id) -> _ {
    let of_meeting = recordings::table.filter(recordings::meeting_id.eq(meeting_id));
    of_meeting.order(recordings::id.desc()).select(recordings::status).limit(1_i64).single_value()
}

/// Returns the recordings of a meeting.
pub async fn ids_of(conn: &mut Conn, meeting_id: Id<Meeting>) -> Result<Vec<Id<ids::Recording>>, DbError> {
    let of_meeting = recordings::table.filter(recordings::meeting_id.eq(meeting_id)).select(recordings::id);
    Ok(of_meeting.load(conn).await?)
}

/// Returns the meetings with a recording that has waited since that time or longer.
pub async fn waiting_since(
    conn: &mut Conn,
    wait: RecordingWait,
    since: Time,
    most: i64,
) -> Result<Vec<Id<Meeting>>, DbError> {
    let waiting = recordings::table
        .filter(recordings::wait.eq(Some(wait)))
        .filter(recordings::wait_since.le(Some(since)))
        .select(recordings::meeting_id)
        .distinct()
        .limit(most);
    Ok(waiting.load(conn).await?)
}

/// Returns the statuses of those recordings that exist.
pub async fn statuses(
    conn: &mut Conn,
    ids: Vec<Id<ids::Recording>>,
) -> Result<BTreeMap<Id<ids::Recording>, StoredStatus>, DbError> {
    let found = recordings::table.filter(recordings::id.eq_any(ids));
    let found = found.select((recordings::id, recordings::status, recordings::repairable));
    let found: Vec<(Id<ids::Recording>, RecordingStatus, bool)> = found.load(conn).await?;
    Ok(found.into_iter().map(|(id, status, repairable)| (id, StoredStatus { status, repairable })).collect())
}

/// What decides which files of a recording are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredStatus {
    pub status: RecordingStatus,
    pub repairable: bool,
}
