//! What tells who calls.

use std::ops::Deref;
use std::sync::Arc;

use super::revoked::Revoked;
use super::tickets::Tickets;
use super::token::Tokens;
use crate::core::Core;
use crate::http::limits::Limits;
use crate::http::mounted::Mounted;

/// The state of this area, and what it rests on. Clones are the same one.
#[derive(Clone)]
pub struct Gate(Arc<GateParts>);

pub struct GateParts {
    pub core: Core,
    pub tokens: Tokens,
    pub revoked: Revoked,
    pub tickets: Tickets,
    pub limits: Limits,
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
