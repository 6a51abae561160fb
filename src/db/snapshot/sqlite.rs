//! Copies of SQLite: a file that VACUUM INTO writes, without free pages and so without deleted data, while the writer goes
//! on.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;
use diesel::sql_types::{Bool, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};

use super::migrations::{self, LEASE_TABLE, LEDGER};
use super::{FILES, SnapshotAbout, SnapshotKind, SnapshotPart, files_sql};
use crate::db::OpenError;

/// The name of the only part.
const PART: &str = "colloquy.sqlite";
const NOW: &str = "CAST(strftime('%s', 'now') AS INTEGER) * 1000000";

pub(super) struct SqliteCopy {
    path: PathBuf,
    conn: SqliteConnection,
}

#[derive(QueryableByName)]
struct TextValue {
    #[diesel(sql_type = Text)]
    value: String,
}

/// A row of a query of [`FILES`].
#[derive(QueryableByName)]
struct KeyValue {
    #[diesel(sql_type = Text)]
    key: String,
}

#[derive(QueryableByName)]
struct BoolValue {
    #[diesel(sql_type = Bool)]
    value: bool,
}

impl SqliteCopy {
    pub(super) fn take(path: &Path, scratch: &Path) -> Result<(Self, SnapshotAbout), OpenError> {
        if !path.exists() {
            return Err(OpenError(format!("there is no database {}", path.display())));
        }
        let copy = scratch.join(PART);
        let failed = |error: diesel::result::Error| OpenError(format!("{} can't be copied: {error}", path.display()));
        let mut conn = open(path)?;
        let into = copy.to_string_lossy().replace('\'', "''");
        conn.batch_execute(&format!("VACUUM INTO '{into}'")).map_err(failed)?;
        drop(conn);
        let mut conn = open(&copy)?;
        let versions = texts(&mut conn, &format!("SELECT version AS value FROM {LEDGER} ORDER BY version"))?;
        let part = SnapshotPart { name: PART.to_owned(), columns: Vec::new(), sequence: None };
        let about = SnapshotAbout { kind: SnapshotKind::Sqlite, migrations: versions, parts: vec![part] };
        Ok((Self { path: copy, conn }, about))
    }

    pub(super) fn open(&self) -> Result<File, OpenError> {
        File::open(&self.path).map_err(|error| OpenError(format!("{}: {error}", self.path.display())))
    }

    pub(super) fn list_files(&mut self, lines: &mut impl Write) -> Result<(), OpenError> {
        for (store, table, query) in FILES {
            if !has_table(&mut self.conn, table)? {
                continue;
            }
            let keys = diesel::sql_query(files_sql(query, NOW, id));
            let keys = keys.load_iter::<KeyValue, diesel::connection::DefaultLoadingMode>(&mut self.conn);
            for key in keys.map_err(|error| unreadable(&error))? {
                let key = key.map_err(|error| unreadable(&error))?.key;
                writeln!(lines, "{store}\t{key}").map_err(|error| OpenError(error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// The text of an id, as [`uuid::Uuid`] writes it.
fn id(column: &str) -> String {
    let part = |from: u8, digits: u8| format!("substr(lower(hex({column})), {from}, {digits})");
    [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)].join(" || '-' || ")
}

fn open(path: &Path) -> Result<SqliteConnection, OpenError> {
    let unusable = |why: String| OpenError(format!("{} can't be opened: {why}", path.display()));
    let mut conn = SqliteConnection::establish(&path.to_string_lossy()).map_err(|error| unusable(error.to_string()))?;
    conn.batch_execute("PRAGMA busy_timeout = 10000").map_err(|error| unusable(error.to_string()))?;
    Ok(conn)
}

fn unreadable(error: &diesel::result::Error) -> OpenError {
    OpenError(format!("the database can't be read: {error}"))
}

fn texts(conn: &mut SqliteConnection, sql: &str) -> Result<Vec<String>, OpenError> {
    let rows: Vec<TextValue> = diesel::sql_query(sql).load(conn).map_err(|error| unreadable(&error))?;
    Ok(rows.into_iter().map(|row| row.value).collect())
}

fn holds(conn: &mut SqliteConnection, condition: &str) -> Result<bool, OpenError> {
    let row: BoolValue = diesel::sql_query(format!("SELECT {condition} AS value"))
        .get_result(conn)
        .map_err(|error| unreadable(&error))?;
    Ok(row.value)
}

fn has_table(conn: &mut SqliteConnection, table: &str) -> Result<bool, OpenError> {
    holds(conn, &format!("EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{table}')"))
}

/// # Errors
/// Returns a message when a table has rows.
pub(super) fn must_be_empty(path: &Path) -> Result<(), OpenError> {
    if !path.exists() {
        return Ok(());
    }
    let mut conn = open(path)?;
    for table in migrations::tables(SnapshotKind::Sqlite)? {
        let counts = table != LEASE_TABLE && table != "search_index" && has_table(&mut conn, &table)?;
        if counts && holds(&mut conn, &format!("EXISTS (SELECT 1 FROM {table})"))? {
            return Err(OpenError(format!("the database {} is not empty (table {table})", path.display())));
        }
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Writes the restored file beside the one that it is to replace.
pub(super) fn receive(path: &Path, content: &mut dyn Read) -> Result<(), OpenError> {
    let aside = beside(path, ".restoring");
    let unusable = |error: io::Error| OpenError(format!("{} can't be written: {error}", aside.display()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside).map_err(unusable)?;
    io::copy(content, &mut file).map_err(unusable)?;
    file.sync_all().map_err(unusable)
}

/// Checks the restored file, and renames it into place.
pub(super) fn install(path: &Path) -> Result<(), OpenError> {
    let aside = beside(path, ".restoring");
    let mut conn = open(&aside)?;
    let found = texts(&mut conn, "SELECT quick_check AS value FROM pragma_quick_check")?;
    if found != ["ok"] {
        return Err(OpenError(format!("the restored database is damaged: {}", found.join(", "))));
    }
    drop(conn);
    let unusable = |error: io::Error| OpenError(format!("{} can't be replaced: {error}", path.display()));
    // The log of the former file must not be applied to the new one.
    for log in ["-wal", "-shm"] {
        match fs::remove_file(beside(path, log)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unusable(error)),
            _ => {}
        }
    }
    fs::rename(&aside, path).map_err(unusable)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(unusable)
}
