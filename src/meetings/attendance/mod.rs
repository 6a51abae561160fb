//! Tracks which participants are connected to a meeting, by an open socket or to the media server, and reports that to
//! the meeting.
//!
//! ```text
//!   enter() -> ListenerGuard: counted until dropped --.
//!   note_media() -------------------------------------+-> one task per meeting -> Command::See with the differences
//! ```
//! A report contains the current state, not the changes since the last one: a task that runs late, or twice, reports
//! the same. When it reports is decided by [`ObservedConnections`]. All of it is in memory only: after a start nobody is
//! subscribed, and meetings that still record sockets are corrected; the media server is asked.

mod observed;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, MediaSession, Meeting, Observation};
use actors::registry::Registry;
use futures_util::{StreamExt, stream};
use tokio::sync::Notify;
use uuid::Uuid;

use self::observed::{DueObservations, ObservedConnections};
use super::store::participants as store;
use crate::db::{Db, DbError};
use crate::tasks::Tasks;

/// Pause between attempts while the database is unavailable.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// Meetings that are corrected concurrently at a start.
const AT_ONCE: usize = 32;

/// The connections of the participants of all meetings. Clones share them.
#[derive(Clone)]
pub struct Attendance {
    registry: Registry<Meeting>,
    tasks: Tasks,
    /// How long what is no news of who comes is held back.
    hold: Duration,
    inner: Arc<Mutex<AttendanceInner>>,
}

/// What the attendance of meetings is built from.
pub struct AttendanceParts {
    pub registry: Registry<Meeting>,
    pub tasks: Tasks,
    /// `meetings.steady_seconds`.
    pub steady: Duration,
    /// `meetings.grace_seconds`.
    pub grace: Duration,
}

#[derive(Default)]
struct AttendanceInner {
    observed: ObservedConnections,
    /// Meetings whose recorded state may differ from what is observed.
    doubtful: HashSet<Id<Meeting>>,
    /// Meetings that have a running report task, and what wakes it.
    reporting: HashMap<Id<Meeting>, Arc<Notify>>,
}

/// One socket's subscription to one meeting; it counts until this is dropped.
pub struct ListenerGuard {
    attendance: Attendance,
    meeting: Id<Meeting>,
    who: Uuid,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        self.attendance.inner().observed.leave(self.meeting, self.who);
        self.attendance.start_report(self.meeting);
    }
}

impl Attendance {
    #[must_use]
    pub fn new(parts: AttendanceParts) -> Self {
        let AttendanceParts { registry, tasks, steady, grace } = parts;
        Self { registry, tasks, hold: steady.min(grace / 2), inner: Arc::default() }
    }

    fn inner(&self) -> MutexGuard<'_, AttendanceInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a socket as subscribed to a meeting until the returned guard is dropped.
    #[must_use]
    pub fn enter(&self, meeting: Id<Meeting>, who: Uuid) -> ListenerGuard {
        self.inner().observed.enter(meeting, who);
        self.start_report(meeting);
        ListenerGuard { attendance: self.clone(), meeting, who }
    }

    /// Notes what the media server reports of a connection. It may be lost when the server stops: the media server is
    /// asked then.
    pub fn note_media(&self, meeting: Id<Meeting>, participant: Id<ids::Participant>, report: &MediaSession) {
        self.inner().observed.note_media(meeting, participant, report);
        self.start_report(meeting);
    }

    /// Whether a connection with this name was reported and the meeting was not told yet.
    #[must_use]
    pub fn has_noted(&self, meeting: Id<Meeting>, participant: Id<ids::Participant>, name: &str) -> bool {
        self.inner().observed.media_of(meeting, participant).is_some_and(|noted| noted.name == name)
    }

    /// Starts the task that reports the current connections to the meeting, or wakes it.
    pub fn start_report(&self, meeting: Id<Meeting>) {
        let woken = Arc::new(Notify::new());
        {
            let mut inner = self.inner();
            inner.doubtful.insert(meeting);
            if let Some(running) = inner.reporting.get(&meeting) {
                running.notify_one();
                return;
            }
            inner.reporting.insert(meeting, Arc::clone(&woken));
        }
        let (attendance, stopping) = (self.clone(), self.tasks.stopping());
        self.tasks.spawn(async move {
            tokio::select! {
                () = report_changes(&attendance, meeting, &woken) => {}
                () = stopping.cancelled() => {}
            }
        });
    }

    /// Takes the mark that the meeting's recorded state may differ.
    fn take_mark(&self, meeting: Id<Meeting>) -> bool {
        self.inner().doubtful.remove(&meeting)
    }

    /// Ends the task of a meeting, unless its state may differ again.
    fn end_report(&self, meeting: Id<Meeting>) -> bool {
        let mut inner = self.inner();
        let ends = !inner.doubtful.contains(&meeting);
        if ends {
            inner.reporting.remove(&meeting);
        }
        ends
    }
}

async fn report_changes(attendance: &Attendance, meeting: Id<Meeting>, woken: &Notify) {
    let mut next: Option<Instant> = None;
    loop {
        if attendance.take_mark(meeting) || next.is_some_and(|next| next <= Instant::now()) {
            next = report(attendance, meeting, attendance.hold).await.unwrap_or_else(|why| {
                tracing::warn!(%meeting, why, "the meeting could not be updated with who is connected; retrying");
                Some(Instant::now() + RETRY_INTERVAL)
            });
        } else if let Some(next) = next {
            tokio::select! {
                () = tokio::time::sleep_until(next.into()) => {}
                () = woken.notified() => {}
            }
        } else if attendance.end_report(meeting) {
            return;
        }
    }
}

/// Reports what is due to the meeting; returns when more is.
async fn report(attendance: &Attendance, meeting: Id<Meeting>, hold: Duration) -> Result<Option<Instant>, String> {
    let found = attendance.registry.snapshot(meeting).await.map_err(|away| away.0)?;
    let Some(found) = found else {
        attendance.inner().observed.forget(meeting);
        return Ok(None);
    };
    let DueObservations { seen, next } = attendance.inner().observed.due(&found.state, hold, Instant::now());
    if seen.is_empty() {
        return Ok(next);
    }
    let told: Vec<_> = seen.iter().map(Observation::participant).collect();
    let after = match attendance.registry.ask(meeting, Command::See { seen }, RequestId::from("presence")).await {
        Ok(after) => after,
        Err(actors::shell::CommandError::Missing) => {
            attendance.inner().observed.forget(meeting);
            return Ok(None);
        }
        Err(failure) => return Err(format!("{failure:?}")),
    };
    let mut inner = attendance.inner();
    inner.observed.told(meeting, told.into_iter());
    let DueObservations { seen, next } = inner.observed.due(&after.state, hold, Instant::now());
    Ok(if seen.is_empty() { next } else { Some(Instant::now()) })
}

/// Corrects, at a start, the meetings that record open sockets of the former process. Retries until it has succeeded
/// once.
pub async fn report_all(attendance: Attendance, db: Db) {
    let stopping = attendance.tasks.stopping();
    let reporting = async {
        let meetings = loop {
            match db.read(|conn| Box::pin(store::with_sockets(conn))).await {
                Ok(meetings) => break meetings,
                Err(away) => {
                    let away: DbError = away;
                    tracing::warn!(%away, "meetings without listeners could not be queried; retrying");
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
            }
        };
        let each = stream::iter(meetings).for_each_concurrent(AT_ONCE, |meeting| {
            let attendance = attendance.clone();
            async move {
                while let Err(why) = report(&attendance, meeting, Duration::ZERO).await {
                    tracing::warn!(%meeting, why, "the meeting could not be updated as having no listeners; retrying");
                    tokio::time::sleep(RETRY_INTERVAL).await;
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
