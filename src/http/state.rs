//! What reading and answering rest on: the connections, and how much of what is on its way is held.

use std::ops::Deref;
use std::sync::Arc;

use super::budget::Budget;
use super::line::Lines;
use super::mounted::Mounted;
use crate::config;

/// The state of reading and answering. Clones are the same one.
#[derive(Clone)]
pub struct Http(Arc<HttpParts>);

pub struct HttpParts {
    pub settings: config::Http,
    /// Open connections.
    pub lines: Arc<Lines>,
    /// What bodies and answers on their way hold.
    pub budget: Budget,
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
