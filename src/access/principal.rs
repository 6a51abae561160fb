//! The authenticated principal of a request: an account with its session, or a guest of one meeting.

use actors::ids::{Id, Invitation, Participant, Session, User};
use actors::meeting::Meeting;
use uuid::Uuid;

use crate::http::code::Code;
use crate::http::error::ApiError;

/// An account, authenticated by an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Caller {
    pub user_id: Id<User>,
    pub session_id: Id<Session>,
}

/// A participant of one meeting without an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guest {
    pub meeting_id: Id<Meeting>,
    /// The guest's participant in the meeting.
    pub participant_id: Id<Participant>,
    /// The invitation that admitted the guest. Once it is no longer the participant's invitation, the guest can't join
    /// again.
    pub invitation_id: Id<Invitation>,
}

/// The owner of the Idempotency-Keys of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    /// The id that the keys are scoped to: that of the account, of the guest's participant or of the reviewer's access.
    pub id: Uuid,
    /// The account that the keys are deleted with. `None` for an owner without one.
    pub user_id: Option<Id<User>>,
}

impl From<Principal> for KeyOwner {
    fn from(principal: Principal) -> Self {
        Self { id: principal.uuid(), user_id: principal.account().ok().map(|caller| caller.user_id) }
    }
}

/// A principal, authenticated by an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    Account(Caller),
    Guest(Guest),
}

impl Principal {
    /// Returns the account, for operations that need one.
    ///
    /// # Errors
    /// 403 for a guest.
    pub fn account(self) -> Result<Caller, ApiError> {
        match self {
            Self::Account(caller) => Ok(caller),
            Self::Guest(_) => Err(ApiError::of(Code::FORBIDDEN)),
        }
    }

    /// The id that the principal's rate limits, Idempotency-Keys and sockets are counted under.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        match self {
            Self::Account(caller) => caller.user_id.uuid(),
            Self::Guest(guest) => guest.participant_id.uuid(),
        }
    }
}

impl From<Caller> for Principal {
    fn from(caller: Caller) -> Self {
        Self::Account(caller)
    }
}

impl Guest {
    /// An account that does not exist. A lookup with it finds what an account without any relation would find.
    #[must_use]
    pub const fn as_stranger(self) -> Caller {
        let nobody = self.participant_id.uuid();
        Caller { user_id: Id::from_uuid(nobody), session_id: Id::from_uuid(nobody) }
    }
}
