//! What sockets and streams own.

use std::ops::Deref;
use std::sync::Arc;

use uuid::Uuid;

use super::audience::Audiences;
use crate::access::state::Gate;
use crate::http::mounted::Mounted;
use crate::http::places::Places;

/// The state of this area, and what it rests on. Clones are the same one.
#[derive(Clone)]
pub struct RealTime(Arc<RealTimeParts>);

pub struct RealTimeParts {
    pub gate: Gate,
    /// Who may listen to what.
    pub audiences: Audiences,
    /// Open sockets, by account.
    pub sockets: Places<Uuid>,
    /// Open event streams, by account.
    pub streams: Places<Uuid>,
}

impl RealTime {
    #[must_use]
    pub fn new(parts: RealTimeParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for RealTime {
    type Target = RealTimeParts;
    fn deref(&self) -> &RealTimeParts {
        &self.0
    }
}

impl Deref for RealTimeParts {
    type Target = Gate;
    fn deref(&self) -> &Gate {
        &self.gate
    }
}

impl Mounted for RealTime {}
