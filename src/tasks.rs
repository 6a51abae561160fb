//! Background tasks, all of which the server waits for when it stops.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::vital;

/// Delay until a loop that panicked begins anew.
const ANEW: Duration = Duration::from_secs(5);

/// The background tasks of the server. They run on the runtime given to [`Tasks::on`] and should end when
/// [`Tasks::stopping`] resolves.
#[derive(Clone)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
    runtime: tokio::runtime::Handle,
}

impl Tasks {
    #[must_use]
    pub fn on(runtime: tokio::runtime::Handle) -> Self {
        Self { tracker: TaskTracker::new(), stop: CancellationToken::new(), runtime }
    }

    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn_on(work, &self.runtime);
    }

    /// Spawns a task that can't begin anew and without which the server is of no use: a panic in it ends the process.
    pub fn spawn_vital(&self, what: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn(vital::live(what, work));
    }

    /// Spawns a loop that ends when the server stops, or has nothing to do. One that panics begins anew after a pause: what
    /// it stumbled over may be one row of many, and must not take the whole server with it again and again.
    pub fn spawn_loop<W>(&self, what: &'static str, begin: impl Fn() -> W + Send + 'static)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let stopping = self.stopping();
        self.spawn(async move {
            while AssertUnwindSafe(begin()).catch_unwind().await.is_err() {
                tracing::error!(what, "a background loop panicked; it begins anew");
                if stopping.run_until_cancelled(tokio::time::sleep(ANEW)).await.is_none() {
                    return;
                }
            }
        });
    }

    /// Returns work whose result the caller awaits, and that continues as a task if the caller is dropped. Until then it
    /// runs where it is awaited: a task of its own would cost two wake-ups of another thread.
    pub fn carry<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> CarriedWork<T> {
        CarriedWork { work: Some(work.boxed()), tasks: self.clone(), _awaited: self.tracker.token() }
    }

    /// Returns a token that is cancelled when the server stops.
    #[must_use]
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Tells all tasks to stop and waits for them up to `limit`. Returns whether all ended.
    pub async fn end(&self, limit: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(limit, self.tracker.wait()).await.is_ok()
    }
}

/// Work that runs to its end, whether its result is awaited or not; see [`Tasks::carry`].
#[must_use = "it runs while it is awaited, and once it is dropped"]
pub struct CarriedWork<T: Send + 'static> {
    /// `None` once it has ended.
    work: Option<BoxFuture<'static, T>>,
    tasks: Tasks,
    /// A server that stops waits for it.
    _awaited: TaskTrackerToken,
}

impl<T: Send + 'static> Future for CarriedWork<T> {
    /// An error is the message of a panic.
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Its timers, and tasks that it starts, may outlive the caller's runtime.
        let runtime = self.tasks.runtime.clone();
        let _entered = runtime.enter();
        let Some(work) = &mut self.work else { return Poll::Pending };
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| work.poll_unpin(context)));
        let ended = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(done)) => Ok(done),
            Err(panic) => Err(panic_text(&*panic).to_owned()),
        };
        self.work = None;
        Poll::Ready(ended)
    }
}

impl<T: Send + 'static> Drop for CarriedWork<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            // Nobody waits for the result any more.
            self.tasks.spawn(work.map(drop));
        }
    }
}

/// Returns the message of a panic.
#[must_use]
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

impl actors::live::Spawner for Tasks {
    fn spawn(&self, work: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>) {
        Self::spawn(self, work);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::runtime::{Builder, Runtime};
    use tokio::sync::mpsc;
    use tokio::time::sleep;

    use super::Tasks;

    const LONG: Duration = Duration::from_secs(30);

    fn runtime() -> Runtime {
        Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    }

    #[test]
    fn carried_work_runs_where_it_is_awaited() {
        let others = runtime();
        let tasks = Tasks::on(others.handle().clone());
        let here = std::thread::current().id();
        let carried = tasks.carry(async { std::thread::current().id() });
        assert_eq!(runtime().block_on(carried), Ok(here));
    }

    #[test]
    fn carried_work_whose_caller_and_its_runtime_are_gone_goes_on() {
        let others = runtime();
        let tasks = Tasks::on(others.handle().clone());
        let (told, mut heard) = mpsc::unbounded_channel();
        let mut carried = tasks.carry(async move {
            sleep(Duration::from_millis(50)).await;
            told.send("slept").unwrap();
            sleep(Duration::from_millis(1)).await;
            told.send("ended").unwrap();
        });
        let callers = runtime();
        callers.block_on(async { assert!((&mut carried).now_or_never().is_none()) });
        drop(callers);
        drop(carried);
        assert!(others.block_on(tasks.end(LONG)));
        assert_eq!((heard.try_recv(), heard.try_recv()), (Ok("slept"), Ok("ended")));
    }

    #[test]
    fn carried_work_that_nobody_awaited_is_done_all_the_same() {
        let others = runtime();
        let tasks = Tasks::on(others.handle().clone());
        let (told, mut heard) = mpsc::unbounded_channel();
        drop(tasks.carry(async move { told.send("done").unwrap() }));
        assert!(others.block_on(tasks.end(LONG)));
        assert_eq!(heard.try_recv(), Ok("done"));
    }

    #[test]
    fn a_server_that_stops_waits_for_carried_work_that_is_still_awaited() {
        let others = runtime();
        let tasks = Tasks::on(others.handle().clone());
        let carried = tasks.carry(async {});
        others.block_on(async {
            assert!(!tasks.end(Duration::ZERO).await);
            carried.await.unwrap();
            assert!(tasks.end(LONG).await);
        });
    }

    #[tokio::test]
    async fn a_loop_that_panics_begins_anew_until_the_server_stops() {
        let tasks = Tasks::on(tokio::runtime::Handle::current());
        let (told, mut heard) = mpsc::unbounded_channel();
        tasks.spawn_loop("a loop", move || {
            let told = told.clone();
            async move {
                told.send(tokio::time::Instant::now()).unwrap();
                panic!("by intention");
            }
        });
        let (first, second) = (heard.recv().await.unwrap(), heard.recv().await.unwrap());
        assert!(second.duration_since(first) >= super::ANEW);
        assert!(tasks.end(Duration::from_millis(1)).await, "it doesn't pause while the server stops");
        assert!(heard.recv().await.is_none());
    }

    #[tokio::test]
    async fn a_loop_that_returns_has_ended() {
        let tasks = Tasks::on(tokio::runtime::Handle::current());
        let (told, mut heard) = mpsc::unbounded_channel();
        tasks.spawn_loop("a loop", move || {
            let told = told.clone();
            async move { told.send("begun").unwrap() }
        });
        assert_eq!((heard.recv().await, heard.recv().await), (Some("begun"), None));
    }

    #[test]
    fn carried_work_that_panics_is_an_error() {
        let others = runtime();
        let tasks = Tasks::on(others.handle().clone());
        let carried = tasks.carry(async { panic!("by {}", "intention") });
        assert_eq!(others.block_on(carried), Err::<(), _>("by intention".to_owned()));
    }
}
