//! The way back into PostgreSQL, in one transaction: the tables are made anew by the migrations that the copy had, and
//! filled by COPY. Nothing is visible to others before COMMIT, and a process that is killed leaves nothing behind.

use std::io::Read;
use std::pin::pin;

use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::Client;

use super::migrations::{self, LEASE_TABLE, LEDGER, MigrationText};
use super::postgres::{CONNECT, columns, failed, quoted, versions};
use super::{SnapshotAbout, SnapshotKind, SnapshotPart};
use crate::db::OpenError;
use crate::db::connect::Connector;
use crate::db::postgres::MIGRATION_LOCK;

const PIECE_BYTES: usize = 256 * 1024;
const MAKE_LEDGER: &str = "CREATE TABLE IF NOT EXISTS __diesel_schema_migrations \
    (version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)";

pub struct PostgresLoad {
    client: Client,
    /// The loaded tables, whose triggers are off.
    loaded: Vec<SnapshotPart>,
}

impl PostgresLoad {
    pub(super) async fn begin(url: &str, about: &SnapshotAbout, overwrite: bool) -> Result<Self, OpenError> {
        let client = Connector::of(url, CONNECT)?.client().await?;
        let load = Self { client, loaded: Vec::new() };
        // A server that starts meanwhile waits before its migrations.
        load.run(&format!(
            "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '10s'; \
             SET DateStyle = 'ISO, YMD'; SET TIME ZONE 'UTC'; \
             SELECT pg_advisory_lock({MIGRATION_LOCK}); BEGIN"
        ))
        .await?;
        let all = migrations::all(SnapshotKind::Postgres);
        load.clear(&all, overwrite).await?;
        load.run(MAKE_LEDGER).await?;
        for migration in all.iter().filter(|migration| about.migrations.contains(&migration.version)) {
            load.run(&migration.up).await?;
        }
        let tables: Vec<String> = about.parts.iter().map(|part| quoted(&part.name)).collect();
        load.run(&format!("TRUNCATE {}", tables.join(", "))).await?;
        Ok(load)
    }

    /// Drops this program's tables, which must be empty unless they may be overwritten.
    async fn clear(&self, all: &[MigrationText], overwrite: bool) -> Result<(), OpenError> {
        if !self.exists(LEDGER).await? {
            return Ok(());
        }
        let had = versions(&self.client).await?;
        if let Some(newer) = had.iter().find(|version| !all.iter().any(|known| known.version == **version)) {
            return Err(OpenError(format!("the PostgreSQL database has the tables of a newer version ({newer})")));
        }
        if self.exists(LEASE_TABLE).await? {
            // A server can't take the lease from here on: the table is locked.
            self.run(&format!("LOCK TABLE {LEASE_TABLE} IN ACCESS EXCLUSIVE MODE")).await?;
            if self
                .holds(&format!("EXISTS (SELECT 1 FROM {LEASE_TABLE} WHERE lease_until > clock_timestamp())"))
                .await?
            {
                return Err(OpenError(
                    "a server is using this PostgreSQL database: stop it first (after a crash its lease ends within 10 s)"
                        .to_owned(),
                ));
            }
        }
        if !overwrite {
            for table in migrations::tables(SnapshotKind::Postgres)? {
                let counts = table != LEASE_TABLE && self.exists(&table).await?;
                if counts && self.holds(&format!("EXISTS (SELECT 1 FROM {})", quoted(&table))).await? {
                    return Err(OpenError(format!("the PostgreSQL database is not empty (table {table})")));
                }
            }
        }
        for table in migrations::tables(SnapshotKind::Postgres)? {
            if self.exists(&table).await? {
                self.run(&format!("TRUNCATE {} CASCADE", quoted(&table))).await?;
            }
        }
        for migration in all.iter().rev().filter(|migration| had.contains(&migration.version)) {
            self.run(&migration.down).await?;
        }
        self.run(&format!("DROP TABLE {LEDGER}")).await
    }

    pub(super) async fn table(&mut self, part: &SnapshotPart, content: &mut dyn Read) -> Result<(), OpenError> {
        let table = quoted(&part.name);
        // Triggers have run when the rows were written; what they wrote is in the copy.
        self.run(&format!("ALTER TABLE {table} DISABLE TRIGGER USER")).await?;
        let sql = format!("COPY {table} ({}) FROM STDIN", columns(part));
        let mut rows = pin!(self.client.copy_in::<_, Bytes>(&sql).await.map_err(|error| failed(&error))?);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let read = content.read(&mut piece).map_err(|error| OpenError(format!("{}: {error}", part.name)))?;
            if read == 0 {
                break;
            }
            let some = Bytes::copy_from_slice(piece.get(..read).unwrap_or_default());
            rows.send(some).await.map_err(|error| failed(&error))?;
        }
        rows.close().await.map_err(|error| failed(&error))?;
        self.loaded.push(part.clone());
        Ok(())
    }

    pub(super) async fn commit(self) -> Result<(), OpenError> {
        for part in &self.loaded {
            let table = quoted(&part.name);
            self.run(&format!("ALTER TABLE {table} ENABLE TRIGGER USER")).await?;
            if let Some(sequence) = &part.sequence {
                let set = format!("SELECT setval(pg_get_serial_sequence('{table}', $1), $2, $3)");
                let set = self.client.execute(&set, &[&sequence.column, &sequence.last, &sequence.is_called]).await;
                set.map_err(|error| failed(&error))?;
            }
        }
        self.run("COMMIT").await
    }

    async fn run(&self, sql: &str) -> Result<(), OpenError> {
        self.client.batch_execute(sql).await.map_err(|error| failed(&error))
    }

    async fn holds(&self, condition: &str) -> Result<bool, OpenError> {
        let row = self.client.query_one(&format!("SELECT {condition}"), &[]).await.map_err(|error| failed(&error))?;
        Ok(row.get(0))
    }

    async fn exists(&self, table: &str) -> Result<bool, OpenError> {
        self.holds(&format!("to_regclass(quote_ident(current_schema()) || '.{table}') IS NOT NULL")).await
    }
}
