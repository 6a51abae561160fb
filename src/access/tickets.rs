//! One-time tickets for sockets and streams, since a browser's socket can't carry a header. In memory: a ticket lives
//! for half a minute, and one that a restart loses is asked for again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::access::caller::Visitor;
use crate::keys::random;

/// The tickets that were given and not used.
pub struct Tickets {
    given: Mutex<HashMap<String, (Visitor, Time)>>,
    pub life: Duration,
}

impl Tickets {
    #[must_use]
    pub fn living(life: Duration) -> Self {
        Self { given: Mutex::default(), life }
    }

    /// # Errors
    /// The system has no chance to give.
    pub fn give(&self, caller: Visitor, now: Time) -> std::io::Result<String> {
        let ticket = URL_SAFE_NO_PAD.encode(random::<32>()?);
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if given.len() % 1024 == 1023 {
            given.retain(|_, (_, until)| *until > now);
        }
        given.insert(ticket.clone(), (caller, now + self.life));
        Ok(ticket)
    }

    /// Whose ticket it is; it is spent by that.
    pub fn redeem(&self, ticket: &str, now: Time) -> Option<Visitor> {
        let spent = self.given.lock().unwrap_or_else(PoisonError::into_inner).remove(ticket);
        spent.filter(|(_, until)| *until > now).map(|(caller, _)| caller)
    }
}
