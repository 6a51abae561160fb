//! The actor around a live entity; the only module of this crate that names actix.
//!
//! Commands are decided (pure, panics caught), saved (with a timeout), and only then published and answered. While a
//! save runs the actor handles nothing else: neither commands nor its own timer. The commands that wait in its mailbox
//! when the save ends form the next batch, up to a limit: each command is decided on the state after the one before it,
//! and one save stores all their changes, because a save waits for the disk whatever its size.
//!
//! ```text
//!   mailbox: a b c d ..  -> decide a, b (refused), c, d -> save a c d -> publish d -> its events -> answer a b c d
//! ```
//!
//! An actor stops when a save failed, conflicted, or ended with an unknown outcome. All commands of that batch are
//! answered with the error, and the next command starts a fresh actor, loaded from the store; after an unknown outcome
//! only once that outcome is settled.

mod answer;
mod batch;

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

pub use self::answer::{CommandError, CommandResult, ShellLimits, Snapshot};
use self::batch::{BatchDecision, OpenBatch, PendingBatch, ReplySender};
use crate::hub::Bus;
use crate::live::{Batch, EventRecord, Journal, Live, RequestId, Spawner, Topic, Unsaved};
use crate::mailbox_metrics::KindMetrics;
use crate::panics::caught_async;
use crate::time::Clock;

/// Minimum interval between two checks whether an actor is idle: an idle limit of zero must not cause a busy loop.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// What all shells of one kind share.
pub(crate) struct ShellContext<L: Live> {
    pub journal: Arc<dyn Journal<L>>,
    pub bus: Arc<dyn Bus>,
    pub clock: Arc<dyn Clock>,
    pub metrics: Arc<KindMetrics>,
    pub limits: ShellLimits,
}

/// The registry's entry for an actor. It is dropped when the actor is gone but before its mailbox is, so that a command
/// that is returned from the mailbox finds the entry free.
pub(crate) trait ActorLease: Send + Unpin + 'static {
    /// The actor has to stop, because its state may no longer be what the store holds.
    fn troubled(&mut self, must_be_awake: bool);
    /// The outcome of a save is unknown; the save may have recorded events of these topics.
    fn doubted(&mut self, topics: Vec<Topic>);
}

/// The outcome of sending a command to one actor.
pub(crate) enum SendOutcome<L: Live> {
    Answered(CommandResult<L>),
    /// The actor stopped, or had stopped, before it accepted the command, which is returned.
    NeverRan(L::Command),
    Full,
    /// The actor was dropped while the command was being processed.
    Lost,
}

/// The handle of one actor: its mailbox and its published state. Shared, never cloned: each clone of an actix address
/// reserves one more place in the mailbox, so the bound would grow with the number of callers.
pub(crate) struct Handle<L: Live> {
    address: Addr<Shell<L>>,
    published: Arc<ArcSwap<Snapshot<L>>>,
    metrics: Arc<KindMetrics>,
}

impl<L: Live> Handle<L> {
    pub fn snapshot(&self) -> Arc<Snapshot<L>> {
        self.published.load_full()
    }

    /// Puts the command into the mailbox, unless that is full. The returned future waits for the answer without holding
    /// the handle.
    pub fn send(&self, command: L::Command, request: RequestId) -> impl Future<Output = SendOutcome<L>> + use<L> {
        let (reply_sender, answer) = oneshot::channel();
        let envelope = Envelope {
            content: Some(QueuedCommand { command, request, reply_sender }),
            _queued: Queued::new(&self.metrics),
        };
        let sent = match self.address.try_send(envelope) {
            Ok(()) => Ok(answer),
            Err(SendError::Full(mut envelope)) => {
                envelope.content = None;
                Err(SendOutcome::Full)
            }
            // Dropping the envelope returns the command.
            Err(SendError::Closed(envelope)) => {
                drop(envelope);
                Ok(answer)
            }
        };
        async move {
            match sent {
                Ok(answer) => answer.await.unwrap_or(SendOutcome::Lost),
                Err(outcome) => outcome,
            }
        }
    }

    /// Makes the actor reload its state. Returns when it has, or has stopped.
    pub async fn reload(&self) {
        // The second message is handled after the reload that the first one starts. An error means that the actor
        // stopped: the next one loads its state from the store.
        if self.address.send(Reload).await.is_ok() {
            let _ = self.address.send(Reloaded).await;
        }
    }

    /// Lets the actor process what waits in its mailbox, then stops it. Returns when the actor has handled the message.
    pub async fn retire(&self) {
        // An error means that the actor has already stopped.
        let _ = self.address.send(Retire).await;
    }
}

struct QueuedCommand<L: Live> {
    command: L::Command,
    request: RequestId,
    reply_sender: ReplySender<L>,
}

/// A command in a mailbox. If it is dropped there, the command is returned to its sender.
struct Envelope<L: Live> {
    content: Option<QueuedCommand<L>>,
    _queued: Queued,
}

impl<L: Live> Message for Envelope<L> {
    type Result = ();
}

impl<L: Live> Drop for Envelope<L> {
    fn drop(&mut self) {
        if let Some(QueuedCommand { command, reply_sender, .. }) = self.content.take() {
            // An error means that the sender no longer waits for the answer.
            let _ = reply_sender.send(SendOutcome::NeverRan(command));
        }
    }
}

/// Counts one command as queued for as long as this value lives.
struct Queued(Arc<KindMetrics>);

impl Queued {
    fn new(metrics: &Arc<KindMetrics>) -> Self {
        metrics.queued.up();
        Self(Arc::clone(metrics))
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
    /// The last saved state.
    current: Arc<Snapshot<L>>,
    published: Arc<ArcSwap<Snapshot<L>>>,
    /// What was decided since the last save.
    batch: OpenBatch<L>,
    /// Whether a task is scheduled that closes the batch as soon as the mailbox is empty.
    closes: bool,
    shared: Arc<ShellContext<L>>,
    lease: Box<dyn ActorLease>,
    last_command_at: Instant,
    /// Whether a save or a reload is running.
    waits: bool,
}

/// Starts an actor around a state. Must be called on a thread of [`Arbiters`]: the actor lives on the calling thread.
pub(crate) fn open<L: Live>(state: L, shared: &Arc<ShellContext<L>>, lease: Box<dyn ActorLease>) -> Handle<L> {
    let current = Arc::new(Snapshot::new(state));
    let published = Arc::new(ArcSwap::new(Arc::clone(&current)));
    let shell = Shell {
        batch: OpenBatch::on(Arc::clone(&current)),
        closes: false,
        current,
        published: Arc::clone(&published),
        shared: Arc::clone(shared),
        lease,
        last_command_at: Instant::now(),
        waits: false,
    };
    let mailbox = shared.limits.mailbox;
    let address = Shell::create(|context| {
        context.set_mailbox_capacity(mailbox);
        shell
    });
    Handle { address, published, metrics: Arc::clone(&shared.metrics) }
}

impl<L: Live> Actor for Shell<L> {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        let idle = self.shared.limits.idle;
        context.run_interval((idle / 2).max(MIN_CHECK_INTERVAL), move |shell, context| {
            // actix also runs timers between handling commands and waiting for their save: stopping there would abort
            // the save.
            let rests = !shell.waits && shell.batch.is_saved();
            if rests && shell.last_command_at.elapsed() >= idle && !shell.current.state.stays_awake() {
                context.stop();
            }
        });
    }
}

impl<L: Live> Handler<Retire> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Retire, context: &mut Self::Context) {
        self.close(AfterSave::Stop, context);
    }
}

impl<L: Live> Handler<Reload> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Reload, context: &mut Self::Context) {
        self.close(AfterSave::Reload, context);
    }
}

impl<L: Live> Handler<Reloaded> for Shell<L> {
    type Result = ();

    fn handle(&mut self, _: Reloaded, _: &mut Self::Context) {}
}

impl<L: Live> Handler<Envelope<L>> for Shell<L> {
    type Result = ();

    fn handle(&mut self, mut envelope: Envelope<L>, context: &mut Self::Context) {
        let Some(QueuedCommand { command, request, reply_sender }) = envelope.content.take() else { return };
        drop(envelope);
        if reply_sender.is_closed() {
            // The sender dropped its future before the command was accepted, so the command is skipped.
            return;
        }
        self.last_command_at = Instant::now();
        self.shared.metrics.commands.up();
        let now = self.shared.clock.now();
        match self.batch.decide(command, request, now, reply_sender) {
            BatchDecision::Taken => {}
            BatchDecision::Refused => self.shared.metrics.refused.up(),
            BatchDecision::Broken(bug) => {
                tracing::error!(kind = L::KIND, key = %self.current.state.key(), "{bug}");
                self.shared.metrics.panicked.up();
                return self.close(AfterSave::Reload, context);
            }
        }
        if self.batch.is_full(self.shared.limits.group) {
            self.close(AfterSave::GoOn, context);
        } else if !self.batch.is_saved() && !self.closes {
            // actix polls spawned futures once the mailbox is empty.
            self.closes = true;
            let close = std::future::ready(()).into_actor(self).map(|(), shell, context| {
                shell.closes = false;
                if !shell.batch.is_saved() {
                    shell.close(AfterSave::GoOn, context);
                }
            });
            context.spawn(close);
        }
    }
}

/// What an actor does after a batch is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterSave {
    GoOn,
    /// Reloads the state: there was a bug, or another writer changed it.
    Reload,
    Stop,
}

impl<L: Live> Shell<L> {
    /// Saves the batch, then replaces the state, then publishes the events and answers. Until then the actor handles
    /// nothing else (as with actix's `AtomicResponse`, but without its allocation when there is nothing to save).
    fn close(&mut self, then: AfterSave, context: &mut Context<Self>) {
        let batch = std::mem::replace(&mut self.batch, OpenBatch::on(Arc::clone(&self.current)));
        if batch.is_saved() {
            return self.go_on(then, context);
        }
        self.waits = true;
        let shared = Arc::clone(&self.shared);
        let (changes, closed) = batch.close();
        let group = Arc::new(Batch { before: closed.before.state.clone(), changes });
        let work = async move {
            let saving = caught_async(shared.journal.save(group));
            match timeout(shared.limits.save, saving).await {
                Ok(Ok(saved)) => saved,
                Ok(Err(_)) => Err(Unsaved::Unknown("the journal panicked".to_owned())),
                Err(_) => Err(Unsaved::Unknown("saving took too long".to_owned())),
            }
        };
        context.wait(work.into_actor(self).map(move |saved, shell, context| {
            shell.waits = false;
            match saved {
                Ok(records) => {
                    shell.publish(closed, records);
                    shell.go_on(then, context);
                }
                Err(unsaved) => shell.abort_batch(&unsaved, closed, context),
            }
        }));
    }

    fn go_on(&mut self, then: AfterSave, context: &mut Context<Self>) {
        match then {
            // Lets the other actors on this thread run.
            AfterSave::GoOn => context.wait(tokio::task::yield_now().into_actor(self)),
            AfterSave::Reload => self.reload_state(context),
            AfterSave::Stop => context.stop(),
        }
    }

    fn install(&mut self, current: Arc<Snapshot<L>>) {
        self.published.store(Arc::clone(&current));
        self.batch = OpenBatch::on(Arc::clone(&current));
        self.current = current;
    }

    fn publish(&mut self, closed: PendingBatch<L>, records: Vec<EventRecord>) {
        self.install(Arc::clone(&closed.latest));
        self.shared.bus.publish(records);
        closed.reply_all();
    }

    fn abort_batch(&mut self, unsaved: &Unsaved, closed: PendingBatch<L>, context: &mut Context<Self>) {
        let (before, latest) = (&closed.before.state, &closed.latest.state);
        tracing::warn!(
            kind = L::KIND,
            key = %before.key(),
            ?unsaved,
            "the actor's state could not be saved; the actor stops"
        );
        self.shared.metrics.unsaved.up();
        self.lease.troubled(before.stays_awake() || latest.stays_awake());
        match unsaved {
            Unsaved::Failed(_) => {}
            // The other writer's events may be in the event table without ever being published.
            Unsaved::Conflict => self.shared.bus.doubt(&latest.topics()),
            Unsaved::Unknown(_) => self.lease.doubted(latest.topics()),
        }
        closed.reply_unsaved(unsaved);
        context.stop();
    }

    /// Reloads the state in place; the mailbox is not affected. The command that hit a bug can't have modified the old
    /// state, but that state itself may be what caused the bug.
    fn reload_state(&mut self, context: &mut Context<Self>) {
        self.waits = true;
        let shared = Arc::clone(&self.shared);
        let key = self.current.state.key();
        let work = async move {
            let loading = timeout(shared.limits.save, caught_async(shared.journal.load(key)));
            loading.await.ok().and_then(Result::ok).and_then(Result::ok).flatten()
        };
        context.wait(work.into_actor(self).map(|loaded, shell, context| {
            shell.waits = false;
            match loaded {
                Some(state) => {
                    shell.shared.metrics.reloaded.up();
                    shell.install(Arc::new(Snapshot::new(state)));
                }
                None => {
                    shell.lease.troubled(shell.current.state.stays_awake());
                    context.stop();
                }
            }
        }));
    }
}

/// The threads on which actors live, separate from those that serve HTTP.
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
    /// No actix system runs on this thread, or the operating system can't start a thread.
    pub fn start(count: usize) -> io::Result<Self> {
        if System::try_current().is_none() {
            return Err(io::Error::other("no actix system runs on this thread"));
        }
        let threads = (0..count.max(1)).map(|_| Arbiter::try_new()).collect::<io::Result<Vec<_>>>()?;
        let handles = threads.iter().map(Arbiter::handle).collect();
        Ok(Self { handles, threads: Arc::new(Mutex::new(threads)), next: Arc::default() })
    }

    /// Uses the calling thread and no other, so that a test controls its clock.
    ///
    /// # Errors
    /// No actix system runs on this thread.
    pub fn here() -> io::Result<Self> {
        let here = Arbiter::try_current().ok_or_else(|| io::Error::other("no actix system runs on this thread"))?;
        Ok(Self { handles: Arc::new([here]), threads: Arc::default(), next: Arc::default() })
    }

    /// Stops the threads that were started and joins them; tasks that are still on them are dropped. Blocks: call it
    /// after the registries are stopped.
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

impl Spawner for Arbiters {
    fn spawn(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let index = self.next.fetch_add(1, Ordering::Relaxed) % self.handles.len();
        if let Some(handle) = self.handles.get(index)
            && !handle.spawn(work)
        {
            tracing::warn!("an arbiter has stopped; its task is dropped");
        }
    }
}
