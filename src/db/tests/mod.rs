//! What the database's layer promises, shown on both databases.

mod alone;
mod attempts;
mod away;
mod both;
mod doubts;
mod events;
mod kill;
mod pool;
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
mod shape;
mod writer;

use tempfile::TempDir;

use super::{Conn, Db, Failed, Settings};

/// An open database that lasts as long as this.
struct Opened {
    db: Db,
    folder: TempDir,
}

impl Opened {
    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("test.sqlite")
    }
}

/// Runs one test body on SQLite and on PostgreSQL, each empty but for the migrations and the table `things`.
pub(crate) async fn on_both(body: impl AsyncFn(Db)) {
    body(sqlite(|settings| settings).await.db.clone()).await;
    if let Some(url) = postgres::schema().unwrap() {
        let db = Db::open(Settings::at(url)).await.unwrap();
        make_things(&db).await;
        body(db).await;
    }
}

async fn sqlite(change: impl FnOnce(Settings) -> Settings) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("test.sqlite").display());
    let db = Db::open(change(Settings::at(url))).await.unwrap();
    make_things(&db).await;
    Opened { db, folder }
}

async fn make_things(db: &Db) {
    db.write(|conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => {
                    "CREATE TABLE things (id uuid PRIMARY KEY, name text NOT NULL UNIQUE, facts json NOT NULL,
                     parent_id uuid REFERENCES things (id), count bigint NOT NULL, at timestamptz NOT NULL)"
                }
                Conn::Sqlite(_) => {
                    "CREATE TABLE things (id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, facts TEXT NOT NULL,
                     parent_id BLOB REFERENCES things (id), count INTEGER NOT NULL, at INTEGER NOT NULL) STRICT"
                }
            };
            Ok::<_, Failed>(conn.batch(sql).await?)
        })
    })
    .await
    .unwrap();
}

mod schema {
    diesel::table! {
        use diesel::sql_types::*;
        use super::super::super::sql::{UtcTime, Uuid};

        things (id) {
            id -> Uuid,
            name -> Text,
            facts -> Json,
            parent_id -> Nullable<Uuid>,
            count -> BigInt,
            at -> UtcTime,
        }
    }
}
