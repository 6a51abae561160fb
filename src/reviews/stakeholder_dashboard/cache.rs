//! The dashboards of reviewers that were built lately, by the state of what they show: building one parses a large
//! result and the texts of its documents.

use std::collections::HashMap;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::model::{ReviewContent, ReviewTarget};

/// How many dashboards of a usual size are kept.
const USUALLY: usize = 256;
/// How large all of them are together, in bytes of the results that they were built from.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How many are built at once.
const AT_ONCE: usize = 2;

/// A dashboard for reviewers, and what in it feedback can be about.
pub struct BuiltReview {
    pub content: Arc<ReviewContent>,
    pub targets: HashMap<Uuid, ReviewTarget>,
    /// The size of what it was built from, in bytes.
    pub bytes: usize,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<String, Arc<BuiltReview>> for ByBytes {
    fn weight(&self, _: &String, built: &Arc<BuiltReview>) -> u64 {
        u64::try_from(built.bytes).unwrap_or(u64::MAX).max(1024)
    }
}

/// The dashboards by their ETags.
pub struct ReviewContents {
    built: Cache<String, Arc<BuiltReview>, ByBytes>,
    pub building: Semaphore,
}

impl Default for ReviewContents {
    fn default() -> Self {
        Self { built: Cache::with_weighter(USUALLY, MOST_BYTES, ByBytes), building: Semaphore::new(AT_ONCE) }
    }
}

impl ReviewContents {
    #[must_use]
    pub fn get(&self, etag: &str) -> Option<Arc<BuiltReview>> {
        self.built.get(etag)
    }

    pub fn keep(&self, etag: String, built: Arc<BuiltReview>) {
        self.built.insert(etag, built);
    }
}
