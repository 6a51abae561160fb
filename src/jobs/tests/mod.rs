//! Mail jobs, with a scripted mail server and a clock that the tests set.

mod worker;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actors::hub::{Hub, HubLimits};
use actors::live::{EventRecord, RequestId};
use actors::time::{Clock, Time};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::mail::{
    Delivered, EmailBlock, EmailKind, Locale, Outbox, OutgoingEmail, QueuedEmail, SendEmail, SendEmailHandler,
};
use super::{
    Handler, Handlers, Job, JobError, JobOutcome, JobPayload, Jobs, Turns, WorkerContext, enqueue, enqueue_in_turn,
    work,
};
use crate::clients::mail::{EmailInTransit, Mail, SendError};
use crate::db::{Conn, Db, DbError, DbSettings};
use crate::keys::Secret;
use crate::live::event_log::Rows;
use crate::tasks::Tasks;

const CODE: &str = "482913";

/// A clock that the test sets.
#[derive(Default)]
struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time::from_millis(1_764_000_000_000 + self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// A mail server that gives its scripted answers, and accepts everything after them.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Result<(), SendError>>>,
    ids: Mutex<Vec<String>>,
    attempts: AtomicUsize,
}

#[async_trait]
impl Mail for Arc<Scripted> {
    async fn send(&self, sending: &EmailInTransit<'_>) -> Result<(), SendError> {
        self.attempts.fetch_add(1, Ordering::SeqCst);
        self.ids.lock().unwrap().push(sending.id.to_owned());
        assert!(sending.email.text().contains(CODE));
        self.answers.lock().unwrap().pop_front().unwrap_or(Ok(()))
    }
}

/// Records the outcomes of e-mails; fails to record that of the broken one.
#[derive(Clone, Default)]
struct OutcomeRecorder(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Delivered for OutcomeRecorder {
    fn kind(&self) -> &'static str {
        "invitation"
    }
    async fn record(
        &self,
        _conn: &mut Conn,
        id: &str,
        outcome: JobOutcome<'_>,
        _now: Time,
        request: &RequestId,
    ) -> Result<Vec<EventRecord>, DbError> {
        self.0.lock().unwrap().push(format!("{id} {outcome:?} {request}"));
        if id == "broken" { Err(DbError::Broken("it can't be kept".to_owned())) } else { Ok(Vec::new()) }
    }
}

/// A job of another kind.
#[derive(Serialize, Deserialize)]
struct Count;

impl JobPayload for Count {
    const KIND: &'static str = "other";
    const TURNS: Turns = Turns::InOrder("a test");
}

/// Counts its jobs.
struct Other(Arc<AtomicUsize>);

#[async_trait]
impl Handler for Other {
    type Payload = Count;

    fn time_limit(&self) -> Duration {
        Duration::from_secs(60)
    }

    async fn run(&self, _job: &Job, _: Count) -> Result<(), JobError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// A module of its own, because importing `RunQueryDsl` adds `load` to atomics too.
mod rows {
    use actors::time::Time;
    use diesel::QueryDsl;

    use crate::db::schema::jobs;
    use crate::db::{Conn, DbError, RunQueryDsl};

    pub async fn payload(conn: &mut Conn) -> String {
        jobs::table.select(jobs::payload).first(conn).await.unwrap()
    }

    /// Returns the payload, the last error, and whether it failed, of each job.
    pub async fn all(conn: &mut Conn) -> Result<Vec<(String, Option<String>, bool)>, DbError> {
        let all = jobs::table.order(jobs::created_at).select((jobs::payload, jobs::last_error, jobs::failed_at));
        let all: Vec<(String, Option<String>, Option<Time>)> = all.load(conn).await?;
        Ok(all.into_iter().map(|(payload, error, failed)| (payload, error, failed.is_some())).collect())
    }
}

struct World {
    db: Db,
    clock: Arc<TestClock>,
    jobs: Jobs,
    outbox: Outbox,
    server: Arc<Scripted>,
    recorder: OutcomeRecorder,
    others: Arc<AtomicUsize>,
    tasks: Tasks,
    _folder: TempDir,
}

impl World {
    async fn answering(answers: impl IntoIterator<Item = Result<(), SendError>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.sqlite").display());
        let db = Db::open(DbSettings::at(url)).await.unwrap();
        let server = Arc::new(Scripted { answers: Mutex::new(answers.into_iter().collect()), ..Scripted::default() });
        let (clock, tasks) = (Arc::new(TestClock::default()), Tasks::on(tokio::runtime::Handle::current()));
        let jobs = Jobs::by(clock.clone() as Arc<dyn Clock>);
        let (recorder, others) = (OutcomeRecorder::default(), Arc::new(AtomicUsize::new(0)));
        let outbox = Outbox::sealing_with(Secret::of(vec![7; 32]));
        let sender =
            SendEmailHandler::new(Arc::new(Arc::clone(&server)), outbox.clone(), clock.clone() as Arc<dyn Clock>);
        let handlers = Handlers::default().with(sender.recording(recorder.clone())).with(Other(Arc::clone(&others)));
        let hub = Hub::new(Arc::new(Rows(db.clone())), Arc::new(tasks.clone()), HubLimits::default());
        let context = WorkerContext { db: db.clone(), hub, jobs: jobs.clone(), tasks: tasks.clone() };
        tasks.spawn(work(context, handlers));
        Self { db, clock, jobs, outbox, server, recorder, others, tasks, _folder: folder }
    }

    async fn send(&self, email: impl Into<QueuedEmail>) {
        let (outbox, email, now) = (self.outbox.clone(), email.into(), self.clock.now());
        let sent = self.db.write(move |conn| {
            Box::pin(async move { outbox.send(conn, email, now, &RequestId::from("a-call")).await })
        });
        sent.await.unwrap();
        self.jobs.wake();
    }

    fn move_on(&self, by: Duration) {
        self.clock.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
        self.jobs.wake();
    }

    async fn rows(&self) -> Vec<(String, Option<String>, bool)> {
        self.db.read(|conn| Box::pin(rows::all(conn))).await.unwrap()
    }

    async fn until(&self, what: &str, holds: impl AsyncFn(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds(self).await {
            assert!(Instant::now() < deadline, "{what}: {:?} {:?}", self.rows().await, self.server.ids);
            self.jobs.wake();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn until_empty(&self) {
        self.until("all is sent", async |world| world.rows().await.is_empty()).await;
    }

    fn attempts(&self) -> usize {
        self.server.attempts.load(Ordering::SeqCst)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.tasks.stopping().cancel();
    }
}

fn email() -> OutgoingEmail {
    OutgoingEmail {
        kind: EmailKind::ConfirmationCode,
        to: "ada@example.org".to_owned(),
        locale: Locale::English,
        subject: "Your code".to_owned(),
        blocks: vec![EmailBlock::Code(CODE.to_owned())],
        calendar: None,
    }
}

fn away() -> Result<(), SendError> {
    Err(SendError::Unavailable("nobody answers".to_owned()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_waits_sealed_and_is_the_same_at_each_try() {
    let later = Err(SendError::Later("451".to_owned()));
    let world = World::answering([away(), later]).await;
    world.send(email()).await;
    world.until("it was tried", async |world| world.rows().await[0].1.is_some()).await;
    let (payload, error, for_good) = world.rows().await.remove(0);
    assert!(payload.starts_with(r#"{"sealed":"#) && !payload.contains(CODE) && !payload.contains("ada"), "{payload}");
    assert_eq!((error.as_deref(), for_good), (Some("nobody answers"), false));
    world.move_on(Duration::from_secs(2));
    world.until("it was put off", async |world| world.rows().await[0].1.as_deref() == Some("451")).await;
    world.move_on(Duration::from_secs(10));
    world.until_empty().await;
    let ids = world.server.ids.lock().unwrap().clone();
    assert_eq!(ids, vec![ids[0].clone(); 3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sealed_letter_opens_in_no_other_row_and_with_no_other_key() {
    let world = World::answering([]).await;
    let stranger = Outbox::sealing_with(Secret::of(vec![8; 32]));
    let now = world.clock.now();
    let forged = world.db.write(move |conn| {
        Box::pin(async move {
            stranger.send(conn, email(), now, &RequestId::from("r")).await?;
            let payload: SendEmail = serde_json::from_str(&rows::payload(conn).await).unwrap();
            enqueue_in_turn(conn, "", &payload, now, &RequestId::from("r")).await
        })
    });
    forged.await.unwrap();
    world.until("both fail", async |world| world.rows().await.iter().all(|row| row.2)).await;
    assert_eq!((world.rows().await.len(), world.attempts()), (2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asked_hears_once_what_became_of_a_letter() {
    let refused = Err(SendError::Refused("550 nobody here".to_owned()));
    let world = World::answering([away(), refused]).await;
    world.send(QueuedEmail::from(email()).reporting_to("invitation", "one")).await;
    world.until("it was tried", async |world| world.rows().await[0].1.is_some()).await;
    assert!(world.recorder.0.lock().unwrap().is_empty(), "nothing has become of it yet");
    world.move_on(Duration::from_secs(2));
    world.until("it failed", async |world| world.rows().await[0].2).await;
    world.send(QueuedEmail::from(email()).reporting_to("invitation", "two")).await;
    world.send(email()).await;
    world.until("the others went", async |world| world.rows().await.len() == 1).await;
    let received = world.recorder.0.lock().unwrap().clone();
    assert_eq!(received, [r#"one Failed("550 nobody here") a-call"#, "two Done a-call"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_is_not_sent_again_because_nobody_could_keep_that_it_was() {
    let world = World::answering([]).await;
    world.send(QueuedEmail::from(email()).reporting_to("invitation", "broken")).await;
    world.send(QueuedEmail::from(email()).reporting_to("nobody's", "x")).await;
    world.until_empty().await;
    assert_eq!(world.attempts(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_server_that_is_away_is_not_asked_for_each_letter_and_nothing_else_waits() {
    let world = World::answering((0..3).map(|_| away())).await;
    for _ in 0..30 {
        world.send(email()).await;
    }
    // Two may have started before the result of the first arrived.
    world.until("it was asked", async |world| world.attempts() >= 1).await;
    let now = world.clock.now();
    let other =
        world.db.write(move |conn| Box::pin(async move { enqueue(conn, &Count, now, &RequestId::from("r")).await }));
    other.await.unwrap();
    world.until("the other is done", async |world| world.others.load(Ordering::SeqCst) == 1).await;
    assert!(world.attempts() <= 2, "{} e-mails were sent to an unavailable server", world.attempts());
    world
        .until("all went", async |world| {
            world.move_on(Duration::from_secs(100));
            world.rows().await.is_empty()
        })
        .await;
    // Those that found the mail server unavailable were retried; all were sent.
    let mut ids = world.server.ids.lock().unwrap().clone();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_whose_time_is_over_is_given_up_unsent() {
    let world = World::answering([away(), away()]).await;
    let soon = world.clock.now() + Duration::from_secs(600);
    world.send(QueuedEmail::from(email()).until(soon).reporting_to("invitation", "late")).await;
    world.until("it was tried", async |world| world.rows().await[0].1.is_some()).await;
    world.move_on(Duration::from_secs(601));
    world.until("it is given up", async |world| world.rows().await[0].2).await;
    assert_eq!(world.attempts(), 1);
    assert_eq!(*world.recorder.0.lock().unwrap(), [r#"late Failed("the e-mail has expired") a-call"#]);
    // Without its own expiry an e-mail has three days.
    world.send(email()).await;
    world.until("it was tried", async |world| world.rows().await.iter().all(|row| row.1.is_some())).await;
    world.move_on(Duration::from_secs(3 * 24 * 3600));
    world.until("it is given up", async |world| world.rows().await.iter().all(|row| row.2)).await;
    assert_eq!(world.attempts(), 2);
}
