//! The state that account handlers share.

use std::ops::Deref;
use std::sync::Arc;

use super::pictures::decoder::PictureDecoder;
use super::refresh_locks::RefreshLocks;
use crate::access::state::Gate;
use crate::clients::files::Files;
use crate::clients::openid::OpenId;
use crate::http::mounted::Mounted;
use crate::passwords::Passwords;

/// The state of accounts, and what it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Accounts(Arc<AccountsParts>);

pub struct AccountsParts {
    pub gate: Gate,
    /// Serializes the refreshes of one session.
    pub refresh_locks: RefreshLocks,
    /// The OpenID provider, where one is configured.
    pub google: Option<OpenId>,
    pub passwords: Passwords,
    /// The file store of avatars, separate from the files of projects.
    pub avatars: Files,
    pub pictures: PictureDecoder,
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
