//! Why a read or a write failed, in the cases that callers distinguish.

use std::fmt;

use actors::live::{StoreUnavailable, Unsaved};
use diesel::result::{DatabaseErrorKind as Kind, Error};

/// Why a read or a write failed. The messages are for the log, never for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DbError {
    /// Too many jobs wait already. Nothing was written. A client gets 503 with Retry-After.
    Busy,
    /// The database can't be reached or didn't answer in time. Nothing was written. A client gets 503.
    Unavailable(String),
    /// The answer to COMMIT is missing: the data may or may not be written. A client gets 503; never report it as done
    /// or undone.
    Unknown(String),
    /// A constraint rejected the write. Nothing was written.
    Violated(Constraint, String),
    /// A programming error: invalid SQL, an impossible row, a job that panicked. Nothing was written.
    Broken(String),
}

/// The kind of constraint that rejected a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    Unique,
    ForeignKey,
    NotNull,
    Check,
}

impl DbError {
    /// Whether a unique constraint rejected the row: another writer was first.
    #[must_use]
    pub const fn is_taken(&self) -> bool {
        matches!(self, Self::Violated(Constraint::Unique, _))
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many operations are waiting for the database"),
            Self::Unavailable(why) => write!(f, "the database is unavailable: {why}"),
            Self::Unknown(why) => write!(f, "the outcome of the write is unknown: {why}"),
            Self::Violated(constraint, why) => write!(f, "refused by a constraint ({constraint:?}): {why}"),
            Self::Broken(why) => write!(f, "invalid database operation: {why}"),
        }
    }
}
impl std::error::Error for DbError {}

impl From<Error> for DbError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::DatabaseError(kind, _) => match kind {
                Kind::UniqueViolation => Self::Violated(Constraint::Unique, text),
                Kind::ForeignKeyViolation | Kind::RestrictViolation => Self::Violated(Constraint::ForeignKey, text),
                Kind::NotNullViolation => Self::Violated(Constraint::NotNull, text),
                Kind::CheckViolation | Kind::ExclusionViolation => Self::Violated(Constraint::Check, text),
                Kind::ClosedConnection | Kind::UnableToSendCommand | Kind::SerializationFailure => {
                    Self::Unavailable(text)
                }
                _ if is_passing(&text) => Self::Unavailable(text),
                _ => Self::Broken(text),
            },
            Error::BrokenTransactionManager => Self::Unavailable(text),
            Error::RollbackErrorOnCommit { .. } => Self::Unknown(text),
            // Names the column; what is wrong with its value is told by the cause.
            Error::DeserializationError(error) => Self::Broken(match error.source() {
                Some(cause) => format!("{text}: {cause}"),
                None => text,
            }),
            _ => Self::Broken(text),
        }
    }
}

/// Whether the same operation may succeed later. Diesel has no error kinds for these cases, so the message text
/// decides.
fn is_passing(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        // SQLite: BUSY, FULL, IOERR, NOMEM, and their consequences.
        "database is locked",
        "database table is locked",
        "database or disk is full",
        "disk I/O error",
        "out of memory",
        "unable to open database file",
        "no such savepoint: diesel_savepoint",
        // PostgreSQL: statement_timeout, lock_timeout, deadlock, shutdown, start, recovery, too many connections, disk.
        "canceling statement due to",
        "deadlock detected",
        "terminating connection",
        "the database system is",
        "too many clients",
        "remaining connection slots",
        "No space left on device",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

/// Where an error is only told to the log, a text is enough.
impl From<DbError> for String {
    fn from(failed: DbError) -> Self {
        failed.to_string()
    }
}
impl From<DbError> for StoreUnavailable {
    fn from(failed: DbError) -> Self {
        Self(failed.to_string())
    }
}
impl From<DbError> for Unsaved {
    fn from(failed: DbError) -> Self {
        match failed {
            DbError::Unknown(why) => Self::Unknown(why),
            other => Self::Failed(other.to_string()),
        }
    }
}
