//! Tests that the proposals of the largest run are published, superseded and forgotten within the limit of a transaction.

use std::time::Instant;

use actors::ids::Id;
use actors::run::Run;
use diesel::QueryDsl;

use super::drafts::{forget_page, publish};
use crate::db::schema::runs;
use crate::db::sweep::PAGE;
use crate::db::tests::{GROUND, on_both, rows_in, run};
use crate::db::{Db, DbError, RunQueryDsl};

/// As many as a run may have items.
const MAX_ITEMS: i64 = 20_000;

/// How many rows are planted at once.
const PORTION: i64 = 2_500;

/// Inserts so many proposals of the only run, with texts of two kilobytes.
async fn plant(db: &Db, status: &str) {
    let text = "x".repeat(2_000);
    for _ in 0..MAX_ITEMS / PORTION {
        let rows = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PORTION}) \
             INSERT INTO proposals (id, project_id, run_id, item_id, target_type, kind, status, text_key, content_key, created_at) \
             SELECT {{id}}, project_id, runs.id, {{id}}, 'REQUIREMENT', 'NEW', '{status}', 'key' || i, 'c', {{old}} FROM n, runs; \
             INSERT INTO proposal_texts (proposal_id, after_body) SELECT id, '{text}' FROM proposals \
             WHERE NOT EXISTS (SELECT 1 FROM proposal_texts WHERE proposal_id = proposals.id)"
        );
        run(db, &rows).await;
    }
}

async fn ground(db: &Db) -> Id<Run> {
    run(db, GROUND).await;
    let found = db
        .read(|conn| Box::pin(async move { Ok::<Id<Run>, DbError>(runs::table.select(runs::id).first(conn).await?) }));
    plant(db, "OPEN").await;
    run(db, "INSERT INTO run_supersedes (run_id, proposal_id) SELECT run_id, id FROM proposals").await;
    plant(db, "DRAFT").await;
    found.await.unwrap()
}

#[tokio::test]
async fn the_most_proposals_of_a_run_are_published_and_supersede_as_many_within_one_transaction() {
    on_both(async |db| {
        let run_id = ground(&db).await;
        let began = Instant::now();
        db.write(move |conn| Box::pin(publish(conn, run_id))).await.unwrap();
        println!("published in {:?}", began.elapsed());
        for status in ["OPEN", "SUPERSEDED"] {
            assert_eq!(rows_in(&db, &format!("proposals WHERE status = '{status}'")).await, MAX_ITEMS, "{status}");
        }
        assert_eq!(rows_in(&db, "run_supersedes").await, MAX_ITEMS, "for as long as the run can be undone");
    })
    .await;
}

#[tokio::test]
async fn drafts_are_forgotten_page_by_page_and_what_is_open_stays() {
    on_both(async |db| {
        let run_id = ground(&db).await;
        let mut pages = 0;
        while db.write(move |conn| Box::pin(forget_page(conn, run_id, PAGE))).await.unwrap() > 0 {
            pages += 1;
        }
        assert_eq!(pages, MAX_ITEMS / PAGE);
        assert_eq!(rows_in(&db, "proposals WHERE status = 'OPEN'").await, MAX_ITEMS);
        assert_eq!(rows_in(&db, "proposal_texts").await, MAX_ITEMS);
        assert_eq!(rows_in(&db, "run_supersedes").await, 0);
    })
    .await;
}
