//! The operations on recordings, one function each.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{
    self, Attestation, Chunk, Command, ConsentScope, Digest, Meeting, Participant, Recording, RecordingBasis,
    RecordingCommand, RecordingDraft, RecordingLimits, RecordingRefusal, RecordingStatus, UploadMode,
};

use super::bodies::{Filter, StartRecording, StopRecording};
use super::container::{DECISIVE_BYTES, agrees};
use super::model::{ChunkUploadResult, RecordingView};
use super::upload::{ChunkUpload, FileUpload, ReceivedChunk};
use super::{MeetingRecording, files};
use crate::access::principal::Caller;
use crate::clients::files::{Incoming, Received};
use crate::db::DbError;
use crate::http::agent::Agent;
use crate::http::code::Code;
use crate::http::digest::mismatch;
use crate::http::envelope::List;
use crate::http::error::{ApiError, FieldError, MAX_FAULTS};
use crate::http::form::StoragePermit;
use crate::http::list::Listing;
use crate::http::range::SentRange;
use crate::meetings::MeetingSnapshot;
use crate::meetings::commands::{active, ask};
use crate::meetings::refusals::refused_recording;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as store;
use crate::quotas::model::UploadPurpose;
use crate::quotas::permit::QuotaPermit;

/// The size of the parts in which a file is stored.
const PART_BYTES: u64 = 16 * 1024 * 1024;

/// Starts a recording.
///
/// # Errors
/// 409 while the meeting is not LIVE (or ENDED, for an import), while another recording of the same track has not ended,
/// while somebody's consent is missing, and in an archived project; 422 where a declaration of consent is needed; 507 where
/// there is no room for it.
pub async fn start(
    state: &Meetings,
    caller: Caller,
    meeting: &MeetingSnapshot,
    id: Id<ids::Recording>,
    body: StartRecording,
    agent: Agent,
    request: RequestId,
) -> Result<RecordingView, ApiError> {
    active(state, meeting).await?;
    // What began goes on beyond the quotas, so that it begins only within them.
    state.quotas.check(state.projects.payer(meeting.state.project_id).await?, UploadPurpose::Usual, 1).await?;
    let attestation = body.consent_attestation.map(|attestation| Attestation {
        text: attestation.text.0,
        language: state.wordings.in_one_of(&agent.languages).language,
        user_agent: agent.name,
    });
    let draft = RecordingDraft {
        id,
        track: body.track_participant_id,
        upload_mode: body.upload_mode,
        mime_type: body.mime_type.0,
        by: caller.user_id,
        attestation,
    };
    let command = Command::StartRecording { draft, limits: state.recording_limits() };
    let meeting_id = meeting.state.id;
    match ask(state, meeting_id, command, request).await {
        Ok(meeting) => view(&meeting.state, id),
        Err(refused) if refused.code == Code::CONSENT_REQUIRED => {
            Err(consent_required(state, meeting_id, ConsentScope::Recording).await)
        }
        Err(refused) => Err(refused),
    }
}

/// The error that names whose consent is missing, to be recorded or to a transcript.
pub async fn consent_required(state: &Meetings, id: Id<Meeting>, scope: ConsentScope) -> ApiError {
    let Ok(Some(meeting)) = state.registry.snapshot(id).await else { return ApiError::of(Code::CONSENT_REQUIRED) };
    let meeting = &meeting.state;
    // A transcript is one of all that was said, also while the meeting goes on.
    let is_of_now = scope == ConsentScope::Recording && meeting.over_at().is_none();
    let lacking = meeting.lacking(scope, |one| if is_of_now { one.is_joined() } else { one.first_joined_at.is_some() });
    let missing = match scope {
        ConsentScope::Recording => "be recorded",
        ConsentScope::Transcript => "a transcript",
        ConsentScope::AiAnalysis => "an analysis",
    };
    let named = |one: &Participant| {
        let sentence = format!("{} has not consented to {missing}.", one.display_name);
        FieldError::of(Code::CONSENT_REQUIRED, Some(format!("participants.{}", one.id)), sentence)
    };
    let faults = lacking.iter().filter_map(|id| meeting.participants.get(id)).take(MAX_FAULTS).map(named).collect();
    ApiError { faults, ..ApiError::of(Code::CONSENT_REQUIRED) }
}

/// Returns a recording of a meeting as clients see it.
///
/// # Errors
/// 404 if it was deleted.
pub fn view(meeting: &Meeting, id: Id<ids::Recording>) -> Result<RecordingView, ApiError> {
    let recording = meeting.recordings.get(&id).ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    Ok(RecordingView::of(meeting.id, recording))
}

/// Lists a meeting's recordings, newest first.
///
/// # Errors
/// Any database error.
pub async fn list(
    state: &Meetings,
    meeting_id: Id<Meeting>,
    listing: Listing<Filter>,
) -> Result<List<RecordingView>, ApiError> {
    let Listing { filter, page } = listing;
    let found = state.db.read(move |conn| Box::pin(store::list(conn, meeting_id, filter.status, page))).await;
    let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
    Ok(found.map(|recording| RecordingView::of(meeting_id, &recording)))
}

impl Meetings {
    /// Returns the limits of recordings from the settings.
    #[must_use]
    pub fn recording_limits(&self) -> RecordingLimits {
        self.config.recordings.limits(!self.config.speech.is_off())
    }

    /// Begins to store a part of a recording, whose size in bytes may be announced.
    async fn begin(&self, resource: &MeetingRecording, announced: Option<u64>) -> Result<QuotaPermit, ApiError> {
        let (payer, purpose) =
            (self.projects.payer(resource.meeting.state.project_id).await?, purpose(resource.recording()?));
        self.quotas.begin(payer, purpose, announced).await
    }

    async fn ask_recording(
        &self,
        resource: &MeetingRecording,
        command: RecordingCommand,
        request: RequestId,
    ) -> Result<MeetingSnapshot, ApiError> {
        let command = Command::Recording { recording: resource.id, command, limits: self.recording_limits() };
        ask(self, resource.meeting.state.id, command, request).await
    }
}

/// What is recorded while the meeting goes on can't be made again, and goes on beyond the quotas. A file that is imported can be
/// uploaded later, also into a live meeting.
const fn purpose(recording: &Recording) -> UploadPurpose {
    match recording.basis {
        RecordingBasis::Live => UploadPurpose::Live,
        RecordingBasis::Import => UploadPurpose::Usual,
    }
}

/// Stores a chunk. The same bytes under the same index are accepted again and again.
///
/// # Errors
/// 409 for other bytes under an index that is taken, while the recording is paused, and once it has ended; 413 beyond
/// the size or the duration of a recording; 415 if the content is not of the declared type; 422 if the chunk does not
/// say when it was recorded, where it must.
pub async fn upload_chunk(
    state: &Meetings,
    resource: &MeetingRecording,
    upload: ChunkUpload,
    request: RequestId,
) -> Result<ChunkUploadResult, ApiError> {
    let mode = resource.recording()?.upload_mode;
    if mode != UploadMode::Chunked {
        return Err(refused_recording(RecordingRefusal::OtherMode { mode }));
    }
    let (index, span) = (upload.index, upload.span);
    // A larger one is refused.
    let announced = upload.announced().map(|length| length.min(state.config.recordings.chunk_bytes));
    let mut permit = state.begin(resource, announced).await?;
    let ReceivedChunk { file, first } = upload.receive(state, &mut permit).await?;
    let chunk = Chunk { index, file: Id::generate(), bytes: file.size, sha256: sha256(&file)?, span };
    if let Some(known) = known_chunk(state, resource.id, &chunk).await? {
        return Ok(ChunkUploadResult::of(resource.recording()?, &known, true));
    }
    let declared = resource.recording()?.mime_type;
    if index == 0 && agrees(declared, &first) == Some(false) {
        return Err(wrong_type(resource.recording()?));
    }
    let path = files::chunk(resource.id, &chunk);
    state.recordings.put(&path, file).await.map_err(|error| ApiError::of_write(&error))?;
    let asked = state.ask_recording(resource, RecordingCommand::TakeChunk { chunk }, request).await;
    drop(permit);
    match asked {
        Ok(meeting) => {
            let recording = meeting.state.recordings.get(&resource.id);
            Ok(ChunkUploadResult::of(recording.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?, &chunk, false))
        }
        // The row may have been written: then the file is needed.
        Err(failed) if failed.code.status >= 500 => Err(failed),
        Err(refusal) => {
            discard(state, &path).await;
            match refusal.code {
                // Perhaps the same bytes, which arrived twice at the same time.
                Code::CONFLICT => match known_chunk(state, resource.id, &chunk).await? {
                    Some(known) => Ok(ChunkUploadResult::of(resource.recording()?, &known, true)),
                    None => Err(refusal),
                },
                _ => Err(refusal),
            }
        }
    }
}

fn wrong_type(recording: &Recording) -> ApiError {
    let sentence = format!("The content is not {}.", recording.mime_type.into_str());
    ApiError::with_message(Code::UNSUPPORTED_MEDIA_TYPE, sentence)
}

fn sha256(file: &Received) -> Result<Digest, ApiError> {
    file.sha256.parse().map_err(|_| ApiError::internal("a hash has no 64 digits"))
}

/// Returns the stored chunk with this index, if it has the same bytes.
///
/// # Errors
/// 409 if it has others.
async fn known_chunk(state: &Meetings, id: Id<ids::Recording>, chunk: &Chunk) -> Result<Option<Chunk>, ApiError> {
    let index = chunk.index;
    let found = state.db.read(move |conn| Box::pin(store::chunk(conn, id, index))).await;
    match found.map_err(|failed: DbError| ApiError::from(failed))? {
        None => Ok(None),
        Some(known) if known.sha256 == chunk.sha256 => Ok(Some(known)),
        Some(_) => Err(refused_recording(RecordingRefusal::ChunkTaken)),
    }
}

/// Deletes a file that no row refers to. If that fails, the file is deleted together with the recording's others.
pub async fn discard(state: &Meetings, path: &crate::clients::files::FilePath) {
    if let Err(error) = state.recordings.delete(path).await {
        tracing::warn!(%error, "a file that was refused could not be deleted yet");
    }
}

/// Uploads a recording as one file, or the rest of it. What arrived before a disconnect stays stored, and the upload can
/// be resumed there.
///
/// # Errors
/// 409 if the recording is not being uploaded, if the upload does not go on where the stored part ends, and while
/// somebody's consent is missing; 413 beyond the size of a recording; 415 if the content is not of the declared type;
/// 422 if the content has another hash than the request says: then nothing of it stays stored.
pub async fn upload_file(
    state: &Meetings,
    resource: &MeetingRecording,
    upload: FileUpload,
    request: RequestId,
) -> Result<RecordingView, ApiError> {
    let FileUpload { mut body, expected, range } = upload;
    let SentRange { start, total } = range.unwrap_or(SentRange { start: 0, total: body.length });
    must_fit(state, resource, start, body.length).await?;
    let replaced = match start {
        0 => files::all_chunks(state, resource.id).await.map_err(|failed: DbError| ApiError::from(failed))?,
        _ => Vec::new(),
    };
    let begin = RecordingCommand::BeginFile { offset: start, total };
    let begun = state.ask_recording(resource, begin, request.clone()).await?;
    for chunk in replaced {
        discard(state, &files::chunk(resource.id, &chunk)).await;
    }
    let recording = begun.state.recordings.get(&resource.id).ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let mut file = FileParts {
        state,
        resource,
        request: request.clone(),
        upload: recording.upload,
        next: recording.received.next,
        digest: <sha2::Sha256 as sha2::Digest>::new(),
        part: None,
        permit: None,
        first: Vec::new(),
        stored: Vec::new(),
        recording,
    };
    let (parts, bytes) = (recording.received.next, recording.received.bytes);
    loop {
        match body.next().await {
            Ok(Some(piece)) => file.write(&piece).await?,
            Ok(None) => break,
            Err(cut) => {
                file.end_part().await?;
                return Err(cut);
            }
        }
    }
    file.end_part().await?;
    let found = hex::encode(sha2::Digest::finalize(file.digest));
    if expected.is_some_and(|expected| expected != found) {
        let rewind = RecordingCommand::RewindFile { upload: recording.upload, parts, bytes };
        state.ask_recording(resource, rewind, request).await?;
        for part in file.stored {
            discard(state, &files::chunk(resource.id, &part)).await;
        }
        return Err(mismatch());
    }
    let now = state.registry.snapshot(resource.meeting.state.id).await.map_err(|away| ApiError::unavailable(away.0))?;
    view(&now.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?.state, resource.id)
}

/// Refuses a file that has no room before anything of it is stored; each part of it is asked for again. `length` is what the
/// client announced, in bytes. A file that begins anew has the room of what it replaces.
async fn must_fit(
    state: &Meetings,
    resource: &MeetingRecording,
    start: u64,
    length: Option<u64>,
) -> Result<(), ApiError> {
    let recording = resource.recording()?;
    let replaced = if start == 0 { recording.received.bytes } else { 0 };
    // A larger one is refused.
    let announced = length.map_or(1, |length| length.min(state.config.recordings.bytes));
    let payer = state.projects.payer(resource.meeting.state.project_id).await?;
    state.quotas.check(payer, purpose(recording), announced.saturating_sub(replaced)).await
}

/// A file on its way into parts, each of which is durable before the next one begins.
struct FileParts<'a> {
    state: &'a Meetings,
    resource: &'a MeetingRecording,
    request: RequestId,
    upload: u32,
    next: u32,
    /// Of everything that this request sent.
    digest: sha2::Sha256,
    part: Option<Incoming>,
    /// For the part.
    permit: Option<QuotaPermit>,
    /// The first bytes of the file.
    first: Vec<u8>,
    /// The parts that this request stored: they go if its content is not what its sender meant to send.
    stored: Vec<Chunk>,
    recording: &'a Recording,
}

impl FileParts<'_> {
    async fn write(&mut self, mut piece: &[u8]) -> Result<(), ApiError> {
        sha2::Digest::update(&mut self.digest, piece);
        if self.next == 0 && self.first.len() < DECISIVE_BYTES {
            self.first.extend(piece.iter().take(DECISIVE_BYTES - self.first.len()));
            if agrees(self.recording.mime_type, &self.first) == Some(false) {
                return Err(wrong_type(self.recording));
            }
        }
        while !piece.is_empty() {
            let part = match &mut self.part {
                Some(part) => part,
                none => none.insert(self.state.recordings.receive().await.map_err(|error| ApiError::of_write(&error))?),
            };
            let permit = match &mut self.permit {
                Some(permit) => permit,
                none => none.insert(self.state.begin(self.resource, None).await?),
            };
            let room = usize::try_from(PART_BYTES.saturating_sub(part.size())).unwrap_or(usize::MAX);
            let (now, later) = piece.split_at(room.min(piece.len()));
            permit.cover(part.size() + now.len() as u64).await?;
            part.write(now).await.map_err(|error| ApiError::of_write(&error))?;
            piece = later;
            if part.size() >= PART_BYTES {
                self.end_part().await?;
            }
        }
        Ok(())
    }

    /// Stores what was received of a part.
    async fn end_part(&mut self) -> Result<(), ApiError> {
        let Some(part) = self.part.take() else { return Ok(()) };
        // Held until the row is saved.
        let _permit = self.permit.take();
        let file = part.end().await.map_err(|error| ApiError::of_write(&error))?;
        let part =
            Chunk { index: self.next, file: Id::generate(), bytes: file.size, sha256: sha256(&file)?, span: None };
        let path = files::chunk(self.resource.id, &part);
        self.state.recordings.put(&path, file).await.map_err(|error| ApiError::of_write(&error))?;
        let take = RecordingCommand::TakePart { upload: self.upload, part };
        match self.state.ask_recording(self.resource, take, self.request.clone()).await {
            Ok(_) => {
                self.next += 1;
                self.stored.push(part);
                Ok(())
            }
            Err(failed) => {
                if failed.code.status < 500 {
                    discard(self.state, &path).await;
                }
                Err(failed)
            }
        }
    }
}

/// Stops a recording. Once all chunks are there it is assembled.
///
/// # Errors
/// 409 if a chunk behind the last one is stored, or a file is not complete.
pub async fn stop(
    state: &Meetings,
    resource: &MeetingRecording,
    body: StopRecording,
    request: RequestId,
) -> Result<RecordingView, ApiError> {
    let stop = RecordingCommand::Stop {
        announced_ms: body.duration_seconds.map(|duration| duration.0),
        last: body.last_chunk_index.map(|index| index.0),
    };
    let stopped = state.ask_recording(resource, stop, request).await?;
    view(&stopped.state, resource.id)
}

/// Deletes a recording with its content.
///
/// # Errors
/// 409 while it is being assembled.
pub async fn delete(state: &Meetings, resource: &MeetingRecording, request: RequestId) -> Result<(), ApiError> {
    state.ask_recording(resource, RecordingCommand::Delete, request).await.map(drop)
}

/// The content of a recording that may be given out.
///
/// # Errors
/// 409 while the recording is not READY, and while a participant who can be heard has withdrawn their consent; 410 once
/// it has expired.
pub fn readable(resource: &MeetingRecording) -> Result<meeting::RecordingContent, ApiError> {
    let recording = resource.recording()?;
    match recording.status() {
        RecordingStatus::Ready => {}
        RecordingStatus::Expired => return Err(ApiError::of(Code::GONE)),
        _ => return Err(ApiError::with_message(Code::RECORDING_NOT_READY, "The recording is not complete yet.")),
    }
    if !resource.meeting.state.withheld_for(recording).is_empty() {
        return Err(ApiError::of(Code::CONSENT_WITHDRAWN));
    }
    recording.content().copied().ok_or_else(|| ApiError::of(Code::RECORDING_NOT_READY))
}

/// The sound of a recording that may be given out.
///
/// # Errors
/// 409 for a transcript that was attached; otherwise as [`readable`].
pub fn audible(resource: &MeetingRecording) -> Result<meeting::RecordingContent, ApiError> {
    if resource.recording()?.is_attached() {
        let sentence = "This is a transcript that was attached as a file: there is no sound to play.";
        return Err(ApiError::with_message(Code::INVALID_STATE, sentence));
    }
    readable(resource)
}

/// Returns the name under which a recording is downloaded.
#[must_use]
pub fn file_name(recording: &Recording) -> String {
    let ending = match recording.mime_type.into_str() {
        "audio/mpeg" => "mp3",
        "audio/mp4" => "m4a",
        "application/x-subrip" => "srt",
        other => other.split('/').next_back().unwrap_or("bin"),
    };
    let kind = match recording.upload_mode {
        _ if recording.is_attached() => "transcript",
        UploadMode::Chunked => "recording",
        UploadMode::SingleFile => "import",
    };
    format!("{kind}-{}.{ending}", recording.id)
}
