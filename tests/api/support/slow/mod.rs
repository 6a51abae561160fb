//! A server whose database can be made to hang before it makes a write durable.
//!
//! On SQLite fsync and fdatasync wait, replaced by a library in LD_PRELOAD. On PostgreSQL COMMIT waits for a
//! synchronous standby that does not exist. A trigger asks for that, so that only writes to [`TABLES`] wait.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::postgres::Cluster;
use super::server::{Kind, Server, ServerSetup};
use super::world::Where;

pub struct Slow {
    pub server: Server,
    hold: Hold,
    _setup: ServerSetup,
}

enum Hold {
    /// SQLite: fsync waits while this file exists.
    File(PathBuf),
    /// PostgreSQL: the cluster and the name of the test's schema.
    Commits(Cluster, String),
}

/// The tables whose updates and deletions wait on PostgreSQL.
const TABLES: [&str; 2] = ["meetings", "members"];

impl Where for Slow {
    fn arrange(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Sqlite => {
                let setup = ServerSetup::new(kind)?;
                let (library, file) = (setup.data.join("slow.so"), setup.data.join("hold"));
                let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/support/slow/disk.c");
                let mut compiler = Command::new("cc");
                let made = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).status();
                assert!(made.unwrap().success());
                let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
                let server =
                    setup.start(&[("LD_PRELOAD", text(&library).as_str()), ("HOLD_SYNC", text(&file).as_str())]);
                Some(Self { server, hold: Hold::File(file), _setup: setup })
            }
            Kind::Postgres => {
                let cluster = Cluster::start_with_slow_commits().unwrap()?;
                let setup = ServerSetup::on(&cluster);
                let server = setup.start(&[]);
                let schema = setup.url.as_ref().unwrap().rsplit("%3D").next().unwrap().to_owned();
                Some(Self { server, hold: Hold::Commits(cluster, schema), _setup: setup })
            }
        }
    }
}

impl Slow {
    /// From now on nothing becomes durable. On PostgreSQL this holds for transactions that update or delete rows of
    /// [`TABLES`].
    pub fn hold(&self) {
        match &self.hold {
            Hold::File(file) => fs::write(file, "").unwrap(),
            Hold::Commits(cluster, schema) => {
                let triggers = TABLES.map(|table| {
                    format!(
                        "CREATE TRIGGER slow BEFORE UPDATE OR DELETE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION slow();"
                    )
                });
                let sql = format!(
                    "SET search_path = {schema}; CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                     PERFORM set_config('synchronous_commit', 'on', true); RETURN NULL; END $$; {}",
                    triggers.concat()
                );
                cluster.sql(&sql).unwrap();
            }
        }
    }

    /// Lets the waiting writes become durable.
    pub fn release(&self) {
        match &self.hold {
            Hold::File(file) => fs::remove_file(file).unwrap(),
            Hold::Commits(cluster, _) => cluster.let_commits_go().unwrap(),
        }
    }
}
