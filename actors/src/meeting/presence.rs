//! Participants' connections to a meeting, by our own sockets and by the media server, and the timeouts when they are
//! lost.
//!
//! ```text
//!   Awaited --connected--> Up --last connection gone--> Lost --30 s--> LEFT
//!      |                   ^------ connected again ------'              ^
//!      `--120 s after they joined---------------------------------------'
//! ```
//! Reports about connections are hints: they may come late, twice, or in any order, and concern people who are not in
//! the meeting. They never let anyone join, and none of them is refused. Who joined and has not connected yet may be
//! asked by the browser whether it may use the microphone, so that they have more time than who lost a connection.

use super::command::{Refusal, TimeLimits};
use super::event::Event;
use super::link::{Link, MediaSession, Observation};
use super::participant::{Participant, Presence};
use super::state::{EndReason, Meeting, State};
use crate::live::Change;
use crate::time::Time;

impl Participant {
    /// Returns the participant after an observation. Observations about a participant who is not in the meeting change
    /// nothing.
    fn seen(&self, seen: &Observation, now: Time) -> Self {
        let Presence::Joined { joined_at, link } = self.presence else { return self.clone() };
        let mut next = self.clone();
        // Whether the observation is about an actual connection, even one that is closed.
        let (socket, is_known) = match seen {
            Observation::Socket { is_open, .. } => (*is_open, *is_open),
            Observation::Media { session, .. } => {
                let after = MediaSession::after_report(next.media.as_ref(), session);
                let is_news = after.is_some();
                next.media = after.or(next.media);
                (link.has_socket(), is_news)
            }
        };
        let media = next.media.as_ref().is_some_and(|media| media.is_open);
        let link = match link {
            _ if socket || media => Link::Up { socket },
            Link::Awaited if !is_known => Link::Awaited,
            Link::Awaited | Link::Up { .. } => Link::Lost { since: (now - seen.ago()).max(joined_at) },
            Link::Lost { since } => Link::Lost { since },
        };
        next.presence = Presence::Joined { joined_at, link };
        next
    }

    fn is_overdue(&self, limits: &TimeLimits, now: Time) -> bool {
        match self.presence {
            Presence::Joined { joined_at, link: Link::Awaited } => now >= joined_at + limits.connect,
            Presence::Joined { link: Link::Lost { since }, .. } => now >= since + limits.grace,
            Presence::Joined { link: Link::Up { .. }, .. }
            | Presence::Invited
            | Presence::Left { .. }
            | Presence::Removed { .. } => false,
        }
    }
}

impl Meeting {
    /// Applies observations of participants' connections.
    pub(super) fn apply_observations(&self, all: &[Observation], now: Time) -> Result<Change<Self>, Refusal> {
        let mut next = self.clone();
        let mut events = Vec::new();
        for seen in all {
            let Some(participant) = next.participants.get(&seen.participant()) else { continue };
            let after = participant.seen(seen, now);
            if after != *participant {
                let changed = Event::Changed { participant: after.id };
                if !events.contains(&changed) {
                    events.push(changed);
                }
                next.participants.put(after);
            }
        }
        if events.is_empty() { Ok(self.unchanged()) } else { Ok(next.with_events(events)) }
    }

    /// Applies the time limits: a participant who was not connected for too long has left; a live meeting that was empty
    /// or lasted for too long has ended. Too early, or repeated, it changes nothing.
    pub(super) fn sweep(&self, limits: TimeLimits, now: Time) -> Result<Change<Self>, Refusal> {
        let TimeLimits { empty, live, .. } = limits;
        if self.started_at().is_some_and(|started_at| now >= started_at + live) {
            // A meeting that has already ended stays as it is.
            return self.end(None, EndReason::System, None, now);
        }
        let mut next = self.clone();
        let mut events = Vec::new();
        for participant in self.participants.values().filter(|one| one.is_overdue(&limits, now)) {
            events.push(next.lets_leave(participant, now));
        }
        if events.is_empty() {
            return match self.state {
                State::Live { empty_since: Some(since), .. } if now >= since + empty => {
                    self.end(None, EndReason::Empty, None, now)
                }
                _ => Ok(self.unchanged()),
            };
        }
        next.update_empty_since(now);
        Ok(next.with_events(events))
    }

    /// Lets a participant who is in the meeting leave.
    pub(super) fn lets_leave(&mut self, participant: &Participant, now: Time) -> Event {
        let mut left = participant.clone();
        left.leave(now);
        let id = left.id;
        self.participants.put(left);
        Event::Left { participant: id }
    }

    /// Updates `empty_since` of a live meeting.
    pub(super) fn update_empty_since(&mut self, now: Time) {
        if let State::Live { started_at, empty_since } = self.state {
            let is_empty = self.participants.joined().next().is_none();
            let empty_since = is_empty.then(|| empty_since.unwrap_or_else(|| now.max(started_at)));
            self.state = State::Live { started_at, empty_since };
        }
    }
}
