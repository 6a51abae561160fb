//! The worker: takes what is due, a few jobs at once, until the server stops.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use actors::time::Clock;
use futures_util::FutureExt;
use rand::RngExt;
use tokio::sync::Semaphore;
use tracing::Instrument;

use super::{HEARTBEAT, Handler, Job, Jobs, LEASE, store};
use crate::db::{Db, Failed};
use crate::tasks::Tasks;

const AT_ONCE: usize = 4;

/// Who does which kind of job.
#[derive(Default, Clone)]
pub struct Handlers(HashMap<&'static str, Arc<dyn Handler>>);

impl Handlers {
    #[must_use]
    pub fn with(mut self, handler: impl Handler) -> Self {
        self.0.insert(handler.kind(), Arc::new(handler));
        self
    }
}

/// Works until the server stops; then what runs is waited for.
pub async fn work(db: Db, clock: Arc<dyn Clock>, jobs: Jobs, handlers: Handlers, tasks: Tasks) {
    let stopping = tasks.stopping();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    // This server is the only one, so whoever held a lease is gone.
    if let Err(error) = db.write(|conn| Box::pin(store::free_all(conn))).await {
        tracing::warn!(%error, "jobs could not be freed; their leases run out by themselves");
    }
    while !stopping.is_cancelled() {
        let now = clock.now();
        let free = i64::try_from(places.available_permits()).unwrap_or(0);
        let taken = match free {
            0 => Ok((Vec::new(), None)),
            free => db.write(move |conn| Box::pin(store::take(conn, free, now))).await,
        };
        let (taken, next) = taken.unwrap_or_else(|error: Failed| {
            tracing::warn!(%error, "no jobs could be taken");
            (Vec::new(), None)
        });
        let found_some = !taken.is_empty();
        for job in taken {
            let (db, clock, handlers, jobs) = (db.clone(), Arc::clone(&clock), handlers.clone(), jobs.clone());
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let span = tracing::error_span!("job", kind = job.kind, request_id = %job.request, attempt = job.attempt);
            let work = async move {
                one(&db, clock.as_ref(), &handlers, &job).await;
                drop(place);
                jobs.wake();
            };
            tasks.spawn(work.instrument(span));
        }
        if !found_some {
            tokio::select! {
                () = jobs.woken(now, next.filter(|_| places.available_permits() > 0)) => {}
                () = stopping.cancelled() => {}
            }
        }
    }
}

async fn one(db: &Db, clock: &dyn Clock, handlers: &Handlers, job: &Job) {
    let outcome = match handlers.0.get(job.kind.as_str()) {
        None => Err(format!("nobody does jobs of the kind {}", job.kind)),
        Some(handler) => {
            let work = AssertUnwindSafe(handler.run(job)).catch_unwind();
            tokio::pin!(work);
            loop {
                tokio::select! {
                    outcome = &mut work => break outcome.unwrap_or_else(|_| Err("the handler panicked".to_owned())),
                    () = tokio::time::sleep(HEARTBEAT) => {
                        let (id, until) = (job.id, clock.now() + LEASE);
                        if let Err(error) = db.write(move |conn| Box::pin(store::renew(conn, id, until))).await {
                            tracing::warn!(%error, "a lease could not be renewed");
                        }
                    }
                }
            }
        }
    };
    let now = clock.now();
    let job = job.clone();
    let kept = match outcome {
        Ok(()) => db.write(move |conn| Box::pin(async move { store::done(conn, job.id).await })).await,
        Err(error) => {
            tracing::warn!(error, last = job.is_last_attempt(), "a job failed");
            let again_at = now + pause(job.attempt);
            db.write(move |conn| Box::pin(async move { store::failed(conn, &job, &error, again_at, now).await })).await
        }
    };
    if let Err(error) = kept {
        tracing::warn!(%error, "what became of a job could not be kept; it runs again when its lease has run out");
    }
}

/// 1, 4, 16, 64 s, each half to one and a half times as long.
fn pause(attempt: i64) -> Duration {
    let base = 4_f64.powi(i32::try_from(attempt - 1).unwrap_or(3).clamp(0, 3));
    Duration::from_secs_f64(base * rand::rng().random_range(0.5..1.5))
}
