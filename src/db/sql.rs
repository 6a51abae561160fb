//! SQL types that both databases support. [`Uuid`] and [`UtcTime`] are those of ids and instants (see `actors::sql`);
//! JSON columns are Diesel's `Json` with `serde_json::Value`: json in PostgreSQL, TEXT in SQLite.

pub use actors::sql_types::{UtcTime, Uuid};

/// Converts a count to the type of its column.
#[must_use]
pub fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
