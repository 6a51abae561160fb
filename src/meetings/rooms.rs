//! The media server, in whose rooms meetings are held.

use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::clients::livekit::MediaServer;

/// Number of webhook ids that are cached.
const EVENTS: usize = 10_000;

/// The media server, if one is configured, and the ids of the webhooks that were processed.
pub struct Rooms {
    server: Option<Arc<dyn MediaServer>>,
    /// Only saves work: a webhook that is processed twice changes nothing the second time.
    received: Cache<String, ()>,
}

impl Rooms {
    #[must_use]
    pub fn at(server: Option<Arc<dyn MediaServer>>) -> Self {
        Self { server, received: Cache::new(EVENTS) }
    }

    #[must_use]
    pub fn server(&self) -> Option<&dyn MediaServer> {
        self.server.as_deref()
    }

    /// Whether the webhook with this id was processed, as far as it is remembered.
    #[must_use]
    pub fn has_received(&self, webhook: &str) -> bool {
        self.received.get(webhook).is_some()
    }

    /// Remembers that the webhook with this id was processed.
    pub fn note_received(&self, webhook: String) {
        self.received.insert(webhook, ());
    }
}
