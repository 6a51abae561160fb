//! An in-memory test environment for actors: a journal as strict as the real one, with faults on demand.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![cfg_attr(test, expect(dead_code, reason = "each test binary takes what it needs"))]

pub mod participants;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::hub::{EventLog, Hub, HubLimits};
use actors::ids::{Id, Project, User};
use actors::language::Language;
use actors::live::{
    Batch, Decided, EventRecord, Journal, Live, RequestId, Spawner, StoreUnavailable, Topic, TopicKind, Unsaved,
};
use actors::mailbox_metrics::{KindFigures, MailboxMetrics};
use actors::meeting::{self, ConsentPolicy, Meeting};
use actors::registry::{AllLocal, Registry, RegistryParts};
use actors::run::{self, AnalysisType, Run};
use actors::shell::{Arbiters, ShellLimits};
use actors::time::{Clock, Time};
use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};

/// A fault of the next save or load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written.
    Fails,
    /// Returns a conflict, as if another process had saved first, but writes nothing.
    Conflicts,
    /// Never returns, writes nothing.
    Hangs,
    /// Writes, and never returns.
    WritesAndHangs,
    /// Writes, and returns an unknown outcome.
    WritesUnknown,
    /// Returns an unknown outcome; the test decides later whether it is written or rolled back.
    LateUnknown,
    /// Never returns; the test decides later whether it is written or rolled back.
    LateAndHangs,
    Panics,
}

/// An in-memory journal: states by key, events by topic. Refuses stale revisions with a conflict.
pub struct Store<L: Live> {
    states: Mutex<HashMap<L::Key, L>>,
    events: Mutex<BTreeMap<Topic, Vec<EventRecord>>>,
    on_save: Mutex<VecDeque<Option<Fault>>>,
    on_load: Mutex<VecDeque<Fault>>,
    gate: Mutex<Option<Arc<Semaphore>>>,
    /// Saves whose outcome the test decides.
    late: watch::Sender<Vec<Arc<Batch<L>>>>,
    /// How many more times `wait_for_outcomes` fails.
    unsettled: AtomicUsize,
    pub loads: AtomicUsize,
    pub saves: AtomicUsize,
    /// Loads and saves that wait at the gate or hang.
    pub waiting: AtomicUsize,
    kind: fn(&L::Event) -> EventKind,
}

impl<L: Live> Store<L> {
    pub fn new(kind: fn(&L::Event) -> EventKind) -> Arc<Self> {
        Arc::new(Self {
            states: Mutex::default(),
            events: Mutex::default(),
            on_save: Mutex::default(),
            on_load: Mutex::default(),
            gate: Mutex::default(),
            late: watch::Sender::new(Vec::new()),
            unsettled: AtomicUsize::new(0),
            loads: AtomicUsize::new(0),
            saves: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            kind,
        })
    }

    pub fn insert(&self, state: L) -> L::Key {
        let key = state.key();
        self.states.lock().unwrap().insert(key, state);
        key
    }

    pub fn get(&self, key: L::Key) -> L {
        self.states.lock().unwrap().get(&key).unwrap().clone()
    }

    pub fn next_save(&self, fault: Fault) {
        self.on_save.lock().unwrap().push_back(Some(fault));
    }

    /// Sets the faults of the next saves; `None` means that the save succeeds.
    pub fn next_saves(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.on_save.lock().unwrap().extend(faults);
    }

    pub fn next_load(&self, fault: Fault) {
        self.on_load.lock().unwrap().push_back(fault);
    }

    /// Writes the late saves, which settles them.
    pub fn land(&self) {
        self.late.send_modify(|late| late.drain(..).for_each(|group| drop(self.write(&group).unwrap())));
    }

    /// Rolls the late saves back, which settles them.
    pub fn undo(&self) {
        self.late.send_modify(Vec::clear);
    }

    /// Makes the next `times` calls of `wait_for_outcomes` fail.
    pub fn next_settlings_fail(&self, times: usize) {
        self.unsettled.store(times, Ordering::SeqCst);
    }

    /// Makes loads and saves wait at the returned gate until the test adds permits, one for each.
    pub fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(Arc::clone(&gate));
        gate
    }

    pub fn records(&self, topic: Topic) -> Vec<EventRecord> {
        self.events.lock().unwrap().get(&topic).cloned().unwrap_or_default()
    }

    async fn pass(&self) {
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            gate.acquire().await.unwrap().forget();
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        tokio::task::yield_now().await;
    }

    async fn hang(&self) -> ! {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }

    fn write(&self, group: &Batch<L>) -> Result<Vec<EventRecord>, Unsaved> {
        let mut states = self.states.lock().unwrap();
        let before = &group.before;
        let stored = states.get_mut(&before.key()).ok_or_else(|| Unsaved::Failed("no such row".to_owned()))?;
        if stored.revision() != before.revision() {
            return Err(Unsaved::Conflict);
        }
        *stored = group.after().clone();
        let mut events = self.events.lock().unwrap();
        let mut records = Vec::new();
        let mut own = before.revision();
        for Decided { change, request, at } in &group.changes {
            for event in &change.events {
                own += 1;
                for topic in change.next.topics() {
                    let rows = events.entry(topic).or_default();
                    let offset = match topic.kind {
                        TopicKind::Project => rows.last().map_or(1, |last: &EventRecord| last.offset + 1),
                        TopicKind::Meeting | TopicKind::Run => own,
                    };
                    let kind = (self.kind)(event);
                    let data = format!("{:?}", change.next).into();
                    let row = EventRecord { topic, offset, kind, data, at: *at, request: Arc::clone(request) };
                    rows.push(row.clone());
                    records.push(row);
                }
            }
        }
        Ok(records)
    }
}

#[async_trait]
impl<L: Live> Journal<L> for Store<L> {
    async fn load(&self, key: L::Key) -> Result<Option<L>, StoreUnavailable> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        self.pass().await;
        let fault = self.on_load.lock().unwrap().pop_front();
        match fault {
            None => Ok(self.states.lock().unwrap().get(&key).cloned()),
            Some(Fault::Hangs) => self.hang().await,
            Some(Fault::Panics) => panic!("a bug in the journal"),
            Some(_) => Err(StoreUnavailable("away".to_owned())),
        }
    }

    async fn save(&self, group: Arc<Batch<L>>) -> Result<Vec<EventRecord>, Unsaved> {
        self.saves.fetch_add(1, Ordering::SeqCst);
        self.pass().await;
        let fault = self.on_save.lock().unwrap().pop_front().flatten();
        match fault {
            None => self.write(&group),
            Some(Fault::Fails) => Err(Unsaved::Failed("away".to_owned())),
            Some(Fault::Conflicts) => Err(Unsaved::Conflict),
            Some(Fault::Hangs) => self.hang().await,
            Some(Fault::WritesAndHangs) => {
                self.write(&group)?;
                self.hang().await
            }
            Some(Fault::WritesUnknown) => {
                self.write(&group)?;
                Err(Unsaved::Unknown("the connection broke".to_owned()))
            }
            Some(Fault::LateUnknown) => {
                self.late.send_modify(|late| late.push(group));
                Err(Unsaved::Unknown("no answer to COMMIT".to_owned()))
            }
            Some(Fault::LateAndHangs) => {
                self.late.send_modify(|late| late.push(group));
                self.hang().await
            }
            Some(Fault::Panics) => panic!("a bug in the journal"),
        }
    }

    async fn wait_for_outcomes(&self, key: L::Key) -> Result<(), StoreUnavailable> {
        let fails = self.unsettled.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |times| times.checked_sub(1));
        if fails.is_ok() {
            return Err(StoreUnavailable("away".to_owned()));
        }
        let has_ended = |late: &Vec<Arc<Batch<L>>>| late.iter().all(|group| group.before.key() != key);
        self.late.subscribe().wait_for(has_ended).await.unwrap();
        Ok(())
    }

    async fn awake(&self) -> Result<Vec<L::Key>, StoreUnavailable> {
        let states = self.states.lock().unwrap();
        Ok(states.values().filter(|state| state.stays_awake()).map(L::key).collect())
    }
}

#[async_trait]
impl<L: Live> EventLog for Store<L> {
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<EventRecord>, StoreUnavailable> {
        Ok(self.records(topic).into_iter().filter(|record| record.offset > after).take(limit).collect())
    }
}

/// A clock that only moves when the test moves it.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn move_on(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        noon() + Duration::from_millis(u64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }
}

/// A registry with all its dependencies.
pub struct World<L: Live> {
    pub store: Arc<Store<L>>,
    pub hub: Hub,
    pub registry: Registry<L>,
    pub clock: Arc<ManualClock>,
    pub arbiters: Arbiters,
    metrics: MailboxMetrics,
}

impl<L: Live> World<L> {
    pub fn new(store: Arc<Store<L>>, arbiters: Arbiters, limits: ShellLimits) -> Self {
        let clock = Arc::new(ManualClock::default());
        let tasks: Arc<dyn Spawner> = Arc::new(arbiters.clone());
        let hub = Hub::new(Arc::clone(&store) as Arc<dyn EventLog>, tasks, HubLimits::default());
        let metrics = MailboxMetrics::default();
        let registry = Registry::new(RegistryParts {
            journal: Arc::clone(&store) as Arc<dyn Journal<L>>,
            bus: Arc::new(hub.clone()),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ownership: Arc::new(AllLocal),
            arbiters: arbiters.clone(),
            metrics: metrics.clone(),
            limits,
        });
        Self { store, hub, registry, clock, arbiters, metrics }
    }

    /// Runs everything on the test's own thread with tokio's paused clock, which only advances when all tasks are idle.
    pub fn on_paused_time(store: Arc<Store<L>>, limits: ShellLimits) -> Self {
        tokio::time::pause();
        Self::new(store, Arbiters::here().unwrap(), limits)
    }

    pub fn figures(&self) -> KindFigures {
        self.metrics.kind(L::KIND).read()
    }
}

/// Yields to the other tasks of this thread until the condition holds. Does not advance a paused clock. Panics after
/// 100,000 yields.
pub async fn until(mut holds: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it never came to hold");
}

pub fn noon() -> Time {
    Time::from_millis(1_767_268_800_000).unwrap()
}

pub fn request(text: &str) -> RequestId {
    text.into()
}

pub fn meeting() -> Meeting {
    Meeting::schedule(
        meeting::MeetingDraft {
            id: Id::generate(),
            project_id: Id::<Project>::generate(),
            title: "Kick-off".to_owned(),
            description: String::new(),
            scheduled_at: noon().into(),
            consent_policy: ConsentPolicy::All,
            created_by: Id::<User>::generate(),
            host: Id::generate(),
            host_name: "Ada".to_owned(),
            host_email: Some("ada@example.org".to_owned()),
        },
        noon(),
    )
}

pub fn run() -> Run {
    Run::queue(
        run::RunDraft {
            id: Id::generate(),
            project_id: Id::generate(),
            created_by: Id::generate(),
            document_ids: vec![Id::generate()],
            document_versions: vec![1],
            meeting_id: None,
            analysis_type: AnalysisType::Full,
            language: Language::En,
            engine: "embedded".to_owned(),
            ai_job_id: Id::generate(),
            input_hash: "hash".to_owned(),
        },
        noon(),
    )
    .next
}

/// A small seeded random number generator (SplitMix64), so that a failing sequence is identified by one number.
pub struct Chance(u64);

impl Chance {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Seeded from `ACTORS_SEED`, or randomly. Prints the seed, so that a failure can be repeated.
    pub fn from_env() -> (Self, u64) {
        let seed = std::env::var("ACTORS_SEED").ok().map_or_else(
            || {
                let bits = Id::<()>::generate().uuid().as_u128();
                (bits ^ (bits >> 64)) as u64
            },
            |text| text.parse().unwrap(),
        );
        println!("ACTORS_SEED={seed}");
        (Self(seed), seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        of.get(usize::try_from(self.below(of.len() as u64)).unwrap()).unwrap()
    }

    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).unwrap();
            things.swap(last, other);
        }
    }
}
