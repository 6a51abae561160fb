//! Consent while recording: when a recording may start and go on, and whose words hold its content back.

use super::super::consent::{ConsentDecision, ConsentScope};
use super::super::event::Event;
use super::super::participant::{Participant, Presence};
use super::super::state::{ConsentPolicy, Meeting};
use super::decide::happened;
use super::{Chunk, Lacking, Recording, RecordingBasis, RecordingEvent, RecordingRefusal, Stage};
use crate::ids::{self, Id};
use crate::time::Time;

impl Recording {
    /// Checks that nothing is recorded while the recording is paused. An empty chunk has nothing in it.
    ///
    /// # Errors
    /// `Paused`, or `SpanRequired` if the chunk does not say when it was recorded, as it must.
    pub(super) fn must_be_unpaused(&self, chunk: &Chunk, is_span_needed: bool) -> Result<(), RecordingRefusal> {
        match (self.basis, chunk.span) {
            _ if chunk.bytes == 0 => Ok(()),
            // What was recorded elsewhere is not recorded at the time at which it is uploaded.
            (RecordingBasis::Import, _) if self.pauses.is_paused() => Err(RecordingRefusal::Paused),
            (RecordingBasis::Import, _) => Ok(()),
            (RecordingBasis::Live, Some(span)) if self.pauses.overlap(span, self.started_at) => {
                Err(RecordingRefusal::Paused)
            }
            (RecordingBasis::Live, Some(_)) => Ok(()),
            (RecordingBasis::Live, None) if is_span_needed || !self.pauses.all.is_empty() => {
                Err(RecordingRefusal::SpanRequired)
            }
            (RecordingBasis::Live, None) => Ok(()),
        }
    }
}

impl Meeting {
    /// Updates the pauses of all recordings that are being made or uploaded, and stops those of a meeting that has
    /// ended. Called after each change.
    pub(in super::super) fn follow_recordings(&mut self, now: Time) -> Vec<Event> {
        let mut events = Vec::new();
        let has_ended = self.over_at().is_some();
        let all = self.recordings.clone();
        for recording in all.values().filter(|one| one.stage == Stage::Active) {
            if has_ended && recording.basis == RecordingBasis::Live {
                let mut stopped = recording.clone();
                stopped.stop(None, now);
                self.recordings.put(stopped);
                events.push(happened(recording.id, RecordingEvent::Stopped));
                continue;
            }
            let lacking = self.consent_lacking(recording);
            if lacking == recording.pauses.lacking {
                continue;
            }
            let mut next = recording.clone();
            next.pauses.update(lacking, now);
            let what = match (recording.pauses.is_paused(), next.pauses.is_paused()) {
                (false, _) => RecordingEvent::Paused,
                (true, true) => RecordingEvent::WaitsForOthers,
                (true, false) => RecordingEvent::Resumed,
            };
            events.push(happened(next.id, what));
            self.recordings.put(next);
        }
        events
    }

    /// Returns whose consent a recording lacks.
    pub(super) fn consent_lacking(&self, recording: &Recording) -> Lacking {
        match (recording.basis, self.consent_policy) {
            (RecordingBasis::Import, _) => self.may_import().err().unwrap_or_default().into_iter().collect(),
            (RecordingBasis::Live, ConsentPolicy::All) => {
                self.may_record().err().unwrap_or_default().into_iter().collect()
            }
            // A refusal stops only the track of that participant.
            (RecordingBasis::Live, ConsentPolicy::Notice) => {
                let own = recording.track.and_then(|id| self.participants.get(&id));
                own.filter(|own| own.declined()).map(|own| own.id).into_iter().collect()
            }
        }
    }

    /// Returns the participants who can be heard in a recording and have withdrawn or refused their consent: its content
    /// is held back until it is cut or deleted.
    #[must_use]
    pub fn withheld_for(&self, recording: &Recording) -> Vec<Id<ids::Participant>> {
        let heard = self.participants.values().filter(|one| is_audible(one, recording));
        // Who never consented was never recorded where that pauses the recording.
        let was_paused = recording.basis == RecordingBasis::Live && self.consent_policy == ConsentPolicy::All;
        let has_withdrawn =
            |one: &Participant| one.consent.as_ref().is_some_and(|one| one.decision == ConsentDecision::Withdrawn);
        heard.filter(|one| if was_paused { has_withdrawn(one) } else { one.declined() }).map(|one| one.id).collect()
    }

    /// Returns the participants who can be heard in a recording and have not granted what it is to be used for: it is
    /// held back from that use.
    #[must_use]
    pub fn held_back(&self, recording: &Recording, scope: ConsentScope) -> Vec<Id<ids::Participant>> {
        let heard = self.participants.values().filter(|one| is_audible(one, recording) && !one.grants(scope));
        // As in `withheld_for`: who never granted anything was never recorded where that pauses the recording.
        let was_paused = recording.basis == RecordingBasis::Live && self.consent_policy == ConsentPolicy::All;
        let was_never_recorded =
            |one: &Participant| one.consent.as_ref().is_none_or(|one| one.decision == ConsentDecision::Refused);
        heard.filter(|one| !(was_paused && was_never_recorded(one))).map(|one| one.id).collect()
    }
}

/// Whether a participant may be heard in a recording. Of several stays only the latest is known, so that those before
/// it count as one stay.
fn is_audible(participant: &Participant, recording: &Recording) -> bool {
    if let Some(track) = recording.track {
        return track == participant.id;
    }
    let Some(first) = participant.first_joined_at else { return false };
    if recording.basis == RecordingBasis::Import {
        return true;
    }
    let came_before_its_end = recording.stopped_at().is_none_or(|stopped_at| first <= stopped_at);
    let left_at = match participant.presence {
        Presence::Joined { .. } => None,
        presence => presence.left_at(),
    };
    came_before_its_end && left_at.is_none_or(|left_at| left_at >= recording.started_at)
}

impl Participant {
    /// Whether the participant refused or withdrew the consent to be recorded.
    #[must_use]
    pub fn declined(&self) -> bool {
        self.consent.is_some() && !self.grants(ConsentScope::Recording)
    }
}
