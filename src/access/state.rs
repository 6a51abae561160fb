//! The state of authentication and authorization.

use std::ops::Deref;
use std::sync::Arc;

use super::revoked::Revoked;
use super::tickets::Tickets;
use super::token::Tokens;
use crate::core::Core;
use crate::http::call_limits::CallLimit;
use crate::http::costly_calls::CostlyCalls;
use crate::http::mounted::Mounted;

/// The state of this module and of [`Core`], which it builds on. Clones share one state.
#[derive(Clone)]
pub struct Gate(Arc<GateParts>);

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

impl Gate {
    #[must_use]
    pub fn new(parts: GateParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Gate {
    type Target = GateParts;
    fn deref(&self) -> &GateParts {
        &self.0
    }
}

impl Deref for GateParts {
    type Target = Core;
    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Mounted for Gate {}

impl Mounted for Core {}
