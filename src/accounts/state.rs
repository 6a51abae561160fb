//! What accounts own.

use std::ops::Deref;
use std::sync::Arc;

use super::sessions::turns::Turns;
use crate::access::state::Gate;
use crate::http::mounted::Mounted;
use crate::outside::files::Files;
use crate::outside::openid::OpenId;
use crate::passwords::Passwords;

/// The state of this area, and what it rests on. Clones are the same one.
#[derive(Clone)]
pub struct Accounts(Arc<AccountsParts>);

pub struct AccountsParts {
    pub gate: Gate,
    /// One refresh of a session after the other.
    pub turns: Turns,
    /// The log-in provider, where one is configured.
    pub google: Option<OpenId>,
    pub passwords: Passwords,
    /// Faces of accounts, apart from what projects keep.
    pub avatars: Files,
}

impl Accounts {
    #[must_use]
    pub fn new(parts: AccountsParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Accounts {
    type Target = AccountsParts;
    fn deref(&self) -> &AccountsParts {
        &self.0
    }
}

impl Deref for AccountsParts {
    type Target = Gate;
    fn deref(&self) -> &Gate {
        &self.gate
    }
}

impl Mounted for Accounts {}
