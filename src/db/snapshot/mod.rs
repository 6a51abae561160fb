//! Copies of the whole database at one moment: what a backup takes while servers go on writing, and a restore loads.
//!
//! ```text
//!               taken                                       restored
//! SQLite        VACUUM INTO a file: one part                that file, renamed into place
//! PostgreSQL    COPY of each table in one REPEATABLE READ   COPY into new tables of the same migrations, with all else
//!               transaction: a part for each table          in one transaction
//! ```
//! Neither migrates anything: a copy keeps its own tables, and the next start of a server brings them up to date.
//! Deliberately absent: a copy of one kind that is restored into the other.

mod migrations;
mod postgres;
mod postgres_load;
mod sqlite;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::migrations::is_known;
use super::OpenError;

/// The kind of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
pub enum SnapshotKind {
    #[strum(to_string = "SQLite")]
    Sqlite,
    #[strum(to_string = "PostgreSQL")]
    Postgres,
}

impl SnapshotKind {
    /// The kind of the database that a URL names; `None` for a URL of neither.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        if super::sqlite::path(url).is_some() {
            return Some(Self::Sqlite);
        }
        ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)).then_some(Self::Postgres)
    }
}

/// What a copy consists of.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotAbout {
    pub kind: SnapshotKind,
    /// The versions of all migrations that the database had, oldest first.
    pub migrations: Vec<String>,
    /// The parts, in the order in which they are restored.
    pub parts: Vec<SnapshotPart>,
}

/// A part of a copy: the file of SQLite, or the rows of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotPart {
    pub name: String,
    /// The table's columns in the order of the values in its rows; none for a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The sequence of an identity column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<SequenceState>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SequenceState {
    pub column: String,
    pub last: i64,
    pub is_called: bool,
}

/// A copy that is being taken.
pub struct DatabaseCopy {
    pub about: SnapshotAbout,
    taken: Taken,
}

enum Taken {
    Sqlite(Box<sqlite::SqliteCopy>),
    Postgres(Box<postgres::PostgresCopy>),
}

impl DatabaseCopy {
    /// Takes a copy of the database: every write that was confirmed before is in it. `scratch` is an empty folder for it,
    /// which the caller removes afterwards.
    ///
    /// # Errors
    /// Returns a message when the database can't be read.
    pub async fn take(url: &str, scratch: &Path) -> Result<Self, OpenError> {
        match super::sqlite::path(url) {
            Some(path) => {
                let (copy, about) = sqlite::SqliteCopy::take(&path, scratch)?;
                Ok(Self { about, taken: Taken::Sqlite(Box::new(copy)) })
            }
            None => {
                let (copy, about) = postgres::PostgresCopy::begin(url, scratch).await?;
                Ok(Self { about, taken: Taken::Postgres(Box::new(copy)) })
            }
        }
    }

    /// Opens a part to be read once.
    ///
    /// # Errors
    /// Returns a message when it can't be read from the database.
    pub async fn open(&self, part: &SnapshotPart) -> Result<File, OpenError> {
        match &self.taken {
            Taken::Sqlite(copy) => copy.open(),
            Taken::Postgres(copy) => copy.open(part).await,
        }
    }

    /// Writes a line for each file that a row refers to: the name of its store, a tabulator, and its key.
    ///
    /// # Errors
    /// Returns a message when the rows can't be read, or the lines can't be written.
    pub async fn list_files(&mut self, lines: &mut (impl Write + Send)) -> Result<(), OpenError> {
        match &mut self.taken {
            Taken::Sqlite(copy) => copy.list_files(lines),
            Taken::Postgres(copy) => copy.list_files(lines).await,
        }
    }
}

/// A database that is being restored. Nothing of it is visible to others before [`Restoring::commit`]; dropping it leaves the
/// database as it was.
pub enum Restoring {
    Sqlite(SqliteRestoring),
    Postgres(Box<postgres_load::PostgresLoad>),
}

/// An SQLite file that is being written beside the one that it replaces.
pub struct SqliteRestoring {
    path: PathBuf,
}

impl Restoring {
    /// Makes the database ready to take a copy. The caller holds the instance lease of an SQLite database.
    ///
    /// # Errors
    /// Returns a message when the database has rows and may not be overwritten, when a server uses it, or when it has the
    /// tables of a newer version.
    pub async fn begin(url: &str, about: &SnapshotAbout, overwrite: bool) -> Result<Self, OpenError> {
        match super::sqlite::path(url) {
            Some(path) => {
                if !overwrite {
                    sqlite::must_be_empty(&path)?;
                }
                Ok(Self::Sqlite(SqliteRestoring { path }))
            }
            None => postgres_load::PostgresLoad::begin(url, about, overwrite).await.map(Box::new).map(Self::Postgres),
        }
    }

    /// Loads a part.
    ///
    /// # Errors
    /// Returns a message when it can't be read or written.
    pub async fn load(&mut self, part: &SnapshotPart, content: &mut dyn Read) -> Result<(), OpenError> {
        match self {
            Self::Sqlite(restoring) => sqlite::receive(&restoring.path, content),
            Self::Postgres(load) => load.table(part, content).await,
        }
    }

    /// Makes the restored database take the place of the former one.
    ///
    /// # Errors
    /// Returns a message when that isn't possible; then the former one is still there.
    pub async fn commit(self) -> Result<(), OpenError> {
        match self {
            Self::Sqlite(restoring) => sqlite::install(&restoring.path),
            Self::Postgres(load) => load.commit().await,
        }
    }
}

/// The files that rows refer to: the name of their store, the table, and a query for their keys. `{…}` is what the databases say
/// differently; see [`files_sql`]. The paths are those of `clients::files` and of a recording's files.
const FILES: [(&str, &str, &str); 7] = [
    ("documents", "documents", "SELECT DISTINCT substr(sha256, 1, 2) || '/' || sha256 AS key FROM documents"),
    (
        "documents",
        "document_versions",
        "SELECT DISTINCT substr(sha256, 1, 2) || '/' || sha256 AS key FROM document_versions \
         WHERE sha256 NOT IN (SELECT sha256 FROM documents)",
    ),
    (
        "avatars",
        "users",
        "SELECT DISTINCT substr(avatar, 1, 2) || '/' || avatar AS key FROM users WHERE avatar IS NOT NULL",
    ),
    (
        "exports",
        "dashboard_exports",
        "SELECT DISTINCT substr(sha256, 1, 2) || '/' || sha256 AS key FROM dashboard_exports \
         WHERE sha256 IS NOT NULL AND expires_at > {now}",
    ),
    (
        "imports",
        "item_imports",
        "SELECT DISTINCT substr(sha256, 1, 2) || '/' || sha256 AS key FROM item_imports WHERE sha256 IS NOT NULL",
    ),
    (
        "recordings",
        "recordings",
        "SELECT {id r.id} || '/' || r.sha256 AS key FROM recordings r WHERE r.status = 'READY'",
    ),
    // Until a recording is assembled its chunks are needed.
    (
        "recordings",
        "recording_chunks",
        "SELECT {id r.id} || '/chunks/' || {id c.file_id} || '-' || c.sha256 AS key \
         FROM recording_chunks c JOIN recordings r ON r.id = c.recording_id \
         WHERE r.status NOT IN ('READY', 'EXPIRED') AND NOT (r.status = 'FAILED' AND NOT r.repairable)",
    ),
];

/// Returns a query of [`FILES`] as a database understands it: `now` is its current time, `id` makes text of an id column.
fn files_sql(query: &str, now: &str, id: impl Fn(&str) -> String) -> String {
    let mut sql = query.replace("{now}", now);
    for column in ["r.id", "c.file_id"] {
        sql = sql.replace(&format!("{{id {column}}}"), &id(column));
    }
    sql
}
