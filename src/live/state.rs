//! The state of the real-time area.

use std::ops::Deref;
use std::sync::Arc;

use uuid::Uuid;

use super::audience::Audiences;
use crate::access::state::Gate;
use crate::http::connection_limit::ConnectionLimit;
use crate::http::mounted::Mounted;

/// The state of this area, with the state of the areas it depends on. Clones share the same state.
#[derive(Clone)]
pub struct RealTime(Arc<RealTimeParts>);

pub struct RealTimeParts {
    pub gate: Gate,
    /// Who may subscribe to which topics.
    pub audiences: Audiences,
    /// Limits the open sockets per account.
    pub sockets: ConnectionLimit<Uuid>,
    /// Limits the open event streams per account.
    pub streams: ConnectionLimit<Uuid>,
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
