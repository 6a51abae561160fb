//! A key's place among those that are awake, and its entry there: what an actor holds as long as it lives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::watch;

use super::House;
use crate::live::{Live, Topic, Unavailable};
use crate::shell::{Handle, Lease};

/// A key's place: who comes while it is being woken waits for it here.
pub(super) struct Room<L: Live> {
    pub place: watch::Sender<Place<L>>,
    /// The actor stops, since what it published last may no longer be so.
    is_troubled: AtomicBool,
}

pub(super) enum Place<L: Live> {
    Waking,
    Awake(Arc<Handle<L>>),
    Absent(Absent),
}

#[derive(Debug, Clone)]
pub(super) enum Absent {
    Missing,
    Unavailable(Unavailable),
}

impl<L: Live> Room<L> {
    pub fn waking() -> Self {
        Self { place: watch::Sender::new(Place::Waking), is_troubled: AtomicBool::new(false) }
    }

    pub fn is_troubled(&self) -> bool {
        self.is_troubled.load(Ordering::SeqCst)
    }

    pub fn handle(&self) -> Option<Arc<Handle<L>>> {
        match &*self.place.borrow() {
            Place::Awake(handle) => Some(Arc::clone(handle)),
            Place::Waking | Place::Absent(_) => None,
        }
    }

    pub async fn settled(&self) -> Result<Arc<Handle<L>>, Absent> {
        let mut place = self.place.subscribe();
        let settled = place.wait_for(|place| !matches!(place, Place::Waking)).await;
        match settled.as_deref() {
            Ok(Place::Awake(handle)) => Ok(Arc::clone(handle)),
            Ok(Place::Absent(absent)) => Err(absent.clone()),
            Ok(Place::Waking) | Err(_) => Err(Absent::Unavailable(Unavailable("waking was given up".to_owned()))),
        }
    }
}

/// A key's entry in the house. It goes when this is dropped.
pub(super) struct Entry<L: Live> {
    house: Weak<House<L>>,
    pub key: L::Key,
    pub room: Arc<Room<L>>,
    wake_again: bool,
}

impl<L: Live> Entry<L> {
    pub fn of(house: &Arc<House<L>>, key: L::Key, room: Arc<Room<L>>) -> Self {
        Self { house: Arc::downgrade(house), key, room, wake_again: false }
    }
}

impl<L: Live> Lease for Entry<L> {
    fn troubled(&mut self, must_be_awake: bool) {
        self.wake_again = must_be_awake;
        self.room.is_troubled.store(true, Ordering::SeqCst);
        if let Some(house) = self.house.upgrade() {
            house.world.watch.reloaded.up();
        }
    }

    fn doubted(&mut self, topics: Vec<Topic>) {
        if let Some(house) = self.house.upgrade() {
            house.doubt(self.key, topics);
        }
    }
}

impl<L: Live> Drop for Entry<L> {
    fn drop(&mut self) {
        // Waking came to nothing, as when the thread ended: nobody may wait for it for ever.
        self.room.place.send_if_modified(|place| {
            let given_up = matches!(place, Place::Waking);
            if given_up {
                *place = Place::Absent(Absent::Unavailable(Unavailable("waking was given up".to_owned())));
            }
            given_up
        });
        let Some(house) = self.house.upgrade() else { return };
        house.world.watch.awake.down();
        let mut rooms = house.rooms();
        if rooms.get(&self.key).is_some_and(|room| Arc::ptr_eq(room, &self.room)) {
            rooms.remove(&self.key);
        }
        if rooms.is_empty() {
            house.emptied.notify_waiters();
        }
        drop(rooms);
        if self.wake_again && !house.closing.load(Ordering::SeqCst) {
            house.wake_again(self.key);
        }
    }
}
