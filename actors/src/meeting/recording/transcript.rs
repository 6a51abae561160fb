//! The transcript of a recording, as far as the meeting knows of it. The text itself is stored by the application.

use super::super::command::Refusal;
use super::super::consent::ConsentScope;
use super::super::state::{Meeting, MeetingStatus};
use super::decide::happened;
use super::{
    AttachedTranscript, Pauses, ReceivedChunks, Recording, RecordingBasis, RecordingEvent, RecordingLimits,
    RecordingRefusal, Stage, UploadMode,
};
use crate::ids::{self, Id};
use crate::live::Change;
use crate::time::Time;
use crate::wire_enum;

wire_enum! {
    /// The state of a recording's transcript.
    #[derive(Default)]
    pub enum TranscriptStatus {
        /// There is none, and none is being made.
        #[default]
        None,
        Queued,
        /// Made as soon as the model is installed.
        WaitingForModel,
        Processing,
        Ready,
        Failed,
    }
}

impl Meeting {
    /// Adds a transcript that another program made as a recording without sound. Like what was recorded elsewhere it needs the
    /// consent of everyone who ever joined, here to a transcript; where nobody did, the host's declaration. Repeating it with
    /// the same id changes nothing.
    pub(in super::super) fn attach_transcript(
        &self,
        attached: AttachedTranscript,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let AttachedTranscript { id, mime_type, content, by, attestation } = attached;
        if self.recordings.get(&id).is_some() {
            return Ok(self.unchanged());
        }
        match self.status() {
            MeetingStatus::Live | MeetingStatus::Ended => {}
            MeetingStatus::Scheduled | MeetingStatus::Cancelled => return Err(self.invalid()),
        }
        if self.recordings.len() >= limits.per_meeting {
            return Err(RecordingRefusal::TooMany.into());
        }
        if !self.lacking(ConsentScope::Transcript, |one| one.first_joined_at.is_some()).is_empty() {
            return Err(RecordingRefusal::ConsentRequired.into());
        }
        let mut next = self.clone();
        let mut events = Vec::new();
        if self.participants.values().all(|one| one.first_joined_at.is_none()) {
            let attestation = attestation.ok_or(RecordingRefusal::AttestationRequired)?;
            events.push(next.attest(by, attestation, now)?);
        }
        // The file is a transcript, and kept as one.
        let expires_at = limits.transcripts_kept.map(|kept| now + kept);
        next.recordings.put(Recording {
            id,
            track: None,
            upload_mode: UploadMode::SingleFile,
            mime_type,
            basis: RecordingBasis::Import,
            stage: Stage::Ready { stopped_at: now, ready_at: now, content, expires_at },
            received: ReceivedChunks::default(),
            upload: 0,
            announced_bytes: None,
            announced_ms: None,
            pauses: Pauses::default(),
            transcript: TranscriptStatus::Queued,
            started_by: by,
            started_at: now,
        });
        events.push(happened(id, RecordingEvent::Attached));
        Ok(next.with_events(events))
    }

    /// Records the state of a recording's transcript. Repeated, or before the recording is complete, it changes nothing.
    /// With a transcript, the content expires at once where it is kept only until then.
    pub(in super::super) fn follow_transcript(
        &self,
        id: Id<ids::Recording>,
        transcript: TranscriptStatus,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.recording(id)?;
        if recording.transcript == transcript || recording.content().is_none() {
            return Ok(self.unchanged());
        }
        let mut next = Recording { transcript, ..recording.clone() };
        if let Stage::Ready { expires_at, .. } = &mut next.stage
            && limits.only_until_transcribed
            && recording.mime_type.has_sound()
            && transcript == TranscriptStatus::Ready
        {
            *expires_at = Some(expires_at.map_or(now, |known| known.min(now)));
        }
        Ok(self.with_recording(next, RecordingEvent::Transcript))
    }

    /// Tells whoever listens that a transcript says something else now.
    pub(in super::super) fn tell_transcript(&self, id: Id<ids::Recording>) -> Result<Change<Self>, Refusal> {
        let recording = self.recording(id)?.clone();
        Ok(self.with_recording(recording, RecordingEvent::TranscriptChanged))
    }
}
