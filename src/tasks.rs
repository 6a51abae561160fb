//! Background tasks, all of which the server waits for when it stops.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

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

    /// Starts a task whose result the caller awaits, and that continues if the caller is dropped.
    pub fn carry<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.tracker.spawn_on(work, &self.runtime)
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
