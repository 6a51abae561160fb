//! Sessions: log-in, refresh, listing and revocation.
//!
//! A session is a row with a counter. A refresh token is a keyed hash over its session and a counter, so the token
//! itself is not stored; the row says which counter is valid. Ending a session marks its row and adds it to
//! `access::revoked`, which refuses its access tokens and closes its sockets.

pub mod bodies;
pub mod issued;
pub mod model;
pub mod operations;
mod refresh;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::accounts::state::Accounts;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// An active session, by its id.
#[derive(Debug)]
pub struct OngoingSession(pub Id<ids::Session>);

impl Resource for OngoingSession {
    type State = Accounts;
    type Ids = Id<ids::Session>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        path.id("sessionId")
    }

    async fn find(state: &Accounts, id: Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let now = state.now();
        let owner = state.db.read(move |conn| Box::pin(store::owner(conn, id, now))).await.map_err(ApiError::from)?;
        let owner = owner.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        let relation = Relation { own: owner == caller.user_id, ..Relation::default() };
        Ok(Loaded { relation, resource: Ok(Self(id)) })
    }
}
