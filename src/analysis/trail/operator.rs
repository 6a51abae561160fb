//! Reads trails for an operator on the server's machine.

use actors::ids::{self, Id};

use super::store;
use crate::db::{Db, DbError};

/// Returns the projects that have a trail.
///
/// # Errors
/// Only database errors.
pub async fn projects(db: &Db) -> Result<Vec<Id<ids::Project>>, DbError> {
    db.read(|conn| Box::pin(store::projects(conn))).await
}
