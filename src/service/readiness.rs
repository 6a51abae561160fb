//! The readiness flag of the server.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the server accepts new work: false until it has started, and again once it is stopping.
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
