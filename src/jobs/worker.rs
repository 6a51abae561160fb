//! The worker: looks for what is due, takes a few jobs of each kind at once, until the server stops.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actors::hub::Hub;
use actors::ids::Id;
use actors::live::Told;
use actors::time::Time;
use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument;

use super::lane::Lane;
use super::leases::Leases;
use super::store::{self, Look, Wanted};
use super::turns::deal;
use super::{Fault, HEARTBEAT, Handler, Job, Jobs, LEASE, Outcome};
use crate::db::{Conn, Db, Failed};
use crate::tasks::Tasks;

/// Between two looks at leases that nobody holds.
const LEASES: Duration = Duration::from_secs(5);
/// Until something is asked of a database again that was away.
const AWAY: Duration = Duration::from_secs(1);

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
    pub hub: Hub,
    pub jobs: Jobs,
    pub tasks: Tasks,
}

/// Works until the server stops; then what runs is waited for.
pub async fn work(desk: Desk, handlers: Handlers) {
    let stopping = desk.tasks.stopping();
    let lanes: HashMap<&'static str, Arc<Lane>> =
        handlers.0.into_iter().map(|(kind, handler)| (kind, Arc::new(Lane::of(handler)))).collect();
    let mut worker = Worker {
        desk,
        lanes,
        under_way: UnderWay::default(),
        turns: HashMap::new(),
        leases: Leases::default(),
        leases_seen: Instant::now(),
    };
    tokio::select! {
        () = worker.begin() => {}
        () = stopping.cancelled() => return,
    }
    while !stopping.is_cancelled() {
        if let Next::At(next) = worker.turn().await {
            let now = worker.desk.jobs.now();
            tokio::select! {
                () = worker.desk.jobs.woken(now, next) => {}
                () = stopping.cancelled() => {}
            }
        }
    }
}

struct Worker {
    desk: Desk,
    lanes: HashMap<&'static str, Arc<Lane>>,
    under_way: UnderWay,
    /// The key of each kind that had the last turn.
    turns: HashMap<&'static str, String>,
    leases: Leases,
    leases_seen: Instant,
}

/// When the worker looks again.
enum Next {
    AtOnce,
    /// Or sooner, see [`Jobs::woken`].
    At(Option<Time>),
}

impl Worker {
    /// This server is the only one, so whoever held a lease is gone; kinds that it doesn't know are nobody's; and what
    /// waits for a time that a clock set back put off waits no longer than it was told to.
    async fn begin(&self) {
        let known: Arc<[&'static str]> = self.lanes.keys().copied().collect();
        self.in_pages("jobs could not be freed", |conn, _| Box::pin(store::free_page(conn))).await;
        let all = Arc::clone(&known);
        let strangers = self.in_pages("strange jobs could not be given up", move |conn, now| {
            let known = Arc::clone(&all);
            Box::pin(async move { store::give_up_strangers(conn, &known, now).await })
        });
        match strangers.await {
            0 => {}
            strangers => tracing::error!(strangers, "jobs are of kinds that nobody does"),
        }
        for kind in known.iter().copied() {
            let why = "jobs could not be made due";
            self.in_pages(why, move |conn, now| Box::pin(store::let_due_again(conn, kind, now))).await;
        }
    }

    /// Does a page after the other, each in a transaction of its own, until there is no more. Answers how many rows.
    async fn in_pages<P>(&self, why: &str, page: P) -> usize
    where
        P: for<'c> Fn(&'c mut Conn, Time) -> futures_util::future::BoxFuture<'c, Result<usize, Failed>>
            + Clone
            + Send
            + 'static,
    {
        let mut rows = 0;
        loop {
            let (page, now) = (page.clone(), self.desk.jobs.now());
            match self.desk.db.write(move |conn| page(conn, now)).await {
                Ok(0) => return rows,
                Ok(some) => rows += some,
                Err(error) => {
                    tracing::warn!(%error, "{why}; it is tried again");
                    tokio::time::sleep(AWAY).await;
                }
            }
        }
    }

    /// Begins what is due, as far as there are places.
    async fn turn(&mut self) -> Next {
        if self.leases_seen.elapsed() >= LEASES {
            self.free_lapsed().await;
        }
        let now = self.desk.jobs.now();
        let wanted: Vec<Wanted> = self.lanes.iter().filter_map(|(kind, lane)| self.wanted(kind, lane, now)).collect();
        if wanted.is_empty() {
            return Next::At(None);
        }
        let looked = self.desk.db.read(move |conn| Box::pin(async move { store::look(conn, &wanted, now).await }));
        let (looks, next) = match looked.await {
            Ok(found) => found,
            Err(error) => {
                let error: Failed = error;
                tracing::warn!(%error, "due jobs could not be looked for");
                return Next::At(None);
            }
        };
        let has_more = looks.iter().any(|look| look.due.is_empty() && look.ended_at.is_some());
        let chosen: Vec<Id<Job>> = looks.into_iter().flat_map(|look| self.choose(look, now)).collect();
        if chosen.is_empty() {
            return if has_more { Next::AtOnce } else { Next::At(next) };
        }
        let until = now + LEASE;
        match self.desk.db.write(move |conn| Box::pin(async move { store::claim(conn, &chosen, until).await })).await {
            Ok(taken) if taken.is_empty() => Next::At(None),
            Ok(taken) => {
                taken.into_iter().for_each(|job| self.start(job));
                Next::AtOnce
            }
            Err(error) => {
                let error: Failed = error;
                tracing::warn!(%error, "no jobs could be taken");
                Next::At(None)
            }
        }
    }

    fn wanted(&self, kind: &'static str, lane: &Lane, now: Time) -> Option<Wanted> {
        let most = lane.free(now);
        let under_way = self.under_way.of_kind(kind).values().sum();
        (most > 0).then(|| Wanted { kind, most, under_way, after: self.turns.get(kind).cloned() })
    }

    /// What is to begin of what was found of a kind. The next look begins after it.
    fn choose(&mut self, look: Look, now: Time) -> Vec<Id<Job>> {
        let Look { kind, mut due, ended_at } = look;
        for of_key in &mut due {
            // Whose lease was freed while it runs here: it is not to run beside itself.
            of_key.ids.retain(|id| !self.under_way.has(*id));
        }
        let most = self.lanes.get(kind).map_or(0, |lane| lane.free(now));
        let dealt = deal(due, self.under_way.of_kind(kind), most);
        if let Some(last) = dealt.last().map(|(key, _)| key.clone()).or(ended_at) {
            self.turns.insert(kind, last);
        }
        dealt.into_iter().map(|(_, id)| id).collect()
    }

    fn start(&self, mut job: Job) {
        let Some(lane) = self.lanes.get(job.kind.as_str()).map(Arc::clone) else { return };
        job.attempts = lane.handler.patience().attempts;
        let place = Place { under_way: self.under_way.clone(), id: job.id, permit: lane.enter() };
        self.under_way.add(&job, lane.handler.kind());
        let desk = self.desk.clone();
        let span = tracing::error_span!("job", kind = job.kind, request_id = %job.request, attempt = job.attempt);
        let work = async move {
            one(&desk, &lane, job).await;
            drop(place);
            desk.jobs.wake();
        };
        self.desk.tasks.spawn(work.instrument(span));
    }

    /// Has those jobs wait again whose holder is gone.
    async fn free_lapsed(&mut self) {
        self.leases_seen = Instant::now();
        let leased = match self.desk.db.read(|conn| Box::pin(store::leased(conn))).await {
            Ok(leased) => leased,
            Err(error) => return tracing::debug!(%error, "leases could not be looked at"),
        };
        let lapsed = self.leases.see(leased, |id| self.under_way.has(id), Instant::now());
        if lapsed.is_empty() {
            return;
        }
        match self.desk.db.write(move |conn| Box::pin(async move { store::free(conn, &lapsed).await })).await {
            Ok(freed) => tracing::warn!(freed, "jobs were left behind by whoever had them; they run again"),
            Err(error) => {
                let error: Failed = error;
                tracing::debug!(%error, "jobs stay with a holder that is gone, for now");
            }
        }
    }
}

/// The kind and the fair key of each job.
type Running = HashMap<Id<Job>, (&'static str, String)>;

/// The jobs that run here, whatever their leases say.
#[derive(Clone, Default)]
struct UnderWay(Arc<Mutex<Running>>);

impl UnderWay {
    fn all(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, job: &Job, kind: &'static str) {
        self.all().insert(job.id, (kind, job.fair_key.clone()));
    }

    fn has(&self, id: Id<Job>) -> bool {
        self.all().contains_key(&id)
    }

    /// How many of each key.
    fn of_kind(&self, kind: &str) -> HashMap<String, usize> {
        let mut keys = HashMap::new();
        for (_, key) in self.all().values().filter(|(of, _)| *of == kind) {
            *keys.entry(key.clone()).or_default() += 1;
        }
        keys
    }
}

/// Where a job runs. Dropped, it is free, however the job ended.
struct Place {
    under_way: UnderWay,
    id: Id<Job>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.under_way.all().remove(&self.id);
        drop(self.permit.take());
    }
}

/// How a try ended.
enum Ending {
    Done,
    /// To be tried again after a pause.
    Again(String, Duration),
    Failed(String),
}

async fn one(desk: &Desk, lane: &Lane, job: Job) {
    let tried = tokio::select! {
        tried = AssertUnwindSafe(lane.handler.run(&job)).catch_unwind() => {
            tried.unwrap_or_else(|_| Err(Fault::Again("the handler panicked".to_owned())))
        }
        () = hold(desk, &job) => {
            return tracing::warn!("the job is no longer this server's: its work is stopped");
        }
    };
    lane.hear(&tried, desk.jobs.now());
    let ending = match tried {
        Ok(()) => Ending::Done,
        Err(fault) => {
            let for_good = matches!(fault, Fault::Never(_) | Fault::Lapsed(_)) || job.is_last_attempt();
            tracing::warn!(error = fault.why(), for_good, "a job failed");
            let why = fault.why().to_owned();
            if for_good { Ending::Failed(why) } else { Ending::Again(why, lane.pause_of(&fault, job.attempt)) }
        }
    };
    keep(desk, &lane.handler, Arc::new(job), Arc::new(ending)).await;
}

/// Renews a job's lease as long as it is ours. A renewal that fails is tried again: meanwhile nobody here takes the job, and
/// nobody elsewhere may.
async fn hold(desk: &Desk, job: &Job) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let (held, until) = (job.held(), desk.jobs.now() + LEASE);
        match desk.db.write(move |conn| Box::pin(store::renew(conn, held, until))).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                let error: Failed = error;
                tracing::warn!(%error, "a lease could not be renewed");
            }
        }
    }
}

/// Keeps how a job ended. As long as the database is away the job stays under way: what was done is not done again because
/// nobody could write that it was.
async fn keep(desk: &Desk, handler: &Arc<dyn Handler>, job: Arc<Job>, ending: Arc<Ending>) {
    let stopping = desk.tasks.stopping();
    loop {
        let (handler, job, ending, now) = (Arc::clone(handler), Arc::clone(&job), Arc::clone(&ending), desk.jobs.now());
        let kept =
            desk.db.write(move |conn| Box::pin(async move { end(conn, handler.as_ref(), &job, &ending, now).await }));
        match kept.await {
            Ok(Some(told)) => return desk.hub.tell(told),
            // Also where an answer to COMMIT was missing, and it was kept.
            Ok(None) => return tracing::warn!("how a job ended is not this server's to say"),
            Err(error @ (Failed::Busy | Failed::Unavailable(_) | Failed::Unknown(_))) => {
                tracing::warn!(%error, "how a job ended could not be kept yet");
            }
            Err(error) => {
                return tracing::error!(%error, "how a job ended can't be kept; it runs again when its lease has run out");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(AWAY) => {}
            () = stopping.cancelled() => return,
        }
    }
}

/// `None`: somebody else has the job.
async fn end(
    conn: &mut Conn,
    handler: &dyn Handler,
    job: &Job,
    ending: &Ending,
    now: Time,
) -> Result<Option<Vec<Told>>, Failed> {
    let (is_ours, outcome) = match ending {
        Ending::Done => (store::done(conn, job.held()).await?, Outcome::Done),
        Ending::Failed(why) => (store::give_up(conn, job.held(), why, now).await?, Outcome::Failed(why)),
        Ending::Again(why, pause) => {
            let waits = store::again(conn, job.held(), why, now, now + *pause).await?;
            return Ok(waits.then(Vec::new));
        }
    };
    Ok(if is_ours { Some(hear(conn, handler, job, outcome, now).await) } else { None })
}

/// In a savepoint: what a feature keeps of a job's end must not undo the end.
async fn hear(conn: &mut Conn, handler: &dyn Handler, job: &Job, outcome: Outcome<'_>, now: Time) -> Vec<Told> {
    let kept = conn.transaction(async |conn| handler.ended(conn, job, outcome, now).await).await;
    kept.unwrap_or_else(|error: Failed| {
        tracing::error!(%error, "what became of a job was not kept where it was asked for");
        Vec::new()
    })
}
