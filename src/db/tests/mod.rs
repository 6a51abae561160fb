//! What the database layer guarantees, tested on both databases.

mod alone;
mod attempts;
mod away;
mod both;
mod doubts;
mod events;
mod group_commit;
mod kept;
mod kill;
mod pool;
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
mod readers;
mod shape;
mod writer;

use tempfile::TempDir;

use super::conn::each;
use super::{Conn, Db, DbError, DbSettings};

/// An open database; its folder is deleted when this is dropped.
struct Opened {
    db: Db,
    folder: TempDir,
}

impl Opened {
    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("test.sqlite")
    }
}

/// Runs one test body on SQLite and on PostgreSQL, each empty except for the migrations and the table `things`.
pub(crate) async fn on_both(body: impl AsyncFn(Db)) {
    body(sqlite(|settings| settings).await.db.clone()).await;
    if let Some(url) = postgres::schema().unwrap() {
        let db = Db::open(DbSettings::at(url)).await.unwrap();
        make_things(&db).await;
        body(db).await;
    }
}

async fn sqlite(change: impl FnOnce(DbSettings) -> DbSettings) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("test.sqlite").display());
    let db = Db::open(change(DbSettings::at(url))).await.unwrap();
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
            Ok::<_, DbError>(conn.batch(sql).await?)
        })
    })
    .await
    .unwrap();
}

/// Rows that others reference: an account, its project, a meeting with an invitation, a run.
pub(crate) const GROUND: &str = "INSERT INTO users (id, email, full_name, language, created_at, updated_at) \
      VALUES ({id}, 'a', 'A', 'en', {old}, {old}); \
    INSERT INTO projects (id, name, description, language, status, owner_id, version, created_at, updated_at) \
      SELECT {id}, 'P', '', 'en', 'ACTIVE', id, 1, {old}, {old} FROM users; \
    INSERT INTO meetings (id, project_id, title, description, status, consent_policy, created_by_id, host_participant_id, \
        scheduled_at, version, revision, created_at, updated_at) \
      SELECT {id}, id, 'M', '', 'SCHEDULED', 'ALL', owner_id, {id}, {old}, 1, 1, {old}, {old} FROM projects; \
    INSERT INTO meeting_invitations (id, meeting_id, invitee_type, email, role, participant_id, token_hash, delivery, \
        invited_by_id, send_count, last_sent_at, ics_sequence, expires_at, is_expiry_chosen, created_at) \
      SELECT {id}, id, 'GUEST', 'b', 'GUEST', {id}, 't', 'SENT', created_by_id, 1, {old}, 1, {old}, {no}, {old} FROM meetings; \
    INSERT INTO runs (id, project_id, created_by_id, document_ids, analysis_type, language, engine, input_hash, status, progress, \
        node, message, ai_job_id, attempt, warnings, revision, created_at, updated_at) \
      SELECT {id}, id, owner_id, '[]', 'FULL', 'en', 'e', 'h', 'FAILED', 0, 'queued', '', {id}, 1, '[]', 1, {old}, {old} FROM projects;";

/// Returns how many rows a table has.
pub(crate) async fn rows_in(db: &Db, table: &str) -> i64 {
    #[derive(diesel::QueryableByName)]
    struct Count {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        rows: i64,
    }
    let query = diesel::sql_query(format!("SELECT count(*) AS rows FROM {table}"));
    let counted = db.read(move |conn| {
        Box::pin(async move {
            let found: Vec<Count> = each!(conn, load, query)?;
            Ok::<_, DbError>(found[0].rows)
        })
    });
    counted.await.unwrap()
}

/// Returns the steps of the plan for a statement whose values are written out. Small tables are scanned or sorted,
/// whatever indexes they have, so the planner of PostgreSQL is configured to avoid that where it can.
pub(crate) async fn plan(db: &Db, sql: &str) -> Vec<String> {
    #[derive(diesel::QueryableByName)]
    struct Postgres {
        #[diesel(sql_type = diesel::sql_types::Text, column_name = "QUERY PLAN")]
        step: String,
    }
    #[derive(diesel::QueryableByName)]
    struct Sqlite {
        #[diesel(sql_type = diesel::sql_types::Text, column_name = "detail")]
        step: String,
    }
    use diesel_async::RunQueryDsl;
    let sql = sql.to_owned();
    let steps = db.write(move |conn| {
        Box::pin(async move {
            Ok::<_, DbError>(match conn {
                Conn::Pg(pg) => {
                    for way in ["seqscan", "bitmapscan", "sort"] {
                        diesel::sql_query(format!("SET LOCAL enable_{way} = off")).execute(&mut **pg).await?;
                    }
                    let steps: Vec<Postgres> = diesel::sql_query(format!("EXPLAIN {sql}")).load(&mut **pg).await?;
                    steps.into_iter().map(|step| step.step).collect::<Vec<_>>()
                }
                Conn::Sqlite(lite) => {
                    let explain = diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
                    let steps: Vec<Sqlite> = lite.run(|conn| diesel::RunQueryDsl::load(explain, conn)).await?;
                    steps.into_iter().map(|step| step.step).collect()
                }
            })
        })
    });
    steps.await.unwrap()
}

/// Asserts that only rows found through an index are read, and that nothing is sorted.
pub(crate) fn assert_is_by_index(plan: &[String]) {
    assert!(!plan.is_empty());
    for step in plan {
        let reads_all = step.starts_with("SCAN") || step.contains("Seq Scan");
        let sorts = step.contains("Sort") || step.contains("TEMP B-TREE");
        assert!(!reads_all && !sorts, "{plan:#?}");
    }
}

/// Runs `sql` with what each database writes in its own way filled in: `{id}` a new id, `{old}` a time long ago,
/// `{young}` one in the far future, `{no}` false.
pub(crate) async fn run(db: &Db, sql: &str) {
    let sql = sql.to_owned();
    let done = db.write(move |conn| {
        Box::pin(async move {
            let [id, old, young, no] = match conn {
                Conn::Pg(_) => ["gen_random_uuid()", "to_timestamp(1)", "to_timestamp(4102444800)", "false"],
                Conn::Sqlite(_) => ["randomblob(16)", "1000000", "4102444800000000", "0"],
            };
            let sql = sql.replace("{id}", id).replace("{old}", old).replace("{young}", young).replace("{no}", no);
            Ok::<_, DbError>(conn.batch(&sql).await?)
        })
    });
    done.await.unwrap();
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
