//! One-time tickets for sockets and event streams, since a browser's WebSocket can't send headers. Tickets are in
//! memory and live half a minute; a client whose ticket is lost in a restart requests a new one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::access::principal::Principal;
use crate::keys::random;

/// The tickets that have been issued and not been used.
pub struct Tickets {
    given: Mutex<HashMap<String, (Principal, Time)>>,
    pub life: Duration,
}

impl Tickets {
    #[must_use]
    pub fn living(life: Duration) -> Self {
        Self { given: Mutex::default(), life }
    }

    /// Issues a ticket.
    ///
    /// # Errors
    /// The operating system's random number generator fails.
    pub fn give(&self, caller: Principal, now: Time) -> std::io::Result<String> {
        let ticket = URL_SAFE_NO_PAD.encode(random::<32>()?);
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if given.len() % 1024 == 1023 {
            given.retain(|_, (_, until)| *until > now);
        }
        given.insert(ticket.clone(), (caller, now + self.life));
        Ok(ticket)
    }

    /// Redeems a ticket and returns its principal. A second call with the same ticket returns `None`.
    pub fn redeem(&self, ticket: &str, now: Time) -> Option<Principal> {
        let spent = self.given.lock().unwrap_or_else(PoisonError::into_inner).remove(ticket);
        spent.filter(|(_, until)| *until > now).map(|(caller, _)| caller)
    }
}
