//! The state of the HTTP layer: the open connections and the byte budget.

use std::sync::Arc;

use super::budget::Budget;
use super::mounted::Mounted;
use super::raw_connection::Connections;
use super::spool::Spools;
use crate::config;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of the HTTP layer.
    Http(HttpParts)
}

pub struct HttpParts {
    pub settings: config::Http,
    /// The open connections.
    pub connections: Arc<Connections>,
    /// The byte budget of request bodies and responses.
    pub budget: Budget,
    /// Where large responses wait until they have been sent.
    pub spools: Spools,
}

impl Mounted for Http {}
