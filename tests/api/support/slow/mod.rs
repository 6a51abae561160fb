//! A server whose database takes as long as the story wants to make something durable.
//!
//! SQLite: fsync waits, by a library that is loaded before the system's. PostgreSQL: COMMIT waits for a second server that
//! must confirm it and doesn't exist; this is asked for by a trigger, so that only what the story means is held.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::postgres::Cluster;
use super::server::{Kind, Place, Server};
use super::world::Where;

pub struct Slow {
    pub server: Server,
    hold: Hold,
    _place: Place,
}

enum Hold {
    /// While the file is there.
    File(PathBuf),
    /// The name of the schema, besides.
    Commits(Cluster, String),
}

/// What stories write.
const TABLES: [&str; 2] = ["meetings", "members"];

impl Where for Slow {
    fn arrange(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Sqlite => {
                let place = Place::new(kind)?;
                let (library, file) = (place.data.join("slow.so"), place.data.join("hold"));
                let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/support/slow/disk.c");
                let mut compiler = Command::new("cc");
                let made = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).status();
                assert!(made.unwrap().success());
                let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
                let server =
                    place.start(&[("LD_PRELOAD", text(&library).as_str()), ("HOLD_SYNC", text(&file).as_str())]);
                Some(Self { server, hold: Hold::File(file), _place: place })
            }
            Kind::Postgres => {
                let cluster = Cluster::start_with_slow_commits().unwrap()?;
                let place = Place::on(&cluster);
                let server = place.start(&[]);
                let schema = place.url.as_ref().unwrap().rsplit("%3D").next().unwrap().to_owned();
                Some(Self { server, hold: Hold::Commits(cluster, schema), _place: place })
            }
        }
    }
}

impl Slow {
    /// From now on nothing becomes durable: of PostgreSQL, nothing that changes one of [`TABLES`].
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

    /// What waits becomes durable now.
    pub fn let_go(&self) {
        match &self.hold {
            Hold::File(file) => fs::remove_file(file).unwrap(),
            Hold::Commits(cluster, _) => cluster.let_commits_go().unwrap(),
        }
    }
}
