//! Who is connected to a meeting, by our own sockets and by the media server; and what becomes of who no longer is.
//!
//! ```text
//!   Awaited --connected--> Up --last connection gone--> Lost --30 s--> LEFT
//!                          ^------ connected again ------'
//! ```
//! News of connections are hints: they may come late, twice, or in any order, and of people who are not here. They never
//! let anybody in, and nothing about them is refused. Somebody who joined and has not been connected yet is waited for.

use std::time::Duration;

use super::command::{Refusal, TimeLimits};
use super::event::Event;
use super::participant::{Participant, Presence};
use super::state::{EndReason, Meeting, State};
use crate::ids::{self, Id};
use crate::live::Change;
use crate::time::Time;

/// How somebody who joined is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Not yet since they joined. No time runs out.
    Awaited,
    /// By one of our sockets, or the media server, or both.
    Up { socket: bool },
    /// Neither any longer.
    Lost { since: Time },
}

/// A connection to the media server. The newest one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaSession {
    /// When it began, as the media server says.
    pub began_at: Time,
    /// The media server's name for it.
    pub name: String,
    pub is_open: bool,
}

/// What was seen of somebody's connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Whether they have an open socket here, to this meeting.
    Socket { participant: Id<ids::Participant>, is_open: bool },
    /// What the media server told of one connection.
    Media { participant: Id<ids::Participant>, session: MediaSession },
}

impl Seen {
    #[must_use]
    pub const fn participant(&self) -> Id<ids::Participant> {
        match self {
            Self::Socket { participant, .. } | Self::Media { participant, .. } => *participant,
        }
    }
}

impl Link {
    #[must_use]
    pub const fn has_socket(self) -> bool {
        matches!(self, Self::Up { socket: true })
    }

    #[must_use]
    pub const fn lost_since(self) -> Option<Time> {
        match self {
            Self::Lost { since } => Some(since),
            Self::Awaited | Self::Up { .. } => None,
        }
    }
}

impl Participant {
    /// This person as it was seen. Nothing is seen of who is not in the meeting.
    fn seen(&self, seen: &Seen, now: Time) -> Self {
        let Presence::Joined { joined_at, link } = self.presence else { return self.clone() };
        let mut next = self.clone();
        // Whether it tells of any connection, be it one that is gone.
        let (socket, is_known) = match seen {
            Seen::Socket { is_open, .. } => (*is_open, *is_open),
            Seen::Media { session, .. } => (link.has_socket(), next.media_told(session)),
        };
        let media = next.media.as_ref().is_some_and(|media| media.is_open);
        let link = match link {
            _ if socket || media => Link::Up { socket },
            Link::Awaited if !is_known => Link::Awaited,
            Link::Awaited | Link::Up { .. } => Link::Lost { since: now.max(joined_at) },
            Link::Lost { since } => Link::Lost { since },
        };
        next.presence = Presence::Joined { joined_at, link };
        next
    }

    /// Takes what the media server told, in whatever order it came: of two connections the later one counts, and a
    /// connection that is gone doesn't come back. Whether it was news.
    fn media_told(&mut self, told: &MediaSession) -> bool {
        let place = |session: &MediaSession| (session.began_at, session.name.clone());
        match &mut self.media {
            Some(known) if place(known) > place(told) => false,
            Some(known) if place(known) == place(told) => {
                let ends = known.is_open && !told.is_open;
                known.is_open &= told.is_open;
                ends
            }
            media => {
                *media = Some(told.clone());
                true
            }
        }
    }

    fn is_overdue(&self, grace: Duration, now: Time) -> bool {
        let Presence::Joined { link, .. } = self.presence else { return false };
        link.lost_since().is_some_and(|since| now >= since + grace)
    }
}

impl Meeting {
    /// Takes what was seen of people's connections.
    pub(super) fn see(&self, all: &[Seen], now: Time) -> Result<Change<Self>, Refusal> {
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
        if events.is_empty() { Ok(self.unchanged()) } else { Ok(next.told(events)) }
    }

    /// Does what time has brought about: who was lost for so long has left; a live meeting that was empty for so long,
    /// or lasted so long, has ended. Again, or too early, changes nothing.
    pub(super) fn sweep(&self, limits: TimeLimits, now: Time) -> Result<Change<Self>, Refusal> {
        let TimeLimits { grace, empty, live } = limits;
        if self.started_at().is_some_and(|started_at| now >= started_at + live) {
            // One that is over already stays as it ended.
            return self.end(None, EndReason::System, None, now);
        }
        let mut next = self.clone();
        let mut events = Vec::new();
        for participant in self.participants.values().filter(|one| one.is_overdue(grace, now)) {
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
        next.look_around(now);
        Ok(next.told(events))
    }

    /// Lets somebody leave who is in the meeting.
    pub(super) fn lets_leave(&mut self, participant: &Participant, now: Time) -> Event {
        let mut left = participant.clone();
        left.leave(now);
        let id = left.id;
        self.participants.put(left);
        Event::Left { participant: id }
    }

    /// Notes since when nobody is here.
    pub(super) fn look_around(&mut self, now: Time) {
        if let State::Live { started_at, empty_since } = self.state {
            let is_empty = self.participants.joined().next().is_none();
            let empty_since = is_empty.then(|| empty_since.unwrap_or_else(|| now.max(started_at)));
            self.state = State::Live { started_at, empty_since };
        }
    }
}
