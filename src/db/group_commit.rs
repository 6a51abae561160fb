//! Group commit on PostgreSQL: saves of different entities that wait at the same time share a transaction, and with it BEGIN,
//! COMMIT and the round trips. Their rows are known beforehand, so they are sent together with BEGIN.
//!
//! ```text
//!  save() ─▶ waiting ─▶ a group takes all, up to GROUP; up to GROUPS at a time ─▶ one transaction
//!                         committed             ─▶ saved
//!                         one failed, or waited ─▶ rolled back; each is written in a transaction of its own
//!                         for a lock
//!                         no answer to COMMIT   ─▶ unknown, until PostgreSQL says what became of it (see `doubts`)
//! ```
//! A group locks the rows of its entities in the order of their topics. SQLite needs none of this: its writer groups all
//! jobs.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::live::Batch;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::conn::{AtOnce, Conn, PgConn};
use super::doubts::Course;
use super::error::DbError;
use super::job::{DbJob, in_job};
use super::journal::{Saved, Sent, Tables, finish, send};
use super::{Backend, Db, Fencing, refuse_nested};

/// Maximum number of saves in one transaction.
const GROUP: usize = 64;
/// Maximum number of such transactions at a time: while one waits for the disk, another is written.
const GROUPS: usize = 2;

/// The saves of one kind of entity that wait for a transaction.
pub(super) struct GroupCommit<T: Tables>(Arc<WaitingSaves<T>>);

struct WaitingSaves<T: Tables> {
    db: Db,
    tables: T,
    queue: Mutex<SaveQueue<T>>,
}

struct SaveQueue<T: Tables> {
    waiting: VecDeque<GroupedSave<T>>,
    /// How many groups are being written.
    groups: usize,
}

/// `None`: not written, and to be written in a transaction of its own.
type GroupedOutcome = Result<Option<Saved>, DbError>;

struct GroupedSave<T: Tables> {
    batch: Arc<Batch<T::Entity>>,
    course: Course,
    to: oneshot::Sender<GroupedOutcome>,
    deadline: Instant,
    permit: OwnedSemaphorePermit,
}

impl<T: Tables> GroupCommit<T> {
    pub(super) fn new(db: Db, tables: T) -> Self {
        Self(Arc::new(WaitingSaves {
            db,
            tables,
            queue: Mutex::new(SaveQueue { waiting: VecDeque::new(), groups: 0 }),
        }))
    }

    /// Saves a batch together with others. Returns `None` when it has to be written in a transaction of its own, within the same
    /// deadline: nothing was written then.
    ///
    /// # Errors
    /// As [`Db::write`].
    pub(super) async fn save(&self, batch: &Arc<Batch<T::Entity>>, deadline: Instant) -> GroupedOutcome {
        let open = &self.0.db.open;
        if !matches!(*open.backend, Backend::Postgres(_)) || !T::may_share(batch) {
            return Ok(None);
        }
        refuse_nested("write")?;
        let permit = Arc::clone(&open.writes).try_acquire_owned().map_err(|_full| DbError::Busy)?;
        let (caller, course) = open.doubts.write();
        let (to, answer) = oneshot::channel();
        self.0.queue().waiting.push_back(GroupedSave { batch: Arc::clone(batch), course, to, deadline, permit });
        start_group(&self.0);
        let outcome = super::received(answer).await;
        caller.answered();
        outcome
    }
}

impl<T: Tables> WaitingSaves<T> {
    fn queue(&self) -> MutexGuard<'_, SaveQueue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts to write what waits, unless enough groups are being written.
fn start_group<T: Tables>(shared: &Arc<WaitingSaves<T>>) {
    let mut queue = shared.queue();
    if queue.waiting.is_empty() || queue.groups == GROUPS {
        return;
    }
    queue.groups += 1;
    let place = Place(Arc::clone(shared));
    let size = queue.waiting.len().min(GROUP);
    let taken: Vec<GroupedSave<T>> = queue.waiting.drain(..size).collect();
    drop(queue);
    let until = Instant::now() + shared.db.open.limit / 2;
    let (mut members, late): (Vec<_>, Vec<_>) = taken.into_iter().partition(|member| member.deadline >= until);
    for member in late {
        // The caller may be gone.
        let _ = member.to.send(Err(DbError::Unavailable("it waited too long for a transaction".to_owned())));
    }
    let Some(deadline) = members.iter().map(|member| member.deadline).min() else { return };
    members.sort_by_key(|member| T::topic(&member.batch.before));
    let group = Group { members, sent: None, saved: Ok(Vec::new()), place };
    shared.db.start_write(Fencing::ByTheLease, Box::new(group), deadline, ());
}

/// One of the [`GROUPS`]. Dropping it starts the next group.
struct Place<T: Tables>(Arc<WaitingSaves<T>>);

impl<T: Tables> Drop for Place<T> {
    fn drop(&mut self) {
        self.0.queue().groups -= 1;
        start_group(&self.0);
    }
}

/// Saves that are written in one transaction.
struct Group<T: Tables> {
    members: Vec<GroupedSave<T>>,
    /// What was sent together with BEGIN; `None` if that failed, or panicked.
    sent: Option<Sent<T>>,
    /// Of each member; empty if none was saved.
    saved: Result<Vec<Saved>, DbError>,
    place: Place<T>,
}

impl<T: Tables> Group<T> {
    fn batches(&self) -> Vec<Arc<Batch<T::Entity>>> {
        self.members.iter().map(|member| Arc::clone(&member.batch)).collect()
    }
}

impl<T: Tables> DbJob for Group<T> {
    fn begin(&mut self) -> bool {
        self.members.retain(|member| member.course.begin());
        !self.members.is_empty()
    }

    fn waits_for_locks(&self) -> bool {
        // One locked row would hold up all of them.
        false
    }

    fn open<'c>(&'c mut self, pg: &'c PgConn) -> BoxFuture<'c, ()> {
        async move {
            let batches = self.batches();
            let sent = AssertUnwindSafe(send(&self.place.0.tables, AtOnce::Pg(pg), &batches)).catch_unwind().await;
            self.sent = sent.ok().and_then(Result::ok);
        }
        .boxed()
    }

    fn run<'c>(&'c mut self, conn: &'c mut Conn, until: Instant) -> BoxFuture<'c, bool> {
        async move {
            let Some(sent) = self.sent.take() else { return false };
            let batches = self.batches();
            let finishing = in_job(until, finish(&self.place.0.tables, conn, &batches, sent));
            // Whose fault an error or a panic is, the saves find out alone.
            let Ok(Ok(saved)) = AssertUnwindSafe(finishing).catch_unwind().await else { return false };
            self.saved = Ok(saved);
            true
        }
        .boxed()
    }

    fn fail(&mut self, failed: DbError) {
        self.saved = Err(failed);
    }

    fn answer(self: Box<Self>) {
        match self.saved {
            Ok(saved) => {
                let outcomes = saved.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
                for (member, saved) in self.members.into_iter().zip(outcomes) {
                    // The caller may be gone.
                    let _ = member.to.send(Ok(saved));
                }
            }
            Err(failed) => {
                for member in self.members {
                    let _ = member.to.send(Err(failed.clone()));
                }
            }
        }
    }

    fn answer_unknown(self: Box<Self>, why: String) -> Box<dyn Send> {
        // Before any caller can send another request.
        self.members.iter().for_each(|member| member.course.doubt());
        let answered = self.members.into_iter().map(|member| {
            let _ = member.to.send(Err(DbError::Unknown(why.clone())));
            (member.course, member.permit)
        });
        Box::new(answered.collect::<Vec<_>>())
    }
}
