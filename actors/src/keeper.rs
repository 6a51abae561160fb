//! One mailbox for each key: finds it, wakes it from the store, lets it sleep, stops them all.
//!
//! ```text
//!   (none) --first ask: load--> Waking --loaded--> Awake --idle, trouble, stop--> (none)
//!                                  `--missing, store away--> (none), and who waited is told
//! ```
//!
//! A key whose last save ended nobody knows how is not loaded until that is settled (`doubts`).
//!
//! A key has an entry exactly as long as its [`Entry`] lease lives, which travels from the loading task into the actor.
//! So there is never a second loader or actor of a key in this process; that there is none in another one is for
//! [`Ownership`], and in the end for the journal, which refuses a stale revision.

mod doubts;
mod room;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use self::doubts::Doubts;
use self::room::{Absent, Entry, Place, Room};
use crate::hub::Bus;
use crate::live::{Journal, Live, RequestId, Tasks, Unavailable, Unsaved};
use crate::panics::caught_async;
use crate::shell::{Answer, Arbiters, Asked, Failure, Handle, Limits, Snapshot, World, open};
use crate::time::Clock;
use crate::watch::Watch;

/// Between two attempts to wake what must be awake, while the store is away: from the first, doubling, to the second.
const WAKE_AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Who may write a thing. With one process that is always this one.
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

/// What a keeper is given.
pub struct Parts<L: Live> {
    pub journal: Arc<dyn Journal<L>>,
    pub bus: Arc<dyn Bus>,
    pub clock: Arc<dyn Clock>,
    pub ownership: Arc<dyn Ownership>,
    pub arbiters: Arbiters,
    pub watch: Watch,
    pub limits: Limits,
}

/// All things of one kind. Cheap to clone; every clone is the same keeper.
pub struct Keeper<L: Live> {
    house: Arc<House<L>>,
}

impl<L: Live> Clone for Keeper<L> {
    fn clone(&self) -> Self {
        Self { house: Arc::clone(&self.house) }
    }
}

impl<L: Live> Keeper<L> {
    #[must_use]
    pub fn new(parts: Parts<L>) -> Self {
        let Parts { journal, bus, clock, ownership, arbiters, watch, limits } = parts;
        let world = World { journal, bus, clock, watch: watch.kind(L::KIND), limits };
        Self {
            house: Arc::new(House {
                world: Arc::new(world),
                ownership,
                arbiters,
                rooms: Mutex::default(),
                doubts: Doubts::default(),
                waking_again: Mutex::default(),
                closing: AtomicBool::new(false),
                emptied: Notify::new(),
            }),
        }
    }

    /// Has a thing decide a command and answers once that is saved, with the state after it.
    ///
    /// If the returned future is dropped, a command that waits is not taken, and one that is under way goes on.
    ///
    /// # Errors
    /// See [`Failure`]; after all but `Unsaved(Unknown)` nothing has changed.
    pub async fn ask(&self, key: L::Key, command: L::Command, request: RequestId) -> Answer<L> {
        let watch = &self.house.world.watch;
        let asked_at = Instant::now();
        let room = self.house.find(key).await?;
        let command = match room.send(command, Arc::clone(&request)).await {
            Asked::NeverRan(command) => command,
            other => return self.house.answer(other),
        };
        // Whoever waited behind a save that hung has waited long enough.
        if asked_at.elapsed() >= self.house.world.limits.save {
            watch.busy.up();
            return Err(Failure::Busy);
        }
        // It never ran, so it may be sent again. Once: what comes back twice meets a house in trouble.
        watch.resent.up();
        let room = self.house.find(key).await?;
        let asked = room.send(command, request).await;
        self.house.answer(asked)
    }

    /// A thing as it was last saved: from memory if it is awake, else from the store, without waking it. `None`: there is
    /// no such thing.
    ///
    /// # Errors
    /// The store can't be reached, or it is not known yet what became of a save.
    pub async fn snapshot(&self, key: L::Key) -> Result<Option<Arc<Snapshot<L>>>, Unavailable> {
        if let Some(handle) = self.house.awake(key) {
            return Ok(Some(handle.snapshot()));
        }
        let loaded = self.house.load(key).await?;
        Ok(loaded.map(|state| Arc::new(Snapshot::new(state))))
    }

    /// Has a thing read anew, if it is awake: another transaction than its actor's wrote it. Returns when that is seen; the
    /// actor's own saves are refused from that transaction on, by their revision.
    pub async fn reload(&self, key: L::Key) {
        let room = self.house.rooms().get(&key).map(Arc::clone);
        let Some(room) = room else { return };
        if let Ok(handle) = room.settled().await {
            handle.reload().await;
        }
    }

    /// Wakes what must be awake, many at a time: to be called once, at start. Commands needn't wait for it.
    ///
    /// # Errors
    /// The store can't say what must be awake. What can't be loaded is tried again by itself.
    pub async fn wake_all(&self) -> Result<Woken, Unavailable> {
        let keys = self.house.world.journal.awake().await?;
        let mut awake = 0;
        for some in keys.chunks(self.house.world.limits.waking.max(1)) {
            awake += self.house.wake_some(some).await;
        }
        Ok(Woken { asked: keys.len(), awake })
    }

    /// Takes no more commands, lets what waits in mailboxes be saved, and stops all. Returns when nothing is awake.
    pub async fn stop_all(&self) {
        self.house.closing.store(true, Ordering::SeqCst);
        let rooms: Vec<_> = self.house.rooms().values().map(Arc::clone).collect();
        for room in rooms {
            if let Ok(handle) = room.settled().await {
                handle.retire().await;
            }
        }
        loop {
            let emptied = self.house.emptied.notified();
            if self.house.rooms().is_empty() {
                return;
            }
            emptied.await;
        }
    }
}

/// What [`Keeper::wake_all`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Woken {
    /// Things that must be awake.
    pub asked: usize,
    /// Things that are, now. Those missing from it are tried again, unless they are gone.
    pub awake: usize,
}

struct House<L: Live> {
    world: Arc<World<L>>,
    ownership: Arc<dyn Ownership>,
    arbiters: Arbiters,
    rooms: Mutex<HashMap<L::Key, Arc<Room<L>>>>,
    doubts: Doubts<L::Key>,
    waking_again: Mutex<HashSet<L::Key>>,
    closing: AtomicBool,
    emptied: Notify,
}

impl<L: Live> House<L> {
    fn rooms(&self) -> MutexGuard<'_, HashMap<L::Key, Arc<Room<L>>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever can say how the thing is.
    fn awake(&self, key: L::Key) -> Option<Arc<Handle<L>>> {
        let rooms = self.rooms();
        rooms.get(&key).filter(|room| !room.is_troubled()).and_then(|room| room.handle())
    }

    /// The mailbox of a key, woken if need be.
    async fn find(self: &Arc<Self>, key: L::Key) -> Result<Arc<Handle<L>>, Failure<L::Refusal>> {
        let room = self.room(key).inspect_err(|_| self.world.watch.busy.up())?;
        room.settled().await.map_err(|absent| match absent {
            Absent::Missing => Failure::Missing,
            Absent::Unavailable(Unavailable(text)) => Failure::Unsaved(Unsaved::Failed(text)),
        })
    }

    /// The room of a key; if it has none, one is made and its waking begins. `Err` is [`Failure::Busy`].
    fn room(self: &Arc<Self>, key: L::Key) -> Result<Arc<Room<L>>, Failure<L::Refusal>> {
        let (room, entry) = self.enter(key)?;
        if let Some(entry) = entry {
            let house = Arc::clone(self);
            self.arbiters.spawn(Box::pin(async move { house.wake(entry).await }));
        }
        Ok(room)
    }

    /// The room of a key; if it has none, one is made, and its waking is owed by whoever gets the entry.
    #[expect(clippy::type_complexity, reason = "a room, and perhaps its entry")]
    fn enter(self: &Arc<Self>, key: L::Key) -> Result<(Arc<Room<L>>, Option<Entry<L>>), Failure<L::Refusal>> {
        let mut rooms = self.rooms();
        // Looked at under the lock, so that `stop_all` sees every room that is made before it says that it closes.
        if self.closing.load(Ordering::SeqCst) {
            return Err(Failure::Busy);
        }
        if let Some(room) = rooms.get(&key) {
            return Ok((Arc::clone(room), None));
        }
        if rooms.len() >= self.world.limits.awake || self.ownership.owner(L::KIND, &key) == Owner::Elsewhere {
            return Err(Failure::Busy);
        }
        let room = Arc::new(Room::waking());
        rooms.insert(key, Arc::clone(&room));
        drop(rooms);
        self.world.watch.awake.up();
        let entry = Entry::of(self, key, Arc::clone(&room));
        Ok((room, Some(entry)))
    }

    /// Wakes several things with one look into the store; answers how many of them are awake then.
    async fn wake_some(self: &Arc<Self>, keys: &[L::Key]) -> usize {
        let (mut rooms, mut entries) = (Vec::with_capacity(keys.len()), HashMap::with_capacity(keys.len()));
        for key in keys {
            if self.is_in_doubt(*key) {
                self.wake_again(*key);
                continue;
            }
            match self.enter(*key) {
                Ok((room, entry)) => {
                    rooms.push((*key, room));
                    entries.extend(entry.map(|entry| (*key, entry)));
                }
                Err(_) => self.wake_again(*key),
            }
        }
        let loading = self.world.journal.load_all(entries.keys().copied().collect());
        match self.within(loading).await {
            Ok(states) => {
                for state in states {
                    let Some(entry) = entries.remove(&state.key()) else { continue };
                    let house = Arc::clone(self);
                    self.arbiters.spawn(Box::pin(async move { house.settle(entry, Ok(Some(state))) }));
                }
                entries.into_values().for_each(|entry| self.settle(entry, Ok(None)));
            }
            Err(away) => entries.into_values().for_each(|entry| self.settle(entry, Err(away.clone()))),
        }
        let mut awake = 0;
        for (key, room) in rooms {
            match room.settled().await {
                Ok(_) => awake += 1,
                Err(Absent::Missing) => {}
                Err(Absent::Unavailable(_)) => self.wake_again(key),
            }
        }
        awake
    }

    /// Loads a thing and starts its actor on this thread.
    async fn wake(&self, entry: Entry<L>) {
        let loaded = self.load(entry.key).await;
        self.settle(entry, loaded);
    }

    /// Says what became of waking a thing; if it is there, its actor is started on this thread.
    fn settle(&self, entry: Entry<L>, loaded: Result<Option<L>, Unavailable>) {
        let room = Arc::clone(&entry.room);
        let place = match loaded {
            Ok(Some(state)) => Place::Awake(Arc::new(open(state, &self.world, Box::new(entry)))),
            Ok(None) => Place::Absent(Absent::Missing),
            Err(unavailable) => {
                tracing::warn!(kind = L::KIND, key = %entry.key, ?unavailable, "not woken");
                Place::Absent(Absent::Unavailable(unavailable))
            }
        };
        room.place.send_replace(place);
    }

    async fn load(&self, key: L::Key) -> Result<Option<L>, Unavailable> {
        self.within(async {
            self.certain(key).await;
            self.world.journal.load(key).await
        })
        .await
    }

    /// What the store says within the limit.
    async fn within<T>(&self, asked: impl Future<Output = Result<T, Unavailable>>) -> Result<T, Unavailable> {
        match timeout(self.world.limits.save, caught_async(asked)).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(_)) => Err(Unavailable("the journal panicked".to_owned())),
            Err(_) => Err(Unavailable("loading took too long".to_owned())),
        }
    }

    fn answer(&self, asked: Asked<L>) -> Answer<L> {
        match asked {
            Asked::Answered(answer) => answer,
            Asked::Lost => Err(Failure::Unsaved(Unsaved::Unknown("the actor was torn down".to_owned()))),
            Asked::Full | Asked::NeverRan(_) => {
                self.world.watch.busy.up();
                Err(Failure::Busy)
            }
        }
    }

    /// Wakes a thing by and by, as often as it takes. One task a key.
    fn wake_again(self: &Arc<Self>, key: L::Key) {
        let mut waking = self.waking_again.lock().unwrap_or_else(PoisonError::into_inner);
        if !waking.insert(key) {
            return;
        }
        drop(waking);
        let house = Arc::downgrade(self);
        self.arbiters.spawn(Box::pin(async move {
            let (mut pause, longest) = WAKE_AGAIN;
            loop {
                sleep(pause).await;
                pause = (pause * 2).min(longest);
                let Some(house) = house.upgrade() else { return };
                let over = match house.find(key).await {
                    Ok(_) | Err(Failure::Missing) => true,
                    Err(_) => house.closing.load(Ordering::SeqCst),
                };
                if over {
                    house.waking_again.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
                    return;
                }
            }
        }));
    }
}
