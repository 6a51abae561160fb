//! Who works at which run: so many at once as there are places, project by project in turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::ids::{self, Id};
use actors::run;

use crate::pipeline::CancelToken;
use crate::pipeline::fair::FairSemaphore;
use crate::pipeline::process::Analyser;

/// Who works at what.
#[derive(Clone)]
pub struct Runner {
    under_way: Arc<Mutex<HashMap<Id<run::Run>, UnderWay>>>,
    pub(super) places: FairSemaphore<Id<ids::Project>>,
    pub(super) analyser: Analyser,
    keeping: Arc<tokio::sync::Mutex<()>>,
}

struct UnderWay {
    token: CancelToken,
    /// Somebody asked for it meanwhile: perhaps for an attempt that came after the one that is at work.
    again: bool,
}

impl Runner {
    /// Works at `at_once` runs at once.
    #[must_use]
    pub fn new(analyser: Analyser, at_once: usize) -> Self {
        let places = FairSemaphore::new(at_once);
        Self { under_way: Arc::default(), places, analyser, keeping: Arc::default() }
    }

    /// Has whoever works at a run look at it again when they have come to an end; whether somebody does.
    pub(super) fn again(&self, id: Id<run::Run>) -> bool {
        self.under_way().get_mut(&id).map(|under_way| under_way.again = true).is_some()
    }

    /// Takes up a run; `None`: somebody works at it.
    pub(super) fn take_up(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut under_way = self.under_way();
        if under_way.contains_key(&id) {
            return None;
        }
        let token = CancelToken::new();
        under_way.insert(id, UnderWay { token: token.clone(), again: false });
        Some(token)
    }

    /// The token of another look at a run; `None`: nobody asked for one, and it is no longer under way.
    pub(super) fn next(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut all = self.under_way();
        let under_way = all.get_mut(&id)?;
        if !under_way.again {
            all.remove(&id);
            return None;
        }
        *under_way = UnderWay { token: CancelToken::new(), again: false };
        Some(under_way.token.clone())
    }

    /// Stops the work at a run; whether to begin it again is the run's own affair.
    pub fn cancel(&self, id: Id<run::Run>) {
        if let Some(under_way) = self.under_way().get(&id) {
            under_way.token.cancel();
        }
    }

    /// Results are kept one after the other, so that the same statement of two runs becomes one item.
    pub(super) async fn keeping(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.keeping.lock().await
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id<run::Run>, UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
