//! The dashboards of reviewers that were built lately, by the state of what they show: building one parses a large
//! result and the texts of its documents.

use std::collections::HashMap;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::model::{ReviewContent, ReviewTarget};
use crate::analysis::large_reads::flights::Flights;

/// How many dashboards are kept usually. The cache is in one part for so few; in several, each would keep nothing that is larger
/// than its own room.
const USUALLY: usize = 32;
/// How large all of them are together, in bytes of the results that they were built from: the largest one, and others.
const MAX_BYTES: u64 = 96 * 1024 * 1024;
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
    pub building: Arc<Semaphore>,
    /// Those that are being built: who asks for the same one waits for it.
    pub under_way: Flights<Arc<BuiltReview>>,
}

impl Default for ReviewContents {
    fn default() -> Self {
        let built = Cache::with_weighter(USUALLY, MAX_BYTES, ByBytes);
        Self { built, building: Arc::new(Semaphore::new(AT_ONCE)), under_way: Flights::default() }
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

#[cfg(test)]
mod tests {
    use actors::ids::Id;
    use actors::time::Time;

    use super::*;
    use crate::analysis::dashboard::model::ResultsDashboard;
    use crate::analysis::large_reads::memory::MAX_PARSED_BYTES;

    #[test]
    fn the_largest_dashboard_is_kept_beside_small_ones() {
        let contents = ReviewContents::default();
        let empty = ResultsDashboard::empty(Id::generate(), Time::at(chrono::DateTime::UNIX_EPOCH));
        let content = Arc::new(ReviewContent::of(empty, &HashMap::new()));
        let built = |bytes| Arc::new(BuiltReview { content: Arc::clone(&content), targets: HashMap::new(), bytes });
        for number in 0..20 {
            contents.keep(format!("small {number}"), built(10_000));
        }
        contents.keep("largest".to_owned(), built(MAX_PARSED_BYTES));
        assert!(contents.get("largest").is_some());
        contents.keep("one more".to_owned(), built(10_000));
        assert!(contents.get("one more").is_some());
    }
}
