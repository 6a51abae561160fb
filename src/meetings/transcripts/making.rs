//! The job that makes a version of a transcript: the recognised segments are stored batch by batch.
//!
//! A long recording is transcribed in turns of [`TURN_MS`], between which the recordings of other projects have theirs.
//!
//! Idempotent: what is read is the row, so that a job that runs again after a kill goes on behind the last stored batch,
//! or has nothing left to do.

use std::fs::File;
use std::io::Seek;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::meeting::{Meeting, Recording, RecordingStatus, TranscriptStatus, UploadMode};
use actors::time::Time;
use async_trait::async_trait;
use pipeline::glossary::Speller;
use serde::{Deserialize, Serialize};
use speech::{
    HeardBatch, HeardSegment, HeardSink, SpeechRequest, Transcriber, TranscriptUnwanted, TurnFinder, TurnsRequest,
    Untranscribed,
};

use super::grounding;
use super::model::{NamedSpeaker, StoredSegment, TranscriptVersion};
use super::speakers::{KnownTurns, SpeakerTurns};
use super::store::{self, TranscriptProgress};
use super::telling::report_transcript_status;
use super::voices::KnownVoices;
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobOutcome, JobPayload, RetryPolicy, Turns};
use crate::meetings::consents::may_be_transcribed;
use crate::meetings::recordings::files;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as stored_recordings;
use crate::models;
use crate::projects::glossary;
use crate::projects::glossary::model::Glossary;

/// The length of what is hinted to the recogniser: about as much as it can take.
const HINT_CHARS: usize = 600;
/// After so much sound the turn of a recording is over, with the batch that reaches it.
const TURN_MS: u64 = 5 * 60 * 1000;
/// How often the recogniser may crash before a version fails.
const MAX_CRASHES: u32 = 3;

/// Makes a version of a recording's transcript.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscribeRecording {
    recording_id: Id<ids::Recording>,
    number: u32,
}

impl JobPayload for TranscribeRecording {
    const KIND: &'static str = "transcribe-recording";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues a version: the first one of a recording when it is complete. Projects take turns.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Id<ids::Recording>,
    number: u32,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let (project, job) = (project_id.to_string(), TranscribeRecording { recording_id, number });
    jobs::enqueue_in_turn(conn, &project, &job, now, request).await.map(|_| ())
}

/// Runs [`TranscribeRecording`].
pub struct TranscribeRecordingHandler {
    pub state: Meetings,
    pub transcriber: Arc<dyn Transcriber>,
    pub turns: TurnFinder,
    pub voices: KnownVoices,
}

#[async_trait]
impl Handler for TranscribeRecordingHandler {
    type Payload = TranscribeRecording;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// A transcription uses a whole core.
    fn concurrency(&self) -> usize {
        1
    }

    /// What was recognised is stored batch by batch: the next attempt goes on behind it.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(60 * 60)
    }

    async fn run(&self, job: &Job, payload: TranscribeRecording) -> Result<(), JobError> {
        let TranscribeRecording { recording_id: id, number } = payload;
        let found = self.state.db.read(move |conn| Box::pin(stored_recordings::find(conn, id))).await;
        let Some((meeting_id, recording)) = found? else { return Ok(()) };
        let Some(version) = self.version(id, number).await? else { return Ok(()) };
        let outcome = if version.is_unfinished() {
            let meeting = self.state.registry.snapshot(meeting_id).await.map_err(|away| away.0)?;
            let Some(meeting) = meeting else { return Ok(()) };
            let project_id = meeting.state.project_id;
            let read = self.state.db.read(move |conn| Box::pin(glossary::store::of_project(conn, project_id))).await;
            let terms = read?;
            let speller = Speller::new(&terms.entries);
            let work = TranscriptMaking {
                handler: self,
                meeting_id,
                project_id,
                request: &job.request,
                terms,
                speller,
                began_ms: version.done_ms,
                longest_ms: self.longest_ms(&recording),
                turns: None,
                ended_by: None,
                version,
            };
            work.make(&meeting.state, &recording).await
        } else {
            Ok(())
        };
        report_transcript_status(&self.state, meeting_id, id, job.request.clone()).await?;
        outcome
    }

    /// Forgets its voices, also where the recording, its meeting or the version is gone, and fails a version that nothing would
    /// go on with.
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<TranscribeRecording>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let Some(payload) = payload else { return Ok(Vec::new()) };
        self.voices.forget((payload.recording_id, payload.number));
        let JobOutcome::Failed(_) = outcome else { return Ok(Vec::new()) };
        let versions = store::versions(conn, payload.recording_id).await?;
        let mut unfinished = versions.into_iter().filter(TranscriptVersion::is_unfinished);
        let Some(version) = unfinished.find(|version| version.number == payload.number) else { return Ok(Vec::new()) };
        let failed = TranscriptProgress {
            status: TranscriptStatus::Failed,
            error_message: Some(
                "The transcription was stopped for a reason that is not the recording's own.".to_owned(),
            ),
            ..TranscriptProgress::of(&version)
        };
        if store::advance(conn, &version, &failed).await? {
            // Finds nothing to do but to tell the meeting, whose actor can't be asked within a transaction.
            jobs::enqueue_in_turn(conn, job.fair_key(), &payload, now, &job.request).await?;
        }
        Ok(Vec::new())
    }
}

impl TranscribeRecordingHandler {
    /// The longest that a recording may be: one that was imported may last for days, one of a meeting ends with it.
    fn longest_ms(&self, recording: &Recording) -> Option<u64> {
        let longest = self.state.config.speech.longest_seconds.saturating_mul(1000);
        (recording.upload_mode == UploadMode::SingleFile).then_some(longest)
    }

    /// Returns the version, which is inserted first if it is the one that every recording gets.
    async fn version(&self, id: Id<ids::Recording>, wanted: u32) -> Result<Option<TranscriptVersion>, String> {
        let speech = &self.state.config.speech;
        let first = TranscriptVersion {
            id: Id::generate(),
            recording_id: id,
            number: 1,
            status: TranscriptStatus::Queued,
            engine: speech.engine.clone(),
            model: speech.default_model().to_owned(),
            asked_language: None,
            language: None,
            done_ms: 0,
            segment_count: 0,
            crashes: 0,
            error_message: None,
            created_by: None,
            created_at: self.state.now(),
            attached_bytes: None,
        };
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                let versions = store::versions(conn, id).await?;
                if versions.is_empty() && wanted == 1 {
                    store::insert(conn, &first).await?;
                    return Ok::<_, DbError>(Some(first));
                }
                Ok(versions.into_iter().find(|version| version.number == wanted))
            })
        });
        Ok(written.await?)
    }
}

/// One attempt to make a version.
struct TranscriptMaking<'a> {
    handler: &'a TranscribeRecordingHandler,
    meeting_id: Id<Meeting>,
    project_id: Id<ids::Project>,
    request: &'a RequestId,
    version: TranscriptVersion,
    /// Where this turn began.
    began_ms: u64,
    /// `None`: as long as it is.
    longest_ms: Option<u64>,
    /// The project's words: they are hinted to the recogniser, and spelled as the project does.
    terms: Glossary,
    speller: Speller,
    /// Who speaks when, where it is known.
    turns: Option<SpeakerTurns>,
    /// Why the sink ended the transcription.
    ended_by: Option<SinkEnd>,
}

/// Why the sink ended a transcription.
enum SinkEnd {
    /// Somebody withdrew their consent.
    Withdrawn,
    /// A batch could not be stored.
    Unstored(String),
    /// It goes on in the next turn.
    TurnOver,
    /// The recording is longer than any that is transcribed.
    TooLong,
}

impl TranscriptMaking<'_> {
    async fn make(mut self, meeting: &Meeting, recording: &Recording) -> Result<(), JobError> {
        let state = &self.handler.state;
        if recording.status() != RecordingStatus::Ready {
            return self.fail("The recording has no content any more.".to_owned()).await;
        }
        if !may_be_transcribed(meeting, recording) {
            return self.fail(WITHHELD.to_owned()).await;
        }
        let duration_ms = recording.content().and_then(|content| content.duration_ms);
        if duration_ms.is_some_and(|duration_ms| self.is_too_long(duration_ms)) {
            return self.fail_as_too_long().await;
        }
        self.adopt_engine().await?;
        let Some(folder) = self.model().await? else {
            return self
                .advance(TranscriptProgress { status: TranscriptStatus::WaitingForModel, ..self.progress() })
                .await;
        };
        let known = self.known_turns(meeting, recording).await?;
        self.advance(TranscriptProgress { status: TranscriptStatus::Processing, ..self.progress() }).await?;
        report_transcript_status(state, self.meeting_id, recording.id, self.request.clone()).await?;
        let content = recording.content().ok_or_else(|| JobError::Again("the recording has no content".to_owned()))?;
        let path = files::content(recording.id, content.sha256);
        let opened = state.recordings.file(&path, &content.sha256.to_string()).await;
        let again = |error: std::io::Error| JobError::Again(format!("the recording can't be read: {error}"));
        let (mut file, copy) = opened.map_err(again)?;
        self.turns = match known {
            KnownTurns::Turns(turns) => Some(turns),
            KnownTurns::Unknown if recording.track.is_none() => self.voice_turns(recording, &file).await?,
            KnownTurns::Unknown | KnownTurns::NotYet => None,
        };
        file.rewind().map_err(again)?;
        let request = SpeechRequest {
            model: folder,
            model_name: self.version.model.clone(),
            language: self.version.asked_language.clone().or_else(|| self.version.language.clone()),
            from_ms: self.version.done_ms,
            hint: Some(self.terms.prompt(HINT_CHARS)).filter(|hint| !hint.is_empty()),
        };
        let transcriber = Arc::clone(&self.handler.transcriber);
        let done = transcriber.transcribe(file, request, &mut self).await;
        drop(copy);
        match done {
            Ok(()) => self.advance(TranscriptProgress { status: TranscriptStatus::Ready, ..self.progress() }).await,
            Err(Untranscribed::Stopped) => match self.ended_by.take() {
                Some(SinkEnd::Withdrawn) => self.fail(WITHHELD.to_owned()).await,
                Some(SinkEnd::Unstored(why)) => Err(JobError::Again(why)),
                Some(SinkEnd::TurnOver) => Err(JobError::NextTurn),
                Some(SinkEnd::TooLong) => self.fail_as_too_long().await,
                // Another worker goes on with it, or it was deleted.
                None => Ok(()),
            },
            Err(Untranscribed::Interrupted(why)) => Err(JobError::Again(why)),
            Err(Untranscribed::Unreadable(why)) => self.fail(format!("The recording can't be read: {why}.")).await,
            Err(Untranscribed::Refused(why)) => {
                self.fail(format!("The speech service refused the recording: {why}.")).await
            }
            Err(Untranscribed::Model(why)) => self.fail(format!("The model can't be used: {why}.")).await,
            Err(Untranscribed::Crashed(why)) => {
                tracing::warn!(recording = %recording.id, why, "a transcription crashed");
                let crashes = self.version.crashes + 1;
                if crashes >= MAX_CRASHES {
                    return self.fail("The speech recognition crashed several times.".to_owned()).await;
                }
                self.advance(TranscriptProgress { crashes, ..self.progress() }).await?;
                Err(JobError::Again(why))
            }
        }
    }

    /// What the tracks beside the recording tell of who speaks; they are waited for.
    async fn known_turns(&self, meeting: &Meeting, recording: &Recording) -> Result<KnownTurns, JobError> {
        let (meeting, recording, now) = (meeting.clone(), recording.clone(), self.handler.state.now());
        let read =
            self.handler.state.db.read(move |conn| {
                Box::pin(async move { KnownTurns::of_tracks(conn, &meeting, &recording, now).await })
            });
        match read.await? {
            KnownTurns::NotYet => {
                Err(JobError::Again("the tracks that were recorded beside it are transcribed first".to_owned()))
            }
            known => Ok(known),
        }
    }

    /// Tells the voices of a recording of everyone apart, where the model for it is installed. Without it, or if it fails,
    /// they are one. In a long recording this takes a turn of its own, if the next one will find them.
    async fn voice_turns(&self, recording: &Recording, file: &File) -> Result<Option<SpeakerTurns>, JobError> {
        let (known, version) = (&self.handler.voices, (self.version.recording_id, self.version.number));
        if let Some(voices) = known.get(version) {
            return Ok(voices.map(SpeakerTurns::of_voices));
        }
        let Some(model) = self.installed(models::catalogue::SPEAKERS.to_owned()).await? else { return Ok(None) };
        let file = file.try_clone().map_err(|error| JobError::Again(error.to_string()))?;
        let voices = match self.handler.turns.find(file, TurnsRequest { model }).await {
            Ok(turns) => Some(turns),
            Err(Untranscribed::Interrupted(why)) => return Err(JobError::Again(why)),
            Err(why) => {
                tracing::warn!(recording = %recording.id, %why, "the voices of a recording could not be told apart");
                None
            }
        };
        let is_long = voices.iter().flatten().any(|turn| turn.end_ms > TURN_MS);
        let has_room = known.insert(version, voices.clone());
        if is_long && has_room { Err(JobError::NextTurn) } else { Ok(voices.map(SpeakerTurns::of_voices)) }
    }

    fn is_too_long(&self, ms: u64) -> bool {
        self.longest_ms.is_some_and(|longest_ms| ms > longest_ms)
    }

    async fn fail_as_too_long(&mut self) -> Result<(), JobError> {
        let minutes = self.longest_ms.unwrap_or_default() / 60_000;
        self.fail(format!("The recording is longer than {minutes} min, the most that is transcribed of a file.")).await
    }

    /// A version that was begun under another engine is made by the one of now.
    async fn adopt_engine(&mut self) -> Result<(), JobError> {
        let speech = &self.handler.state.config.speech;
        if self.version.engine == speech.engine {
            return Ok(());
        }
        let (id, engine, model) = (self.version.id, speech.engine.clone(), speech.default_model().to_owned());
        self.version.engine.clone_from(&engine);
        self.version.model.clone_from(&model);
        let adopted = self.handler.state.db.write(move |conn| Box::pin(store::adopt(conn, id, engine, model)));
        Ok(adopted.await?)
    }

    /// The folder of the version's model; empty for a speech service, `None` if it is not installed.
    async fn model(&self) -> Result<Option<PathBuf>, JobError> {
        let config = &self.handler.state.config;
        if !config.speech.is_embedded() {
            return Ok(Some(PathBuf::new()));
        }
        self.installed(self.version.model.clone()).await
    }

    /// Returns the folder of a model, `None` if it is not installed.
    async fn installed(&self, name: String) -> Result<Option<PathBuf>, JobError> {
        let folder = self.handler.state.config.models_folder();
        let model = tokio::task::spawn_blocking(move || models::installed(&folder, &name)).await;
        Ok(model.map_err(|error| error.to_string())?.map(|model| model.folder))
    }

    fn progress(&self) -> TranscriptProgress {
        TranscriptProgress::of(&self.version)
    }

    async fn fail(&mut self, why: String) -> Result<(), JobError> {
        let failed =
            TranscriptProgress { status: TranscriptStatus::Failed, error_message: Some(why), ..self.progress() };
        self.advance(failed).await
    }

    fn stored(&self, position: u32, (speaker, heard): (Option<NamedSpeaker>, HeardSegment)) -> StoredSegment {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1000")]
        let confidence = (heard.confidence.clamp(0.0, 1.0) * 1000.0).round() as u32;
        StoredSegment {
            position,
            start_ms: heard.start_ms,
            end_ms: heard.end_ms,
            text: self.speller.respell(&heard.text.replace(char::is_control, " ")),
            confidence,
            speaker,
            correction: None,
        }
    }

    async fn advance(&mut self, to: TranscriptProgress) -> Result<(), JobError> {
        self.save(to, Vec::new()).await?;
        Ok(())
    }

    /// Saves how far the version is, with new segments. Returns false if somebody else changed the version.
    async fn save(&mut self, to: TranscriptProgress, segments: Vec<StoredSegment>) -> Result<bool, DbError> {
        let (meeting_id, project_id, before) = (self.meeting_id, self.project_id, self.version.clone());
        let (now, request) = (self.handler.state.now(), self.request.clone());
        let after = TranscriptVersion {
            status: to.status,
            language: to.language.clone(),
            done_ms: to.done_ms,
            segment_count: to.segment_count,
            crashes: to.crashes,
            error_message: to.error_message.clone(),
            ..before.clone()
        };
        let written = self.handler.state.db.write(move |conn| {
            Box::pin(async move {
                let is_ours = store::advance(conn, &before, &to).await?;
                if is_ours && to.status == TranscriptStatus::Ready && before.number > 1 {
                    // What rests on the former version may not be said in this one.
                    grounding::enqueue(conn, project_id, before.recording_id, now, &request).await?;
                }
                if is_ours {
                    store::insert_segments(conn, meeting_id, before.id, &segments).await?;
                }
                Ok::<_, DbError>(is_ours)
            })
        });
        let is_ours = written.await?;
        if is_ours {
            self.version = after;
        }
        Ok(is_ours)
    }
}

#[async_trait]
impl HeardSink for TranscriptMaking<'_> {
    async fn may_continue(&mut self) -> bool {
        let state = &self.handler.state;
        let meeting = match state.registry.snapshot(self.meeting_id).await {
            Ok(Some(meeting)) => meeting,
            Ok(None) => return false,
            Err(away) => {
                self.ended_by = Some(SinkEnd::Unstored(away.0));
                return false;
            }
        };
        let recording = meeting.state.recordings.get(&self.version.recording_id);
        let may = recording.is_some_and(|recording| may_be_transcribed(&meeting.state, recording));
        if !may {
            self.ended_by = Some(SinkEnd::Withdrawn);
        }
        may
    }

    async fn take_batch(&mut self, batch: HeardBatch) -> Result<(), TranscriptUnwanted> {
        if !batch.is_final {
            return Ok(());
        }
        let first = self.version.segment_count;
        let by_speaker = batch.segments.into_iter().flat_map(|heard| match &self.turns {
            Some(turns) => turns.assigned(heard),
            None => vec![(None, heard)],
        });
        let segments: Vec<StoredSegment> = (first..).zip(by_speaker).map(|(at, part)| self.stored(at, part)).collect();
        let to = TranscriptProgress {
            language: batch.language.or_else(|| self.version.language.clone()),
            done_ms: batch.done_ms.max(self.version.done_ms),
            segment_count: first.saturating_add(u32::try_from(segments.len()).map_err(|_| TranscriptUnwanted)?),
            ..self.progress()
        };
        match self.save(to, segments).await {
            Ok(true) if self.is_too_long(batch.done_ms) => {
                self.ended_by = Some(SinkEnd::TooLong);
                Err(TranscriptUnwanted)
            }
            Ok(true) if batch.done_ms.saturating_sub(self.began_ms) >= TURN_MS => {
                self.ended_by = Some(SinkEnd::TurnOver);
                Err(TranscriptUnwanted)
            }
            Ok(true) => Ok(()),
            Ok(false) => Err(TranscriptUnwanted),
            Err(error) => {
                let why = format!("a part of the transcript could not be stored: {error}");
                self.ended_by = Some(SinkEnd::Unstored(why));
                Err(TranscriptUnwanted)
            }
        }
    }
}

const WITHHELD: &str = "Somebody who can be heard has not consented to a transcript.";
