//! A world for live things, in memory: a journal as strict as the real one, that fails when told to.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![cfg_attr(test, expect(dead_code, reason = "each test binary takes what it needs"))]

pub mod people;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actors::hub::{EventLog, Hub, HubLimits};
use actors::ids::{Id, Project, User};
use actors::keeper::{AllLocal, Keeper, Parts};
use actors::live::{Decided, Group, Journal, Live, RequestId, Tasks, Told, Topic, TopicKind, Unavailable, Unsaved};
use actors::meeting::{self, ConsentPolicy, Meeting};
use actors::run::{self, AnalysisType, Run};
use actors::shell::{Arbiters, Limits};
use actors::time::{Clock, Time};
use actors::watch::{Reading, Watch};
use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};

/// What becomes of the next save or load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written.
    Fails,
    /// As if another process had been first, which wrote nothing that this one sees.
    Conflicts,
    /// Never answers, writes nothing.
    Hangs,
    /// Writes, and never answers.
    WritesAndHangs,
    /// Writes, and says that it doesn't know.
    WritesUnknown,
    /// Says that it doesn't know, and is written or undone when the test says so.
    LateUnknown,
    /// Never answers, and is written or undone when the test says so.
    LateAndHangs,
    Panics,
}

/// The store: states by key, events by topic. Refuses stale revisions.
pub struct Store<L: Live> {
    states: Mutex<HashMap<L::Key, L>>,
    events: Mutex<BTreeMap<Topic, Vec<Told>>>,
    on_save: Mutex<VecDeque<Option<Fault>>>,
    on_load: Mutex<VecDeque<Fault>>,
    gate: Mutex<Option<Arc<Semaphore>>>,
    /// Saves whose end is in the test's hands.
    late: watch::Sender<Vec<Arc<Group<L>>>>,
    /// How often settling fails yet.
    unsettled: AtomicUsize,
    pub loads: AtomicUsize,
    pub saves: AtomicUsize,
    /// Loads and saves that wait at the gate or hang.
    pub waiting: AtomicUsize,
    kind: fn(&L::Event) -> &'static str,
}

impl<L: Live> Store<L> {
    pub fn new(kind: fn(&L::Event) -> &'static str) -> Arc<Self> {
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

    /// What becomes of the saves to come; `None`: that one is well.
    pub fn next_saves(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.on_save.lock().unwrap().extend(faults);
    }

    pub fn next_load(&self, fault: Fault) {
        self.on_load.lock().unwrap().push_back(fault);
    }

    /// What was late is written, and its end is known.
    pub fn land(&self) {
        self.late.send_modify(|late| late.drain(..).for_each(|group| drop(self.write(&group).unwrap())));
    }

    /// What was late is undone, and its end is known.
    pub fn undo(&self) {
        self.late.send_modify(Vec::clear);
    }

    /// Nobody can tell, so many times, what became of a save.
    pub fn next_settlings_fail(&self, times: usize) {
        self.unsettled.store(times, Ordering::SeqCst);
    }

    /// From now on loads and saves wait until they are let through, one a permit.
    pub fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(Arc::clone(&gate));
        gate
    }

    pub fn told(&self, topic: Topic) -> Vec<Told> {
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

    fn write(&self, group: &Group<L>) -> Result<Vec<Told>, Unsaved> {
        let mut states = self.states.lock().unwrap();
        let before = &group.before;
        let stored = states.get_mut(&before.key()).ok_or_else(|| Unsaved::Failed("no such row".to_owned()))?;
        if stored.revision() != before.revision() {
            return Err(Unsaved::Conflict);
        }
        *stored = group.after().clone();
        let mut events = self.events.lock().unwrap();
        let mut told = Vec::new();
        let mut own = before.revision();
        for Decided { change, request, at } in &group.changes {
            for event in &change.events {
                own += 1;
                for topic in change.next.topics() {
                    let rows = events.entry(topic).or_default();
                    let offset = match topic.kind {
                        TopicKind::Project => rows.last().map_or(1, |last: &Told| last.offset + 1),
                        TopicKind::Meeting | TopicKind::Run => own,
                    };
                    let kind = (self.kind)(event).into();
                    let data = format!("{:?}", change.next).into();
                    let row = Told { topic, offset, kind, data, at: *at, request: Arc::clone(request) };
                    rows.push(row.clone());
                    told.push(row);
                }
            }
        }
        Ok(told)
    }
}

#[async_trait]
impl<L: Live> Journal<L> for Store<L> {
    async fn load(&self, key: L::Key) -> Result<Option<L>, Unavailable> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        self.pass().await;
        let fault = self.on_load.lock().unwrap().pop_front();
        match fault {
            None => Ok(self.states.lock().unwrap().get(&key).cloned()),
            Some(Fault::Hangs) => self.hang().await,
            Some(Fault::Panics) => panic!("a bug in the journal"),
            Some(_) => Err(Unavailable("away".to_owned())),
        }
    }

    async fn save(&self, group: Arc<Group<L>>) -> Result<Vec<Told>, Unsaved> {
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

    async fn settle(&self, key: L::Key) -> Result<(), Unavailable> {
        let fails = self.unsettled.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |times| times.checked_sub(1));
        if fails.is_ok() {
            return Err(Unavailable("away".to_owned()));
        }
        let has_ended = |late: &Vec<Arc<Group<L>>>| late.iter().all(|group| group.before.key() != key);
        self.late.subscribe().wait_for(has_ended).await.unwrap();
        Ok(())
    }

    async fn awake(&self) -> Result<Vec<L::Key>, Unavailable> {
        let states = self.states.lock().unwrap();
        Ok(states.values().filter(|state| state.stays_awake()).map(L::key).collect())
    }
}

#[async_trait]
impl<L: Live> EventLog for Store<L> {
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<Told>, Unavailable> {
        Ok(self.told(topic).into_iter().filter(|told| told.offset > after).take(limit).collect())
    }
}

/// A clock that stands until it is moved.
#[derive(Debug, Default)]
pub struct Hands(AtomicI64);

impl Hands {
    pub fn move_on(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Time {
        noon() + Duration::from_millis(u64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }
}

/// Everything around a keeper.
pub struct World<L: Live> {
    pub store: Arc<Store<L>>,
    pub hub: Hub,
    pub keeper: Keeper<L>,
    pub hands: Arc<Hands>,
    pub arbiters: Arbiters,
    watch: Watch,
}

impl<L: Live> World<L> {
    pub fn new(store: Arc<Store<L>>, arbiters: Arbiters, limits: Limits) -> Self {
        let hands = Arc::new(Hands::default());
        let tasks: Arc<dyn Tasks> = Arc::new(arbiters.clone());
        let hub = Hub::new(Arc::clone(&store) as Arc<dyn EventLog>, tasks, HubLimits::default());
        let watch = Watch::default();
        let keeper = Keeper::new(Parts {
            journal: Arc::clone(&store) as Arc<dyn Journal<L>>,
            bus: Arc::new(hub.clone()),
            clock: Arc::clone(&hands) as Arc<dyn Clock>,
            ownership: Arc::new(AllLocal),
            arbiters: arbiters.clone(),
            watch: watch.clone(),
            limits,
        });
        Self { store, hub, keeper, hands, arbiters, watch }
    }

    /// On the test's own thread, where time stands still until everything waits for it.
    pub fn on_paused_time(store: Arc<Store<L>>, limits: Limits) -> Self {
        tokio::time::pause();
        Self::new(store, Arbiters::here().unwrap(), limits)
    }

    pub fn figures(&self) -> Reading {
        self.watch.kind(L::KIND).read()
    }
}

/// Lets everything else on this thread go on until the condition holds. Takes no time from a paused clock.
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
        meeting::Draft {
            id: Id::draw(),
            project_id: Id::<Project>::draw(),
            title: "Kick-off".to_owned(),
            description: String::new(),
            scheduled_at: noon(),
            consent_policy: ConsentPolicy::All,
            created_by: Id::<User>::draw(),
            host: Id::draw(),
            host_name: "Ada".to_owned(),
            host_email: Some("ada@example.org".to_owned()),
        },
        noon(),
    )
}

pub fn run() -> Run {
    Run::queue(
        run::Draft {
            id: Id::draw(),
            project_id: Id::draw(),
            created_by: Id::draw(),
            document_ids: vec![Id::draw()],
            meeting_id: None,
            analysis_type: AnalysisType::Full,
            language: "EN".to_owned(),
            engine: "embedded".to_owned(),
            ai_job_id: Id::draw(),
            input_hash: "hash".to_owned(),
        },
        noon(),
    )
    .next
}

/// A small generator of chance with a seed (SplitMix64), so that a failing sequence can be told by one number.
pub struct Chance(u64);

impl Chance {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From `ACTORS_SEED`, or drawn. Printed, so that a failure can be repeated.
    pub fn from_env() -> (Self, u64) {
        let seed = std::env::var("ACTORS_SEED").ok().map_or_else(
            || {
                let drawn = Id::<()>::draw().uuid().as_u128();
                (drawn ^ (drawn >> 64)) as u64
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
