//! The migrations as text: which tables they make, and what makes and drops them.

use std::borrow::Cow;

use regex::Regex;
use rust_embed::RustEmbed;

use super::SnapshotKind;
use crate::db::OpenError;

#[derive(RustEmbed)]
#[folder = "migrations/sqlite"]
struct SqliteMigrations;

#[derive(RustEmbed)]
#[folder = "migrations/postgres"]
struct PostgresMigrations;

/// A migration of this program.
pub(super) struct MigrationText {
    pub(super) version: String,
    pub(super) up: String,
    pub(super) down: String,
}

/// Returns all migrations, oldest first.
pub(super) fn all(kind: SnapshotKind) -> Vec<MigrationText> {
    let names: Vec<Cow<'static, str>> = match kind {
        SnapshotKind::Sqlite => SqliteMigrations::iter().collect(),
        SnapshotKind::Postgres => PostgresMigrations::iter().collect(),
    };
    let mut folders: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix("/up.sql")).collect();
    folders.sort_unstable();
    let text = |name: String| {
        let file = match kind {
            SnapshotKind::Sqlite => SqliteMigrations::get(&name),
            SnapshotKind::Postgres => PostgresMigrations::get(&name),
        };
        file.map(|file| String::from_utf8_lossy(&file.data).into_owned()).unwrap_or_default()
    };
    let folders = folders.into_iter();
    folders
        .map(|folder| MigrationText {
            version: folder.split('_').next().unwrap_or_default().to_owned(),
            up: text(format!("{folder}/up.sql")),
            down: text(format!("{folder}/down.sql")),
        })
        .collect()
}

/// Whether this program knows a migration of that version.
#[must_use]
pub fn is_known(kind: SnapshotKind, version: &str) -> bool {
    all(kind).iter().any(|migration| migration.version == version)
}

/// Returns the names of the tables that the migrations make.
///
/// # Errors
/// Never: the patterns are constants.
pub(super) fn tables(kind: SnapshotKind) -> Result<Vec<String>, OpenError> {
    let pattern = |text: &str| Regex::new(text).map_err(|error| OpenError(error.to_string()));
    let statement = pattern(r"(?m)^\s*(CREATE|DROP) (?:VIRTUAL )?TABLE (\w+)")?;
    let mut tables: Vec<String> = Vec::new();
    for migration in all(kind) {
        for found in statement.captures_iter(&migration.up) {
            let (verb, name) = (found.get(1).map(|verb| verb.as_str()), found.get(2).map(|name| name.as_str()));
            match (verb, name) {
                (Some("CREATE"), Some(name)) => tables.push(name.to_owned()),
                (_, Some(name)) => tables.retain(|table| table != name),
                _ => {}
            }
        }
    }
    Ok(tables)
}

/// Diesel's own table of the migrations that a database has had.
pub(super) const LEDGER: &str = "__diesel_schema_migrations";
/// The table with the lease of the server that uses the database: it belongs to no copy.
pub(super) const LEASE_TABLE: &str = "server_lease";
