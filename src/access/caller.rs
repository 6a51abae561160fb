//! Who calls: the account and the session behind a bearer token, or the guest of one meeting.

use actix_web::HttpRequest;
use actix_web::http::header;
use actors::ids::{Id, Invitation, Participant, Session, User};
use actors::meeting::Meeting;
use uuid::Uuid;

use crate::app::App;
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
    /// Reads `Authorization: Bearer …`.
    ///
    /// # Errors
    /// 401 for a token that is missing, forged, expired, or of an ended session.
    pub fn of(request: &HttpRequest, app: &App) -> Result<Self, Failure> {
        Self::if_any(request, app)?.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))
    }

    /// As [`Visitor::of`], for what is open to all; `None`: there is no such header.
    ///
    /// # Errors
    /// 401 for a token that is not good.
    pub fn if_any(request: &HttpRequest, app: &App) -> Result<Option<Self>, Failure> {
        let unauthorized = || Failure::of(Code::UNAUTHORIZED);
        let mut headers = request.headers().get_all(header::AUTHORIZATION);
        let Some(header) = headers.next() else { return Ok(None) };
        let header = header.to_str().map_err(|_| unauthorized())?;
        if headers.next().is_some() {
            return Err(unauthorized());
        }
        let (scheme, token) = header.split_once(' ').ok_or_else(unauthorized)?;
        if !scheme.eq_ignore_ascii_case("Bearer") {
            return Err(unauthorized());
        }
        let visitor = app.tokens.verify(token, app.now()).map_err(|_| unauthorized())?;
        if visitor.has_ended(app) { Err(unauthorized()) } else { Ok(Some(visitor)) }
    }

    /// Spends `?ticket=…`; without one, reads the header.
    ///
    /// # Errors
    /// 401 for a ticket that is forged, spent, expired, or of an ended session; else as [`Visitor::of`].
    pub fn by_ticket(request: &HttpRequest, app: &App) -> Result<Self, Failure> {
        let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
        let Some((_, ticket)) = query.find(|(name, _)| name == "ticket") else { return Self::of(request, app) };
        let visitor = app.tickets.redeem(&ticket, app.now());
        visitor.filter(|visitor| !visitor.has_ended(app)).ok_or_else(|| {
            Failure::saying(Code::UNAUTHORIZED, "The ticket is unknown, used or expired. Get a new one.")
        })
    }

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

    /// Of a guest it is the meeting that knows whether they may still come in.
    fn has_ended(self, app: &App) -> bool {
        match self {
            Self::Account(caller) => app.revoked.contains(caller.session_id),
            Self::Guest(_) => false,
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

impl Caller {
    /// As [`Visitor::of`].
    ///
    /// # Errors
    /// Also 403, for a guest.
    pub fn of(request: &HttpRequest, app: &App) -> Result<Self, Failure> {
        Visitor::of(request, app)?.account()
    }
}
