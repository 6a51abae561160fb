//! The exports that this process works on: two jobs never work on one.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

/// Clones share one set.
#[derive(Clone, Default)]
pub struct RunningExports(Arc<Mutex<HashSet<Uuid>>>);

/// The right to work on an export, until it is dropped.
pub struct ExportTurn {
    running: RunningExports,
    id: Uuid,
}

impl RunningExports {
    /// Returns `None` if another job works on it.
    #[must_use]
    pub fn take(&self, id: Uuid) -> Option<ExportTurn> {
        let is_free = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        is_free.then(|| ExportTurn { running: self.clone(), id })
    }
}

impl Drop for ExportTurn {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
