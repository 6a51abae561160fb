//! The worker, with jobs that run until they are released: turns, clocks, leases, and a database that is briefly
//! unavailable.

use std::sync::atomic::AtomicUsize;

use actors::ids::Id;
use actors::live::EventRecord;
use actors::time::Time;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::super::{JobOutcome, JobPayload, Turns, enqueue, enqueue_after, enqueue_in_turn, operator, store};
use super::{Arc, Clock, Db, DbError, Duration, Handler, Handlers, Hub, HubLimits, JobError, TestClock, WorkerContext};
use super::{DbSettings, Instant, Job, Jobs, Mutex, Ordering, RequestId, Rows, Tasks, async_trait, rows, work};
use crate::db::Conn;
use crate::db::tests::on_both;

/// Waits until it is released.
#[derive(Serialize, Deserialize)]
struct Wait(String);

impl JobPayload for Wait {
    const KIND: &'static str = "slow";
    const TURNS: Turns = Turns::InOrder("a test");
}

/// Records each job that starts, and runs it until it is released.
#[derive(Clone)]
struct Slow {
    concurrency: usize,
    started: Arc<Mutex<Vec<String>>>,
    release: Arc<Semaphore>,
    /// So many of the next attempts fail.
    failing: Arc<AtomicUsize>,
    time_limit: Duration,
    /// So many of the next attempts leave a part of the work.
    parts: Arc<AtomicUsize>,
    /// How the jobs ended, by name.
    ended: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Handler for Slow {
    type Payload = Wait;

    fn concurrency(&self) -> usize {
        self.concurrency
    }
    fn time_limit(&self) -> Duration {
        self.time_limit
    }
    async fn ended(
        &self,
        _conn: &mut Conn,
        _job: &Job,
        payload: Option<Wait>,
        outcome: JobOutcome<'_>,
        _now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        self.ended.lock().unwrap().push(format!("{} {outcome:?}", payload.map(|one| one.0).unwrap_or_default()));
        Ok(Vec::new())
    }
    async fn run(&self, _job: &Job, Wait(name): Wait) -> Result<(), JobError> {
        self.started.lock().unwrap().push(name);
        self.release.acquire().await.unwrap().forget();
        let fails = self.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let has_more = self.parts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        match (fails, has_more) {
            (Ok(_), _) => Err(JobError::Again("not yet".to_owned())),
            (Err(_), true) => Err(JobError::NextTurn),
            (Err(_), false) => Ok(()),
        }
    }
}

struct World {
    db: Db,
    clock: Arc<TestClock>,
    jobs: Jobs,
    slow: Slow,
    tasks: Tasks,
}

impl World {
    fn of(db: Db, concurrency: usize) -> Self {
        Self::at(db, concurrency, 0)
    }

    /// Starts with a clock at so many milliseconds past noon.
    fn at(db: Db, concurrency: usize, millis: i64) -> Self {
        let clock = Arc::new(TestClock(millis.into()));
        let jobs = Jobs::by(Arc::clone(&clock) as Arc<dyn Clock>);
        let slow = Slow {
            concurrency,
            started: Arc::default(),
            release: Arc::new(Semaphore::new(0)),
            failing: Arc::default(),
            time_limit: Duration::from_secs(600),
            parts: Arc::default(),
            ended: Arc::default(),
        };
        Self { db, clock, jobs, slow, tasks: Tasks::on(tokio::runtime::Handle::current()) }
    }

    fn start(&self) {
        let hub = Hub::new(Arc::new(Rows(self.db.clone())), Arc::new(self.tasks.clone()), HubLimits::default());
        let context = WorkerContext { db: self.db.clone(), hub, jobs: self.jobs.clone(), tasks: self.tasks.clone() };
        self.tasks.spawn(work(context, Handlers::default().with(self.slow.clone())));
    }

    async fn add(&self, key: &'static str, name: &'static str) {
        let (now, job) = (self.clock.now(), Wait(name.to_owned()));
        let added = self.db.write(move |conn| {
            Box::pin(async move { enqueue_in_turn(conn, key, &job, now, &RequestId::from("r")).await })
        });
        added.await.unwrap();
        self.jobs.wake();
    }

    /// Claims the only job as a server does that is killed then.
    async fn claimed_by_a_killed_server(db: &Db) {
        let held = db.write(|conn| {
            Box::pin(async move {
                store::free_page(conn).await?;
                let wanted = [store::DueQuery { kind: Wait::KIND, most: 1, running: 0, after: None }];
                let (found, _) = store::find_due(conn, &wanted, TestClock::default().now()).await?;
                let ids = found.into_iter().flat_map(|found| found.due).flat_map(|of_key| of_key.ids);
                store::claim(conn, &ids.collect::<Vec<_>>(), TestClock(3_600_000.into()).now()).await
            })
        });
        assert_eq!(held.await.map(|taken: Vec<Job>| taken.len()), Ok(1));
    }

    /// Returns the attempts and the error of each failed job.
    async fn failed(&self) -> Vec<(i64, String)> {
        let listed = operator::list_for_admin(&self.db, true, Id::from_uuid(Uuid::nil()), 9).await.unwrap();
        listed.into_iter().map(|job| (job.attempts, job.error.unwrap_or_default())).collect()
    }

    fn ended(&self) -> Vec<String> {
        self.slow.ended.lock().unwrap().clone()
    }

    fn started(&self) -> Vec<String> {
        self.slow.started.lock().unwrap().clone()
    }

    /// Sets the clock to so many milliseconds past noon.
    fn set(&self, millis: i64) {
        self.clock.0.store(millis, Ordering::SeqCst);
        self.jobs.wake();
    }

    async fn until(&self, what: &str, holds: impl AsyncFn(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds(self).await {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.started());
            self.jobs.wake();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn until_started(&self, names: &[&str]) {
        self.until("they begin", async |world| world.started().len() >= names.len()).await;
        assert_eq!(self.started(), names);
    }

    async fn until_empty(&self) {
        self.until("all are done", async |world| {
            world.db.read(|conn| Box::pin(rows::all(conn))).await.unwrap().is_empty()
        })
        .await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.tasks.end(Duration::ZERO).now_or_never();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_slow_jobs_of_one_key_another_keys_waits_for_one() {
    on_both(async |db| {
        let world = World::of(db, 1);
        for name in ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"] {
            world.add("a", name).await;
        }
        world.start();
        world.until_started(&["a1"]).await;
        world.add("b", "b1").await;
        world.add("0", "01").await;
        world.slow.release.add_permits(10);
        world.until_empty().await;
        assert_eq!(world.started(), ["a1", "b1", "01", "a2", "a3", "a4", "a5", "a6", "a7", "a8"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_goes_to_whoever_has_none() {
    on_both(async |db| {
        let world = World::of(db, 2);
        for (key, name) in [("a", "a1"), ("a", "a2"), ("a", "a3")] {
            world.add(key, name).await;
        }
        world.start();
        world.until("two begin", async |world| world.started().len() == 2).await;
        world.add("b", "b1").await;
        world.add("b", "b2").await;
        world.slow.release.add_permits(1);
        world.until("one more begins", async |world| world.started().len() == 3).await;
        assert_eq!(world.started()[2], "b1");
        world.slow.release.add_permits(1);
        world.until("one more begins", async |world| world.started().len() == 4).await;
        let of_a = world.started().iter().filter(|name| name.starts_with('a')).count();
        assert_eq!(of_a, 3, "each has one of the two places: {:?}", world.started());
        world.slow.release.add_permits(9);
        world.until_empty().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_server_held_runs_again_when_the_next_one_starts() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.add("", "one").await;
        World::claimed_by_a_killed_server(&world.db).await;
        world.start();
        world.until_started(&["one"]).await;
        world.slow.release.add_permits(1);
        world.until_empty().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_has_five_tries_and_is_then_kept_as_failed() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.slow.failing.store(9, Ordering::SeqCst);
        world.slow.release.add_permits(9);
        world.add("", "one").await;
        world.start();
        let counted = async |world: &World| world.db.read(|conn| Box::pin(store::failed_count(conn))).await;
        world
            .until("it fails", async |world| {
                world.clock.0.fetch_add(100_000, Ordering::SeqCst);
                counted(world).await == Ok(1)
            })
            .await;
        assert_eq!(world.started(), ["one"; 5]);
    })
    .await;
}

/// A payload of the same kind that the handler can't parse.
#[derive(Serialize, Deserialize)]
struct Unreadable {
    number: u8,
}

impl JobPayload for Unreadable {
    const KIND: &'static str = Wait::KIND;
    const TURNS: Turns = Wait::TURNS;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_payload_can_not_be_parsed_fails_at_its_first_attempt_and_is_not_run() {
    on_both(async |db| {
        let world = World::of(db, 1);
        let now = world.clock.now();
        let added = world.db.write(move |conn| {
            Box::pin(async move { enqueue(conn, &Unreadable { number: 7 }, now, &RequestId::from("r")).await })
        });
        let id = added.await.unwrap();
        world.start();
        let failed = async |world: &World| {
            operator::list_for_admin(&world.db, true, Id::from_uuid(Uuid::nil()), 9).await.unwrap()
        };
        world.until("it fails", async |world| !failed(world).await.is_empty()).await;
        let job = failed(&world).await.remove(0);
        assert_eq!((job.id, job.attempts), (id, 1));
        let error = job.error.unwrap();
        assert!(error.starts_with("the payload can't be parsed: invalid type: map"), "{error}");
        assert_eq!(world.started(), Vec::<String>::new());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_set_runs_no_job_twice_and_delays_none() {
    for millis in [-30_000, 30_000, -3_600_000, 3_600_000] {
        on_both(async |db| {
            let world = World::of(db, 2);
            world.start();
            world.add("", "first").await;
            world.until_started(&["first"]).await;
            world.set(millis);
            // The poll that claims this job has read the other too.
            world.add("", "second").await;
            world.until_started(&["first", "second"]).await;
            world.set(0);
            world.slow.release.add_permits(1);
            world.add("", "third").await;
            world.until_started(&["first", "second", "third"]).await;
            world.slow.release.add_permits(2);
            world.until_empty().await;
            assert_eq!(world.started().len(), 3);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_goes_on_while_the_clock_is_set_back() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.start();
        world.slow.failing.store(1, Ordering::SeqCst);
        world.add("", "one").await;
        world.until_started(&["one"]).await;
        world.set(-3_600_000);
        world.slow.release.add_permits(2);
        world.until_empty().await;
        assert_eq!(world.started(), ["one", "one"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_not_delayed_by_a_clock_that_was_set_back_while_no_server_ran() {
    for millis in [-30_000, -3_600_000] {
        on_both(async |db| {
            let before = World::of(db.clone(), 1);
            before.add("", "one").await;
            let world = World::at(db, 1, millis);
            world.start();
            world.until_started(&["one"]).await;
            world.slow.release.add_permits(1);
            world.until_empty().await;
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delay_is_as_long_as_it_was_said_while_the_clock_is_set_back() {
    on_both(async |db| {
        let world = World::of(db, 2);
        world.start();
        world.set(-3_600_000);
        let jobs = world.jobs.clone();
        let added = world.db.write(move |conn| {
            let (late, hour) = (Wait("late".to_owned()), Duration::from_secs(3600));
            Box::pin(async move { enqueue_after(conn, &jobs, &late, hour, &RequestId::from("r")).await })
        });
        added.await.unwrap();
        world.add("", "soon").await;
        world.until_started(&["soon"]).await;
        world.set(3_601_000);
        world.until_started(&["soon", "late"]).await;
        world.slow.release.add_permits(2);
        world.until_empty().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_runs_here_is_not_taken_here_again_whatever_its_row_says() {
    on_both(async |db| {
        let world = World::of(db, 3);
        world.start();
        world.add("", "first").await;
        world.until_started(&["first"]).await;
        // As if its lease had expired.
        assert_eq!(world.db.write(|conn| Box::pin(store::free_page(conn))).await, Ok(1));
        world.add("", "second").await;
        world.until_started(&["first", "second"]).await;
        world.slow.release.add_permits(2);
        world.until_empty().await;
        assert_eq!(world.started().len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_while_the_database_was_away_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.sqlite").display().to_string();
    let world = World::of(Db::open(DbSettings::at(format!("sqlite://{path}"))).await.unwrap(), 1);
    world.start();
    world.add("", "letter").await;
    world.until_started(&["letter"]).await;
    let mut other = SqliteConnection::establish(&path).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    world.slow.release.add_permits(2);
    world.until("it is no longer at work", async |world| world.slow.release.available_permits() == 1).await;
    // Writes wait in one queue: once this one is refused, so is the end of the job.
    let written = world.db.write(|conn| Box::pin(store::free_page(conn))).await;
    assert!(matches!(written, Err(DbError::Unavailable(_))), "{written:?}");
    other.batch_execute("ROLLBACK").unwrap();
    world.until_empty().await;
    assert_eq!(world.started(), ["letter"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_was_claimed_as_often_as_it_may_by_servers_that_died_has_failed_and_the_next_one_runs() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.add("", "poison").await;
        for _ in 0..5 {
            World::claimed_by_a_killed_server(&world.db).await;
        }
        world.add("", "next").await;
        world.slow.release.add_permits(9);
        world.start();
        world.until("it failed", async |world| !world.failed().await.is_empty()).await;
        assert_eq!(world.failed().await, [(5, "the server ended during the last attempt, as if killed".to_owned())]);
        world.until_started(&["next"]).await;
        world.until("both ended", async |world| world.ended().len() == 2).await;
        let why = r#"poison Failed("the server ended during the last attempt, as if killed")"#;
        assert!(world.ended().contains(&why.to_owned()) && world.ended().contains(&"next Done".to_owned()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_of_the_server_gives_the_attempt_back_however_often_it_comes() {
    on_both(async |db| {
        for _ in 0..6 {
            let world = World::of(db.clone(), 1);
            if world.db.read(|conn| Box::pin(rows::all(conn))).await.unwrap().is_empty() {
                world.add("", "long").await;
            }
            world.start();
            world.until_started(&["long"]).await;
            assert!(world.tasks.end(Duration::from_secs(20)).await);
        }
        let attempts = operator::list_for_admin(&db, false, Id::from_uuid(Uuid::nil()), 9).await.unwrap();
        assert_eq!(attempts.iter().map(|job| (job.attempts, job.failed_at)).collect::<Vec<_>>(), [(0, None)]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_fails_because_the_server_stops_does_not_count() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.add("", "one").await;
        world.start();
        world.until_started(&["one"]).await;
        world.slow.failing.store(1, Ordering::SeqCst);
        world.tasks.stopping().cancel();
        world.slow.release.add_permits(1);
        assert!(world.tasks.end(Duration::from_secs(20)).await);
        let listed = operator::list_for_admin(&world.db, false, Id::from_uuid(Uuid::nil()), 9).await.unwrap();
        assert_eq!(listed.iter().map(|job| (job.attempts, job.failed_at)).collect::<Vec<_>>(), [(0, None)]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_exceeds_its_time_limit_is_dropped_and_fails_after_its_attempts_and_the_next_one_runs() {
    on_both(async |db| {
        let mut world = World::of(db, 1);
        world.slow.time_limit = Duration::from_millis(20);
        world.add("a", "endless").await;
        world.start();
        world
            .until("it failed", async |world| {
                world.clock.0.fetch_add(100_000, Ordering::SeqCst);
                !world.failed().await.is_empty()
            })
            .await;
        assert_eq!(world.failed().await, [(5, "the attempt took longer than its limit of 0 s".to_owned())]);
        assert_eq!(world.started(), ["endless"; 5]);
        world.slow.release.add_permits(1);
        world.add("b", "next").await;
        world.until("the next one is done", async |world| world.ended().contains(&"next Done".to_owned())).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discarded_job_ends_without_another_attempt_and_what_it_was_for_hears_of_it() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.add("", "unwanted").await;
        let all = operator::list_for_admin(&world.db, false, Id::from_uuid(Uuid::nil()), 9).await.unwrap();
        let which = operator::Which { id: Some(all[0].id), kind: None };
        let discarded = operator::discard(&world.db, which, world.clock.now()).await.unwrap();
        assert_eq!((discarded.failed, discarded.unfinished), (0, 1));
        world.start();
        world.until_empty().await;
        assert_eq!(world.started(), Vec::<String>::new());
        assert_eq!(world.ended(), [r#"unwanted Failed("an operator discarded the job")"#]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_job_goes_on_in_turns_which_count_as_no_attempts_and_other_keys_go_in_between() {
    on_both(async |db| {
        let world = World::of(db, 1);
        world.slow.parts.store(9, Ordering::SeqCst);
        world.add("a", "long").await;
        world.start();
        world.until_started(&["long"]).await;
        world.add("b", "short").await;
        // The short one leaves a part of its work as well.
        world.slow.release.add_permits(20);
        world.until_empty().await;
        let started = world.started();
        assert_eq!(started[..4], ["long", "short", "long", "short"], "{started:?}");
        assert_eq!((started.len(), world.failed().await), (11, Vec::new()));
    })
    .await;
}
