//! Commands that stop, complete and delete a recording, and its time limits.

use super::super::command::Refusal;
use super::super::consent::ConsentScope;
use super::super::state::Meeting;
use super::decide::happened;
use super::{
    FailureReason, Recording, RecordingContent, RecordingEvent, RecordingLimits, RecordingRefusal, RecordingStatus,
    RecordingWait, Stage, TranscriptStatus, UploadMode,
};
use crate::ids::{self, Id};
use crate::live::Change;
use crate::time::Time;

impl Recording {
    /// Stops the recording. If the clock was set back, it must not stop before its start.
    pub(super) fn stop(&mut self, last: Option<u32>, now: Time) {
        self.stage = Stage::Stopped { stopped_at: now.max(self.started_at), last };
        self.pauses.lacking.clear();
    }

    /// Lets the assembly begin once every chunk up to the named last one is stored.
    pub(super) fn finalize_if_complete(&mut self, now: Time) -> Option<RecordingEvent> {
        let last = self.last_chunk()?;
        let stopped_at = self.stopped_at().unwrap_or(now);
        if !self.received.is_complete(last) {
            return None;
        }
        self.stage = Stage::Finalizing { stopped_at };
        Some(RecordingEvent::Finalizing)
    }

    fn fail(&mut self, reason: FailureReason, now: Time) -> RecordingEvent {
        let last = self.last_chunk();
        let stopped_at = self.stopped_at().unwrap_or_else(|| now.max(self.started_at));
        // The client may still have the chunks, and send them when it can again.
        let repairable = self.upload_mode == UploadMode::Chunked
            && matches!(reason, FailureReason::MissingChunks | FailureReason::NoContent);
        self.pauses.lacking.clear();
        self.stage = Stage::Failed { stopped_at, reason, last, repairable };
        RecordingEvent::Failed
    }

    /// Applies the time limits.
    fn sweep(&mut self, limits: &RecordingLimits, now: Time) -> Option<RecordingEvent> {
        let (wait, since) = self.wait().filter(|(wait, since)| now >= *since + limits.of(*wait))?;
        Some(match wait {
            RecordingWait::Longest => {
                self.stop(None, now);
                RecordingEvent::Stopped
            }
            RecordingWait::Abandoned => self.fail(FailureReason::Abandoned, now),
            RecordingWait::Quiet if self.received.next == 0 && self.received.beyond.is_empty() => {
                self.fail(FailureReason::NoContent, now)
            }
            RecordingWait::Quiet if self.received.next == 0 => self.fail(FailureReason::MissingChunks, now),
            RecordingWait::Quiet => {
                self.stage = Stage::Finalizing { stopped_at: self.stopped_at().unwrap_or(since) };
                RecordingEvent::Finalizing
            }
            RecordingWait::Late => self.fail(FailureReason::MissingChunks, now),
            RecordingWait::Repair => {
                if let Stage::Failed { repairable, .. } = &mut self.stage {
                    *repairable = false;
                }
                RecordingEvent::Failed
            }
            RecordingWait::Expiry => {
                if let Stage::Ready { stopped_at, ready_at, content, .. } = self.stage {
                    self.stage = Stage::Expired { stopped_at, ready_at, content, expired_at: now };
                }
                RecordingEvent::Expired
            }
        })
    }
}

impl Meeting {
    /// Stops a recording. Once it is stopped, only the last chunk can still be named, once; all else changes nothing.
    pub(in super::super) fn stop_recording(
        &self,
        id: Id<ids::Recording>,
        announced_ms: Option<u64>,
        last: Option<u32>,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.recording(id)?;
        if recording.upload_mode == UploadMode::SingleFile {
            return self.stop_file(recording, announced_ms, now);
        }
        match recording.stage {
            Stage::Active => {}
            Stage::Stopped { last: None, .. } | Stage::Failed { last: None, repairable: true, .. }
                if last.is_some() => {}
            _ => return Ok(self.unchanged()),
        }
        let highest = recording.received.highest();
        if let (Some(last), Some(highest)) = (last, highest)
            && highest > last
        {
            return Err(RecordingRefusal::BehindTheLast { last }.into());
        }
        let mut next = recording.clone();
        next.announced_ms = announced_ms.or(recording.announced_ms);
        let stopped_at = recording.stopped_at().unwrap_or(now);
        next.stop(last, stopped_at);
        let what = next.finalize_if_complete(now).unwrap_or(RecordingEvent::Stopped);
        Ok(self.with_recording(next, what))
    }

    /// Stops the recording of a file that is completely uploaded.
    fn stop_file(&self, recording: &Recording, announced_ms: Option<u64>, now: Time) -> Result<Change<Self>, Refusal> {
        if recording.stage != Stage::Active {
            return Ok(self.unchanged());
        }
        let mut next = recording.clone();
        next.announced_ms = announced_ms;
        match (recording.received.bytes, recording.announced_bytes) {
            (bytes, Some(of)) if bytes < of => return Err(RecordingRefusal::Incomplete { bytes, of }.into()),
            (0, _) => {
                let failed = next.fail(FailureReason::NoContent, now);
                return Ok(self.with_recording(next, failed));
            }
            _ => {}
        }
        if recording.pauses.is_paused() {
            return Err(RecordingRefusal::Paused.into());
        }
        next.stop(None, now);
        next.stage = Stage::Finalizing { stopped_at: next.stopped_at().unwrap_or(now) };
        Ok(self.with_recording(next, RecordingEvent::Finalizing))
    }

    /// Records the outcome of the assembly. Late or repeated, it changes nothing.
    pub(in super::super) fn finish_recording(
        &self,
        id: Id<ids::Recording>,
        outcome: Result<RecordingContent, FailureReason>,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.recording(id)?;
        let Stage::Finalizing { stopped_at } = recording.stage else { return Ok(self.unchanged()) };
        let mut next = recording.clone();
        let what = match outcome {
            Ok(content) => {
                let duration_ms = content.duration_ms.or(recording.announced_ms);
                let content = RecordingContent { duration_ms, ..content };
                let ready_at = now.max(stopped_at);
                let expires_at = limits.kept.map(|kept| ready_at + kept);
                next.stage = Stage::Ready { stopped_at, ready_at, content, expires_at };
                if limits.transcribed && self.held_back(recording, ConsentScope::Transcript).is_empty() {
                    next.transcript = TranscriptStatus::Queued;
                }
                RecordingEvent::Ready
            }
            Err(reason) => next.fail(reason, now),
        };
        Ok(self.with_recording(next, what))
    }

    /// Deletes a recording, except while it is being assembled.
    pub(in super::super) fn delete_recording(&self, id: Id<ids::Recording>) -> Result<Change<Self>, Refusal> {
        let recording = self.recording(id)?;
        if matches!(recording.stage, Stage::Finalizing { .. }) {
            return Err(RecordingRefusal::InvalidState { status: RecordingStatus::Finalizing }.into());
        }
        let mut next = self.clone();
        next.recordings.remove(id);
        Ok(next.with_events(vec![happened(id, RecordingEvent::Deleted)]))
    }

    /// Applies the time limits of all recordings. Too early, or repeated, it changes nothing.
    pub(in super::super) fn sweep_recordings(&self, limits: &RecordingLimits, now: Time) -> Change<Self> {
        let mut next = self.clone();
        let mut events = Vec::new();
        for recording in self.recordings.values() {
            let mut swept = recording.clone();
            if let Some(what) = swept.sweep(limits, now) {
                next.recordings.put(swept);
                events.push(happened(recording.id, what));
            }
        }
        next.with_events(events)
    }
}
