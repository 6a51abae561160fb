//! Counts the statements that this process sends to the database, BEGIN and COMMIT included, for `/metrics`. A test holds
//! what each operation may send against a table.

use std::sync::atomic::{AtomicU64, Ordering};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

use super::OpenError;

/// For all connections: Diesel, too, knows one way for a process to observe them.
static SENT: AtomicU64 = AtomicU64::new(0);

/// Has the statements of all connections counted that are opened from now on.
pub(super) fn count() -> Result<(), OpenError> {
    set_default_instrumentation(counter)
        .map_err(|error| OpenError(format!("the database's statements can't be counted: {error}")))
}

/// How many statements this process has sent.
pub(super) fn sent() -> u64 {
    SENT.load(Ordering::Relaxed)
}

fn counter() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if matches!(event, InstrumentationEvent::StartQuery { .. }) {
            SENT.fetch_add(1, Ordering::Relaxed);
        }
    }))
}
