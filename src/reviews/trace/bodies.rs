//! The query of the trace matrix.

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{Query, QueryFlag};

/// Which rows of the matrix are returned.
#[derive(Query)]
pub struct TraceQuery {
    /// Whether only the rows with a gap are returned.
    #[query(as = QueryFlag, default, schema = false_by_default())]
    pub gaps_only: bool,
}

fn false_by_default() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into())).into()
}
