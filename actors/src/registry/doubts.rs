//! Keys with a save whose outcome is unknown: until it is settled nothing is loaded under them, so that no state older
//! than the save's outcome is served.
//!
//! A key is registered here before any caller learns that its save is unknown, and stays registered across actors. One
//! task per key waits for its outcome in the journal, with as many attempts as it takes; loads of that key wait for it,
//! within the time limit of a load. After that, subscribers receive the events that were saved but not published.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::sleep;

use super::{RETRY_PAUSES, RegistryInner};
use crate::live::{Live, Spawner, Topic};
use crate::panics::caught_async;

pub(super) struct SuspectKeys<K>(Mutex<HashMap<K, Doubt>>);

struct Doubt {
    /// Number of saves under this key whose outcome was unknown.
    times: u64,
    topics: Vec<Topic>,
    /// Closed when the outcome is settled.
    settled: watch::Sender<()>,
}

impl<K> Default for SuspectKeys<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K> SuspectKeys<K> {
    fn keys(&self) -> MutexGuard<'_, HashMap<K, Doubt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L: Live> RegistryInner<L> {
    pub(super) fn is_in_doubt(&self, key: L::Key) -> bool {
        self.doubts.keys().contains_key(&key)
    }

    /// Returns when the outcome of all saves under a key is known.
    pub(super) async fn certain(&self, key: L::Key) {
        let settled = self.doubts.keys().get(&key).map(|doubt| doubt.settled.subscribe());
        if let Some(mut settled) = settled {
            while settled.changed().await.is_ok() {}
        }
    }

    /// Registers a save under the key whose outcome is unknown, and starts waiting for it.
    pub(super) fn doubt(self: &Arc<Self>, key: L::Key, topics: Vec<Topic>) {
        let mut keys = self.doubts.keys();
        if let Some(doubt) = keys.get_mut(&key) {
            doubt.times += 1;
            doubt.topics = topics;
            return;
        }
        keys.insert(key, Doubt { times: 1, topics, settled: watch::Sender::new(()) });
        drop(keys);
        let registry = Arc::downgrade(self);
        let journal = Arc::clone(&self.shared.journal);
        self.arbiters.spawn(Box::pin(async move {
            let (mut pause, longest) = RETRY_PAUSES;
            loop {
                let times = registry.upgrade().map(|registry| registry.times(key));
                let settled = caught_async(journal.wait_for_outcomes(key)).await;
                let (Some(registry), Some(times)) = (registry.upgrade(), times) else { return };
                match settled {
                    Ok(Ok(())) if registry.times(key) == times => return registry.settle_doubt(key),
                    Ok(Ok(())) => continue,
                    Ok(Err(unavailable)) => {
                        tracing::warn!(kind = L::KIND, %key, ?unavailable, "the outcome of a save is not settled yet");
                    }
                    Err(_) => tracing::error!(kind = L::KIND, %key, "waiting for the outcome of a save panicked"),
                }
                if registry.closing.load(Ordering::SeqCst) {
                    return;
                }
                drop(registry);
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
        // The events of this save, or of another writer, may be in the event table without having been published.
        self.shared.bus.doubt(&doubt.topics);
    }
}
