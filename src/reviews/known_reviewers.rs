//! The review tokens that were found valid lately: a call with one of them is counted under its own access before
//! anything is loaded, all other calls under the client's address.

use quick_cache::sync::Cache;
use uuid::Uuid;

const REMEMBERED: usize = 10_000;

/// Accesses by the hashes of their tokens. It shows under what a call is counted and never admits anybody.
pub struct KnownReviewers(Cache<String, Uuid>);

impl Default for KnownReviewers {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

impl KnownReviewers {
    #[must_use]
    pub fn get(&self, token_hash: &str) -> Option<Uuid> {
        self.0.get(token_hash)
    }

    pub fn remember(&self, token_hash: String, id: Uuid) {
        self.0.insert(token_hash, id);
    }

    pub fn forget(&self, token_hash: &str) {
        self.0.remove(token_hash);
    }
}
