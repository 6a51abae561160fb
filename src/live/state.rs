//! The state of the real-time area.

use uuid::Uuid;

use super::audience::Audiences;
use crate::access::state::Gate;
use crate::core::Core;
use crate::http::connection_limit::ConnectionLimit;
use crate::http::mounted::Mounted;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    RealTime(RealTimeParts) and core: Core
}

pub struct RealTimeParts {
    pub core: Core,
    pub gate: Gate,
    /// Who may subscribe to which topics.
    pub audiences: Audiences,
    /// Limits the open sockets per account.
    pub sockets: ConnectionLimit<Uuid>,
    /// Limits the open event streams per account.
    pub streams: ConnectionLimit<Uuid>,
}

impl Mounted for RealTime {}
