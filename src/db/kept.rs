//! Statements that stay prepared.
//!
//! Diesel prepares UPDATE, upserts, inserts of several rows and SQL text each time: it can't know that their text is always
//! the same. On PostgreSQL that is a second round trip for each. Use [`kept`] for those that are sent often and whose text
//! has few forms: a connection keeps every form.
//!
//! On SQLite a statement that returns no rows is parsed each time all the same: there Diesel asks a reference to it, which
//! does not pass the answer on.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};

/// A statement that stays prepared on its connection, found again by its text.
#[derive(Debug, Clone, Copy)]
pub struct Kept<Q>(Q);

/// Has a statement stay prepared.
pub const fn kept<Q>(statement: Q) -> Kept<Q> {
    Kept(statement)
}

impl<Q> QueryId for Kept<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for Kept<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, C> diesel::RunQueryDsl<C> for Kept<Q> {}

impl<Q: QueryFragment<DB>, DB: Backend> QueryFragment<DB> for Kept<Q> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }

    fn is_safe_to_cache_prepared(&self, _: &DB) -> QueryResult<bool> {
        Ok(true)
    }
}
