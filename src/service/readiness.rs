//! Whether the server takes new work.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the server takes new work; no longer once it was told to stop.
#[derive(Default)]
pub struct Readiness(AtomicBool);

impl Readiness {
    pub fn set(&self, ready: bool) {
        self.0.store(ready, Ordering::SeqCst);
    }
    #[must_use]
    pub fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
