//! A meeting's facts, and what each command does to them.

use std::collections::BTreeMap;

use super::command::{Command, Edit, Refusal};
use super::event::Event;
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
    pub participants: BTreeMap<Id<ids::Participant>, Participant>,
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
    Live { started_at: Time },
    Ended { started_at: Time, ended_at: Time, reason: EndReason, note: Option<String> },
    Cancelled { cancelled_at: Time, by: Id<User>, reason: Option<String> },
}

/// Somebody in the meeting or asked to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Participant {
    pub id: Id<ids::Participant>,
    /// `None`: a guest without an account.
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    pub email: Option<String>,
    pub role: Role,
    pub presence: Presence,
}

/// Where somebody is, with the facts of that. Times are of the latest stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Invited,
    Joined {
        joined_at: Time,
    },
    Left {
        joined_at: Time,
        left_at: Time,
    },
    /// Both times are `None` for somebody who was removed without ever joining.
    Removed {
        joined_at: Option<Time>,
        left_at: Option<Time>,
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
words! {
    /// What somebody is in a meeting.
    Role { Host = "HOST", CoHost = "CO_HOST", Participant = "PARTICIPANT", Observer = "OBSERVER", }
}
words! {
    /// [`Presence`] as clients know it.
    ParticipantStatus { Invited = "INVITED", Joined = "JOINED", Left = "LEFT", Removed = "REMOVED", }
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
        let host = Participant {
            id: draft.host,
            user_id: Some(draft.created_by),
            display_name: draft.host_name,
            email: draft.host_email,
            role: Role::Host,
            presence: Presence::Invited,
        };
        Self {
            id: draft.id,
            project_id: draft.project_id,
            title: draft.title,
            description: draft.description,
            scheduled_at: draft.scheduled_at,
            consent_policy: draft.consent_policy,
            created_by: draft.created_by,
            host: draft.host,
            participants: BTreeMap::from([(draft.host, host)]),
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
            State::Live { started_at } | State::Ended { started_at, .. } => Some(started_at),
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
        if differs { Ok(next.changed(Event::Updated, now)) } else { Ok(self.unchanged()) }
    }

    fn start(&self, by: Id<User>, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled => {
                let mut next = self.clone();
                next.state = State::Live { started_at: now };
                Ok(next.changed(Event::Started { by }, now))
            }
            State::Live { .. } => Ok(self.unchanged()),
            State::Ended { .. } | State::Cancelled { .. } => Err(self.invalid()),
        }
    }

    fn end(
        &self,
        by: Option<Id<User>>,
        reason: EndReason,
        note: Option<String>,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Live { started_at } => {
                let mut next = self.clone();
                for participant in next.participants.values_mut() {
                    participant.presence = participant.presence.at_the_end(now);
                }
                // A clock that was set back must not end a meeting before its start.
                next.state = State::Ended { started_at, ended_at: now.max(started_at), reason, note };
                Ok(next.changed(Event::Ended { by, reason }, now))
            }
            State::Ended { .. } => Ok(self.unchanged()),
            State::Scheduled | State::Cancelled { .. } => Err(self.invalid()),
        }
    }

    fn cancel(&self, by: Id<User>, reason: Option<String>, now: Time) -> Result<Change<Self>, Refusal> {
        match self.state {
            State::Scheduled => {
                let mut next = self.clone();
                next.state = State::Cancelled { cancelled_at: now, by, reason };
                Ok(next.changed(Event::Cancelled { by }, now))
            }
            State::Cancelled { .. } => Ok(self.unchanged()),
            State::Live { .. } | State::Ended { .. } => Err(self.invalid()),
        }
    }

    fn forget(&self, user_id: Id<User>, name: &str, now: Time) -> Change<Self> {
        let mut next = self.clone();
        for known in next.participants.values_mut().filter(|known| known.user_id == Some(user_id)) {
            (known.display_name, known.email) = (name.to_owned(), None);
            known.presence = known.presence.at_the_end(now);
        }
        if next == *self {
            return self.unchanged();
        }
        next.revision += 1;
        Change { next, events: vec![Event::Updated] }
    }

    /// For events that touch what the ETag covers, as all of today's do.
    fn changed(mut self, event: Event, now: Time) -> Change<Self> {
        self.version += 1;
        self.revision += 1;
        self.updated_at = now.max(self.updated_at);
        Change { next: self, events: vec![event] }
    }

    fn unchanged(&self) -> Change<Self> {
        Change { next: self.clone(), events: Vec::new() }
    }

    const fn invalid(&self) -> Refusal {
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
            Command::Forget { user_id, name } => Ok(self.forget(user_id, &name, now)),
        }
    }
}

impl Presence {
    #[must_use]
    pub const fn status(self) -> ParticipantStatus {
        match self {
            Self::Invited => ParticipantStatus::Invited,
            Self::Joined { .. } => ParticipantStatus::Joined,
            Self::Left { .. } => ParticipantStatus::Left,
            Self::Removed { .. } => ParticipantStatus::Removed,
        }
    }

    #[must_use]
    pub const fn joined_at(self) -> Option<Time> {
        match self {
            Self::Invited => None,
            Self::Joined { joined_at } | Self::Left { joined_at, .. } => Some(joined_at),
            Self::Removed { joined_at, .. } => joined_at,
        }
    }

    #[must_use]
    pub const fn left_at(self) -> Option<Time> {
        match self {
            Self::Invited | Self::Joined { .. } => None,
            Self::Left { left_at, .. } => Some(left_at),
            Self::Removed { left_at, .. } => left_at,
        }
    }

    fn at_the_end(self, now: Time) -> Self {
        match self {
            Self::Joined { joined_at } => Self::Left { joined_at, left_at: now.max(joined_at) },
            Self::Invited | Self::Left { .. } | Self::Removed { .. } => self,
        }
    }
}
