//! Work that is done on the thread of who waits for it.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::RecvError;

/// An answer, and the work that gives it. Waiting for the answer does the work, which saves the change to another thread and
/// back. Who stops waiting stops nothing: what is left of the work goes on as a task of the runtime.
pub(super) struct OnSite<T> {
    /// `None` once it is done.
    work: Option<BoxFuture<'static, ()>>,
    answer: Receiver<T>,
    runtime: Handle,
}

impl<T> OnSite<T> {
    pub fn of(work: impl Future<Output = ()> + Send + 'static, answer: Receiver<T>, runtime: Handle) -> Self {
        Self { work: Some(work.boxed()), answer, runtime }
    }
}

impl<T> Future for OnSite<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { work, answer, runtime } = &mut *self;
        if let Some(doing) = work {
            // The timers of the work are the runtime's: the caller may have none, or end before the work does.
            let _in_runtime = runtime.enter();
            if doing.poll_unpin(context).is_ready() {
                *work = None;
            }
        }
        answer.poll_unpin(context)
    }
}

impl<T> Drop for OnSite<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.runtime.spawn(work);
        }
    }
}
