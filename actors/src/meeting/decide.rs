//! What each command does to a meeting: its life cycle, and the dispatch of all commands.

use super::command::{Command, Refusal};
use super::edit::MeetingEdit;
use super::event::Event;
use super::state::{EndReason, Meeting, State};
use crate::ids::{Id, User};
use crate::live::{Change, Live, Topic, TopicKind};
use crate::time::Time;

impl Live for Meeting {
    const KIND: &'static str = "meeting";
    type Key = Id<Meeting>;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    fn key(&self) -> Self::Key {
        self.id
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn stays_awake(&self) -> bool {
        matches!(self.state, State::Live { .. })
    }

    fn weight(&self) -> usize {
        2 + self.participants.len() + self.recordings.len()
    }

    fn topics(&self) -> Vec<Topic> {
        vec![
            Topic { kind: TopicKind::Meeting, id: self.id.uuid() },
            Topic { kind: TopicKind::Project, id: self.project_id.uuid() },
        ]
    }

    fn decide(&self, command: Command, now: Time) -> Result<Change<Self>, Refusal> {
        let mut change = self.decide_alone(command, now)?;
        if !change.events.is_empty() {
            let followed = change.next.follow_recordings(now);
            change.next.revision += followed.len() as u64;
            change.events.extend(followed);
        }
        Ok(change)
    }
}

impl Meeting {
    /// Decides a command without what follows from it for recordings.
    fn decide_alone(&self, command: Command, now: Time) -> Result<Change<Self>, Refusal> {
        match command {
            Command::Update { if_match: Some(seen), .. } if seen != self.version => {
                Err(Refusal::Stale { version: self.version })
            }
            Command::Update { edit, if_match: _ } => self.update(edit, now),
            Command::Start { by } => self.start(by, now),
            Command::End { by, reason, note } => self.end(by, reason, note, now),
            Command::Cancel { by, reason } => self.cancel(by, reason, now),
            Command::RoomFinished => self.room_finished(now),
            Command::Admit { newcomer, role, invitation, most } => self.admit(newcomer, role, invitation, most),
            Command::Join { newcomer, display_name, most } => self.join(newcomer, display_name, most, now),
            Command::Leave { participant } => self.leave(participant, now),
            Command::Remove { participant, by } => self.remove(participant, by, now),
            Command::RemoveAdmitted { invitation } => Ok(self.remove_admitted(invitation, now)),
            Command::Consent { participant, answer, wording, user_agent } => {
                self.consent(participant, answer, wording, &user_agent, now)
            }
            Command::See { seen } => self.apply_observations(&seen, now),
            Command::Sweep { limits } => self.sweep(limits, now),
            Command::Exclude { user } => self.exclude(user, now),
            Command::Forget { participant, name } => self.forget(participant, name, now),
            Command::StartRecording { draft, limits } => self.start_recording(draft, &limits, now),
            Command::AttachTranscript { attached, limits } => self.attach_transcript(attached, &limits, now),
            Command::Recording { recording, command, limits } => {
                self.command_recording(recording, command, &limits, now)
            }
            Command::SweepRecordings { limits } => Ok(self.sweep_recordings(&limits, now)),
        }
    }

    fn update(&self, edit: MeetingEdit, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled | State::Live { .. } => {}
            State::Ended { .. } | State::Cancelled { .. } => return Err(self.invalid()),
        }
        let mut next = self.clone();
        // Without a change, version and `updatedAt` stay, so that an ETag identifies one content.
        if !edit.apply(&mut next) {
            return Ok(self.unchanged());
        }
        Ok(next.changed(Vec::new(), Event::Updated, now))
    }

    fn start(&self, by: Id<User>, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled => {
                let mut next = self.clone();
                next.state = State::Live { started_at: now, empty_since: None };
                next.update_empty_since(now);
                Ok(next.changed(Vec::new(), Event::Started { by }, now))
            }
            State::Live { .. } => Ok(self.unchanged()),
            State::Ended { .. } | State::Cancelled { .. } => Err(self.invalid()),
        }
    }

    pub(super) fn end(
        &self,
        by: Option<Id<User>>,
        reason: EndReason,
        note: Option<String>,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Live { started_at, .. } => {
                let mut next = self.clone();
                let left = next.lets_all_leave(now);
                // If the clock was set back, the meeting must not end before its start.
                next.state = State::Ended { started_at, ended_at: now.max(started_at), reason, note };
                Ok(next.changed(left, Event::Ended { by, reason }, now))
            }
            State::Ended { .. } => Ok(self.unchanged()),
            State::Scheduled | State::Cancelled { .. } => Err(self.invalid()),
        }
    }

    fn cancel(&self, by: Id<User>, reason: Option<String>, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled => {
                let mut next = self.clone();
                let left = next.lets_all_leave(now);
                next.state = State::Cancelled { cancelled_at: now, by, reason };
                Ok(next.changed(left, Event::Cancelled { by }, now))
            }
            State::Cancelled { .. } => Ok(self.unchanged()),
            State::Live { .. } | State::Ended { .. } => Err(self.invalid()),
        }
    }

    /// The media server reports that the media room is finished, possibly late or twice: this ends a live meeting and
    /// is never refused.
    fn room_finished(&self, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Live { .. } => self.end(None, EndReason::RoomFinished, None, now),
            State::Scheduled | State::Ended { .. } | State::Cancelled { .. } => Ok(self.unchanged()),
        }
    }

    fn lets_all_leave(&mut self, now: Time) -> Vec<Event> {
        let people = self.participants.clone();
        people.joined().map(|participant| self.lets_leave(participant, now)).collect()
    }

    /// Records a change that the ETag covers. Its event comes last, after those of the participants that it affects.
    fn changed(mut self, mut before: Vec<Event>, event: Event, now: Time) -> Change<Self> {
        self.version += 1;
        self.updated_at = now.max(self.updated_at);
        before.push(event);
        self.with_events(before)
    }

    /// Records a change that affects participants only: the meeting itself, including `updated_at`, stays as last
    /// published.
    pub(super) fn with_events(mut self, events: Vec<Event>) -> Change<Self> {
        self.revision += events.len() as u64;
        Change { next: self, events }
    }

    pub(super) fn unchanged(&self) -> Change<Self> {
        Change { next: self.clone(), events: Vec::new() }
    }

    pub(super) const fn invalid(&self) -> Refusal {
        Refusal::InvalidState { status: self.status() }
    }
}
