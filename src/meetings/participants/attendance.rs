//! Tracks which participants are subscribed to a meeting by an open socket, and reports that to the meeting.
//!
//! ```text
//!   listens() -> ListenerGuard: counted until dropped -> one task per meeting -> Command::See with the differences
//! ```
//! A report contains the current state, not the changes since the last one: a task that runs late, or twice, reports
//! the same. The counts are in memory only: after a start nobody is subscribed, and meetings that still record sockets
//! are corrected.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Command, Meeting, Observation, Participant, Presence};
use futures_util::{StreamExt, stream};
use uuid::Uuid;

use super::store;
use crate::db::DbError;
use crate::meetings::state::Meetings;

/// Pause between attempts while the database is unavailable.
const AGAIN: Duration = Duration::from_millis(250);
/// Meetings that are corrected concurrently at a start.
const AT_ONCE: usize = 32;

/// The subscribed sockets of all meetings.
#[derive(Default)]
pub struct Attendance(Mutex<AttendanceInner>);

#[derive(Default)]
struct AttendanceInner {
    /// Number of open sockets by meeting and by account or guest participant.
    listening: HashMap<Id<Meeting>, HashMap<Uuid, usize>>,
    /// Meetings whose recorded state may differ from the counts.
    doubtful: HashSet<Id<Meeting>>,
    /// Meetings that have a running report task.
    reporting: HashSet<Id<Meeting>>,
}

/// One socket's subscription to one meeting; it counts until this is dropped.
pub struct ListenerGuard {
    state: Meetings,
    meeting: Id<Meeting>,
    who: Uuid,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        self.state.attendance.inner().leave(self.meeting, self.who);
        self.state.attendance.start_report(&self.state, self.meeting);
    }
}

impl AttendanceInner {
    /// Counts one more socket.
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
        // Accounts are counted by user id, guests by participant id.
        let who = participant.user_id.map_or_else(|| participant.id.uuid(), Id::uuid);
        here.is_some_and(|here| here.contains_key(&who))
    }

    /// Returns the observations by which the recorded state of the meeting differs from the counts.
    fn observations(&self, meeting: &Meeting) -> Vec<Observation> {
        let people = meeting.participants.values().filter_map(|participant| {
            let Presence::Joined { link, .. } = participant.presence else { return None };
            let is_open = self.listens(meeting.id, participant);
            (is_open != link.has_socket()).then_some(Observation::Socket { participant: participant.id, is_open })
        });
        people.collect()
    }
}

impl Attendance {
    fn inner(&self) -> MutexGuard<'_, AttendanceInner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a socket as subscribed to a meeting until the returned guard is dropped.
    #[must_use]
    pub fn enter(&self, state: &Meetings, meeting: Id<Meeting>, who: Uuid) -> ListenerGuard {
        self.inner().enter(meeting, who);
        self.start_report(state, meeting);
        ListenerGuard { state: state.clone(), meeting, who }
    }

    /// Starts the task that reports the current subscriptions to the meeting, unless it is running.
    pub fn start_report(&self, state: &Meetings, meeting: Id<Meeting>) {
        let mut inner = self.inner();
        inner.doubtful.insert(meeting);
        if !inner.reporting.insert(meeting) {
            return;
        }
        drop(inner);
        let (state, stopping) = (state.clone(), state.tasks.stopping());
        state.clone().tasks.spawn(async move {
            tokio::select! {
                () = report_changes(&state, meeting) => {}
                () = stopping.cancelled() => {}
            }
        });
    }

    /// Takes the mark that the meeting's recorded state may differ; without one, the task of this meeting ends.
    fn take_mark(&self, meeting: Id<Meeting>) -> bool {
        let mut inner = self.inner();
        let is_doubtful = inner.doubtful.remove(&meeting);
        if !is_doubtful {
            inner.reporting.remove(&meeting);
        }
        is_doubtful
    }
}

async fn report_changes(state: &Meetings, meeting: Id<Meeting>) {
    while state.attendance.take_mark(meeting) {
        if let Err(why) = report(state, meeting).await {
            tracing::warn!(%meeting, why, "the meeting could not be updated with its listeners; retrying");
            state.attendance.inner().doubtful.insert(meeting);
            tokio::time::sleep(AGAIN).await;
        }
    }
}

async fn report(state: &Meetings, meeting: Id<Meeting>) -> Result<(), String> {
    let Some(found) = state.registry.snapshot(meeting).await.map_err(|away| away.0)? else { return Ok(()) };
    let seen = state.attendance.inner().observations(&found.state);
    if seen.is_empty() {
        return Ok(());
    }
    let request = RequestId::from("presence");
    match state.registry.ask(meeting, Command::See { seen }, request).await {
        Ok(_) | Err(actors::shell::CommandError::Missing) => Ok(()),
        Err(failure) => Err(format!("{failure:?}")),
    }
}

/// Corrects, at a start, the meetings that record open sockets of the former process. Retries until it has succeeded
/// once.
pub async fn report_all(state: Meetings) {
    let stopping = state.tasks.stopping();
    let reporting = async {
        let meetings = loop {
            match state.db.read(|conn| Box::pin(store::with_sockets(conn))).await {
                Ok(meetings) => break meetings,
                Err(away) => {
                    let away: DbError = away;
                    tracing::warn!(%away, "meetings without listeners could not be queried; retrying");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        };
        let each = stream::iter(meetings).for_each_concurrent(AT_ONCE, |meeting| {
            let state = state.clone();
            async move {
                while let Err(why) = report(&state, meeting).await {
                    tracing::warn!(%meeting, why, "the meeting could not be updated as having no listeners; retrying");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        });
        each.await;
    };
    tokio::select! {
        () = reporting => {}
        () = stopping.cancelled() => {}
    }
}
