//! Keys under which a save ended nobody knows how: until that is settled nothing is loaded under them, so that nothing
//! older than its outcome is served.
//!
//! A key is noted before anybody hears that its save is unknown, and stays noted across actors. One task for each asks the
//! journal to settle it, as often as it takes; whoever wants to load waits for that, within the limit of a load. Listeners
//! are told then what nobody told them.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::sleep;

use super::{House, WAKE_AGAIN};
use crate::live::{Live, Tasks, Topic};
use crate::panics::caught_async;

pub(super) struct Doubts<K>(Mutex<HashMap<K, Doubt>>);

struct Doubt {
    /// Rises with each save that ended so.
    times: u64,
    topics: Vec<Topic>,
    /// Closed when it is settled.
    settled: watch::Sender<()>,
}

impl<K> Default for Doubts<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K> Doubts<K> {
    fn keys(&self) -> MutexGuard<'_, HashMap<K, Doubt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L: Live> House<L> {
    pub(super) fn is_in_doubt(&self, key: L::Key) -> bool {
        self.doubts.keys().contains_key(&key)
    }

    /// Returns when it is known what became of the saves under a key.
    pub(super) async fn certain(&self, key: L::Key) {
        let settled = self.doubts.keys().get(&key).map(|doubt| doubt.settled.subscribe());
        if let Some(mut settled) = settled {
            while settled.changed().await.is_ok() {}
        }
    }

    /// A save under the key ended nobody knows how.
    pub(super) fn doubt(self: &Arc<Self>, key: L::Key, topics: Vec<Topic>) {
        let mut keys = self.doubts.keys();
        if let Some(doubt) = keys.get_mut(&key) {
            doubt.times += 1;
            doubt.topics = topics;
            return;
        }
        keys.insert(key, Doubt { times: 1, topics, settled: watch::Sender::new(()) });
        drop(keys);
        let house = Arc::downgrade(self);
        let journal = Arc::clone(&self.world.journal);
        self.arbiters.spawn(Box::pin(async move {
            let (mut pause, longest) = WAKE_AGAIN;
            loop {
                let times = house.upgrade().map(|house| house.times(key));
                let settled = caught_async(journal.settle(key)).await;
                let (Some(house), Some(times)) = (house.upgrade(), times) else { return };
                match settled {
                    Ok(Ok(())) if house.times(key) == times => return house.settle_doubt(key),
                    Ok(Ok(())) => continue,
                    Ok(Err(unavailable)) => tracing::warn!(kind = L::KIND, %key, ?unavailable, "not settled yet"),
                    Err(_) => tracing::error!(kind = L::KIND, %key, "settling a save panicked"),
                }
                if house.closing.load(Ordering::SeqCst) {
                    return;
                }
                drop(house);
                sleep(pause).await;
                pause = (pause * 2).min(longest);
            }
        }));
    }

    fn times(&self, key: L::Key) -> u64 {
        self.doubts.keys().get(&key).map_or(0, |doubt| doubt.times)
    }

    fn settle_doubt(&self, key: L::Key) {
        let Some(doubt) = self.doubts.keys().remove(&key) else { return };
        // It, or another writer's, may be in the table without ever having been told.
        self.world.bus.doubt(&doubt.topics);
    }
}
