//! The queue on both databases: the cost of a poll, the order of turns, and which holder can end a job.

use std::marker::PhantomData;
use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::time::Time;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Integer, Text};
use diesel::{ExpressionMethods, QueryDsl, QueryResult, SqliteConnection};
use serde::{Deserialize, Serialize};

use super::super::super::{Job, JobPayload, Turns, operator, store};
use super::{DueJobs, DueQuery, HeldJob, KEYS};
use crate::db::schema::jobs;
use crate::db::tests::on_both;
use crate::db::{Conn, Db, DbError, RunQueryDsl};

#[derive(Serialize, Deserialize)]
struct Read;

impl JobPayload for Read {
    const KIND: &'static str = "read";
    const TURNS: Turns = Turns::Fair;
}

fn noon() -> Time {
    Time::from_millis(1_764_000_000_000).unwrap()
}

fn story() -> RequestId {
    RequestId::from("story")
}

async fn add(db: &Db, fair_key: &'static str, now: Time) -> Id<Job> {
    let added = db
        .write(move |conn| Box::pin(async move { store::enqueue_in_turn(conn, fair_key, &Read, now, &story()).await }));
    added.await.unwrap()
}

async fn claimed(db: &Db, ids: Vec<Id<Job>>) -> Vec<Job> {
    let until = noon() + Duration::from_secs(30);
    db.write(move |conn| Box::pin(async move { store::claim(conn, &ids, until).await })).await.unwrap()
}

async fn found_due(db: &Db, after: Option<&str>, most: usize) -> Option<DueJobs> {
    let wanted = [DueQuery { kind: "read", most, running: 0, after: after.map(str::to_owned) }];
    let found = db.read(move |conn| Box::pin(async move { store::find_due(conn, &wanted, noon()).await }));
    let (mut found, _): (Vec<DueJobs>, _) = found.await.unwrap();
    found.pop()
}

fn keys(found: &DueJobs) -> Vec<&str> {
    found.due.iter().map(|of_key| of_key.fair_key.as_str()).collect()
}

/// A query whose plan is requested instead of its rows.
struct Explained<Q, T>(&'static str, Q, PhantomData<T>);

impl<Q, T> QueryId for Explained<Q, T> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q, T> diesel::RunQueryDsl<SqliteConnection> for Explained<Q, T> {}

impl<Q, T> Query for Explained<Q, T> {
    type SqlType = T;
}

impl<Q: QueryFragment<DB>, T, DB: Backend> QueryFragment<DB> for Explained<Q, T> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        pass.unsafe_to_cache_prepared();
        pass.push_sql(self.0);
        self.1.walk_ast(pass.reborrow())
    }
}

/// Returns the plan of a query.
macro_rules! plan {
    ($conn:expr, $query:expr) => {
        match $conn {
            Conn::Pg(pg) => {
                let query = Explained("EXPLAIN ", $query, PhantomData::<Text>);
                let lines: Vec<String> = diesel_async::RunQueryDsl::load(query, &mut **pg).await?;
                lines.join("\n")
            }
            Conn::Sqlite(lite) => {
                let query = Explained("EXPLAIN QUERY PLAN ", $query, PhantomData::<(Integer, Integer, Integer, Text)>);
                let lines: Vec<(i32, i32, i32, String)> =
                    lite.run(|conn| diesel::RunQueryDsl::load(query, conn)).await?;
                lines.into_iter().map(|line| line.3).collect::<Vec<_>>().join("\n")
            }
        }
    };
}

const MANY: [(&str, &str, i64); 3] = [("mail", "", 20_000), ("read", "b", 5_000), ("read", "d", 5_000)];

/// Adds thousands of waiting jobs, most of them due.
async fn add_many(conn: &mut Conn) -> Result<(), DbError> {
    for (kind, key, count) in MANY {
        let sql = match conn {
            Conn::Pg(_) => format!(
                "INSERT INTO jobs (id, kind, payload, request_id, run_at, attempts, created_at, fair_key) SELECT \
                 gen_random_uuid(), '{kind}', 'null', 'r', to_timestamp(1763000000 + n * 60), 0, to_timestamp(0), '{key}' \
                 FROM generate_series(1, {count}) n; ANALYZE jobs;"
            ),
            Conn::Sqlite(_) => format!(
                "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {count}) \
                 INSERT INTO jobs (id, kind, payload, request_id, run_at, attempts, created_at, fair_key) SELECT \
                 randomblob(16), '{kind}', 'null', 'r', (1763000000 + n * 60) * 1000000, 0, 0, '{key}' FROM t;"
            ),
        };
        conn.batch(&sql).await?;
    }
    Ok(())
}

#[tokio::test]
async fn of_thirty_thousand_waiting_jobs_a_look_and_a_claim_touch_those_they_name() {
    on_both(async |db| {
        db.write(|conn| Box::pin(add_many(conn))).await.unwrap();
        let plans: Vec<(&str, String)> = db
            .read(|conn| {
                Box::pin(async move {
                    let (now, held) = (noon(), HeldJob { id: Id::generate(), claim: 1 });
                    Ok::<_, DbError>(vec![
                        ("jobs_waiting", plan!(conn, earliest!("mail").limit(1))),
                        ("jobs_in_turn", plan!(conn, keys!("read", ge, "").limit(1))),
                        ("jobs_in_turn", plan!(conn, keys!("read", gt, "b").limit(1))),
                        ("jobs_in_turn", plan!(conn, due!("mail", "", now, 2))),
                        ("jobs_in_turn", plan!(conn, due!("read", "b", now, 2))),
                        ("jobs_leased", plan!(conn, leased!().limit(500))),
                        ("jobs_failed", plan!(conn, failed!(Id::<()>::generate()).limit(500))),
                        ("PRIMARY KEY", plan!(conn, claimed!(held.id).select(jobs::id))),
                        ("PRIMARY KEY", plan!(conn, held!(held).select(jobs::id))),
                    ])
                })
            })
            .await
            .unwrap();
        for (index, plan) in plans {
            let by_key = index == "PRIMARY KEY" && plan.contains("jobs_pkey");
            assert!(plan.contains(index) || by_key, "{index} is not used:\n{plan}");
            for word in ["Seq Scan", "Sort", "Bitmap", "SCAN jobs\n", "TEMP B-TREE", "AUTOMATIC"] {
                assert!(!plan.contains(word), "{word}:\n{plan}");
            }
        }
        // The result is right, too: the earliest jobs of the key after the last one served.
        let found = found_due(&db, Some("b"), 2).await.unwrap();
        assert_eq!(keys(&found), ["d", "b"]);
        assert_eq!(found.due[0].ids.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn the_keys_are_gone_through_in_a_ring_from_the_one_after_the_last_turn() {
    on_both(async |db| {
        assert_eq!(found_due(&db, None, 4).await, None);
        for key in ["b", "", "a", "a", "c"] {
            add(&db, key, noon()).await;
        }
        add(&db, "bb", noon() + Duration::from_secs(1)).await;
        for (after, ring) in [
            (None, ["", "a", "b", "c"]),
            (Some(""), ["a", "b", "c", ""]),
            (Some("a"), ["b", "c", "", "a"]),
            (Some("bb"), ["c", "", "a", "b"]),
            (Some("c"), ["", "a", "b", "c"]),
            (Some("z"), ["", "a", "b", "c"]),
        ] {
            let found = found_due(&db, after, 9).await.unwrap();
            assert_eq!((keys(&found), found.ended_at.as_ref()), (ring.to_vec(), None), "after {after:?}");
        }
        // It visits no more keys than there are permits.
        let found = found_due(&db, Some("a"), 2).await.unwrap();
        assert_eq!((keys(&found), found.ended_at.as_deref()), (vec!["b", "c"], Some("c")));
    })
    .await;
}

#[tokio::test]
async fn a_look_goes_through_so_many_keys_and_the_next_one_goes_on_there() {
    on_both(async |db| {
        let later = noon() + Duration::from_secs(60);
        db.write(move |conn| {
            Box::pin(async move {
                for key in 0..KEYS + 10 {
                    let key = format!("{key:03}");
                    store::enqueue_in_turn(conn, &key, &Read, later, &story()).await?;
                }
                store::enqueue_in_turn(conn, "z", &Read, noon(), &story()).await
            })
        })
        .await
        .unwrap();
        let first = found_due(&db, None, 1).await.unwrap();
        assert_eq!((keys(&first), first.ended_at.as_deref()), (vec![], Some("063")));
        let second = found_due(&db, first.ended_at.as_deref(), 1).await.unwrap();
        assert_eq!(keys(&second), ["z"]);
    })
    .await;
}

/// Returns the claims, the attempts, whether it waits, and the last error, of each job.
async fn rows(db: &Db) -> Vec<(i64, i64, bool, Option<String>)> {
    let rows = db.read(|conn| {
        Box::pin(async move {
            let rows = jobs::table.select((jobs::claims, jobs::attempts, jobs::lease_until, jobs::last_error));
            let rows: Vec<(i64, i64, Option<Time>, Option<String>)> = rows.load(conn).await?;
            Ok::<_, DbError>(rows)
        })
    });
    rows.await.unwrap().into_iter().map(|row| (row.0, row.1, row.2.is_none(), row.3)).collect()
}

#[tokio::test]
async fn whoever_lost_a_job_says_nothing_of_it_any_more() {
    on_both(async |db| {
        let id = add(&db, "", noon()).await;
        let first = claimed(&db, vec![id]).await.remove(0).held();
        assert_eq!(claimed(&db, vec![id]).await.len(), 0, "taken is taken");
        let freed = db.write(|conn| Box::pin(store::free_page(conn))).await;
        assert_eq!(freed, Ok(1));
        let renewed = db.write(move |conn| Box::pin(store::renew(conn, first, noon()))).await;
        assert_eq!(renewed, Ok(false), "one that was freed is not held by being renewed");
        let second = claimed(&db, vec![id]).await.remove(0).held();
        assert_eq!((first.claim, second.claim), (1, 2));
        let before = rows(&db).await;
        let kept: [bool; 5] = db
            .write(move |conn| {
                Box::pin(async move {
                    Ok::<_, DbError>([
                        store::renew(conn, first, noon()).await?,
                        store::again(conn, first, "late", noon(), noon()).await?,
                        store::give_back(conn, first, noon()).await?,
                        store::give_up(conn, first, 1, "late", noon()).await?,
                        store::done(conn, first).await?,
                    ])
                })
            })
            .await
            .unwrap();
        assert_eq!((kept, rows(&db).await), ([false; 5], before));
        assert_eq!(db.write(move |conn| Box::pin(store::renew(conn, second, noon()))).await, Ok(true));
        assert_eq!(db.write(move |conn| Box::pin(store::done(conn, second))).await, Ok(true));
        assert_eq!(db.write(move |conn| Box::pin(store::done(conn, second))).await, Ok(false), "once");
        assert_eq!(rows(&db).await, []);
    })
    .await;
}

#[tokio::test]
async fn what_was_left_behind_is_freed_unless_it_was_renewed_meanwhile() {
    on_both(async |db| {
        let (left, renewed) = (add(&db, "", noon()).await, add(&db, "", noon()).await);
        claimed(&db, vec![left]).await;
        let held = claimed(&db, vec![renewed]).await.remove(0).held();
        let seen = db.read(|conn| Box::pin(store::leased(conn))).await.unwrap();
        assert_eq!(seen.len(), 2);
        let later = noon() + Duration::from_secs(40);
        assert_eq!(db.write(move |conn| Box::pin(store::renew(conn, held, later))).await, Ok(true));
        let freed = db.write(move |conn| Box::pin(async move { store::free(conn, &seen).await })).await;
        assert_eq!(freed, Ok(1));
        let found = found_due(&db, None, 9).await.unwrap();
        assert_eq!(found.due.iter().flat_map(|of_key| of_key.ids.clone()).collect::<Vec<_>>(), [left]);
    })
    .await;
}

#[tokio::test]
async fn a_requeued_job_has_all_its_tries_and_its_former_holder_no_say() {
    on_both(async |db| {
        let id = add(&db, "", noon()).await;
        let first = claimed(&db, vec![id]).await.remove(0).held();
        let failed = db.write(move |conn| Box::pin(store::give_up(conn, first, 1, "no", noon()))).await;
        assert_eq!(failed, Ok(true));
        assert_eq!(claimed(&db, vec![id]).await.len(), 0, "what failed is not taken");
        let kind = |kind: &str| store::Which { kind: Some(kind.to_owned()), id: None };
        let one = store::Which { kind: None, id: Some(id) };
        for (which, requeued) in [(kind("mail"), 0), (one, 1), (kind("read"), 0)] {
            assert_eq!(operator::requeue(&db, which, noon()).await, Ok(requeued));
        }
        assert_eq!(rows(&db).await, [(1, 0, true, Some("no".to_owned()))]);
        let second = claimed(&db, vec![id]).await.remove(0);
        assert_eq!((second.attempt, second.claim), (1, 2));
        assert_eq!(db.write(move |conn| Box::pin(store::done(conn, first))).await, Ok(false));
    })
    .await;
}

#[tokio::test]
async fn what_a_server_does_at_its_start_goes_in_pages() {
    on_both(async |db| {
        db.write(|conn| {
            Box::pin(async move {
                add_many(conn).await?;
                let sql = match conn {
                    Conn::Pg(_) => "UPDATE jobs SET lease_until = now() WHERE fair_key = 'b'",
                    Conn::Sqlite(_) => "UPDATE jobs SET lease_until = 1 WHERE fair_key = 'b'",
                };
                Ok::<_, DbError>(conn.batch(sql).await?)
            })
        })
        .await
        .unwrap();
        let mut freed = Vec::new();
        while freed.last() != Some(&0) {
            freed.push(db.write(|conn| Box::pin(store::free_page(conn))).await.unwrap());
        }
        assert_eq!(freed, [vec![500; 10], vec![0]].concat());
        let mut given_up = Vec::new();
        while given_up.last() != Some(&0) {
            let page =
                db.write(|conn| Box::pin(async move { store::fail_unknown_kinds(conn, &["mail"], noon()).await }));
            given_up.push(page.await.unwrap());
        }
        assert_eq!(given_up, [vec![500; 20], vec![0]].concat());
        assert_eq!(db.read(|conn| Box::pin(store::failed_count(conn))).await, Ok(10_000));
    })
    .await;
}

/// Returns for each id how many seconds after noon the job becomes due.
async fn waits(db: &Db, ids: &[Id<Job>]) -> Vec<i64> {
    let ids = ids.to_vec();
    let waits = db.read(move |conn| {
        Box::pin(async move {
            let mut waits = Vec::new();
            for id in ids {
                let at: Time = jobs::table.find(id).select(jobs::run_at).first(conn).await?;
                waits.push((at.millis() - noon().millis()) / 1000);
            }
            Ok::<_, DbError>(waits)
        })
    });
    waits.await.unwrap()
}

#[tokio::test]
async fn what_a_clock_that_was_set_back_left_in_the_future_waits_as_long_as_it_was_told_to() {
    on_both(async |db| {
        let ahead = noon() + Duration::from_secs(3600);
        let at_once = add(&db, "", ahead).await;
        let failed = add(&db, "", noon()).await;
        let held = claimed(&db, vec![failed]).await.remove(0).held();
        let again = db.write(move |conn| {
            let in_a_minute = ahead + Duration::from_secs(60);
            Box::pin(async move { store::again(conn, held, "why", ahead, in_a_minute).await })
        });
        assert_eq!(again.await, Ok(true));
        let meant = add(&db, "", noon()).await;
        let held = claimed(&db, vec![meant]).await.remove(0).held();
        let again = db.write(move |conn| {
            let in_two = noon() + Duration::from_secs(120);
            Box::pin(async move { store::again(conn, held, "why", noon(), in_two).await })
        });
        assert_eq!(again.await, Ok(true));
        let set = db.write(|conn| Box::pin(store::reschedule(conn, "read", noon()))).await;
        assert_eq!(set, Ok(2));
        assert_eq!(waits(&db, &[at_once, failed, meant]).await, [0, 60, 120]);
        let set = db.write(|conn| Box::pin(store::reschedule(conn, "read", noon()))).await;
        assert_eq!(set, Ok(0), "once");
    })
    .await;
}

#[tokio::test]
async fn an_attempt_that_is_given_back_does_not_count_and_one_that_was_lost_does() {
    on_both(async |db| {
        let id = add(&db, "", noon()).await;
        let first = claimed(&db, vec![id]).await.remove(0).held();
        assert_eq!(db.write(move |conn| Box::pin(store::give_back(conn, first, noon()))).await, Ok(true));
        assert_eq!(rows(&db).await, [(1, 0, true, None)]);
        claimed(&db, vec![id]).await;
        assert_eq!(db.write(|conn| Box::pin(store::free_page(conn))).await, Ok(1));
        assert_eq!(rows(&db).await, [(2, 1, true, None)]);
        // What was freed meanwhile is not given back a second time.
        let third = claimed(&db, vec![id]).await.remove(0).held();
        assert_eq!(db.write(|conn| Box::pin(store::free_page(conn))).await, Ok(1));
        assert_eq!(db.write(move |conn| Box::pin(store::give_back(conn, third, noon()))).await, Ok(false));
        assert_eq!(rows(&db).await, [(3, 2, true, None)]);
    })
    .await;
}

#[tokio::test]
async fn failed_jobs_are_discarded_by_kind_and_another_only_by_its_id() {
    on_both(async |db| {
        let (failed, waiting) = (add(&db, "", noon()).await, add(&db, "", noon()).await);
        let held = claimed(&db, vec![failed]).await.remove(0).held();
        assert_eq!(db.write(move |conn| Box::pin(store::give_up(conn, held, 1, "no", noon()))).await, Ok(true));
        let which = |kind: Option<&str>, id| store::Which { kind: kind.map(str::to_owned), id };
        let discarded =
            async |which| operator::discard(&db, which, noon()).await.map(|all| (all.failed, all.unfinished));
        assert_eq!(discarded(which(Some("mail"), None)).await, Ok((0, 0)));
        assert_eq!(discarded(which(Some("read"), None)).await, Ok((1, 0)));
        assert_eq!(discarded(which(None, None)).await, Ok((0, 0)), "what waits is not meant by all");
        assert_eq!(discarded(which(None, Some(failed))).await, Ok((0, 0)));
        assert_eq!(discarded(which(None, Some(waiting))).await, Ok((0, 1)));
        let job = claimed(&db, vec![waiting]).await.remove(0);
        assert!(job.is_discarded);
        // Also one that runs, or that a killed server held: its holder has no say any more.
        let held = job.held();
        assert_eq!(discarded(which(None, Some(waiting))).await, Ok((0, 1)));
        assert_eq!(db.write(move |conn| Box::pin(store::renew(conn, held, noon()))).await, Ok(false));
        assert_eq!(claimed(&db, vec![waiting]).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_attempt_that_fails_once_its_job_was_discarded_neither_puts_it_off_nor_keeps_it_as_failed() {
    on_both(async |db| {
        let id = add(&db, "", noon()).await;
        let held = claimed(&db, vec![id]).await.remove(0).held();
        let which = store::Which { kind: None, id: Some(id) };
        assert_eq!(operator::discard(&db, which, noon()).await.map(|all| all.unfinished), Ok(1));
        let again = db.write(move |conn| {
            let later = noon() + Duration::from_secs(900);
            Box::pin(async move { store::again(conn, held, "late", noon(), later).await })
        });
        assert_eq!(again.await, Ok(false));
        assert_eq!(db.write(move |conn| Box::pin(store::give_up(conn, held, 5, "late", noon()))).await, Ok(false));
        assert_eq!(waits(&db, &[id]).await, [0]);
        assert_eq!(rows(&db).await, [(1, 1, true, None)]);
        let taken = claimed(&db, vec![id]).await;
        assert!(taken.iter().map(|job| job.is_discarded).eq([true]), "it ends at its next claim");
    })
    .await;
}
