//! Tests that the proposals of the largest run are published, superseded and forgotten within the limit of a transaction.

use std::time::Instant;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::QueryDsl;

use super::drafts::{forget_drafts, publish};
use crate::db::schema::runs;
use crate::db::tests::{GROUND, on_both, rows_in, run};
use crate::db::{Db, DbError, Key, RunQueryDsl};

/// As many as a run may have items.
const MOST: i64 = 20_000;

/// How many rows are planted at once.
const PORTION: i64 = 2_500;

/// Inserts so many proposals of the only run, with texts of two kilobytes.
async fn plant(db: &Db, status: &str, is_marked: bool) {
    let marked = if is_marked { "runs.id" } else { "NULL" };
    let text = "x".repeat(2_000);
    for _ in 0..MOST / PORTION {
        let rows = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PORTION}) \
             INSERT INTO proposals (id, project_id, run_id, item_id, target_type, kind, status, text_key, content_key, \
               superseded_by, created_at) \
             SELECT {{id}}, project_id, runs.id, {{id}}, 'REQUIREMENT', 'NEW', '{status}', 'key' || i, 'c', {marked}, {{old}} \
             FROM n, runs; \
             INSERT INTO proposal_texts (proposal_id, after_body) SELECT id, '{text}' FROM proposals \
             WHERE NOT EXISTS (SELECT 1 FROM proposal_texts WHERE proposal_id = proposals.id)"
        );
        run(db, &rows).await;
    }
}

async fn ground(db: &Db) -> (Id<ids::Project>, Id<Run>) {
    run(db, GROUND).await;
    let found = db.read(|conn| {
        Box::pin(async move {
            let (project_id, run_id): (Key<ids::Project>, Key<Run>) =
                runs::table.select((runs::project_id, runs::id)).first(conn).await?;
            Ok::<_, DbError>((project_id.0, run_id.0))
        })
    });
    found.await.unwrap()
}

#[tokio::test]
async fn the_most_proposals_of_a_run_are_published_and_supersede_as_many_within_one_transaction() {
    on_both(async |db| {
        let (project_id, run_id) = ground(&db).await;
        plant(&db, "OPEN", true).await;
        plant(&db, "DRAFT", false).await;
        let began = Instant::now();
        let now = Time::from_millis(1_764_000_000_000).unwrap();
        db.write(move |conn| Box::pin(publish(conn, project_id, run_id, now))).await.unwrap();
        println!("published in {:?}", began.elapsed());
        for status in ["OPEN", "SUPERSEDED"] {
            assert_eq!(rows_in(&db, &format!("proposals WHERE status = '{status}'")).await, MOST, "{status}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_most_drafts_of_a_run_are_forgotten_within_one_transaction() {
    on_both(async |db| {
        let (_, run_id) = ground(&db).await;
        plant(&db, "OPEN", true).await;
        plant(&db, "DRAFT", false).await;
        let began = Instant::now();
        db.write(move |conn| Box::pin(forget_drafts(conn, run_id))).await.unwrap();
        println!("forgotten in {:?}", began.elapsed());
        assert_eq!(rows_in(&db, "proposals").await, MOST);
        assert_eq!(rows_in(&db, "proposal_texts").await, MOST);
        assert_eq!(rows_in(&db, "proposals WHERE superseded_by IS NOT NULL").await, 0, "what is open stays open");
    })
    .await;
}
