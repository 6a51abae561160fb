//! Copies of PostgreSQL: COPY of each table in one read-only REPEATABLE READ transaction.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt;
use tokio_postgres::Client;

use super::migrations::{self, LEASE_TABLE, LEDGER};
use super::{FILES, SequenceState, SnapshotAbout, SnapshotKind, SnapshotPart, files_sql};
use crate::db::OpenError;
use crate::db::connect::Connector;

/// The time limit of connecting.
pub(super) const CONNECT: Duration = Duration::from_secs(10);

pub(super) struct PostgresCopy {
    client: Client,
    scratch: PathBuf,
}

pub(super) fn failed(error: &tokio_postgres::Error) -> OpenError {
    let cause = error.as_db_error().map_or_else(|| error.to_string(), |cause| cause.message().to_owned());
    OpenError(format!("PostgreSQL refused it: {cause}"))
}

const COLUMNS: &str = "SELECT c.relname::text, a.attname::text FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' \
    WHERE c.relkind = 'r' ORDER BY c.relname, a.attnum";
const REFERENCES: &str = "SELECT f.relname::text, t.relname::text FROM pg_constraint k \
    JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid \
    JOIN pg_namespace n ON n.oid = k.connamespace AND n.nspname = current_schema() \
    WHERE k.contype = 'f' AND f.oid <> t.oid";
const SEQUENCES: &str = "SELECT c.relname::text, a.attname::text, \
    pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> '' WHERE c.relkind = 'r'";

impl PostgresCopy {
    pub(super) async fn begin(url: &str, scratch: &Path) -> Result<(Self, SnapshotAbout), OpenError> {
        let client = Connector::of(url, CONNECT)?.client().await?;
        let begin = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
            SET DateStyle = 'ISO, YMD'; SET TIME ZONE 'UTC'; SET bytea_output = 'hex'; SET extra_float_digits = 1; \
            BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        client.batch_execute(begin).await.map_err(|error| failed(&error))?;
        let copy = Self { client, scratch: scratch.to_owned() };
        let parts = copy.parts().await?;
        if !parts.iter().any(|part| part.name == LEDGER) {
            return Err(OpenError("the PostgreSQL database has no tables of Colloquy".to_owned()));
        }
        let migrations = versions(&copy.client).await?;
        Ok((copy, SnapshotAbout { kind: SnapshotKind::Postgres, migrations, parts }))
    }

    /// Returns the tables of this program that exist, each behind those that it refers to.
    async fn parts(&self) -> Result<Vec<SnapshotPart>, OpenError> {
        let mut ours: BTreeSet<String> = migrations::tables(SnapshotKind::Postgres)?.into_iter().collect();
        ours.insert(LEDGER.to_owned());
        ours.remove(LEASE_TABLE);
        let mut parts: Vec<SnapshotPart> = Vec::new();
        for row in self.client.query(COLUMNS, &[]).await.map_err(|error| failed(&error))? {
            let (table, column): (String, String) = (row.get(0), row.get(1));
            if !ours.contains(&table) {
                continue;
            }
            match parts.last_mut().filter(|part| part.name == table) {
                Some(part) => part.columns.push(column),
                None => parts.push(SnapshotPart { name: table, columns: vec![column], sequence: None }),
            }
        }
        for row in self.client.query(SEQUENCES, &[]).await.map_err(|error| failed(&error))? {
            let (table, column, sequence): (String, String, String) = (row.get(0), row.get(1), row.get(2));
            if let Some(part) = parts.iter_mut().find(|part| part.name == table) {
                let sql = format!("SELECT last_value, is_called FROM {sequence}");
                let state = self.client.query_one(&sql, &[]).await.map_err(|error| failed(&error))?;
                part.sequence = Some(SequenceState { column, last: state.get(0), is_called: state.get(1) });
            }
        }
        let references = self.client.query(REFERENCES, &[]).await.map_err(|error| failed(&error))?;
        let references: Vec<(String, String)> = references.iter().map(|row| (row.get(0), row.get(1))).collect();
        in_order(parts, &references)
    }

    pub(super) async fn open(&self, part: &SnapshotPart) -> Result<File, OpenError> {
        let sql = format!("COPY {} ({}) TO STDOUT", quoted(&part.name), columns(part));
        let mut file = tempfile::tempfile_in(&self.scratch).map_err(|error| OpenError(error.to_string()))?;
        self.copy(&sql, &mut file).await?;
        file.rewind().map_err(|error| OpenError(error.to_string()))?;
        Ok(file)
    }

    pub(super) async fn list_files(&self, lines: &mut impl Write) -> Result<(), OpenError> {
        for (store, table, query) in FILES {
            let exists = self.client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table]).await;
            if exists.map_err(|error| failed(&error))?.get::<_, bool>(0) {
                let query = files_sql(query, "now()", |column| format!("{column}::text"));
                let sql = format!("COPY (SELECT '{store}', key FROM ({query}) AS files) TO STDOUT");
                self.copy(&sql, lines).await?;
            }
        }
        Ok(())
    }

    async fn copy(&self, sql: &str, to: &mut impl Write) -> Result<(), OpenError> {
        let mut rows = pin!(self.client.copy_out(sql).await.map_err(|error| failed(&error))?);
        while let Some(some) = rows.try_next().await.map_err(|error| failed(&error))? {
            to.write_all(&some).map_err(|error| OpenError(error.to_string()))?;
        }
        Ok(())
    }
}

/// Returns the versions of the migrations that the database has had, oldest first.
pub(super) async fn versions(client: &Client) -> Result<Vec<String>, OpenError> {
    let sql = format!("SELECT version FROM {LEDGER} ORDER BY version");
    let rows = client.query(&sql, &[]).await.map_err(|error| failed(&error))?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Orders tables so that each comes behind those that it refers to.
fn in_order(parts: Vec<SnapshotPart>, references: &[(String, String)]) -> Result<Vec<SnapshotPart>, OpenError> {
    let (mut ordered, mut left): (Vec<SnapshotPart>, _) = (Vec::new(), parts);
    while !left.is_empty() {
        let waiting: BTreeSet<String> = left.iter().map(|part| part.name.clone()).collect();
        let waits =
            |part: &SnapshotPart| references.iter().any(|(from, to)| *from == part.name && waiting.contains(to));
        let (behind, ready): (Vec<_>, Vec<_>) = left.into_iter().partition(waits);
        if ready.is_empty() {
            return Err(OpenError("the tables refer to each other in a circle".to_owned()));
        }
        ordered.extend(ready);
        left = behind;
    }
    Ok(ordered)
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(super) fn columns(part: &SnapshotPart) -> String {
    part.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ")
}
