//! The transcript of a recording, as far as the meeting knows of it. The text itself is stored by the application.

use super::super::command::Refusal;
use super::super::state::Meeting;
use super::{Recording, RecordingEvent, RecordingLimits, Stage};
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
