//! PostgreSQL becomes unreachable in the middle of jobs, and comes back.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::super::{Db, DbError, DbSettings};
use super::both::{count, insert, thing};
use super::make_things;
use super::postgres::Cluster;

async fn put(db: &Db, name: &str) -> Result<(), DbError> {
    let thing = thing(name);
    db.write(move |conn| Box::pin(async move { insert(conn, &thing).await })).await
}

async fn counted(db: &Db) -> Result<i64, DbError> {
    db.read(|conn| Box::pin(async move { count(conn).await })).await
}

/// Waits until writes work again, with nothing but these calls trying.
async fn back_within(db: &Db, name: &str, limit: Duration) {
    let began = Instant::now();
    let mut tries = 0;
    while let Err(failed) = put(db, &format!("{name} {tries}")).await {
        assert!(matches!(failed, DbError::Unavailable(_)), "{failed}");
        assert!(began.elapsed() < limit, "{failed}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        tries += 1;
    }
}

#[tokio::test]
async fn writes_fail_soon_while_it_is_away_and_work_when_it_is_back() {
    let Some(mut cluster) = Cluster::start().unwrap() else { return };
    let db = Db::open(DbSettings::at(cluster.schema().unwrap())).await.unwrap();
    make_things(&db).await;
    // Several idle connections, so that all of them are found dead.
    futures_util::future::join_all((0..8).map(|i| {
        let db = &db;
        async move { put(db, &format!("early {i}")).await.unwrap() }
    }))
    .await;

    cluster.kill().unwrap();
    for i in 0..3 {
        let began = Instant::now();
        let outcome = put(&db, &format!("dead {i}")).await;
        assert!(matches!(outcome, Err(DbError::Unavailable(_))), "{outcome:?}");
        assert!(matches!(counted(&db).await, Err(DbError::Unavailable(_))));
        assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    }
    cluster.resume_service().unwrap();
    back_within(&db, "restarted", Duration::from_secs(1)).await;

    // Connections stay open and nothing answers.
    cluster.freeze().unwrap();
    let began = Instant::now();
    let (write, read) = tokio::join!(put(&db, "frozen"), counted(&db));
    assert!(matches!(write, Err(DbError::Unavailable(_))), "{write:?}");
    assert!(matches!(read, Err(DbError::Unavailable(_))), "{read:?}");
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    cluster.thaw().unwrap();
    back_within(&db, "thawed", Duration::from_secs(2)).await;
    assert!(counted(&db).await.unwrap() >= 10);
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_crashes_of_the_server() {
    let Some(mut cluster) = Cluster::start().unwrap() else { return };
    let db = Db::open(DbSettings::at(cluster.schema().unwrap())).await.unwrap();
    make_things(&db).await;
    let mut acknowledged = 0_i64;
    let mut unknown = 0_i64;
    for round in 0..3 {
        let writers = (0..16).map(|writer| {
            let db = db.clone();
            Handle::current().spawn(async move {
                let mut written = 0_i64;
                for i in 0.. {
                    match put(&db, &format!("{round}-{writer}-{i}")).await {
                        Ok(()) => written += 1,
                        Err(DbError::Unknown(_)) => return (written, 1),
                        Err(_) => return (written, 0),
                    }
                }
                (written, 0)
            })
        });
        let writers: Vec<_> = writers.collect();
        tokio::time::sleep(Duration::from_millis(200 + round * 37)).await;
        cluster.kill().unwrap();
        for writer in writers {
            let (written, lost) = writer.await.unwrap();
            acknowledged += written;
            unknown += lost;
        }
        cluster.resume_service().unwrap();
        back_within(&db, &format!("back {round}"), Duration::from_secs(1)).await;
        acknowledged += 1;
    }
    let there = counted(&db).await.unwrap();
    assert!((acknowledged..=acknowledged + unknown).contains(&there), "{acknowledged} {unknown} {there}");
}
