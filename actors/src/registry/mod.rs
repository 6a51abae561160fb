//! The registry of live entities of one kind: finds the actor of a key, loads it on demand, stops it when idle.
//!
//! ```text
//!   (none) --first ask: load--> Waking --loaded--> Awake --idle, trouble, stop--> (none)
//!                                  `--missing, store unavailable--> (none), waiting callers get the error
//! ```
//!
//! A key whose last save ended with an unknown outcome is not loaded until that outcome is settled (`doubts`).
//!
//! A key has an entry exactly as long as its `SlotLease` lives, which moves from the loading task into the actor. So
//! there is never a second loader or actor of a key in this process. That there is none in another process is ensured
//! by [`Ownership`], and ultimately by the journal, which refuses a stale revision.

mod asleep;
mod doubts;
mod slot;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use self::asleep::{Asleep, Looked};
use self::doubts::SuspectKeys;
use self::slot::{Absent, Slot, SlotLease, SlotState};
use crate::hub::Bus;
use crate::live::{Journal, Live, RequestId, Spawner, StoreUnavailable, Unsaved};
use crate::mailbox_metrics::MailboxMetrics;
use crate::panics::caught_async;
use crate::shell::{
    Arbiters, CommandError, CommandResult, Handle, SendOutcome, ShellContext, ShellLimits, Snapshot, open,
};
use crate::time::Clock;

/// Pause between two attempts to load an entity that must be awake, or to learn the outcome of a save, while the store is
/// unavailable: starts at the first value and doubles up to the second.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Decides which process may write an entity. With one process that is always this one.
pub trait Ownership: Send + Sync + 'static {
    fn owner(&self, kind: &'static str, key: &dyn fmt::Display) -> Owner;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// This process, since the epoch.
    Here {
        epoch: u64,
    },
    Elsewhere,
}

/// One process owns everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllLocal;

impl Ownership for AllLocal {
    fn owner(&self, _: &'static str, _: &dyn fmt::Display) -> Owner {
        Owner::Here { epoch: 1 }
    }
}

/// The dependencies of a [`Registry`].
pub struct RegistryParts<L: Live> {
    pub journal: Arc<dyn Journal<L>>,
    pub bus: Arc<dyn Bus>,
    pub clock: Arc<dyn Clock>,
    pub ownership: Arc<dyn Ownership>,
    pub arbiters: Arbiters,
    pub metrics: MailboxMetrics,
    pub limits: ShellLimits,
}

/// All live entities of one kind. Cheap to clone; all clones share the same registry.
pub struct Registry<L: Live> {
    inner: Arc<RegistryInner<L>>,
}

impl<L: Live> Clone for Registry<L> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<L: Live> Registry<L> {
    #[must_use]
    pub fn new(parts: RegistryParts<L>) -> Self {
        let RegistryParts { journal, bus, clock, ownership, arbiters, metrics, limits } = parts;
        let shared = ShellContext { journal, bus, clock, metrics: metrics.kind(L::KIND), limits };
        Self {
            inner: Arc::new(RegistryInner {
                shared: Arc::new(shared),
                ownership,
                arbiters,
                slots: Mutex::default(),
                asleep: Asleep::new(limits.asleep),
                doubts: SuspectKeys::default(),
                waking_again: Mutex::default(),
                closing: AtomicBool::new(false),
                emptied: Notify::new(),
            }),
        }
    }

    /// Sends a command to an entity and returns the state after it, once that is saved.
    ///
    /// If the returned future is dropped, a command that is still queued is skipped, and one that is being processed
    /// continues.
    ///
    /// # Errors
    /// See [`CommandError`]; after all but `Unsaved(Unknown)` nothing has changed.
    pub async fn ask(&self, key: L::Key, command: L::Command, request: RequestId) -> CommandResult<L> {
        let metrics = &self.inner.shared.metrics;
        let asked_at = Instant::now();
        let slot = self.inner.find(key).await?;
        let command = match slot.send(command, Arc::clone(&request)).await {
            SendOutcome::NeverRan(command) => command,
            other => return self.inner.answer(other),
        };
        // A caller that has already waited for a whole save timeout gets `Busy` instead of a second attempt.
        if asked_at.elapsed() >= self.inner.shared.limits.save {
            metrics.busy.up();
            return Err(CommandError::Busy);
        }
        // The command never ran, so it is safe to send it again. Only once: if it is returned a second time, the answer
        // is `Busy`.
        metrics.resent.up();
        let slot = self.inner.find(key).await?;
        let outcome = slot.send(command, request).await;
        self.inner.answer(outcome)
    }

    /// Returns an entity as it was last saved, without waking it: from memory if it is awake or was read lately, else
    /// from the store. `None` if it does not exist.
    ///
    /// # Errors
    /// The store can't be reached, or the outcome of a save is not known yet.
    pub async fn snapshot(&self, key: L::Key) -> Result<Option<Arc<Snapshot<L>>>, StoreUnavailable> {
        if let Some(handle) = self.inner.awake(key) {
            return Ok(Some(handle.snapshot()));
        }
        let reading = match self.inner.asleep.look_up(key) {
            Looked::Known(snapshot) => return Ok(Some(snapshot)),
            Looked::Read(number) => Some(AsleepReading { registry: &self.inner, key, number, read: None }),
            Looked::ReadBeside => None,
        };
        let loaded = self.inner.load(key).await?;
        let snapshot = loaded.map(|state| Arc::new(Snapshot::new(state)));
        if let Some(mut reading) = reading {
            reading.read.clone_from(&snapshot);
        }
        Ok(snapshot)
    }

    /// Makes an entity reload its state, because a transaction other than its actor's has written it. Returns when readers
    /// see the new state. From that transaction on, the actor's own saves are refused because of
    /// their stale revision.
    pub async fn reload(&self, key: L::Key) {
        self.inner.asleep.forget(key);
        let slot = self.inner.slots().get(&key).map(Arc::clone);
        let Some(slot) = slot else { return };
        if let Ok(handle) = slot.settled().await {
            handle.reload().await;
        }
    }

    /// Forgets what was read of entities that are asleep, because a transaction whose outcome was unknown has ended, which
    /// may have written any of them.
    pub fn reread_asleep(&self) {
        self.inner.asleep.forget_all();
    }

    /// Wakes all entities that must be awake, many at a time. Call it once, at start-up. Commands need not wait for it.
    ///
    /// # Errors
    /// The store can't list what must be awake. Entities that can't be loaded are retried in the background.
    pub async fn wake_all(&self) -> Result<WakeSummary, StoreUnavailable> {
        let keys = self.inner.shared.journal.awake().await?;
        let mut awake = 0;
        for some in keys.chunks(self.inner.shared.limits.waking.max(1)) {
            awake += self.inner.wake_some(some).await;
        }
        Ok(WakeSummary { due: keys.len(), awake })
    }

    /// Rejects further commands, saves what waits in the mailboxes, and stops all actors. Returns when none is awake.
    pub async fn stop_all(&self) {
        self.inner.closing.store(true, Ordering::SeqCst);
        let slots: Vec<_> = self.inner.slots().values().map(Arc::clone).collect();
        for slot in slots {
            if let Ok(handle) = slot.settled().await {
                handle.retire().await;
            }
        }
        loop {
            let emptied = self.inner.emptied.notified();
            if self.inner.slots().is_empty() {
                return;
            }
            emptied.await;
        }
    }
}

/// A reading of an entity that is asleep, for [`Asleep`].
struct AsleepReading<'a, L: Live> {
    registry: &'a RegistryInner<L>,
    key: L::Key,
    number: u64,
    read: Option<Arc<Snapshot<L>>>,
}

/// Also if the reader has given up.
impl<L: Live> Drop for AsleepReading<'_, L> {
    fn drop(&mut self) {
        let slots = self.registry.slots();
        let read = self.read.take().filter(|_| !slots.contains_key(&self.key));
        let read = read.map(|snapshot| {
            let weight = snapshot.state.weight();
            (snapshot, weight)
        });
        self.registry.asleep.give(self.key, self.number, read);
        drop(slots);
    }
}

/// The result of [`Registry::wake_all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakeSummary {
    /// Number of entities that must be awake.
    pub due: usize,
    /// Number of those that are awake now. The others are retried in the background, unless they no longer exist.
    pub awake: usize,
}

struct RegistryInner<L: Live> {
    shared: Arc<ShellContext<L>>,
    ownership: Arc<dyn Ownership>,
    arbiters: Arbiters,
    slots: Mutex<HashMap<L::Key, Arc<Slot<L>>>>,
    asleep: Asleep<L::Key, Snapshot<L>>,
    doubts: SuspectKeys<L::Key>,
    waking_again: Mutex<HashSet<L::Key>>,
    closing: AtomicBool,
    emptied: Notify,
}

impl<L: Live> RegistryInner<L> {
    fn slots(&self) -> MutexGuard<'_, HashMap<L::Key, Arc<Slot<L>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the actor of a key if its snapshot can be trusted: awake and not troubled.
    fn awake(&self, key: L::Key) -> Option<Arc<Handle<L>>> {
        let slots = self.slots();
        slots.get(&key).filter(|slot| !slot.is_troubled()).and_then(|slot| slot.handle())
    }

    /// Returns the actor of a key, and wakes it if necessary.
    async fn find(self: &Arc<Self>, key: L::Key) -> Result<Arc<Handle<L>>, CommandError<L::Refusal>> {
        let slot = self.slot(key).inspect_err(|_| self.shared.metrics.busy.up())?;
        slot.settled().await.map_err(|absent| match absent {
            Absent::Missing => CommandError::Missing,
            Absent::Unavailable(StoreUnavailable(text)) => CommandError::Unsaved(Unsaved::Failed(text)),
        })
    }

    /// Returns the slot of a key; if there is none, creates one and starts loading. `Err` is [`CommandError::Busy`].
    fn slot(self: &Arc<Self>, key: L::Key) -> Result<Arc<Slot<L>>, CommandError<L::Refusal>> {
        let (slot, lease) = self.enter(key)?;
        if let Some(lease) = lease {
            let registry = Arc::clone(self);
            self.arbiters.spawn(Box::pin(async move { registry.wake(lease).await }));
        }
        Ok(slot)
    }

    /// Returns the slot of a key; if there is none, creates one and also returns its lease, whose holder has to load
    /// the entity.
    #[expect(clippy::type_complexity, reason = "a slot, and its lease for whoever made it")]
    fn enter(self: &Arc<Self>, key: L::Key) -> Result<(Arc<Slot<L>>, Option<SlotLease<L>>), CommandError<L::Refusal>> {
        let mut slots = self.slots();
        // Checked under the lock: `stop_all` sets the flag before it locks the map, so it sees every slot that passed
        // this check.
        if self.closing.load(Ordering::SeqCst) {
            return Err(CommandError::Busy);
        }
        if let Some(slot) = slots.get(&key) {
            return Ok((Arc::clone(slot), None));
        }
        if slots.len() >= self.shared.limits.awake || self.ownership.owner(L::KIND, &key) == Owner::Elsewhere {
            return Err(CommandError::Busy);
        }
        let slot = Arc::new(Slot::waking());
        slots.insert(key, Arc::clone(&slot));
        // Under the lock, as at the end of an [`AsleepReading`]: nothing is kept of an entity that has a slot.
        let known = self.asleep.forget(key);
        drop(slots);
        self.shared.metrics.awake.up();
        let lease = SlotLease::of(self, key, Arc::clone(&slot), known);
        Ok((slot, Some(lease)))
    }

    /// Wakes several entities with one query to the store; returns how many of them are awake afterwards.
    async fn wake_some(self: &Arc<Self>, keys: &[L::Key]) -> usize {
        let (mut slots, mut leases) = (Vec::with_capacity(keys.len()), HashMap::with_capacity(keys.len()));
        for key in keys {
            if self.is_in_doubt(*key) {
                self.wake_again(*key);
                continue;
            }
            match self.enter(*key) {
                Ok((slot, lease)) => {
                    slots.push((*key, slot));
                    leases.extend(lease.map(|lease| (*key, lease)));
                }
                Err(_) => self.wake_again(*key),
            }
        }
        let loading = self.shared.journal.load_all(leases.keys().copied().collect());
        match self.within(loading).await {
            Ok(states) => {
                for state in states {
                    let Some(lease) = leases.remove(&state.key()) else { continue };
                    let registry = Arc::clone(self);
                    self.arbiters.spawn(Box::pin(async move { registry.finish_load(lease, Ok(Some(state))) }));
                }
                leases.into_values().for_each(|lease| self.finish_load(lease, Ok(None)));
            }
            Err(away) => leases.into_values().for_each(|lease| self.finish_load(lease, Err(away.clone()))),
        }
        let mut awake = 0;
        for (key, slot) in slots {
            match slot.settled().await {
                Ok(_) => awake += 1,
                Err(Absent::Missing) => {}
                Err(Absent::Unavailable(_)) => self.wake_again(key),
            }
        }
        awake
    }

    /// Loads an entity, unless it was read lately, and starts its actor on this thread.
    async fn wake(&self, mut lease: SlotLease<L>) {
        let loaded = match lease.known.take() {
            Some(known) => Ok(Some(known.state.clone())),
            None => self.load(lease.key).await,
        };
        self.finish_load(lease, loaded);
    }

    /// Stores the result of loading in the slot; if the entity exists, starts its actor on this thread.
    fn finish_load(&self, lease: SlotLease<L>, loaded: Result<Option<L>, StoreUnavailable>) {
        let slot = Arc::clone(&lease.slot);
        let state = match loaded {
            Ok(Some(state)) => SlotState::Awake(Arc::new(open(state, &self.shared, Box::new(lease)))),
            Ok(None) => SlotState::Absent(Absent::Missing),
            Err(unavailable) => {
                tracing::warn!(kind = L::KIND, key = %lease.key, ?unavailable, "the actor could not be loaded");
                SlotState::Absent(Absent::Unavailable(unavailable))
            }
        };
        slot.state.send_replace(state);
    }

    async fn load(&self, key: L::Key) -> Result<Option<L>, StoreUnavailable> {
        self.within(async {
            self.certain(key).await;
            self.shared.journal.load(key).await
        })
        .await
    }

    /// Applies the time limit to a request to the store, and catches its panics.
    async fn within<T>(
        &self,
        outcome: impl Future<Output = Result<T, StoreUnavailable>>,
    ) -> Result<T, StoreUnavailable> {
        match timeout(self.shared.limits.save, caught_async(outcome)).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(_)) => Err(StoreUnavailable("the journal panicked".to_owned())),
            Err(_) => Err(StoreUnavailable("loading took too long".to_owned())),
        }
    }

    fn answer(&self, outcome: SendOutcome<L>) -> CommandResult<L> {
        match outcome {
            SendOutcome::Answered(answer) => answer,
            SendOutcome::Lost => Err(CommandError::Unsaved(Unsaved::Unknown("the actor was torn down".to_owned()))),
            SendOutcome::Full | SendOutcome::NeverRan(_) => {
                self.shared.metrics.busy.up();
                Err(CommandError::Busy)
            }
        }
    }

    /// Wakes an entity in the background, with as many attempts as it takes. One task per key.
    fn wake_again(self: &Arc<Self>, key: L::Key) {
        let mut waking = self.waking_again.lock().unwrap_or_else(PoisonError::into_inner);
        if !waking.insert(key) {
            return;
        }
        drop(waking);
        let registry = Arc::downgrade(self);
        self.arbiters.spawn(Box::pin(async move {
            let (mut pause, longest) = RETRY_PAUSES;
            loop {
                sleep(pause).await;
                pause = (pause * 2).min(longest);
                let Some(registry) = registry.upgrade() else { return };
                let over = match registry.find(key).await {
                    Ok(_) | Err(CommandError::Missing) => true,
                    Err(_) => registry.closing.load(Ordering::SeqCst),
                };
                if over {
                    registry.waking_again.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
                    return;
                }
            }
        }));
    }
}
