//! SQL types that both databases support, and the wrappers that rows hold in place of an `Id` or a `Time`.
//!
//! `Uuid` is uuid in PostgreSQL and sixteen bytes (BLOB) in SQLite; `UtcTime` is timestamptz in PostgreSQL and whole
//! microseconds since 1970 (INTEGER) in SQLite. Rows hold [`Key`] and [`At`], because Diesel's traits can't be
//! implemented for types of another crate. JSON columns are Diesel's `Json` with `serde_json::Value`: json in
//! PostgreSQL, TEXT in SQLite.

use std::fmt;
use std::hash::{Hash, Hasher};

use actors::ids::Id;
use actors::time::Time;
use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::Pg;
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, SqlType};
use diesel::sqlite::Sqlite;

/// Converts a count to the type of its column.
#[must_use]
pub fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
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

/// An id in a row: `Key<User>` holds an `Id<User>`.
#[derive(AsExpression, FromSqlRow)]
#[diesel(sql_type = Uuid)]
pub struct Key<T: 'static>(pub Id<T>);

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Key<T> {}
impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Key<T> {}
impl<T> Hash for Key<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
impl<T> From<Id<T>> for Key<T> {
    fn from(id: Id<T>) -> Self {
        Self(id)
    }
}
impl<T> From<Key<T>> for Id<T> {
    fn from(key: Key<T>) -> Self {
        key.0
    }
}

/// An instant in a row, in whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AsExpression, FromSqlRow)]
#[diesel(sql_type = UtcTime)]
pub struct At(pub Time);

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
impl From<Time> for At {
    fn from(time: Time) -> Self {
        Self(time)
    }
}
impl From<At> for Time {
    fn from(at: At) -> Self {
        at.0
    }
}

impl<T> FromSql<Uuid, Pg> for Key<T> {
    fn from_sql(value: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let uuid: uuid::Uuid = FromSql::<diesel::sql_types::Uuid, Pg>::from_sql(value)?;
        Ok(Self(Id::from_uuid(uuid)))
    }
}
impl<T> ToSql<Uuid, Pg> for Key<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<diesel::sql_types::Uuid, Pg>::to_sql(&self.0.uuid(), &mut out.reborrow())
    }
}
impl<T> FromSql<Uuid, Sqlite> for Key<T> {
    fn from_sql(mut value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(Id::from_uuid(uuid::Uuid::from_slice(value.read_blob())?)))
    }
}
impl<T> ToSql<Uuid, Sqlite> for Key<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.uuid().as_bytes().to_vec());
        Ok(IsNull::No)
    }
}

impl FromSql<UtcTime, Pg> for At {
    fn from_sql(value: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let instant: DateTime<Utc> = FromSql::<diesel::sql_types::Timestamptz, Pg>::from_sql(value)?;
        Ok(Self(Time::at(instant)))
    }
}
impl ToSql<UtcTime, Pg> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<diesel::sql_types::Timestamptz, Pg>::to_sql(&self.0.utc(), &mut out.reborrow())
    }
}
impl FromSql<UtcTime, Sqlite> for At {
    fn from_sql(value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let micros: i64 = FromSql::<BigInt, Sqlite>::from_sql(value)?;
        let instant = DateTime::from_timestamp_micros(micros).ok_or("a time outside the supported range")?;
        Ok(Self(Time::at(instant)))
    }
}
impl ToSql<UtcTime, Sqlite> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.utc().timestamp_micros());
        Ok(IsNull::No)
    }
}
