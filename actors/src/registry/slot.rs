//! The slot of a key in the registry, and the lease on it that an actor holds as long as it lives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::watch;

use super::RegistryInner;
use crate::live::{Live, StoreUnavailable, Topic};
use crate::shell::{ActorLease, Handle, Snapshot};

/// A key's slot: callers that arrive while the entity is being loaded wait here.
pub(super) struct Slot<L: Live> {
    pub state: watch::Sender<SlotState<L>>,
    /// The actor is stopping, because the state that it published last may be stale.
    is_troubled: AtomicBool,
}

pub(super) enum SlotState<L: Live> {
    Waking,
    Awake(Arc<Handle<L>>),
    Absent(Absent),
}

#[derive(Debug, Clone)]
pub(super) enum Absent {
    Missing,
    Unavailable(StoreUnavailable),
}

impl<L: Live> Slot<L> {
    pub fn waking() -> Self {
        Self { state: watch::Sender::new(SlotState::Waking), is_troubled: AtomicBool::new(false) }
    }

    pub fn is_troubled(&self) -> bool {
        self.is_troubled.load(Ordering::SeqCst)
    }

    pub fn handle(&self) -> Option<Arc<Handle<L>>> {
        match &*self.state.borrow() {
            SlotState::Awake(handle) => Some(Arc::clone(handle)),
            SlotState::Waking | SlotState::Absent(_) => None,
        }
    }

    pub async fn settled(&self) -> Result<Arc<Handle<L>>, Absent> {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| !matches!(state, SlotState::Waking)).await;
        match settled.as_deref() {
            Ok(SlotState::Awake(handle)) => Ok(Arc::clone(handle)),
            Ok(SlotState::Absent(absent)) => Err(absent.clone()),
            Ok(SlotState::Waking) | Err(_) => {
                Err(Absent::Unavailable(StoreUnavailable("loading the actor was given up".to_owned())))
            }
        }
    }
}

/// The lease on a key's slot in the registry. Dropping it removes the slot.
pub(super) struct SlotLease<L: Live> {
    registry: Weak<RegistryInner<L>>,
    pub key: L::Key,
    pub slot: Arc<Slot<L>>,
    /// The entity as it was read lately, if it was.
    pub known: Option<Arc<Snapshot<L>>>,
    wake_again: bool,
}

impl<L: Live> SlotLease<L> {
    pub fn of(
        registry: &Arc<RegistryInner<L>>,
        key: L::Key,
        slot: Arc<Slot<L>>,
        known: Option<Arc<Snapshot<L>>>,
    ) -> Self {
        Self { registry: Arc::downgrade(registry), key, slot, known, wake_again: false }
    }
}

impl<L: Live> ActorLease for SlotLease<L> {
    fn troubled(&mut self, must_be_awake: bool) {
        self.wake_again = must_be_awake;
        self.slot.is_troubled.store(true, Ordering::SeqCst);
        if let Some(registry) = self.registry.upgrade() {
            registry.shared.metrics.reloaded.up();
        }
    }

    fn doubted(&mut self, topics: Vec<Topic>) {
        if let Some(registry) = self.registry.upgrade() {
            registry.doubt(self.key, topics);
        }
    }
}

impl<L: Live> Drop for SlotLease<L> {
    fn drop(&mut self) {
        // Loading was abandoned, for example because the thread ended: callers must not wait forever.
        self.slot.state.send_if_modified(|state| {
            let given_up = matches!(state, SlotState::Waking);
            if given_up {
                *state = SlotState::Absent(Absent::Unavailable(StoreUnavailable(
                    "loading the actor was given up".to_owned(),
                )));
            }
            given_up
        });
        let Some(registry) = self.registry.upgrade() else { return };
        registry.shared.metrics.awake.down();
        let mut slots = registry.slots();
        if slots.get(&self.key).is_some_and(|slot| Arc::ptr_eq(slot, &self.slot)) {
            slots.remove(&self.key);
        }
        // What is being read at this moment may be older than the last save.
        registry.asleep.forget(self.key);
        if slots.is_empty() {
            registry.emptied.notify_waiters();
        }
        drop(slots);
        if self.wake_again && !registry.closing.load(Ordering::SeqCst) {
            registry.wake_again(self.key);
        }
    }
}
