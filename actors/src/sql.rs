//! Ids, instants and enumerations as values of columns, in SQLite and PostgreSQL; with the feature `diesel`.
//!
//! | type | SQL type | PostgreSQL | SQLite |
//! |---|---|---|---|
//! | [`Id`] | [`Uuid`] | uuid | BLOB of sixteen bytes |
//! | [`Time`] | [`UtcTime`] | timestamptz | INTEGER, microseconds since 1970 |
//! | an enumeration | `Text` | text | TEXT |
//!
//! Reading what the type can't be is an error of the statement.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql};
use diesel::pg::Pg;
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, SqlType};
use diesel::sqlite::Sqlite;

use crate::ids::Id;
use crate::time::Time;

/// What [`sql_text!`](crate::sql_text) and the declarations of [`Id`] and [`Time`] name.
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

impl<T> FromSql<Uuid, Pg> for Id<T> {
    fn from_sql(value: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let uuid: uuid::Uuid = FromSql::<diesel::sql_types::Uuid, Pg>::from_sql(value)?;
        Ok(Self::from_uuid(uuid))
    }
}
impl<T> ToSql<Uuid, Pg> for Id<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<diesel::sql_types::Uuid, Pg>::to_sql(&self.uuid(), &mut out.reborrow())
    }
}
impl<T> FromSql<Uuid, Sqlite> for Id<T> {
    fn from_sql(mut value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        Ok(Self::from_uuid(uuid::Uuid::from_slice(value.read_blob())?))
    }
}
impl<T> ToSql<Uuid, Sqlite> for Id<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.uuid().as_bytes().to_vec());
        Ok(IsNull::No)
    }
}

impl FromSql<UtcTime, Pg> for Time {
    fn from_sql(value: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let instant: DateTime<Utc> = FromSql::<diesel::sql_types::Timestamptz, Pg>::from_sql(value)?;
        Ok(Self::at(instant))
    }
}
impl ToSql<UtcTime, Pg> for Time {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<diesel::sql_types::Timestamptz, Pg>::to_sql(&self.utc(), &mut out.reborrow())
    }
}
impl FromSql<UtcTime, Sqlite> for Time {
    fn from_sql(value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let micros: i64 = FromSql::<BigInt, Sqlite>::from_sql(value)?;
        let instant = DateTime::from_timestamp_micros(micros).ok_or("a time outside the supported range")?;
        Ok(Self::at(instant))
    }
}
impl ToSql<UtcTime, Sqlite> for Time {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.utc().timestamp_micros());
        Ok(IsNull::No)
    }
}
