//! Commands that start a recording and report what was uploaded.

use std::collections::BTreeSet;

use super::super::command::Refusal;
use super::super::consent::{ConsentDecision, ConsentScope, Digest, Ledger, LedgerEntry, Wording};
use super::super::event::Event;
use super::super::state::{ConsentPolicy, Meeting, MeetingStatus};
use super::decide::happened;
use super::{
    Attestation, Chunk, MAX_CHUNKS, Pauses, ReceivedChunks, Recording, RecordingBasis, RecordingDraft, RecordingEvent,
    RecordingLimits, RecordingRefusal, Stage, TranscriptStatus, UploadMode,
};
use crate::ids::{self, Id, User};
use crate::live::Change;
use crate::time::Time;

/// How much later than now a chunk may end: clients measure time by clocks of their own.
const AHEAD_MS: u64 = 60_000;

impl Meeting {
    /// Starts a recording. Repeating it with the same id changes nothing.
    pub(in super::super) fn start_recording(
        &self,
        draft: RecordingDraft,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        if self.recordings.get(&draft.id).is_some() {
            return Ok(self.unchanged());
        }
        let basis = match (self.status(), draft.upload_mode) {
            (MeetingStatus::Live, UploadMode::Chunked) => RecordingBasis::Live,
            (MeetingStatus::Live, UploadMode::SingleFile) | (MeetingStatus::Ended, _) => RecordingBasis::Import,
            (MeetingStatus::Scheduled | MeetingStatus::Cancelled, _) => return Err(self.invalid()),
        };
        if draft.track.is_some_and(|track| {
            self.participants.get(&track).is_none_or(|participant| participant.first_joined_at.is_none())
        }) {
            return Err(RecordingRefusal::NoSuchTrack.into());
        }
        if self.recordings.values().any(|one| one.is_unfinished() && one.track == draft.track) {
            return Err(RecordingRefusal::Unfinished.into());
        }
        if self.recordings.len() >= limits.per_meeting {
            return Err(RecordingRefusal::TooMany.into());
        }
        let recording = Recording {
            id: draft.id,
            track: draft.track,
            upload_mode: draft.upload_mode,
            mime_type: draft.mime_type,
            basis,
            stage: Stage::Active,
            received: ReceivedChunks::default(),
            upload: 0,
            announced_bytes: None,
            announced_ms: None,
            pauses: Pauses::default(),
            transcript: TranscriptStatus::None,
            started_by: draft.by,
            started_at: now,
        };
        if !self.consent_lacking(&recording).is_empty() {
            return Err(RecordingRefusal::ConsentRequired.into());
        }
        let mut next = self.clone();
        let mut events = Vec::new();
        if basis == RecordingBasis::Import && self.participants.values().all(|one| one.first_joined_at.is_none()) {
            let attestation = draft.attestation.ok_or(RecordingRefusal::AttestationRequired)?;
            events.push(next.attest(draft.by, attestation, now)?);
        }
        events.push(happened(recording.id, RecordingEvent::Started));
        next.recordings.put(recording);
        Ok(next.with_events(events))
    }

    /// Appends the host's declaration to the consent ledger.
    pub(super) fn attest(&mut self, by: Id<User>, attestation: Attestation, now: Time) -> Result<Event, Refusal> {
        let host = self.participants.of_user(by).filter(|one| one.role.leads() && !one.is_removed());
        let host = host.ok_or(RecordingRefusal::NotTheHost)?.id;
        let Attestation { text, language, user_agent } = attestation;
        let entry = LedgerEntry {
            number: self.ledger.entries + 1,
            meeting_id: self.id,
            participant_id: host,
            decision: ConsentDecision::Attested,
            scopes: BTreeSet::from([ConsentScope::Recording]),
            wording: Wording { version: ATTESTATION.to_owned(), language, text_hash: Digest::of(&text) },
            at: now,
            user_agent_hash: Digest::of(&user_agent),
            previous: self.ledger.head,
        };
        self.ledger = Ledger { entries: entry.number, head: entry.hash() };
        Ok(Event::Consented { entry: Box::new(entry), user_agent, text: Some(text) })
    }

    /// Records that a chunk is stored.
    pub(in super::super) fn take_chunk(
        &self,
        id: Id<ids::Recording>,
        chunk: Chunk,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.uploaded_as(id, UploadMode::Chunked)?;
        let longest = u64::try_from(limits.longest.as_millis()).unwrap_or(u64::MAX);
        if let Some(span) = chunk.span {
            let elapsed = u64::try_from(now.since(recording.started_at).as_millis()).unwrap_or(u64::MAX);
            let is_ahead = recording.basis == RecordingBasis::Live && span.to_ms > elapsed.saturating_add(AHEAD_MS);
            if span.from_ms > span.to_ms || is_ahead {
                return Err(RecordingRefusal::SpanInvalid.into());
            }
            if span.to_ms > longest.saturating_add(AHEAD_MS) {
                return Err(RecordingRefusal::TooLong.into());
            }
        }
        if recording.received.has(chunk.index) {
            return Err(RecordingRefusal::ChunkTaken.into());
        }
        match recording.stage {
            Stage::Active | Stage::Stopped { .. } | Stage::Failed { repairable: true, .. } => {}
            _ => return Err(RecordingRefusal::InvalidState { status: recording.status() }.into()),
        }
        let last = recording.last_chunk().unwrap_or(MAX_CHUNKS - 1);
        if chunk.index > last {
            return Err(RecordingRefusal::BehindTheLast { last }.into());
        }
        recording.must_be_unpaused(&chunk, self.needs_spans(recording))?;
        self.add(recording, chunk, limits, now)
    }

    /// Whether each chunk must say when it was recorded.
    fn needs_spans(&self, recording: &Recording) -> bool {
        self.consent_policy == ConsentPolicy::All && recording.basis == RecordingBasis::Live
    }

    /// Begins an upload of the file at an offset, or resumes it where the stored parts end. Older uploads can add
    /// nothing from then on.
    pub(in super::super) fn begin_file(
        &self,
        id: Id<ids::Recording>,
        offset: u64,
        total: Option<u64>,
        limits: &RecordingLimits,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.uploaded_as(id, UploadMode::SingleFile)?;
        if recording.stage != Stage::Active {
            return Err(RecordingRefusal::InvalidState { status: recording.status() }.into());
        }
        if recording.pauses.is_paused() {
            return Err(RecordingRefusal::Paused.into());
        }
        if total.is_some_and(|total| total > limits.bytes) {
            return Err(RecordingRefusal::TooLarge.into());
        }
        if offset != 0 && offset != recording.received.bytes {
            return Err(RecordingRefusal::OtherOffset { bytes: recording.received.bytes }.into());
        }
        let mut next = recording.clone();
        next.upload = recording.upload.saturating_add(1);
        next.announced_bytes = total;
        if offset == 0 {
            next.received = ReceivedChunks { latest_at: recording.received.latest_at, ..ReceivedChunks::default() };
        }
        Ok(self.with_recording(next, RecordingEvent::FileRewound))
    }

    /// Records that a part of the file is stored.
    pub(in super::super) fn take_part(
        &self,
        id: Id<ids::Recording>,
        upload: u32,
        part: Chunk,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.uploaded_as(id, UploadMode::SingleFile)?;
        if recording.upload != upload || part.index != recording.received.next {
            return Err(RecordingRefusal::Superseded.into());
        }
        if recording.stage != Stage::Active {
            return Err(RecordingRefusal::InvalidState { status: recording.status() }.into());
        }
        recording.must_be_unpaused(&part, false)?;
        self.add(recording, part, limits, now)
    }

    /// Forgets the parts of an upload whose content was not what its sender meant to send.
    pub(in super::super) fn rewind_file(
        &self,
        id: Id<ids::Recording>,
        upload: u32,
        parts: u32,
        bytes: u64,
    ) -> Result<Change<Self>, Refusal> {
        let recording = self.uploaded_as(id, UploadMode::SingleFile)?;
        if recording.upload != upload || recording.stage != Stage::Active || parts > recording.received.next {
            return Err(RecordingRefusal::Superseded.into());
        }
        let mut next = recording.clone();
        next.received.next = parts;
        next.received.bytes = bytes;
        Ok(self.with_recording(next, RecordingEvent::FileRewound))
    }

    fn add(
        &self,
        recording: &Recording,
        chunk: Chunk,
        limits: &RecordingLimits,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        if recording.received.bytes.saturating_add(chunk.bytes) > limits.bytes || chunk.index >= MAX_CHUNKS {
            return Err(RecordingRefusal::TooLarge.into());
        }
        let mut next = recording.clone();
        next.received.add(&chunk, now);
        if let Stage::Failed { stopped_at, last: None, repairable: true, .. } = next.stage {
            next.stage = Stage::Stopped { stopped_at, last: None };
        }
        let mut events = vec![happened(recording.id, RecordingEvent::ChunkStored(chunk))];
        events.extend(next.finalize_if_complete(now).map(|what| happened(next.id, what)));
        let mut meeting = self.clone();
        meeting.recordings.put(next);
        Ok(meeting.with_events(events))
    }

    pub(super) fn recording(&self, id: Id<ids::Recording>) -> Result<&Recording, Refusal> {
        self.recordings.get(&id).ok_or_else(|| RecordingRefusal::NoSuchRecording.into())
    }

    fn uploaded_as(&self, id: Id<ids::Recording>, mode: UploadMode) -> Result<&Recording, Refusal> {
        let recording = self.recording(id)?;
        if recording.upload_mode == mode {
            Ok(recording)
        } else {
            Err(RecordingRefusal::OtherMode { mode: recording.upload_mode }.into())
        }
    }

    pub(super) fn with_recording(&self, recording: Recording, what: RecordingEvent) -> Change<Self> {
        let event = happened(recording.id, what);
        let mut next = self.clone();
        next.recordings.put(recording);
        next.with_events(vec![event])
    }
}

/// The version under which the host's declaration stands in the consent ledger.
const ATTESTATION: &str = "attestation";
