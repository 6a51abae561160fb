//! A database job in its queue: a closure that runs at most once and is answered at most once.

use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::conn::{Conn, PgConn};
use super::doubts::Course;
use super::error::DbError;
use crate::tasks::panic_text;

tokio::task_local! {
    /// The deadline of the running job.
    static IN_JOB: Instant;
}

/// Whether the caller runs inside a job: it must use the connection that the job borrows, as another read or write
/// would wait for itself.
pub(super) fn is_inside() -> bool {
    IN_JOB.try_with(|_until| ()).is_ok()
}

/// Whether the caller runs inside a job whose deadline has passed.
pub(super) fn is_late() -> bool {
    IN_JOB.try_with(|until| Instant::now() >= *until).unwrap_or(false)
}

/// Runs the work of a job that has a deadline.
pub(super) async fn in_job<W: Future>(until: Instant, work: W) -> W::Output {
    IN_JOB.scope(until, work).await
}

/// A job with its types erased.
pub(super) trait DbJob: Send {
    /// Returns whether to run it: its caller still waits. Says the same when it is called again.
    fn begin(&mut self) -> bool;
    /// Whether its statements on PostgreSQL may wait for locks as long as they may take; otherwise they soon fail.
    fn waits_for_locks(&self) -> bool {
        true
    }
    /// Sends, on PostgreSQL, what need not wait for the answer to BEGIN. Called again if BEGIN failed.
    fn open<'c>(&'c mut self, _: &'c PgConn) -> BoxFuture<'c, ()> {
        ready(()).boxed()
    }
    /// Runs the job and returns whether to commit its writes. Called at most once.
    fn run<'c>(&'c mut self, conn: &'c mut Conn, until: Instant) -> BoxFuture<'c, bool>;
    /// Replaces the job's own result with `failed`.
    fn fail(&mut self, failed: DbError);
    /// Sends the result to the caller: the job has ended.
    fn answer(self: Box<Self>);
    /// Answers `Unknown` to the caller, and returns what to drop once the outcome is known.
    fn answer_unknown(self: Box<Self>, why: String) -> Box<dyn Send>;
}

struct PendingJob<T, E, F> {
    work: Option<F>,
    outcome: Option<Result<T, E>>,
    to: oneshot::Sender<Result<T, E>>,
    /// Only for a write.
    course: Option<Course>,
}

/// Creates a job and the receiver of its answer. A closed channel means that the outcome is unknown.
pub(super) fn ask<T, E, F>(work: F, course: Option<Course>) -> (Box<dyn DbJob>, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<DbError> + Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
{
    let (to, answer) = oneshot::channel();
    (Box::new(PendingJob { work: Some(work), outcome: None, to, course }), answer)
}

impl<T, E, F> DbJob for PendingJob<T, E, F>
where
    T: Send + 'static,
    E: From<DbError> + Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
{
    fn begin(&mut self) -> bool {
        self.course.as_ref().map_or(!self.to.is_closed(), Course::begin)
    }

    fn run<'c>(&'c mut self, conn: &'c mut Conn, until: Instant) -> BoxFuture<'c, bool> {
        async move {
            let Some(work) = self.work.take() else { return false };
            let outcome = in_job(until, work(conn)).await;
            let commits = outcome.is_ok();
            self.outcome = Some(outcome);
            commits
        }
        .boxed()
    }

    fn fail(&mut self, failed: DbError) {
        self.outcome = Some(Err(E::from(failed)));
    }

    fn answer(self: Box<Self>) {
        let outcome =
            self.outcome.unwrap_or_else(|| Err(E::from(DbError::Unknown("the job gave no answer".to_owned()))));
        // The caller may be gone.
        let _ = self.to.send(outcome);
    }

    fn answer_unknown(mut self: Box<Self>, why: String) -> Box<dyn Send> {
        let course = self.course.take();
        // Before the caller can send another request.
        course.iter().for_each(Course::doubt);
        self.fail(DbError::Unknown(why));
        self.answer();
        Box::new(course)
    }
}

/// Runs a job within `limit`; a panic or a timeout replaces its result. Returns whether to commit its writes, and
/// whether the job ran to its end.
pub(super) async fn run_within(limit: Duration, job: &mut dyn DbJob, conn: &mut Conn) -> Ran {
    let until = Instant::now() + limit;
    match timeout_at(until, AssertUnwindSafe(job.run(conn, until)).catch_unwind()).await {
        Ok(Ok(true)) => Ran::Commit,
        Ok(Ok(false)) => Ran::RollBack,
        Ok(Err(panic)) => {
            job.fail(DbError::Broken(format!("a job panicked: {}", panic_text(&*panic))));
            Ran::RollBack
        }
        Err(_late) => {
            job.fail(DbError::Unavailable(format!("a job took longer than {limit:?}")));
            Ran::Late
        }
    }
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    Commit,
    RollBack,
    /// Timed out, and dropped at some point in the middle.
    Late,
}
