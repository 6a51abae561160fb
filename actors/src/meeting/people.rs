//! Commands that admit, join and remove participants. Timeouts and connections are in `presence`.

use super::command::{Newcomer, Refusal};
use super::event::Event;
use super::participant::{MeetingRole, Participant, Presence};
use super::state::{Meeting, MeetingStatus};
use crate::ids::{self, Id, User};
use crate::live::Change;
use crate::time::Time;

impl Meeting {
    /// Admits a user or guest who accepted an invitation. The same invitation does not readmit a participant who was
    /// removed after using it.
    pub(super) fn admit(
        &self,
        newcomer: Newcomer,
        role: MeetingRole,
        invitation: Id<ids::Invitation>,
        most: usize,
    ) -> Result<Change<Self>, Refusal> {
        if !matches!(self.status(), MeetingStatus::Scheduled | MeetingStatus::Live) {
            return Err(self.invalid());
        }
        let Some(known) = self.known(&newcomer) else {
            let Newcomer { id, user_id, display_name, email } = newcomer;
            let invitation = Some(invitation);
            let new = Participant { invitation, ..Participant::invited(id, user_id, display_name, email, role) };
            return self.with_capacity_check(new, most, |participant| Event::Changed { participant });
        };
        let mut next = known.clone();
        // A guest who signed in is linked to that account from now on.
        next.user_id = known.user_id.or(newcomer.user_id);
        next.email = known.email.clone().or(newcomer.email);
        if known.is_removed() {
            if known.invitation == Some(invitation) {
                return Err(Refusal::Removed);
            }
            next.presence = Presence::Invited;
            next.display_name = newcomer.display_name;
        }
        if known.invitation != Some(invitation) {
            next.invitation = Some(invitation);
            // The host keeps that role, whatever an invitation says.
            next.role = if known.role == MeetingRole::Host { MeetingRole::Host } else { role };
        }
        if next == *known {
            return Ok(self.unchanged());
        }
        let event = |participant| Event::Changed { participant };
        if known.is_removed() { self.with_capacity_check(next, most, event) } else { Ok(self.with(next, event)) }
    }

    /// Joins the meeting: accounts without an invitation (the caller has checked that they are project members), guests
    /// only if they were admitted before. Only a live meeting can be joined, except that a host or co-host may join
    /// before it starts, and wait.
    pub(super) fn join(
        &self,
        newcomer: Newcomer,
        display_name: Option<String>,
        most: usize,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let known = self.known(&newcomer);
        if known.is_some_and(Participant::is_removed) {
            return Err(Refusal::Removed);
        }
        let waits = known.is_some_and(|known| known.role.leads());
        match self.status() {
            MeetingStatus::Live => {}
            MeetingStatus::Scheduled if waits => {}
            MeetingStatus::Scheduled | MeetingStatus::Ended | MeetingStatus::Cancelled => return Err(self.invalid()),
        }
        let Newcomer { id, user_id, display_name: own_name, email } = newcomer;
        let mut next = match known {
            Some(known) => known.clone(),
            None if user_id.is_some() => Participant::invited(id, user_id, own_name, email, MeetingRole::Participant),
            None => return Err(Refusal::NoSuchParticipant),
        };
        if let Some(display_name) = display_name {
            next.display_name = display_name;
        }
        if next.is_joined() {
            // Already in the meeting; at most the display name changes.
            let is_same = known.is_some_and(|known| *known == next);
            let event = |participant| Event::Changed { participant };
            return if is_same { Ok(self.unchanged()) } else { Ok(self.with(next, event)) };
        }
        next.presence = Presence::Joined { joined_at: now, link: super::link::Link::Awaited };
        next.first_joined_at = next.first_joined_at.or(Some(now));
        let is_new = known.is_none();
        let event = |participant| Event::Joined { participant };
        let mut change = if is_new { self.with_capacity_check(next, most, event)? } else { self.with(next, event) };
        change.next.update_empty_since(now);
        Ok(change)
    }

    /// Lets a participant leave. Repeating it changes nothing.
    pub(super) fn leave(&self, who: Id<ids::Participant>, now: Time) -> Result<Change<Self>, Refusal> {
        let participant = self.participants.get(&who).ok_or(Refusal::NoSuchParticipant)?;
        match participant.presence {
            Presence::Joined { .. } => {
                let mut next = self.clone();
                let event = next.lets_leave(participant, now);
                next.update_empty_since(now);
                Ok(next.with_events(vec![event]))
            }
            Presence::Left { .. } => Ok(self.unchanged()),
            Presence::Removed { .. } => Err(Refusal::Removed),
            Presence::Invited => Err(Refusal::NeverJoined),
        }
    }

    /// Removes a participant, permanently unless they are invited again. The host can't be removed.
    pub(super) fn remove(
        &self,
        who: Id<ids::Participant>,
        by: Option<Id<User>>,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let participant = self.participants.get(&who).ok_or(Refusal::NoSuchParticipant)?;
        if participant.is_removed() {
            return Ok(self.unchanged());
        }
        if participant.role == MeetingRole::Host {
            return Err(Refusal::LastHost);
        }
        let mut next = participant.clone();
        next.remove(by, now);
        let mut change = self.with(next, |participant| Event::Removed { participant });
        change.next.update_empty_since(now);
        Ok(change)
    }

    /// Removes the participants whom an invitation admitted: more than one if an account followed a guest's link. The
    /// host stays.
    pub(super) fn remove_admitted(&self, invitation: Id<ids::Invitation>, now: Time) -> Change<Self> {
        let admitted = |one: &&Participant| one.invitation == Some(invitation) && one.role != MeetingRole::Host;
        let mut next = self.clone();
        let mut events = Vec::new();
        for participant in self.participants.values().filter(admitted).filter(|one| !one.is_removed()) {
            let mut removed = participant.clone();
            removed.remove(None, now);
            events.push(Event::Removed { participant: removed.id });
            next.participants.put(removed);
        }
        if !events.is_empty() {
            next.update_empty_since(now);
        }
        next.with_events(events)
    }

    /// Removes an account that has lost its membership of the project. The host only leaves, and stays the host: a
    /// meeting always has one.
    pub(super) fn exclude(&self, user: Id<User>, now: Time) -> Result<Change<Self>, Refusal> {
        let known = self.participants.of_user(user).filter(|_| self.over_at().is_none());
        match known {
            Some(known) if known.role == MeetingRole::Host && known.is_joined() => self.leave(known.id, now),
            Some(known) if known.role != MeetingRole::Host => self.remove(known.id, None, now),
            Some(_) | None => Ok(self.unchanged()),
        }
    }

    /// Replaces a participant's name, erases the e-mail address, and lets them leave: their account was deleted. What
    /// they did remains.
    pub(super) fn forget(&self, id: Id<ids::Participant>, name: String, now: Time) -> Result<Change<Self>, Refusal> {
        let Some(known) = self.participants.get(&id) else { return Ok(self.unchanged()) };
        let mut next = Participant { display_name: name, email: None, ..known.clone() };
        next.leave(now);
        if next == *known {
            return Ok(self.unchanged());
        }
        let left = known.is_joined();
        let mut change = self.with(next, |participant| Event::Forgotten { participant, left });
        change.next.update_empty_since(now);
        Ok(change)
    }

    /// Returns the existing participant: by account, or by the id under which they were admitted.
    fn known(&self, newcomer: &Newcomer) -> Option<&Participant> {
        let of_account = newcomer.user_id.and_then(|user_id| self.participants.of_user(user_id));
        of_account.or_else(|| self.participants.get(&newcomer.id))
    }

    fn with(&self, participant: Participant, event: impl Fn(Id<ids::Participant>) -> Event) -> Change<Self> {
        let event = event(participant.id);
        let mut next = self.clone();
        next.participants.put(participant);
        next.with_events(vec![event])
    }

    fn with_capacity_check(
        &self,
        participant: Participant,
        most: usize,
        event: impl Fn(Id<ids::Participant>) -> Event,
    ) -> Result<Change<Self>, Refusal> {
        if self.participants.capacity_used() >= most { Err(Refusal::Full) } else { Ok(self.with(participant, event)) }
    }
}
