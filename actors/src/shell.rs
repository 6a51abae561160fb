//! One actor around any live thing. The only file of this crate that names actix.
//!
//! Commands are decided (pure, panics caught), saved (with a limit), and only then published and told. While a save
//! runs the actor takes nothing else: neither commands nor its own timer. What waits in its mailbox when the save ends is
//! taken together, up to a bound: each command is decided on the state after the one before it, and one save keeps them
//! all, since a save waits for the disk, whatever is in it.
//!
//! ```text
//!   mailbox: a b c d ..  -> decide a, b (refused), c, d -> save a c d -> publish d -> tell a c d -> answer a b c d
//! ```
//! An actor whose save failed, conflicted or ended nobody knows how stops, all whose commands were in it hear so, and the
//! next command meets a fresh one, loaded from the store: after a save that ended nobody knows how, when that is settled.

mod answer;
mod turn;

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::dev::SendError;
use actix::prelude::*;
use arc_swap::ArcSwap;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

pub use self::answer::{Answer, Failure, Limits, Snapshot};
use self::turn::{Back, Closed, Decision, Turn};
use crate::hub::Bus;
use crate::live::{Group, Journal, Live, RequestId, Tasks, Told, Topic, Unsaved};
use crate::panics::caught_async;
use crate::time::Clock;
use crate::watch::KindWatch;

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
    /// A save ended nobody knows how, and may have been about these topics.
    fn doubted(&mut self, topics: Vec<Topic>);
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

    /// Has the actor read its state anew. Returns when it has, or has stopped.
    pub async fn reload(&self) {
        // The second is taken when the first is over. An error means that it stopped: the next one reads the store.
        if self.address.send(Reload).await.is_ok() {
            let _ = self.address.send(Reloaded).await;
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
    back: Back<L>,
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

#[derive(Message)]
#[rtype(result = "()")]
struct Reload;

#[derive(Message)]
#[rtype(result = "()")]
struct Reloaded;

/// The actor.
struct Shell<L: Live> {
    /// What was saved last.
    current: Arc<Snapshot<L>>,
    published: Arc<ArcSwap<Snapshot<L>>>,
    /// What was decided since.
    turn: Turn<L>,
    /// The end of the turn is due as soon as the mailbox is empty.
    closes: bool,
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
        turn: Turn::on(Arc::clone(&current)),
        closes: false,
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
            // actix looks at timers between taking commands and waiting for their save: stopping there would tear the
            // save down.
            let rests = !shell.waits && shell.turn.is_saved();
            if rests && shell.asked_at.elapsed() >= idle && !shell.current.state.stays_awake() {
                context.stop();
            }
        });
    }
}

impl<L: Live> Handler<Retire> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Retire, context: &mut Self::Context) {
        self.close(Then::Stop, context);
    }
}

impl<L: Live> Handler<Reload> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Reload, context: &mut Self::Context) {
        self.close(Then::LookAgain, context);
    }
}

impl<L: Live> Handler<Reloaded> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Reloaded, _: &mut Self::Context) {}
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
        match self.turn.decide(command, request, now, back) {
            Decision::Taken => {}
            Decision::Refused => self.world.watch.refused.up(),
            Decision::Broken(bug) => {
                tracing::error!(kind = L::KIND, key = %self.current.state.key(), "{bug}");
                self.world.watch.panicked.up();
                return self.close(Then::LookAgain, context);
            }
        }
        if self.turn.is_full(self.world.limits.group) {
            self.close(Then::GoOn, context);
        } else if !self.turn.is_saved() && !self.closes {
            // actix comes to what is spawned when it has nothing more to take from the mailbox.
            self.closes = true;
            let close = std::future::ready(()).into_actor(self).map(|(), shell, context| {
                shell.closes = false;
                if !shell.turn.is_saved() {
                    shell.close(Then::GoOn, context);
                }
            });
            context.spawn(close);
        }
    }
}

/// What an actor does when a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    /// Reads the state anew: there was a bug, or somebody else wrote it.
    LookAgain,
    Stop,
}

impl<L: Live> Shell<L> {
    /// Saves what was decided, then changes, then tells. Until that is over the actor takes nothing else (this is what
    /// actix's `AtomicResponse` does, without its box where there is nothing to save).
    fn close(&mut self, then: Then, context: &mut Context<Self>) {
        let turn = std::mem::replace(&mut self.turn, Turn::on(Arc::clone(&self.current)));
        if turn.is_saved() {
            return self.go_on(then, context);
        }
        self.waits = true;
        let world = Arc::clone(&self.world);
        let (changes, closed) = turn.close();
        let group = Arc::new(Group { before: closed.before.state.clone(), changes });
        let work = async move {
            let saving = caught_async(world.journal.save(group));
            match timeout(world.limits.save, saving).await {
                Ok(Ok(saved)) => saved,
                Ok(Err(_)) => Err(Unsaved::Unknown("the journal panicked".to_owned())),
                Err(_) => Err(Unsaved::Unknown("saving took too long".to_owned())),
            }
        };
        context.wait(work.into_actor(self).map(move |saved, shell, context| {
            shell.waits = false;
            match saved {
                Ok(told) => {
                    shell.show(closed, told);
                    shell.go_on(then, context);
                }
                Err(unsaved) => shell.give_up(&unsaved, closed, context),
            }
        }));
    }

    fn go_on(&mut self, then: Then, context: &mut Context<Self>) {
        match then {
            // Those with whom it shares the thread have their turn.
            Then::GoOn => context.wait(tokio::task::yield_now().into_actor(self)),
            Then::LookAgain => self.look_again(context),
            Then::Stop => context.stop(),
        }
    }

    fn take(&mut self, current: Arc<Snapshot<L>>) {
        self.published.store(Arc::clone(&current));
        self.turn = Turn::on(Arc::clone(&current));
        self.current = current;
    }

    fn show(&mut self, closed: Closed<L>, told: Vec<Told>) {
        self.take(Arc::clone(&closed.latest));
        self.world.bus.publish(told);
        closed.tell();
    }

    fn give_up(&mut self, unsaved: &Unsaved, closed: Closed<L>, context: &mut Context<Self>) {
        let (before, latest) = (&closed.before.state, &closed.latest.state);
        tracing::warn!(kind = L::KIND, key = %before.key(), ?unsaved, "not saved: the actor stops");
        self.world.watch.unsaved.up();
        self.lease.troubled(before.stays_awake() || latest.stays_awake());
        match unsaved {
            Unsaved::Failed(_) => {}
            // Another writer's may be in the table without ever being told.
            Unsaved::Conflict => self.world.bus.doubt(&latest.topics()),
            Unsaved::Unknown(_) => self.lease.doubted(latest.topics()),
        }
        closed.give_up(unsaved);
        context.stop();
    }

    /// Reads the state anew, in place: what waits in the mailbox is not disturbed. The old state can't have been touched by
    /// the command that met a bug, but a bug may also have come with it.
    fn look_again(&mut self, context: &mut Context<Self>) {
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
                    shell.take(Arc::new(Snapshot::new(state)));
                }
                None => {
                    shell.lease.troubled(shell.current.state.stays_awake());
                    context.stop();
                }
            }
        }));
    }
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
