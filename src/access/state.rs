//! The state of authentication and authorization.

use super::revoked::Revoked;
use super::tickets::Tickets;
use super::token::Tokens;
use crate::core::Core;
use crate::http::call_limits::CallLimit;
use crate::http::costly_calls::CostlyCalls;
use crate::http::mounted::Mounted;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this module.
    Gate(GateParts) and core: Core
}

pub struct GateParts {
    pub core: Core,
    pub tokens: Tokens,
    pub revoked: Revoked,
    pub tickets: Tickets,
    pub limits: CallLimits,
}

/// The rate limits that are counted in memory.
pub struct CallLimits {
    /// Every call: by account, or by client address if the call is unauthenticated.
    pub calls: CallLimit,
    /// Those that cost much, in addition: by account, with few at once for each project.
    pub costly: CostlyCalls,
}

impl Mounted for Gate {}

impl Mounted for Core {}
