//! The dispatch of commands about recordings.

use super::super::command::Refusal;
use super::super::event::Event;
use super::super::state::Meeting;
use super::{RecordingCommand, RecordingEvent, RecordingLimits, RecordingRefusal};
use crate::ids::{self, Id};
use crate::live::Change;
use crate::time::Time;

pub(super) const fn happened(recording: Id<ids::Recording>, what: RecordingEvent) -> Event {
    Event::Recording { recording, what }
}

impl From<RecordingRefusal> for Refusal {
    fn from(refusal: RecordingRefusal) -> Self {
        Self::Recording(refusal)
    }
}

impl Meeting {
    /// Decides a command about one recording.
    pub(in super::super) fn command_recording(
        &self,
        id: Id<ids::Recording>,
        command: RecordingCommand,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        match command {
            RecordingCommand::TakeChunk { chunk } => self.take_chunk(id, chunk, limits, now),
            RecordingCommand::BeginFile { offset, total } => self.begin_file(id, offset, total, limits),
            RecordingCommand::TakePart { upload, part } => self.take_part(id, upload, part, limits, now),
            RecordingCommand::RewindFile { upload, parts, bytes } => self.rewind_file(id, upload, parts, bytes),
            RecordingCommand::Stop { announced_ms, last } => self.stop_recording(id, announced_ms, last, now),
            RecordingCommand::Finish { outcome } => self.finish_recording(id, outcome, limits, now),
            RecordingCommand::Transcribe { transcript } => self.follow_transcript(id, transcript, limits, now),
            RecordingCommand::TellTranscript => self.tell_transcript(id),
            RecordingCommand::Delete => self.delete_recording(id),
        }
    }
}
