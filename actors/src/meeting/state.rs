//! A meeting's facts, and what each command does to them.

use super::command::{Command, Edit, Refusal};
use super::consent::Ledger;
use super::event::Event;
use super::participant::{Participant, People, Role};
use crate::ids::{self, Id, Project, User};
use crate::live::{Change, Live, Topic, TopicKind};
use crate::time::Time;
use crate::words::words;

/// A meeting of a project, with everybody who is or was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    pub id: Id<Meeting>,
    pub project_id: Id<Project>,
    pub title: String,
    pub description: String,
    pub scheduled_at: Time,
    pub consent_policy: ConsentPolicy,
    pub created_by: Id<User>,
    /// The participant who is HOST; always among `participants`.
    pub host: Id<ids::Participant>,
    pub participants: People,
    /// Where the ledger of consents ends.
    pub ledger: Ledger,
    pub state: State,
    /// The ETag: raised by title, description, scheduled time and state, and by nothing else.
    pub version: u64,
    /// Events so far. 0: just created.
    pub revision: u64,
    pub created_at: Time,
    pub updated_at: Time,
}

/// Where a meeting is in its life, with the facts of that place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Scheduled,
    Live {
        started_at: Time,
        /// Since when nobody is in it; `None`: somebody is.
        empty_since: Option<Time>,
    },
    Ended {
        started_at: Time,
        ended_at: Time,
        reason: EndReason,
        note: Option<String>,
    },
    Cancelled {
        cancelled_at: Time,
        by: Id<User>,
        reason: Option<String>,
    },
}

words! {
    /// [`State`] as clients know it.
    Status { Scheduled = "SCHEDULED", Live = "LIVE", Ended = "ENDED", Cancelled = "CANCELLED", }
}
words! {
    /// Whether everyone must consent before a recording starts.
    ConsentPolicy { All = "ALL", Notice = "NOTICE", }
}
words! {
    /// Why a meeting ended.
    EndReason { HostEnded = "HOST_ENDED", Empty = "EMPTY", RoomFinished = "ROOM_FINISHED", System = "SYSTEM", }
}
/// What a new meeting is made of; its ids are drawn by the caller, who may have to repeat the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub id: Id<Meeting>,
    pub project_id: Id<Project>,
    pub title: String,
    pub description: String,
    pub scheduled_at: Time,
    pub consent_policy: ConsentPolicy,
    pub created_by: Id<User>,
    /// The creator's place in the meeting.
    pub host: Id<ids::Participant>,
    pub host_name: String,
    pub host_email: Option<String>,
}

impl Meeting {
    /// A new meeting: SCHEDULED, version 1, no event yet, its creator INVITED as HOST.
    #[must_use]
    pub fn schedule(draft: Draft, now: Time) -> Self {
        let host =
            Participant::invited(draft.host, Some(draft.created_by), draft.host_name, draft.host_email, Role::Host);
        Self {
            id: draft.id,
            project_id: draft.project_id,
            title: draft.title,
            description: draft.description,
            scheduled_at: draft.scheduled_at,
            consent_policy: draft.consent_policy,
            created_by: draft.created_by,
            host: draft.host,
            participants: People::from_iter([host]),
            ledger: Ledger::EMPTY,
            state: State::Scheduled,
            version: 1,
            revision: 0,
            created_at: now,
            updated_at: now,
        }
    }

    #[must_use]
    pub const fn status(&self) -> Status {
        match self.state {
            State::Scheduled => Status::Scheduled,
            State::Live { .. } => Status::Live,
            State::Ended { .. } => Status::Ended,
            State::Cancelled { .. } => Status::Cancelled,
        }
    }

    #[must_use]
    pub const fn started_at(&self) -> Option<Time> {
        match self.state {
            State::Live { started_at, .. } | State::Ended { started_at, .. } => Some(started_at),
            State::Scheduled | State::Cancelled { .. } => None,
        }
    }

    #[must_use]
    pub const fn ended_at(&self) -> Option<Time> {
        match self.state {
            State::Ended { ended_at, .. } => Some(ended_at),
            State::Scheduled | State::Live { .. } | State::Cancelled { .. } => None,
        }
    }

    /// When it ended or was cancelled.
    #[must_use]
    pub const fn over_at(&self) -> Option<Time> {
        match self.state {
            State::Ended { ended_at: at, .. } | State::Cancelled { cancelled_at: at, .. } => Some(at),
            State::Scheduled | State::Live { .. } => None,
        }
    }

    #[must_use]
    pub const fn end_reason(&self) -> Option<EndReason> {
        match self.state {
            State::Ended { reason, .. } => Some(reason),
            State::Scheduled | State::Live { .. } | State::Cancelled { .. } => None,
        }
    }

    fn update(
        &self,
        title: Edit<String>,
        description: Edit<String>,
        scheduled_at: Edit<Time>,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled | State::Live { .. } => {}
            State::Ended { .. } | State::Cancelled { .. } => return Err(self.invalid()),
        }
        let mut next = self.clone();
        // No `||` between them: all three must be applied.
        let differs = title.apply(&mut next.title)
            | description.apply(&mut next.description)
            | scheduled_at.apply(&mut next.scheduled_at);
        // The same values again are no change: version and updatedAt stay, so that an ETag names one content.
        if differs { Ok(next.changed(Vec::new(), Event::Updated, now)) } else { Ok(self.unchanged()) }
    }

    fn start(&self, by: Id<User>, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled => {
                let mut next = self.clone();
                next.state = State::Live { started_at: now, empty_since: None };
                next.look_around(now);
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
                // A clock that was set back must not end a meeting before its start.
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

    /// The media server's word that the room is finished, which may come late or twice: it opens or refuses nothing.
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

    /// For what touches what the ETag covers. Told last: what it did to the people comes before it.
    fn changed(mut self, mut before: Vec<Event>, event: Event, now: Time) -> Change<Self> {
        self.version += 1;
        self.updated_at = now.max(self.updated_at);
        before.push(event);
        self.told(before)
    }

    /// For what touches the people alone: the meeting itself, its `updated_at` too, stays as it was told last.
    pub(super) fn told(mut self, events: Vec<Event>) -> Change<Self> {
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

    fn topics(&self) -> Vec<Topic> {
        vec![
            Topic { kind: TopicKind::Meeting, id: self.id.uuid() },
            Topic { kind: TopicKind::Project, id: self.project_id.uuid() },
        ]
    }

    fn decide(&self, command: Command, now: Time) -> Result<Change<Self>, Refusal> {
        match command {
            Command::Update { if_match: Some(seen), .. } if seen != self.version => {
                Err(Refusal::Stale { version: self.version })
            }
            Command::Update { title, description, scheduled_at, if_match: _ } => {
                self.update(title, description, scheduled_at, now)
            }
            Command::Start { by } => self.start(by, now),
            Command::End { by, reason, note } => self.end(by, reason, note, now),
            Command::Cancel { by, reason } => self.cancel(by, reason, now),
            Command::RoomFinished => self.room_finished(now),
            Command::Admit { newcomer, role, invitation, most } => self.admit(newcomer, role, invitation, most),
            Command::Join { newcomer, display_name, most } => self.join(newcomer, display_name, most, now),
            Command::Leave { participant } => self.leave(participant, now),
            Command::Remove { participant, by } => self.remove(participant, by, now),
            Command::Consent { participant, answer, wording, user_agent } => {
                self.consent(participant, answer, wording, &user_agent, now)
            }
            Command::See { seen } => self.see(&seen, now),
            Command::Sweep { limits } => self.sweep(limits, now),
            Command::Exclude { user } => self.exclude(user, now),
            Command::Forget { participant, name } => self.forget(participant, name, now),
        }
    }
}
