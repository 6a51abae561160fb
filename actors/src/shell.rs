//! One actor around any live thing. The only file of this crate that names actix.
//!
//! For each command: decide (pure, panics caught), save (with a limit), and only then publish and tell. While a save
//! runs the actor takes nothing else: neither commands nor its own timer. An actor whose save failed, conflicted or
//! ended nobody knows how stops, and the next command meets a fresh one, loaded from the store.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use actix::dev::SendError;
use actix::prelude::*;
use arc_swap::ArcSwap;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::hub::Bus;
use crate::live::{Change, Journal, Live, RequestId, Tasks, Told, Unsaved};
use crate::panics::{caught, caught_async};
use crate::time::{Clock, Time};
use crate::watch::KindWatch;

/// A state as it was after a save: what readers see without a mailbox.
pub struct Snapshot<L> {
    pub state: L,
    rendered: OnceLock<Arc<[u8]>>,
}

impl<L> Snapshot<L> {
    #[must_use]
    pub const fn new(state: L) -> Self {
        Self { state, rendered: OnceLock::new() }
    }

    /// The state in bytes, rendered once however many ask. One form a snapshot: all callers pass the same `with`.
    pub fn rendered(&self, with: impl FnOnce(&L) -> Vec<u8>) -> Arc<[u8]> {
        Arc::clone(self.rendered.get_or_init(|| with(&self.state).into()))
    }
}

impl<L: fmt::Debug> fmt::Debug for Snapshot<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.state).finish()
    }
}

/// Why a command had no effect that its sender may count on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure<R> {
    /// The thing refused. Nothing changed.
    Refused(R),
    /// There is no such thing.
    Missing,
    /// Turned away before anything was decided: later it may do.
    Busy,
    /// Decided, but not saved; after [`Unsaved::Unknown`] it may have been.
    Unsaved(Unsaved),
    /// A bug: deciding panicked or contradicted itself. Nothing changed.
    Broken,
}

/// What a command comes to.
pub type Answer<L> = Result<Arc<Snapshot<L>>, Failure<<L as Live>::Refusal>>;

/// How much, how many, how long. The defaults are the service's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Commands that wait for one thing. 256 saves of 5 ms, one after the other, are what a caller still waits for.
    pub mailbox: usize,
    /// How long a save or a load may take: what is owed to callers while the database is away.
    pub save: Duration,
    /// How long a thing is kept awake after its last command, if it needn't be.
    pub idle: Duration,
    /// Things awake at once: at about 4 kB each this is memory, not time.
    pub awake: usize,
    /// Things that are woken at once at start-up.
    pub waking: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { mailbox: 256, save: Duration::from_secs(2), idle: Duration::from_secs(300), awake: 100_000, waking: 64 }
    }
}

/// Between two looks at whether a thing may sleep, at least: a limit of zero must not spin.
const SHORTEST_LOOK: Duration = Duration::from_millis(1);

/// Everything that the shells of one kind share.
pub(crate) struct World<L: Live> {
    pub journal: Arc<dyn Journal<L>>,
    pub bus: Arc<dyn Bus>,
    pub clock: Arc<dyn Clock>,
    pub watch: Arc<KindWatch>,
    pub limits: Limits,
}

/// The keeper's entry for an actor: it is dropped when the actor is gone, before its mailbox is, so that whatever
/// comes back from the mailbox finds the entry free.
pub(crate) trait Lease: Send + Unpin + 'static {
    /// The actor has to stop because it can't know any more what the store holds.
    fn troubled(&mut self, must_be_awake: bool);
}

/// What became of a command that was sent to one actor.
pub(crate) enum Asked<L: Live> {
    Answered(Answer<L>),
    /// The actor stopped, or had stopped, before it took the command, which is handed back.
    NeverRan(L::Command),
    Full,
    /// The actor was torn down with the command under way.
    Lost,
}

/// The way to one actor, its mailbox and its published state. Shared, never cloned: each clone of an actix address
/// brings a place in the mailbox of its own, which would make the bound grow with the askers.
pub(crate) struct Handle<L: Live> {
    address: Addr<Shell<L>>,
    published: Arc<ArcSwap<Snapshot<L>>>,
    watch: Arc<KindWatch>,
}

impl<L: Live> Handle<L> {
    pub fn snapshot(&self) -> Arc<Snapshot<L>> {
        self.published.load_full()
    }

    /// Puts the command in the mailbox, if there is room. The answer is waited for without holding the handle.
    pub fn send(&self, command: L::Command, request: RequestId) -> impl Future<Output = Asked<L>> + use<L> {
        let (back, answer) = oneshot::channel();
        let ask = Ask { letter: Some(Letter { command, request, back }), _queued: Queued::new(&self.watch) };
        let sent = match self.address.try_send(ask) {
            Ok(()) => Ok(answer),
            Err(SendError::Full(mut ask)) => {
                ask.letter = None;
                Err(Asked::Full)
            }
            // Dropping it hands the command back.
            Err(SendError::Closed(ask)) => {
                drop(ask);
                Ok(answer)
            }
        };
        async move {
            match sent {
                Ok(answer) => answer.await.unwrap_or(Asked::Lost),
                Err(asked) => asked,
            }
        }
    }

    /// Lets the actor finish what waits in its mailbox, and stop. Returns when it has.
    pub async fn retire(&self) {
        // An error means that it stopped already.
        let _ = self.address.send(Retire).await;
    }
}

struct Letter<L: Live> {
    command: L::Command,
    request: RequestId,
    back: oneshot::Sender<Asked<L>>,
}

/// A command in a mailbox. One that is dropped there goes back to its sender.
struct Ask<L: Live> {
    letter: Option<Letter<L>>,
    _queued: Queued,
}

impl<L: Live> Message for Ask<L> {
    type Result = ();
}

impl<L: Live> Drop for Ask<L> {
    fn drop(&mut self) {
        if let Some(Letter { command, back, .. }) = self.letter.take() {
            // Nobody there to take it: then nobody waits for it either.
            let _ = back.send(Asked::NeverRan(command));
        }
    }
}

/// Counts one command among those that wait, while it lives.
struct Queued(Arc<KindWatch>);

impl Queued {
    fn new(watch: &Arc<KindWatch>) -> Self {
        watch.queued.up();
        Self(Arc::clone(watch))
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.queued.down();
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Retire;

/// The actor.
struct Shell<L: Live> {
    current: Arc<Snapshot<L>>,
    published: Arc<ArcSwap<Snapshot<L>>>,
    world: Arc<World<L>>,
    lease: Box<dyn Lease>,
    asked_at: Instant,
    /// For a save, or for a state that is read anew.
    waits: bool,
}

/// Starts an actor around a state. To be called on one of [`Arbiters`]: it lives on that thread.
pub(crate) fn open<L: Live>(state: L, world: &Arc<World<L>>, lease: Box<dyn Lease>) -> Handle<L> {
    let current = Arc::new(Snapshot::new(state));
    let published = Arc::new(ArcSwap::new(Arc::clone(&current)));
    let shell = Shell {
        current,
        published: Arc::clone(&published),
        world: Arc::clone(world),
        lease,
        asked_at: Instant::now(),
        waits: false,
    };
    let mailbox = world.limits.mailbox;
    let address = Shell::create(|context| {
        context.set_mailbox_capacity(mailbox);
        shell
    });
    Handle { address, published, watch: Arc::clone(&world.watch) }
}

impl<L: Live> Actor for Shell<L> {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        let idle = self.world.limits.idle;
        context.run_interval((idle / 2).max(SHORTEST_LOOK), move |shell, context| {
            // actix looks at timers once more between taking a command and waiting for its save: stopping there would
            // tear the save down.
            if !shell.waits && shell.asked_at.elapsed() >= idle && !shell.current.state.stays_awake() {
                context.stop();
            }
        });
    }
}

impl<L: Live> Handler<Retire> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Retire, context: &mut Self::Context) {
        context.stop();
    }
}

impl<L: Live> Handler<Ask<L>> for Shell<L> {
    type Result = ();

    fn handle(&mut self, mut ask: Ask<L>, context: &mut Self::Context) {
        let Some(Letter { command, request, back }) = ask.letter.take() else { return };
        drop(ask);
        if back.is_closed() {
            // The sender went away before the command was taken: then it needn't be.
            return;
        }
        self.asked_at = Instant::now();
        self.world.watch.commands.up();
        let now = self.world.clock.now();
        match caught(|| self.current.state.decide(command, now)) {
            Ok(Ok(change)) if !self.fits(&change) => {
                tracing::error!(kind = L::KIND, key = %self.current.state.key(), "a change contradicts itself");
                self.broken(back, context);
            }
            Ok(Ok(change)) if change.events.is_empty() => answer(back, Ok(Arc::clone(&self.current))),
            Ok(Ok(change)) => self.save(change, request, now, back, context),
            Ok(Err(refusal)) => {
                self.world.watch.refused.up();
                answer(back, Err(Failure::Refused(refusal)));
            }
            Err(_) => {
                tracing::error!(kind = L::KIND, key = %self.current.state.key(), "deciding panicked");
                self.broken(back, context);
            }
        }
    }
}

impl<L: Live> Shell<L> {
    /// Whether the change is about this thing and counts its events rightly.
    fn fits(&self, change: &Change<L>) -> bool {
        let before = &self.current.state;
        let events = u64::try_from(change.events.len()).ok();
        let revision = events.and_then(|events| before.revision().checked_add(events));
        change.next.key() == before.key() && Some(change.next.revision()) == revision
    }

    /// Saves, then changes, then tells. Until that is over the actor takes nothing else (this is what actix's
    /// `AtomicResponse` does, without its box where there is nothing to save).
    fn save(
        &mut self,
        change: Change<L>,
        request: RequestId,
        now: Time,
        back: oneshot::Sender<Asked<L>>,
        context: &mut Context<Self>,
    ) {
        self.waits = true;
        let world = Arc::clone(&self.world);
        let before = Arc::clone(&self.current);
        let work = async move {
            let saving = caught_async(world.journal.save(&before.state, &change, &request, now));
            let saved = match timeout(world.limits.save, saving).await {
                Ok(Ok(saved)) => saved,
                Ok(Err(_)) => Err(Unsaved::Unknown("the journal panicked".to_owned())),
                Err(_) => Err(Unsaved::Unknown("saving took too long".to_owned())),
            };
            (saved, change.next, back)
        };
        context.wait(work.into_actor(self).map(|(saved, next, back), shell, context| {
            shell.waits = false;
            match saved {
                Ok(told) => shell.show(next, told, back),
                Err(unsaved) => shell.give_up(unsaved, &next, back, context),
            }
        }));
    }

    fn show(&mut self, next: L, told: Vec<Told>, back: oneshot::Sender<Asked<L>>) {
        self.current = Arc::new(Snapshot::new(next));
        self.published.store(Arc::clone(&self.current));
        self.world.bus.publish(told);
        answer(back, Ok(Arc::clone(&self.current)));
    }

    fn give_up(&mut self, unsaved: Unsaved, next: &L, back: oneshot::Sender<Asked<L>>, context: &mut Context<Self>) {
        let before = &self.current.state;
        tracing::warn!(kind = L::KIND, key = %before.key(), ?unsaved, "not saved: the actor stops");
        self.world.watch.unsaved.up();
        self.lease.troubled(before.stays_awake() || next.stays_awake());
        if !matches!(unsaved, Unsaved::Failed(_)) {
            // It, or another writer's, may be in the table without ever being told.
            self.world.bus.doubt(&next.topics());
        }
        answer(back, Err(Failure::Unsaved(unsaved)));
        context.stop();
    }

    /// Answers the one command that met the bug and reads the state anew, in place: what waits in the mailbox is not
    /// disturbed. The old state can't have been touched, but a bug may also have come with it.
    fn broken(&mut self, back: oneshot::Sender<Asked<L>>, context: &mut Context<Self>) {
        self.world.watch.panicked.up();
        answer(back, Err(Failure::Broken));
        self.waits = true;
        let world = Arc::clone(&self.world);
        let key = self.current.state.key();
        let work = async move {
            let loading = timeout(world.limits.save, caught_async(world.journal.load(key)));
            loading.await.ok().and_then(Result::ok).and_then(Result::ok).flatten()
        };
        context.wait(work.into_actor(self).map(|loaded, shell, context| {
            shell.waits = false;
            match loaded {
                Some(state) => {
                    shell.world.watch.reloaded.up();
                    shell.current = Arc::new(Snapshot::new(state));
                    shell.published.store(Arc::clone(&shell.current));
                }
                None => {
                    shell.lease.troubled(shell.current.state.stays_awake());
                    context.stop();
                }
            }
        }));
    }
}

fn answer<L: Live>(back: oneshot::Sender<Asked<L>>, answer: Answer<L>) {
    // Nobody there: the sender went away while its command was under way, which changes nothing about it.
    let _ = back.send(Asked::Answered(answer));
}

/// The threads on which actors live: not those that answer HTTP.
#[derive(Clone)]
pub struct Arbiters {
    handles: Arc<[ArbiterHandle]>,
    threads: Arc<Mutex<Vec<Arbiter>>>,
    next: Arc<AtomicUsize>,
}

impl Arbiters {
    /// Starts `count` threads, at least one.
    ///
    /// # Errors
    /// No actix system runs on this thread, or the machine gives no thread.
    pub fn start(count: usize) -> io::Result<Self> {
        if System::try_current().is_none() {
            return Err(io::Error::other("no actix system runs on this thread"));
        }
        let threads = (0..count.max(1)).map(|_| Arbiter::try_new()).collect::<io::Result<Vec<_>>>()?;
        let handles = threads.iter().map(Arbiter::handle).collect();
        Ok(Self { handles, threads: Arc::new(Mutex::new(threads)), next: Arc::default() })
    }

    /// The thread that asks, and no other: a test then rules its clock.
    ///
    /// # Errors
    /// No actix system runs on this thread.
    pub fn here() -> io::Result<Self> {
        let here = Arbiter::try_current().ok_or_else(|| io::Error::other("no actix system runs on this thread"))?;
        Ok(Self { handles: Arc::new([here]), threads: Arc::default(), next: Arc::default() })
    }

    /// Ends the threads that were started and waits for them; what is still on them is dropped. Blocks: to be called
    /// after the keepers were stopped.
    pub fn stop(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in &threads {
            thread.stop();
        }
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("an arbiter's thread panicked");
            }
        }
    }
}

impl Tasks for Arbiters {
    fn spawn(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.handles.len();
        if let Some(handle) = self.handles.get(turn)
            && !handle.spawn(work)
        {
            tracing::warn!("an arbiter has ended: what it was given is dropped");
        }
    }
}
