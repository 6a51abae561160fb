//! The worker: takes what is due, a few jobs of each kind at once, until the server stops.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use actors::hub::Hub;
use actors::live::Told;
use actors::time::{Clock, Time};
use futures_util::FutureExt;
use tracing::Instrument;

use super::lane::Lane;
use super::store::{self, Wanted};
use super::{Fault, HEARTBEAT, Handler, Job, Jobs, LEASE, Outcome};
use crate::db::{Conn, Db, Failed};
use crate::tasks::Tasks;

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

/// What the worker works with.
#[derive(Clone)]
pub struct Desk {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub hub: Hub,
    pub jobs: Jobs,
    pub tasks: Tasks,
}

/// Works until the server stops; then what runs is waited for.
pub async fn work(desk: Desk, handlers: Handlers) {
    let stopping = desk.tasks.stopping();
    let lanes: HashMap<&'static str, Arc<Lane>> =
        handlers.0.into_iter().map(|(kind, handler)| (kind, Arc::new(Lane::of(handler)))).collect();
    begin(&desk, lanes.keys().copied().collect()).await;
    while !stopping.is_cancelled() {
        let now = desk.clock.now();
        let wanted: Vec<Wanted> = lanes.iter().filter_map(|(kind, lane)| wanted(kind, lane, now)).collect();
        let taken = match wanted.is_empty() {
            true => Ok((Vec::new(), None)),
            false => desk.db.write(move |conn| Box::pin(async move { store::take(conn, &wanted, now).await })).await,
        };
        let (taken, next) = taken.unwrap_or_else(|error: Failed| {
            tracing::warn!(%error, "no jobs could be taken");
            (Vec::new(), None)
        });
        let found_some = !taken.is_empty();
        for job in taken {
            let Some(lane) = lanes.get(job.kind.as_str()).map(Arc::clone) else { continue };
            let place = lane.enter();
            let desk = desk.clone();
            let span = tracing::error_span!("job", kind = job.kind, request_id = %job.request, attempt = job.attempt);
            let tasks = desk.tasks.clone();
            let work = async move {
                one(&desk, &lane, job).await;
                drop(place);
                desk.jobs.wake();
            };
            tasks.spawn(work.instrument(span));
        }
        if !found_some {
            tokio::select! {
                () = desk.jobs.woken(now, next) => {}
                () = stopping.cancelled() => {}
            }
        }
    }
}

/// This server is the only one, so whoever held a lease is gone; and kinds that it doesn't know are nobody's.
async fn begin(desk: &Desk, known: Vec<&'static str>) {
    let now = desk.clock.now();
    let begun = desk.db.write(move |conn| {
        Box::pin(async move {
            store::free_all(conn).await?;
            store::give_up_strangers(conn, &known, now).await
        })
    });
    match begun.await {
        Ok(0) => {}
        Ok(strangers) => tracing::error!(strangers, "jobs are of kinds that nobody does"),
        Err(error) => {
            let error: Failed = error;
            tracing::warn!(%error, "jobs could not be freed; their leases run out by themselves");
        }
    }
}

fn wanted(kind: &'static str, lane: &Lane, now: Time) -> Option<Wanted> {
    let most = i64::try_from(lane.free(now)).unwrap_or(0);
    (most > 0).then(|| Wanted { kind, most, attempts: lane.handler.patience().attempts })
}

async fn one(desk: &Desk, lane: &Lane, job: Job) {
    let tried = run(desk, lane, &job).await;
    let now = desk.clock.now();
    lane.hear(&tried, now);
    let handler = Arc::clone(&lane.handler);
    let kept = match tried {
        Ok(()) => {
            let done = desk.db.write(move |conn| {
                Box::pin(async move {
                    store::done(conn, job.id).await?;
                    Ok::<_, Failed>(keep(conn, handler.as_ref(), &job, Outcome::Done, now).await)
                })
            });
            done.await
        }
        Err(fault) => {
            let for_good = matches!(fault, Fault::Never(_) | Fault::Lapsed(_)) || job.is_last_attempt();
            tracing::warn!(error = fault.why(), for_good, "a job failed");
            let again_at = now + lane.pause_of(&fault, job.attempt);
            let failed = desk.db.write(move |conn| {
                Box::pin(async move {
                    if !for_good {
                        store::again(conn, job.id, fault.why(), again_at).await?;
                        return Ok::<_, Failed>(Vec::new());
                    }
                    store::give_up(conn, job.id, fault.why(), now).await?;
                    Ok(keep(conn, handler.as_ref(), &job, Outcome::Failed(fault.why()), now).await)
                })
            });
            failed.await
        }
    };
    match kept {
        Ok(told) => desk.hub.tell(told),
        Err(error) => {
            tracing::warn!(%error, "what became of a job could not be kept; it runs again when its lease has run out");
        }
    }
}

async fn run(desk: &Desk, lane: &Lane, job: &Job) -> Result<(), Fault> {
    let work = AssertUnwindSafe(lane.handler.run(job)).catch_unwind();
    tokio::pin!(work);
    loop {
        tokio::select! {
            tried = &mut work => {
                return tried.unwrap_or_else(|_| Err(Fault::Again("the handler panicked".to_owned())));
            }
            () = tokio::time::sleep(HEARTBEAT) => {
                let (id, until) = (job.id, desk.clock.now() + LEASE);
                if let Err(error) = desk.db.write(move |conn| Box::pin(store::renew(conn, id, until))).await {
                    tracing::warn!(%error, "a lease could not be renewed");
                }
            }
        }
    }
}

/// In a savepoint: what a feature keeps of a job's end must not undo the end.
async fn keep(conn: &mut Conn, handler: &dyn Handler, job: &Job, outcome: Outcome<'_>, now: Time) -> Vec<Told> {
    let kept = conn.transaction(async |conn| handler.ended(conn, job, outcome, now).await).await;
    kept.unwrap_or_else(|error: Failed| {
        tracing::error!(%error, "what became of a job was not kept where it was asked for");
        Vec::new()
    })
}
