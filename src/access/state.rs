//! The state of authentication and authorization.

use std::ops::Deref;
use std::sync::Arc;

use super::revoked::Revoked;
use super::tickets::Tickets;
use super::token::Tokens;
use crate::core::Core;
use crate::http::call_limits::CallLimits;
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
