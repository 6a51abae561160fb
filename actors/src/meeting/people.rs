//! Who comes, goes, is let in and is put out. Time-outs and connections are in `presence`.

use super::command::{Newcomer, Refusal};
use super::event::Event;
use super::participant::{Participant, Presence, Role};
use super::state::{Meeting, Status};
use crate::ids::{self, Id, User};
use crate::live::Change;
use crate::time::Time;

impl Meeting {
    /// Lets somebody in who accepted an invitation. By the same invitation once: who was removed after it stays out.
    pub(super) fn admit(
        &self,
        newcomer: Newcomer,
        role: Role,
        invitation: Id<ids::Invitation>,
        most: usize,
    ) -> Result<Change<Self>, Refusal> {
        if !matches!(self.status(), Status::Scheduled | Status::Live) {
            return Err(self.invalid());
        }
        let Some(known) = self.known(&newcomer) else {
            let Newcomer { id, user_id, display_name, email } = newcomer;
            let invitation = Some(invitation);
            let new = Participant { invitation, ..Participant::invited(id, user_id, display_name, email, role) };
            return self.with_place(new, most, |participant| Event::Changed { participant });
        };
        let mut next = known.clone();
        // A guest who signed in is that account from now on.
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
            // The host stays that, whatever an invitation says.
            next.role = if known.role == Role::Host { Role::Host } else { role };
        }
        if next == *known {
            return Ok(self.unchanged());
        }
        let event = |participant| Event::Changed { participant };
        if known.is_removed() { self.with_place(next, most, event) } else { Ok(self.with(next, event)) }
    }

    /// Lets somebody come in: members of the project as they are, others if they were let in before. A live meeting takes
    /// them; one that has not begun lets those wait who lead it.
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
            Status::Live => {}
            Status::Scheduled if waits => {}
            Status::Scheduled | Status::Ended | Status::Cancelled => return Err(self.invalid()),
        }
        let Newcomer { id, user_id, display_name: own_name, email } = newcomer;
        let mut next = match known {
            Some(known) => known.clone(),
            None if user_id.is_some() => Participant::invited(id, user_id, own_name, email, Role::Participant),
            None => return Err(Refusal::NoSuchParticipant),
        };
        if let Some(display_name) = display_name {
            next.display_name = display_name;
        }
        if next.is_joined() {
            // They are here already; at most they are called something else now.
            let is_same = known.is_some_and(|known| *known == next);
            let event = |participant| Event::Changed { participant };
            return if is_same { Ok(self.unchanged()) } else { Ok(self.with(next, event)) };
        }
        next.presence = Presence::Joined { joined_at: now, link: super::presence::Link::Awaited };
        next.first_joined_at = next.first_joined_at.or(Some(now));
        let is_new = known.is_none();
        let event = |participant| Event::Joined { participant };
        let mut change = if is_new { self.with_place(next, most, event)? } else { self.with(next, event) };
        change.next.look_around(now);
        Ok(change)
    }

    /// Lets somebody go. Again changes nothing.
    pub(super) fn leave(&self, who: Id<ids::Participant>, now: Time) -> Result<Change<Self>, Refusal> {
        let participant = self.participants.get(&who).ok_or(Refusal::NoSuchParticipant)?;
        match participant.presence {
            Presence::Joined { .. } => {
                let mut next = self.clone();
                let event = next.lets_leave(participant, now);
                next.look_around(now);
                Ok(next.told(vec![event]))
            }
            Presence::Left { .. } => Ok(self.unchanged()),
            Presence::Removed { .. } => Err(Refusal::Removed),
            Presence::Invited => Err(Refusal::NeverJoined),
        }
    }

    /// Puts somebody out, for good unless they are invited again. The host can't be.
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
        if participant.role == Role::Host {
            return Err(Refusal::LastHost);
        }
        let mut next = participant.clone();
        next.remove(by, now);
        let mut change = self.with(next, |participant| Event::Removed { participant });
        change.next.look_around(now);
        Ok(change)
    }

    /// Puts out whoever lost the project that let them in. The host keeps the name of it: a meeting is never without.
    pub(super) fn exclude(&self, user: Id<User>, now: Time) -> Result<Change<Self>, Refusal> {
        let known = self.participants.of_user(user).filter(|_| self.over_at().is_none());
        match known {
            Some(known) if known.role == Role::Host && known.is_joined() => self.leave(known.id, now),
            Some(known) if known.role != Role::Host => self.remove(known.id, None, now),
            Some(_) | None => Ok(self.unchanged()),
        }
    }

    /// Takes somebody's name and address away, and lets them leave: their account was deleted. What they did stays.
    pub(super) fn forget(&self, id: Id<ids::Participant>, name: String, now: Time) -> Result<Change<Self>, Refusal> {
        let Some(known) = self.participants.get(&id) else { return Ok(self.unchanged()) };
        let mut next = Participant { display_name: name, email: None, ..known.clone() };
        next.leave(now);
        if next == *known {
            return Ok(self.unchanged());
        }
        let left = known.is_joined();
        let mut change = self.with(next, |participant| Event::Forgotten { participant, left });
        change.next.look_around(now);
        Ok(change)
    }

    /// The place that somebody has already: by their account, or by the id that they were let in with.
    fn known(&self, newcomer: &Newcomer) -> Option<&Participant> {
        let of_account = newcomer.user_id.and_then(|user_id| self.participants.of_user(user_id));
        of_account.or_else(|| self.participants.get(&newcomer.id))
    }

    fn with(&self, participant: Participant, event: impl Fn(Id<ids::Participant>) -> Event) -> Change<Self> {
        let event = event(participant.id);
        let mut next = self.clone();
        next.participants.put(participant);
        next.told(vec![event])
    }

    fn with_place(
        &self,
        participant: Participant,
        most: usize,
        event: impl Fn(Id<ids::Participant>) -> Event,
    ) -> Result<Change<Self>, Refusal> {
        if self.participants.places() >= most { Err(Refusal::Full) } else { Ok(self.with(participant, event)) }
    }
}
