//! Who calls: the account and the session behind a bearer token, or the guest of one meeting.

use actors::ids::{Id, Invitation, Participant, Session, User};
use actors::meeting::Meeting;
use uuid::Uuid;

use crate::http::code::Code;
use crate::http::failure::Failure;

/// An account that proved itself by an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Caller {
    pub user_id: Id<User>,
    pub session_id: Id<Session>,
}

/// Somebody who was let into one meeting without an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guest {
    pub meeting_id: Id<Meeting>,
    /// Their place in it.
    pub participant_id: Id<Participant>,
    /// What let them in: once another one did, or none any longer, they come in no more.
    pub invitation_id: Id<Invitation>,
}

/// Whoever proved themself by an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visitor {
    Account(Caller),
    Guest(Guest),
}

impl Visitor {
    /// The account, where one is needed.
    ///
    /// # Errors
    /// 403: a guest has none.
    pub fn account(self) -> Result<Caller, Failure> {
        match self {
            Self::Account(caller) => Ok(caller),
            Self::Guest(_) => Err(Failure::of(Code::FORBIDDEN)),
        }
    }

    /// What this visitor's limits, keys and sockets are counted under.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        match self {
            Self::Account(caller) => caller.user_id.uuid(),
            Self::Guest(guest) => guest.participant_id.uuid(),
        }
    }
}

impl From<Caller> for Visitor {
    fn from(caller: Caller) -> Self {
        Self::Account(caller)
    }
}

impl Guest {
    /// An account that nobody has: what is asked with it finds what a stranger finds.
    #[must_use]
    pub const fn as_stranger(self) -> Caller {
        let nobody = self.participant_id.uuid();
        Caller { user_id: Id::from_uuid(nobody), session_id: Id::from_uuid(nobody) }
    }
}
