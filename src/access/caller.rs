//! Who calls: the account and the session behind a bearer token.

use actix_web::HttpRequest;
use actix_web::http::header;
use actors::ids::{Id, Session, User};

use crate::app::App;
use crate::http::code::Code;
use crate::http::failure::Failure;

/// An account that proved itself by an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Caller {
    pub user_id: Id<User>,
    pub session_id: Id<Session>,
}

impl Caller {
    /// Reads `Authorization: Bearer …`.
    ///
    /// # Errors
    /// 401 for a token that is missing, forged, expired, or of an ended session.
    pub fn of(request: &HttpRequest, app: &App) -> Result<Self, Failure> {
        let unauthorized = || Failure::of(Code::UNAUTHORIZED);
        let mut headers = request.headers().get_all(header::AUTHORIZATION);
        let header = headers.next().and_then(|value| value.to_str().ok()).ok_or_else(unauthorized)?;
        if headers.next().is_some() {
            return Err(unauthorized());
        }
        let (scheme, token) = header.split_once(' ').ok_or_else(unauthorized)?;
        if !scheme.eq_ignore_ascii_case("Bearer") {
            return Err(unauthorized());
        }
        let caller = app.tokens.verify(token, app.now()).map_err(|_| unauthorized())?;
        if app.revoked.contains(caller.session_id) {
            return Err(unauthorized());
        }
        Ok(caller)
    }

    /// Spends `?ticket=…`; without one, reads the header.
    ///
    /// # Errors
    /// 401 for a ticket that is forged, spent, expired, or of an ended session; else as [`Caller::of`].
    pub fn by_ticket(request: &HttpRequest, app: &App) -> Result<Self, Failure> {
        let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
        let Some((_, ticket)) = query.find(|(name, _)| name == "ticket") else { return Self::of(request, app) };
        let caller = app.tickets.redeem(&ticket, app.now());
        caller.filter(|caller| !app.revoked.contains(caller.session_id)).ok_or_else(|| {
            Failure::saying(Code::UNAUTHORIZED, "The ticket is unknown, used or expired. Get a new one.")
        })
    }
}
