//! Who listens to which meeting by a socket of ours, and telling the meeting so.
//!
//! ```text
//!   listens -> Stay ..dropped.. -> counted here -> one teller a meeting: what differs from what the meeting knows -> See
//! ```
//! What is told is how things stand when it is told, not what happened: a teller that comes late, or twice, tells the same.
//! In memory alone: at a start nobody listens, and meetings that think otherwise are told.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Command, Meeting, Participant, Presence, Seen};
use futures_util::{StreamExt, stream};
use uuid::Uuid;

use super::store;
use crate::db::Failed;
use crate::meetings::state::Meetings;

/// Between two attempts to tell while the database is away.
const AGAIN: Duration = Duration::from_millis(250);
/// Meetings that are told at once, at a start.
const AT_ONCE: usize = 32;

/// The listeners of all meetings.
#[derive(Default)]
pub struct Attendance(Mutex<House>);

#[derive(Default)]
struct House {
    /// How many sockets of whom listen to what.
    listening: HashMap<Id<Meeting>, HashMap<Uuid, usize>>,
    /// Meetings that may know it otherwise.
    doubtful: HashSet<Id<Meeting>>,
    /// Meetings that are being told.
    telling: HashSet<Id<Meeting>>,
}

/// One socket's listening to one meeting, until it is dropped.
pub struct Stay {
    state: Meetings,
    meeting: Id<Meeting>,
    who: Uuid,
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.state.attendance.house().leave(self.meeting, self.who);
        self.state.attendance.look_again(&self.state, self.meeting);
    }
}

impl House {
    /// Whether they were not here before.
    fn enter(&mut self, meeting: Id<Meeting>, who: Uuid) {
        *self.listening.entry(meeting).or_default().entry(who).or_default() += 1;
    }

    fn leave(&mut self, meeting: Id<Meeting>, who: Uuid) {
        let Some(here) = self.listening.get_mut(&meeting) else { return };
        if let Some(count) = here.get_mut(&who) {
            *count -= 1;
            if *count == 0 {
                here.remove(&who);
            }
        }
        if here.is_empty() {
            self.listening.remove(&meeting);
        }
    }

    fn listens(&self, meeting: Id<Meeting>, participant: &Participant) -> bool {
        let here = self.listening.get(&meeting);
        // Accounts listen as themselves, guests as their place.
        let who = participant.user_id.map_or_else(|| participant.id.uuid(), Id::uuid);
        here.is_some_and(|here| here.contains_key(&who))
    }

    /// What a meeting doesn't know, or knows otherwise.
    fn news(&self, meeting: &Meeting) -> Vec<Seen> {
        let people = meeting.participants.values().filter_map(|participant| {
            let Presence::Joined { link, .. } = participant.presence else { return None };
            let is_open = self.listens(meeting.id, participant);
            (is_open != link.has_socket()).then_some(Seen::Socket { participant: participant.id, is_open })
        });
        people.collect()
    }
}

impl Attendance {
    fn house(&self) -> MutexGuard<'_, House> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a socket among those that listen to a meeting.
    #[must_use]
    pub fn enter(&self, state: &Meetings, meeting: Id<Meeting>, who: Uuid) -> Stay {
        self.house().enter(meeting, who);
        self.look_again(state, meeting);
        Stay { state: state.clone(), meeting, who }
    }

    /// Has a meeting told who listens to it, by and by.
    pub fn look_again(&self, state: &Meetings, meeting: Id<Meeting>) {
        let mut house = self.house();
        house.doubtful.insert(meeting);
        if !house.telling.insert(meeting) {
            return;
        }
        drop(house);
        let (state, stopping) = (state.clone(), state.tasks.stopping());
        state.clone().tasks.spawn(async move {
            tokio::select! {
                () = tell(&state, meeting) => {}
                () = stopping.cancelled() => {}
            }
        });
    }

    /// Whether the meeting may know it otherwise; if not, its teller is done.
    fn takes_up(&self, meeting: Id<Meeting>) -> bool {
        let mut house = self.house();
        let is_doubtful = house.doubtful.remove(&meeting);
        if !is_doubtful {
            house.telling.remove(&meeting);
        }
        is_doubtful
    }
}

async fn tell(state: &Meetings, meeting: Id<Meeting>) {
    while state.attendance.takes_up(meeting) {
        if let Err(why) = told(state, meeting).await {
            tracing::warn!(%meeting, why, "a meeting could not be told who listens to it; it is tried again");
            state.attendance.house().doubtful.insert(meeting);
            tokio::time::sleep(AGAIN).await;
        }
    }
}

async fn told(state: &Meetings, meeting: Id<Meeting>) -> Result<(), String> {
    let Some(found) = state.registry.snapshot(meeting).await.map_err(|away| away.0)? else { return Ok(()) };
    let seen = state.attendance.house().news(&found.state);
    if seen.is_empty() {
        return Ok(());
    }
    let request = RequestId::from("presence");
    match state.registry.ask(meeting, Command::See { seen }, request).await {
        Ok(_) | Err(actors::shell::Failure::Missing) => Ok(()),
        Err(failure) => Err(format!("{failure:?}")),
    }
}

/// At a start: tells the meetings that think somebody listens to them what is so. Until that is done once, it is tried
/// again.
pub async fn tell_all(state: Meetings) {
    let stopping = state.tasks.stopping();
    let telling = async {
        let meetings = loop {
            match state.db.read(|conn| Box::pin(store::with_sockets(conn))).await {
                Ok(meetings) => break meetings,
                Err(away) => {
                    let away: Failed = away;
                    tracing::warn!(%away, "meetings can't be told yet that nobody listens to them");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        };
        let each = stream::iter(meetings).for_each_concurrent(AT_ONCE, |meeting| {
            let state = state.clone();
            async move {
                while let Err(why) = told(&state, meeting).await {
                    tracing::warn!(%meeting, why, "a meeting could not be told that nobody listens to it");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        });
        each.await;
    };
    tokio::select! {
        () = telling => {}
        () = stopping.cancelled() => {}
    }
}
