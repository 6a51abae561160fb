//! Sessions: what a log-in gives, how it goes on, and how it ends.
//!
//! A session is a row with a counter. A refresh token is a keyed hash over its session and a counter, so nothing of it is
//! kept; the row says which counter is good. What ends a session marks the row and tells `access::revoked`, which refuses
//! its access tokens and closes its sockets.

pub mod begun;
pub mod model;
pub mod operations;
mod refresh;
pub mod routes;
pub mod store;
pub mod turns;

use actors::ids::{self, Id};

use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::accounts::state::Accounts;
use crate::http::code::Code;
use crate::http::failure::Failure;

/// A session that goes on, by its id.
#[derive(Debug)]
pub struct GoingOn(pub Id<ids::Session>);

impl Guarded for GoingOn {
    type State = Accounts;
    type Ids = Id<ids::Session>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        path.id("sessionId")
    }

    async fn find(state: &Accounts, id: Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let now = state.now();
        let owner = state.db.read(move |conn| Box::pin(store::owner(conn, id, now))).await.map_err(Failure::from)?;
        let owner = owner.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        let standing = Standing { own: owner == caller.user_id, ..Standing::default() };
        Ok(Found { standing, thing: Ok(Self(id)) })
    }
}
