//! Who may create an account at this server.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use url::{Host, Url};

use crate::access::one_time::OneTimeToken;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;

/// The setting `accounts.registration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationMode {
    Open,
    ByInvitation,
    Closed,
}

impl RegistrationMode {
    /// The names of the setting.
    pub const NAMES: [(&str, Self); 3] =
        [("OPEN", Self::Open), ("BY_INVITATION", Self::ByInvitation), ("CLOSED", Self::Closed)];

    /// Returns what the setting says; where it says nothing, OPEN for a server that only its own machine reaches, else
    /// BY_INVITATION. `listen` is where it listens, `url` its public URL.
    #[must_use]
    pub fn of(setting: &str, listen: IpAddr, url: &str) -> Self {
        let named = Self::NAMES.iter().find(|(name, _)| *name == setting);
        named.map_or_else(
            || if listen.is_loopback() && is_here(url) { Self::Open } else { Self::ByInvitation },
            |(_, mode)| *mode,
        )
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

fn is_here(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

/// Whom the projects have invited. Accounts know nothing of projects.
#[async_trait]
pub trait Invitees: Send + Sync + 'static {
    /// Whether the address has an invitation that can be accepted; with a token, by the link with this token.
    ///
    /// # Errors
    /// A database error.
    async fn is_invited(&self, conn: &mut Conn, email: &str, token: Option<&OneTimeToken>) -> Result<bool, DbError>;
}

/// Decides who may create an account.
#[derive(Clone)]
pub struct Registrar {
    pub mode: RegistrationMode,
    pub invited: Arc<dyn Invitees>,
}

impl Registrar {
    /// Checks that an account for the address may be created. `proof` is the token of a link, or that the address was proved.
    ///
    /// # Errors
    /// 403 if it may not.
    pub async fn must_admit(&self, conn: &mut Conn, email: &str, proof: InvitationProof<'_>) -> Result<(), ApiError> {
        let token = match (self.mode, proof) {
            (RegistrationMode::Open, _) => return Ok(()),
            (RegistrationMode::Closed, _) => return Err(ApiError::of(Code::REGISTRATION_CLOSED)),
            (RegistrationMode::ByInvitation, InvitationProof::None) => None,
            (RegistrationMode::ByInvitation, InvitationProof::Token(token)) => Some(Some(token)),
            (RegistrationMode::ByInvitation, InvitationProof::OwnAddress) => Some(None),
        };
        let is_invited = match token {
            Some(token) => self.invited.is_invited(conn, email, token).await?,
            None => false,
        };
        if is_invited { Ok(()) } else { Err(ApiError::of(Code::REGISTRATION_BY_INVITATION)) }
    }
}

/// How a person shows that an invitation is theirs. Without a proof the answer would tell strangers who is invited.
#[derive(Debug, Clone, Copy)]
pub enum InvitationProof<'a> {
    None,
    /// The token of the mailed link.
    Token(&'a OneTimeToken),
    /// A provider has verified the address.
    OwnAddress,
}

#[cfg(test)]
mod tests {
    use super::RegistrationMode;

    fn mode(setting: &str, listen: &str, url: &str) -> RegistrationMode {
        RegistrationMode::of(setting, listen.parse().unwrap(), url)
    }

    #[test]
    fn a_server_that_others_reach_admits_who_is_invited() {
        for (listen, url) in [("127.0.0.1", "http://127.0.0.1:8080"), ("::1", "http://localhost:9000")] {
            assert_eq!(mode("", listen, url), RegistrationMode::Open, "{listen} {url}");
        }
        for (listen, url) in [
            ("0.0.0.0", "http://127.0.0.1:8080"),
            ("127.0.0.1", "https://colloquy.example.org"),
            ("::", "http://10.0.0.1"),
        ] {
            assert_eq!(mode("", listen, url), RegistrationMode::ByInvitation, "{listen} {url}");
        }
        for (name, wanted) in RegistrationMode::NAMES {
            assert_eq!((mode(name, "0.0.0.0", "https://a.example"), wanted.name()), (wanted, name));
        }
    }
}
