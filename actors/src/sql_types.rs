//! The SQL types of ids and instants, and what the macros of this crate name of Diesel.

use std::str::FromStr;

use diesel::deserialize;
use diesel::query_builder::QueryId;
use diesel::sql_types::SqlType;

/// What [`sql_text!`](crate::sql_text) and the declarations of ids and instants name.
#[doc(hidden)]
pub mod of_diesel {
    pub use diesel::backend::Backend;
    pub use diesel::deserialize::{self, FromSql, FromSqlRow, Queryable};
    pub use diesel::expression::AsExpression;
    pub use diesel::pg::Pg;
    pub use diesel::serialize::{self, Output, ToSql};
    pub use diesel::sql_types::{Nullable, SingleValue, Text};
    pub use diesel::sqlite::Sqlite;
}

/// The SQL type of ids. The oids are PostgreSQL's for uuid and uuid[].
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951), sqlite_type(name = "Binary"))]
pub struct Uuid;

/// The SQL type of instants. The oids are PostgreSQL's for timestamptz and timestamptz[].
///
/// Not named Timestamptz: `diesel::table!` gives that name a meaning of its own.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Long"))]
pub struct UtcTime;

impl diesel::sql_types::SqlOrd for UtcTime {}

/// Reads a value of the enumeration `name`.
#[doc(hidden)]
pub fn variant<T: FromStr>(text: &str, name: &str) -> deserialize::Result<T> {
    text.parse().map_err(|_| format!("{text:?} is no {name}").into())
}
