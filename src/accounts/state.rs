//! The state that account handlers share.

use super::pictures::decoder::PictureDecoder;
use super::refresh_locks::RefreshLocks;
use super::registration::Registrar;
use crate::access::state::Gate;
use crate::clients::files::Files;
use crate::clients::openid::OpenId;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::passwords::Passwords;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of accounts.
    Accounts(AccountsParts) and core: Core
}

pub struct AccountsParts {
    pub core: Core,
    pub gate: Gate,
    /// Serializes the refreshes of one session.
    pub refresh_locks: RefreshLocks,
    /// Who may create an account.
    pub registrar: Registrar,
    /// The OpenID provider, where one is configured.
    pub google: Option<OpenId>,
    pub passwords: Passwords,
    /// The file store of avatars, separate from the files of projects.
    pub avatars: Files,
    pub pictures: PictureDecoder,
}

impl Mounted for Accounts {}
