//! Ids, instants and enumerations as values of columns, in SQLite and PostgreSQL; with the feature `diesel`.
//!
//! | type | SQL type | PostgreSQL | SQLite |
//! |---|---|---|---|
//! | [`Id`] | [`Uuid`] | uuid | BLOB of sixteen bytes |
//! | [`Time`] | [`UtcTime`] | timestamptz | INTEGER, microseconds since 1970 |
//! | an enumeration | `Text` | text | TEXT |
//!
//! Reading what the type can't be is an error of the statement.

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql};
use diesel::pg::Pg;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::BigInt;
use diesel::sqlite::Sqlite;

use crate::ids::Id;
use crate::sql_types::{UtcTime, Uuid};
use crate::time::Time;

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
