//! The state of the HTTP layer: the open connections and the byte budget.

use std::ops::Deref;
use std::sync::Arc;

use super::budget::Budget;
use super::mounted::Mounted;
use super::raw_connection::Connections;
use super::spool::Spools;
use crate::config;

/// The state of the HTTP layer. Clones share one state.
#[derive(Clone)]
pub struct Http(Arc<HttpParts>);

pub struct HttpParts {
    pub settings: config::Http,
    /// The open connections.
    pub connections: Arc<Connections>,
    /// The byte budget of request bodies and responses.
    pub budget: Budget,
    /// Where large responses wait until they have been sent.
    pub spools: Spools,
}

impl Http {
    #[must_use]
    pub fn new(parts: HttpParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Http {
    type Target = HttpParts;
    fn deref(&self) -> &HttpParts {
        &self.0
    }
}

impl Mounted for Http {}
