//! The approval trail of a project: what people decided about its requirements and stories, one event per item and decision.
//!
//! ```text
//! event 1 <-- hash 1 --- event 2 <-- hash 2 --- event 3 ... <-- head (in approval_trails)
//! ```
//! Each event is sealed: the hash of its text and of the hash before it makes a chain that begins with 64 zeros. An event is
//! appended in the transaction of the change that it is about, under a lock of the head, so that many writers make one chain.
//!
//! The chain makes tampering evident, not impossible: whoever can write to the database can write a whole new chain. Only a
//! head that was noted elsewhere shows that; see `docs/operate.md`.
//!
//! The name of the person who decided is stored beside the sealed text, which has only a salted digest of it: when an account
//! is deleted its name goes, and the chain still holds.

pub mod difference;
pub mod model;
pub mod operator;
pub mod seal;
pub mod store;
pub mod verification;

use actors::ids::{Id, User};

use self::model::Decider;
use crate::access::principal::Caller;
use crate::accounts;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;

/// The caller of an operation, as the one who decides: with the name that the account has now.
///
/// # Errors
/// 401 if the account was deleted in the meantime.
pub async fn decider(conn: &mut Conn, caller: Caller) -> Result<Decider, ApiError> {
    let account = accounts::store::account(conn, caller.user_id).await?;
    let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    Ok(Decider { id: account.id, name: account.full_name })
}

/// Erases the name of a deleted account from at most `most` events. Returns how many there were.
///
/// # Errors
/// Only database errors.
pub async fn erase_name(conn: &mut Conn, user_id: Id<User>, most: i64) -> Result<usize, DbError> {
    store::erase_name(conn, user_id, most).await
}
