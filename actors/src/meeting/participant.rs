//! A participant of a meeting, joined or invited, and the collection of all participants.
//!
//! ```text
//!   INVITED --join--> JOINED <--join / leave, grace over, end--> LEFT
//!      `------------------`--remove--> REMOVED --admit--> INVITED
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use super::consent::{Consent, ConsentScope};
use super::link::{Link, MediaSession};
use crate::ids::{self, Id, User};
use crate::time::Time;
use crate::wire_enum;

/// A user or guest who is in the meeting, was in it, or is invited to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Participant {
    pub id: Id<ids::Participant>,
    /// `None` for a guest without an account.
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    pub email: Option<String>,
    pub role: MeetingRole,
    pub presence: Presence,
    /// The invitation by which they were last admitted. `None` if none was needed.
    pub invitation: Option<Id<ids::Invitation>>,
    /// Never reset: everyone who may have been heard has a say in what is done with recordings afterwards.
    pub first_joined_at: Option<Time>,
    /// The latest media connection reported by the media server. Retained after the participant leaves, so that late
    /// reports about an old connection are recognized as such.
    pub media: Option<MediaSession>,
    /// The participant's latest answer. `None` if there is none yet.
    pub consent: Option<Consent>,
}

/// Whether a participant is in the meeting, with the related times, which are those of the latest stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Invited,
    Joined {
        joined_at: Time,
        link: Link,
    },
    Left {
        joined_at: Time,
        left_at: Time,
    },
    /// Both times are `None` for a participant who was removed without ever joining. `by` is `None` if no user removed
    /// them: an invitation was revoked, an account was deleted.
    Removed {
        joined_at: Option<Time>,
        left_at: Option<Time>,
        by: Option<Id<User>>,
    },
}

wire_enum! {
    /// The role of a participant in a meeting.
    pub enum MeetingRole {
        Host,
        CoHost,
        Participant,
        Observer,
    }
}

wire_enum! {
    /// The attendance status of a participant.
    pub enum ParticipantStatus {
        Invited,
        Joined,
        Left,
        Removed,
    }
}

impl MeetingRole {
    /// Returns whether this role leads the meeting (HOST and CO_HOST).
    #[must_use]
    pub const fn leads(self) -> bool {
        matches!(self, Self::Host | Self::CoHost)
    }
}

impl Participant {
    /// Creates a participant who is invited and has not joined yet.
    #[must_use]
    pub const fn invited(
        id: Id<ids::Participant>,
        user_id: Option<Id<User>>,
        display_name: String,
        email: Option<String>,
        role: MeetingRole,
    ) -> Self {
        Self {
            id,
            user_id,
            display_name,
            email,
            role,
            presence: Presence::Invited,
            invitation: None,
            first_joined_at: None,
            media: None,
            consent: None,
        }
    }

    #[must_use]
    pub const fn status(&self) -> ParticipantStatus {
        self.presence.status()
    }

    #[must_use]
    pub const fn is_joined(&self) -> bool {
        matches!(self.presence, Presence::Joined { .. })
    }

    #[must_use]
    pub const fn is_removed(&self) -> bool {
        matches!(self.presence, Presence::Removed { .. })
    }

    /// Returns whether the participant is in the meeting and connected to it.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        matches!(self.presence, Presence::Joined { link: Link::Up { .. }, .. })
    }

    /// Marks the participant as having left; returns whether they were in the meeting. If the clock was set back, they
    /// do not leave before they joined.
    pub(super) fn leave(&mut self, now: Time) -> bool {
        let Presence::Joined { joined_at, .. } = self.presence else { return false };
        self.presence = Presence::Left { joined_at, left_at: now.max(joined_at) };
        self.hang_up();
        true
    }

    pub(super) fn remove(&mut self, by: Option<Id<User>>, now: Time) {
        self.leave(now);
        let (joined_at, left_at) = (self.presence.joined_at(), self.presence.left_at());
        self.presence = Presence::Removed { joined_at, left_at, by };
    }

    /// A participant who leaves has also left the media server: later reports about that connection change nothing.
    fn hang_up(&mut self) {
        if let Some(media) = &mut self.media {
            media.is_open = false;
        }
    }

    /// Returns whether the participant granted the scope.
    #[must_use]
    pub fn grants(&self, scope: ConsentScope) -> bool {
        self.consent.as_ref().is_some_and(|consent| consent.grants(scope))
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
            Self::Joined { joined_at, .. } | Self::Left { joined_at, .. } => Some(joined_at),
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
}

/// All current and former participants of a meeting, by id. Clones share what does not change: joining a meeting of 500
/// costs one participant and 500 pointers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct People(Arc<BTreeMap<Id<ids::Participant>, Arc<Participant>>>);

impl People {
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn get(&self, id: &Id<ids::Participant>) -> Option<&Participant> {
        self.0.get(id).map(Arc::as_ref)
    }

    /// Returns the participants in the order of their ids, which is the order in which they were added.
    pub fn values(&self) -> impl Iterator<Item = &Participant> {
        self.0.values().map(Arc::as_ref)
    }

    /// Returns the participant with this account.
    #[must_use]
    pub fn of_user(&self, user_id: Id<User>) -> Option<&Participant> {
        self.values().find(|one| one.user_id == Some(user_id))
    }

    /// Returns the participants who are in the meeting now.
    pub fn joined(&self) -> impl Iterator<Item = &Participant> {
        self.values().filter(|one| one.is_joined())
    }

    /// Returns the number of participants who count towards the maximum: all but the removed.
    #[must_use]
    pub fn capacity_used(&self) -> usize {
        self.values().filter(|one| !one.is_removed()).count()
    }

    /// Returns the participants who are new or differ from `before`: what a save has to write.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Participant> {
        let is_same_map = Arc::ptr_eq(&self.0, &before.0);
        let all = self.0.iter().filter(move |_| !is_same_map);
        all.filter(|(id, one)| before.0.get(id).is_none_or(|was| !Arc::ptr_eq(was, one) && was != *one))
            .map(|(_, one)| one.as_ref())
    }

    pub(super) fn put(&mut self, participant: Participant) {
        Arc::make_mut(&mut self.0).insert(participant.id, Arc::new(participant));
    }
}

impl FromIterator<Participant> for People {
    fn from_iter<T: IntoIterator<Item = Participant>>(people: T) -> Self {
        Self(Arc::new(people.into_iter().map(|one| (one.id, Arc::new(one))).collect()))
    }
}
