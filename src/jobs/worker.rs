//! The worker: polls for due jobs and runs a few of each kind concurrently, until the server stops.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actors::hub::Hub;
use actors::ids::Id;
use actors::live::EventRecord;
use actors::time::Time;
use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument;

use super::dispatch::AnyHandler;
use super::lane::Lane;
use super::leases::Leases;
use super::store::{self, DueJobs, DueQuery};
use super::{HEARTBEAT, Handler, Job, JobError, JobOutcome, JobPayload, Jobs, LEASE, Turns, fair_order};
use crate::db::{Conn, Db, DbError};
use crate::tasks::Tasks;

/// Interval of the check for abandoned leases.
const LEASES: Duration = Duration::from_secs(5);
/// Delay until an unavailable database is used again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// How long attempts go on once the server stops: less than it waits for its tasks, so that what is left is stored.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Why a job ended that was claimed without an attempt left.
const USED_UP: &str = "the server ended during the last attempt, as if killed";
/// Why a job ended that an operator discarded.
const DISCARDED: &str = "an operator discarded the job";

/// The handlers, by kind of job.
#[derive(Default, Clone)]
pub struct Handlers(HashMap<&'static str, Arc<dyn AnyHandler>>);

/// What bounds the jobs of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindBounds {
    pub kind: &'static str,
    pub time_limit: Duration,
    pub turns: Turns,
}

impl Handlers {
    #[must_use]
    pub fn with<H: Handler>(mut self, handler: H) -> Self {
        self.0.insert(H::Payload::KIND, Arc::new(handler));
        self
    }

    /// Returns what bounds the jobs of each kind, by kind.
    #[must_use]
    pub fn bounds(&self) -> Vec<KindBounds> {
        let bounds = |(kind, handler): (&&'static str, &Arc<dyn AnyHandler>)| KindBounds {
            kind,
            time_limit: handler.time_limit(),
            turns: handler.turns(),
        };
        let mut all: Vec<KindBounds> = self.0.iter().map(bounds).collect();
        all.sort_by_key(|bounds| bounds.kind);
        all
    }
}

/// The dependencies of the worker.
#[derive(Clone)]
pub struct WorkerContext {
    pub db: Db,
    pub hub: Hub,
    pub jobs: Jobs,
    pub tasks: Tasks,
}

/// Runs the worker until the server stops; jobs that still run then are waited for.
pub async fn work(context: WorkerContext, handlers: Handlers) {
    let stopping = context.tasks.stopping();
    let lanes: HashMap<&'static str, Arc<Lane>> =
        handlers.0.into_iter().map(|(kind, handler)| (kind, Arc::new(Lane::of(handler)))).collect();
    let mut worker = Worker {
        context,
        lanes,
        running: RunningJobs::default(),
        last_served: HashMap::new(),
        leases: Leases::default(),
        leases_seen: Instant::now(),
    };
    tokio::select! {
        () = worker.begin() => {}
        () = stopping.cancelled() => return,
    }
    while !stopping.is_cancelled() {
        if let Next::At(next) = worker.poll().await {
            let now = worker.context.jobs.now();
            tokio::select! {
                () = worker.context.jobs.woken(now, next) => {}
                () = stopping.cancelled() => {}
            }
        }
    }
}

struct Worker {
    context: WorkerContext,
    lanes: HashMap<&'static str, Arc<Lane>>,
    running: RunningJobs,
    /// The key of each kind that was served last.
    last_served: HashMap<&'static str, String>,
    leases: Leases,
    leases_seen: Instant,
}

/// When the worker polls again.
enum Next {
    AtOnce,
    /// Or sooner, see [`Jobs::woken`].
    At(Option<Time>),
}

impl Worker {
    /// Prepares the jobs at startup. This server is the only one, so the holder of every lease is gone: all are freed.
    /// Jobs of kinds without a handler fail. Jobs scheduled by a clock that was set back since wait no longer than was
    /// intended.
    async fn begin(&self) {
        let known: Arc<[&'static str]> = self.lanes.keys().copied().collect();
        self.in_pages("job leases could not be released at start-up", |conn, _| Box::pin(store::free_page(conn))).await;
        let all = Arc::clone(&known);
        let unknown = self.in_pages("jobs of unknown kinds could not be marked as failed", move |conn, now| {
            let known = Arc::clone(&all);
            Box::pin(async move { store::fail_unknown_kinds(conn, &known, now).await })
        });
        match unknown.await {
            0 => {}
            unknown => tracing::error!(jobs = unknown, "jobs of unknown kinds are marked as failed"),
        }
        for kind in known.iter().copied() {
            let why = "waiting jobs could not be rescheduled";
            self.in_pages(why, move |conn, now| Box::pin(store::reschedule(conn, kind, now))).await;
        }
    }

    /// Runs `page` repeatedly, each time in its own transaction, until it changes no row. Returns how many rows it
    /// changed.
    async fn in_pages<P>(&self, why: &str, page: P) -> usize
    where
        P: for<'c> Fn(&'c mut Conn, Time) -> futures_util::future::BoxFuture<'c, Result<usize, DbError>>
            + Clone
            + Send
            + 'static,
    {
        let mut rows = 0;
        loop {
            let (page, now) = (page.clone(), self.context.jobs.now());
            match self.context.db.write(move |conn| page(conn, now)).await {
                Ok(0) => return rows,
                Ok(some) => rows += some,
                Err(error) => {
                    tracing::warn!(%error, "{why}; retrying");
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    /// Starts due jobs, as far as there are permits.
    async fn poll(&mut self) -> Next {
        if self.leases_seen.elapsed() >= LEASES {
            self.free_lapsed().await;
        }
        let now = self.context.jobs.now();
        let wanted: Vec<DueQuery> = self.lanes.iter().filter_map(|(kind, lane)| self.wanted(kind, lane, now)).collect();
        if wanted.is_empty() {
            return Next::At(None);
        }
        let found =
            self.context.db.read(move |conn| Box::pin(async move { store::find_due(conn, &wanted, now).await }));
        let (found, next) = match found.await {
            Ok(found) => found,
            Err(error) => {
                let error: DbError = error;
                tracing::warn!(%error, "due jobs could not be queried");
                return Next::At(None);
            }
        };
        let has_more = found.iter().any(|found| found.due.is_empty() && found.ended_at.is_some());
        let chosen: Vec<Id<Job>> = found.into_iter().flat_map(|found| self.choose(found, now)).collect();
        if chosen.is_empty() {
            return if has_more { Next::AtOnce } else { Next::At(next) };
        }
        let until = now + LEASE;
        match self.context.db.write(move |conn| Box::pin(async move { store::claim(conn, &chosen, until).await })).await
        {
            Ok(taken) if taken.is_empty() => Next::At(None),
            Ok(taken) => {
                taken.into_iter().for_each(|job| self.start(job));
                Next::AtOnce
            }
            Err(error) => {
                let error: DbError = error;
                tracing::warn!(%error, "due jobs could not be claimed");
                Next::At(None)
            }
        }
    }

    fn wanted(&self, kind: &'static str, lane: &Lane, now: Time) -> Option<DueQuery> {
        let most = lane.free(now);
        let running = self.running.of_kind(kind).values().sum();
        (most > 0).then(|| DueQuery { kind, most, running, after: self.last_served.get(kind).cloned() })
    }

    /// Returns the jobs to start from the result of a poll for a kind. The next poll begins after the last of their
    /// keys.
    fn choose(&mut self, found: DueJobs, now: Time) -> Vec<Id<Job>> {
        let DueJobs { kind, mut due, ended_at } = found;
        for of_key in &mut due {
            // A job whose lease was freed while it still runs here must not run twice at once.
            of_key.ids.retain(|id| !self.running.has(*id));
        }
        let most = self.lanes.get(kind).map_or(0, |lane| lane.free(now));
        let chosen = fair_order::choose(due, self.running.of_kind(kind), most);
        if let Some(last) = chosen.last().map(|(key, _)| key.clone()).or(ended_at) {
            self.last_served.insert(kind, last);
        }
        chosen.into_iter().map(|(_, id)| id).collect()
    }

    fn start(&self, mut job: Job) {
        let Some((kind, lane)) = self.lanes.get_key_value(job.kind.as_str()) else { return };
        let lane = Arc::clone(lane);
        job.attempts = lane.handler.retry_policy().attempts;
        let slot = JobSlot { running: self.running.clone(), id: job.id, permit: lane.acquire() };
        self.running.add(&job, kind);
        let context = self.context.clone();
        let span = tracing::error_span!("job", kind = job.kind, request_id = %job.request, attempt = job.attempt);
        let work = async move {
            run_attempt(&context, &lane, job).await;
            drop(slot);
            context.jobs.wake();
        };
        self.context.tasks.spawn(work.instrument(span));
    }

    /// Frees the leases of jobs whose holder is gone, so that they wait again.
    async fn free_lapsed(&mut self) {
        self.leases_seen = Instant::now();
        let leased = match self.context.db.read(|conn| Box::pin(store::leased(conn))).await {
            Ok(leased) => leased,
            Err(error) => return tracing::debug!(%error, "job leases could not be queried"),
        };
        let lapsed = self.leases.abandoned(leased, |id| self.running.has(id), Instant::now());
        if lapsed.is_empty() {
            return;
        }
        match self.context.db.write(move |conn| Box::pin(async move { store::free(conn, &lapsed).await })).await {
            Ok(freed) => tracing::warn!(jobs = freed, "the leases of abandoned jobs were released; the jobs run again"),
            Err(error) => {
                let error: DbError = error;
                tracing::debug!(%error, "the leases of abandoned jobs could not be released yet");
            }
        }
    }
}

/// The kind and the fair key of each job.
type Running = HashMap<Id<Job>, (&'static str, String)>;

/// The jobs that run in this process, whatever their leases say.
#[derive(Clone, Default)]
struct RunningJobs(Arc<Mutex<Running>>);

impl RunningJobs {
    fn all(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, job: &Job, kind: &'static str) {
        self.all().insert(job.id, (kind, job.fair_key.clone()));
    }

    fn has(&self, id: Id<Job>) -> bool {
        self.all().contains_key(&id)
    }

    /// Returns how many jobs of each key run.
    fn of_kind(&self, kind: &str) -> HashMap<String, usize> {
        let mut keys = HashMap::new();
        for (_, key) in self.all().values().filter(|(of, _)| *of == kind) {
            *keys.entry(key.clone()).or_default() += 1;
        }
        keys
    }
}

/// The slot of a running job. Dropping it frees the slot, however the job ended.
struct JobSlot {
    running: RunningJobs,
    id: Id<Job>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Drop for JobSlot {
    fn drop(&mut self) {
        self.running.all().remove(&self.id);
        drop(self.permit.take());
    }
}

/// How an attempt ended.
enum AttemptEnd {
    Done,
    /// To be retried after a pause.
    Again(String, Duration),
    /// The server stops, or it is another job's turn: the attempt does not count.
    GivenBack,
    Failed(String),
    /// An operator discarded the job.
    Discarded,
}

async fn run_attempt(context: &WorkerContext, lane: &Lane, job: Job) {
    let ending = if job.is_discarded {
        tracing::info!("the job ends without another attempt: an operator discarded it");
        AttemptEnd::Discarded
    } else if job.is_used_up() {
        tracing::error!(why = USED_UP, "the job failed for good");
        AttemptEnd::Failed(USED_UP.to_owned())
    } else {
        match attempt(context, lane, &job).await {
            Some(ending) => ending,
            None => return,
        }
    };
    store_end(context, &lane.handler, Arc::new(job), Arc::new(ending)).await;
}

/// Returns `None` if the job was lost meanwhile.
async fn attempt(context: &WorkerContext, lane: &Lane, job: &Job) -> Option<AttemptEnd> {
    let limit = lane.handler.time_limit();
    let running = tokio::time::timeout(limit, AssertUnwindSafe(lane.handler.run(job)).catch_unwind());
    let tried = tokio::select! {
        tried = running => tried,
        () = renew_lease(context, job) => {
            tracing::warn!("the job's lease was lost; the attempt is aborted");
            return None;
        }
        () = stop_grace(context) => return Some(AttemptEnd::GivenBack),
    };
    let tried = match tried {
        Ok(tried) => {
            let tried = tried.unwrap_or_else(|_| Err(JobError::Again("the handler panicked".to_owned())));
            lane.record(&tried, context.jobs.now());
            tried
        }
        Err(_) => Err(JobError::Again(format!("the attempt took longer than its limit of {} s", limit.as_secs()))),
    };
    let fault = match tried {
        Ok(()) => return Some(AttemptEnd::Done),
        Err(JobError::NextTurn) => return Some(AttemptEnd::GivenBack),
        Err(JobError::Again(_) | JobError::Unavailable(_)) if context.tasks.stopping().is_cancelled() => {
            return Some(AttemptEnd::GivenBack);
        }
        Err(fault) => fault,
    };
    let for_good = matches!(fault, JobError::Never(_) | JobError::Lapsed(_)) || job.is_last_attempt();
    tracing::warn!(error = fault.why(), permanent = for_good, "job attempt failed");
    let why = fault.why().to_owned();
    Some(if for_good { AttemptEnd::Failed(why) } else { AttemptEnd::Again(why, lane.pause_of(&fault, job.attempt)) })
}

/// Returns when an attempt has to make way for the server's stop.
async fn stop_grace(context: &WorkerContext) {
    context.tasks.stopping().cancelled().await;
    tokio::time::sleep(STOP_GRACE).await;
}

/// Renews a job's lease; returns once it is held no longer. A renewal that fails is retried: meanwhile this server
/// doesn't claim the job, and no other server may.
async fn renew_lease(context: &WorkerContext, job: &Job) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let (held, until) = (job.held(), context.jobs.now() + LEASE);
        match context.db.write(move |conn| Box::pin(store::renew(conn, held, until))).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                let error: DbError = error;
                tracing::warn!(%error, "the job's lease could not be renewed");
            }
        }
    }
}

/// Stores how a job ended. While the database is unavailable the job counts as running: finished work is not repeated
/// only because its end could not be written.
async fn store_end(context: &WorkerContext, handler: &Arc<dyn AnyHandler>, job: Arc<Job>, ending: Arc<AttemptEnd>) {
    let stopping = context.tasks.stopping();
    loop {
        let (handler, job, ending, now) =
            (Arc::clone(handler), Arc::clone(&job), Arc::clone(&ending), context.jobs.now());
        let stored = context
            .db
            .write(move |conn| Box::pin(async move { end(conn, handler.as_ref(), &job, &ending, now).await }));
        match stored.await {
            Ok(Some(records)) => return context.hub.publish(records),
            // Also when the answer to COMMIT was missing, and it was committed.
            Ok(None) => return tracing::warn!("the job's outcome was not stored: its lease was lost"),
            Err(error @ (DbError::Busy | DbError::Unavailable(_) | DbError::Unknown(_))) => {
                tracing::warn!(%error, "the job's outcome could not be stored yet; retrying");
            }
            Err(error) => {
                return tracing::error!(
                    %error,
                    "the job's outcome can't be stored; the job runs again when its lease expires"
                );
            }
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY_PAUSE) => {}
            () = stopping.cancelled() => return,
        }
    }
}

/// Returns `None` when the job is no longer held under this claim.
async fn end(
    conn: &mut Conn,
    handler: &dyn AnyHandler,
    job: &Job,
    ending: &AttemptEnd,
    now: Time,
) -> Result<Option<Vec<EventRecord>>, DbError> {
    let (is_ours, outcome) = match ending {
        AttemptEnd::Done => (store::done(conn, job.held()).await?, JobOutcome::Done),
        AttemptEnd::Failed(why) => {
            let attempts = job.attempt.min(job.attempts);
            (store::give_up(conn, job.held(), attempts, why, now).await?, JobOutcome::Failed(why))
        }
        AttemptEnd::Discarded => (store::done(conn, job.held()).await?, JobOutcome::Failed(DISCARDED)),
        AttemptEnd::Again(why, pause) => {
            let waits = store::again(conn, job.held(), why, now, now + *pause).await?;
            return Ok(waits.then(Vec::new));
        }
        AttemptEnd::GivenBack => return Ok(store::give_back(conn, job.held(), now).await?.then(Vec::new)),
    };
    Ok(if is_ours { Some(record_outcome(conn, handler, job, outcome, now).await) } else { None })
}

/// Calls [`Handler::ended`] in a savepoint: a failure to record the outcome must not undo the end of the job.
async fn record_outcome(
    conn: &mut Conn,
    handler: &dyn AnyHandler,
    job: &Job,
    outcome: JobOutcome<'_>,
    now: Time,
) -> Vec<EventRecord> {
    let recorded = conn.transaction(async |conn| handler.ended(conn, job, outcome, now).await).await;
    recorded.unwrap_or_else(|error: DbError| {
        tracing::error!(%error, "the job's handler could not record its outcome");
        Vec::new()
    })
}
