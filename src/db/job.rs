//! A job for the database as it waits in a queue: run once, answered once, whatever becomes of it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::conn::Conn;
use super::doubts::Course;
use super::failed::Failed;
use crate::tasks::panic_text;

tokio::task_local! {
    /// Until when the job may take.
    static IN_JOB: Instant;
}

/// Whether this is code inside a job: it must use the connection it was lent, as another read or write would wait for
/// itself.
pub(super) fn is_inside() -> bool {
    IN_JOB.try_with(|_until| ()).is_ok()
}

/// Whether this is code inside a job that has had its time.
pub(super) fn is_late() -> bool {
    IN_JOB.try_with(|until| Instant::now() >= *until).unwrap_or(false)
}

/// A job with its types forgotten.
pub(super) trait Job: Send {
    /// Whether it is to be run: somebody waits for it.
    fn begin(&self) -> bool;
    /// Answers whether its writes are to be kept. Once only.
    fn run<'c>(&'c mut self, conn: &'c mut Conn, until: Instant) -> BoxFuture<'c, bool>;
    /// Takes `failed` for the job's own answer.
    fn spoil(&mut self, failed: Failed);
    /// Tells the caller the job's own answer: it has come to its end.
    fn answer(self: Box<Self>);
    /// Tells the caller that nobody knows, and gives what is to be dropped when somebody does.
    fn answer_unknown(self: Box<Self>, why: String) -> Option<Course>;
}

struct Asked<T, E, F> {
    work: Option<F>,
    outcome: Option<Result<T, E>>,
    to: oneshot::Sender<Result<T, E>>,
    /// Of a write.
    course: Option<Course>,
}

/// A job, and where its answer comes. A closed channel means that nobody knows what became of it.
pub(super) fn ask<T, E, F>(work: F, course: Option<Course>) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<Failed> + Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
{
    let (to, answer) = oneshot::channel();
    (Box::new(Asked { work: Some(work), outcome: None, to, course }), answer)
}

impl<T, E, F> Job for Asked<T, E, F>
where
    T: Send + 'static,
    E: From<Failed> + Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
{
    fn begin(&self) -> bool {
        self.course.as_ref().map_or(!self.to.is_closed(), Course::begin)
    }

    fn run<'c>(&'c mut self, conn: &'c mut Conn, until: Instant) -> BoxFuture<'c, bool> {
        async move {
            let Some(work) = self.work.take() else { return false };
            let outcome = IN_JOB.scope(until, work(conn)).await;
            let keep = outcome.is_ok();
            self.outcome = Some(outcome);
            keep
        }
        .boxed()
    }

    fn spoil(&mut self, failed: Failed) {
        self.outcome = Some(Err(E::from(failed)));
    }

    fn answer(self: Box<Self>) {
        let outcome =
            self.outcome.unwrap_or_else(|| Err(E::from(Failed::Unknown("the job gave no answer".to_owned()))));
        // A caller who went away needs no answer.
        let _ = self.to.send(outcome);
    }

    fn answer_unknown(mut self: Box<Self>, why: String) -> Option<Course> {
        let course = self.course.take();
        // Before the caller can ask for anything else.
        course.iter().for_each(Course::doubt);
        self.spoil(Failed::Unknown(why));
        self.answer();
        course
    }
}

/// Runs a job within `limit`; a panic and lateness spoil it. Answers whether its writes are to be kept, and whether the
/// job came to its own end.
pub(super) async fn run_within(limit: Duration, job: &mut dyn Job, conn: &mut Conn) -> Ran {
    let until = Instant::now() + limit;
    match timeout_at(until, AssertUnwindSafe(job.run(conn, until)).catch_unwind()).await {
        Ok(Ok(true)) => Ran::Keep,
        Ok(Ok(false)) => Ran::Undo,
        Ok(Err(panic)) => {
            job.spoil(Failed::Broken(format!("a job panicked: {}", panic_text(&*panic))));
            Ran::Undo
        }
        Err(_late) => {
            job.spoil(Failed::Unavailable(format!("a job took longer than {limit:?}")));
            Ran::Late
        }
    }
}

/// What came of running a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    Keep,
    Undo,
    /// Dropped in the middle of something.
    Late,
}
