//! Writes with an unknown outcome: nothing is read past them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::{Conn, Db, DbError, DbSettings, RunQueryDsl};
use super::both::{count, insert, thing};
use super::postgres::Cluster;
use super::{make_things, on_both};

async fn put(db: &Db, name: &str) -> Result<(), DbError> {
    let thing = thing(name);
    db.write(move |conn| Box::pin(async move { insert(conn, &thing).await })).await
}

async fn counted(db: &Db) -> Result<i64, DbError> {
    db.read(|conn| Box::pin(async move { count(conn).await })).await
}

/// A write that has run its statements and waits for permission to end.
pub(super) struct Begun {
    pub go: oneshot::Sender<()>,
    pub caller: tokio::task::JoinHandle<Result<(), DbError>>,
}

pub(super) async fn begin(db: &Db, name: &str) -> Begun {
    let ((go, gone), (tell, started)) = (oneshot::channel(), oneshot::channel());
    let (db, thing) = (db.clone(), thing(name));
    let caller = Handle::current().spawn(async move {
        let job = db.write(move |conn| {
            Box::pin(async move {
                insert(conn, &thing).await?;
                tell.send(()).unwrap();
                gone.await.unwrap();
                Ok::<_, DbError>(())
            })
        });
        job.await
    });
    started.await.unwrap();
    Begun { go, caller }
}

#[tokio::test]
async fn what_was_begun_goes_on_without_its_caller_and_nobody_reads_past_it() {
    on_both(async |db| {
        assert_eq!(db.wait_for_outcomes().now_or_never(), Some(()));
        let Begun { go, caller } = begin(&db, "forsaken").await;
        // A caller that still waits for the answer is no reason for doubt.
        assert_eq!(counted(&db).await, Ok(0));
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!(db.wait_for_outcomes().now_or_never(), None);
        let reading = Handle::current().spawn({
            let db = db.clone();
            async move { counted(&db).await }
        });
        tokio::task::yield_now().await;
        assert!(!reading.is_finished());
        go.send(()).unwrap();
        assert_eq!(reading.await.unwrap(), Ok(1));
        assert_eq!(db.wait_for_outcomes().now_or_never(), Some(()));
    })
    .await;
}

#[tokio::test]
async fn what_was_not_begun_is_not_when_its_caller_is_gone_and_leaves_no_doubt() {
    // One connection, as SQLite has one writer.
    let opened = super::sqlite(|settings| settings).await;
    let mut all = vec![opened.db.clone()];
    if let Some(url) = super::postgres::schema().unwrap() {
        let db = Db::open(DbSettings { connections: 1, ..DbSettings::at(url) }).await.unwrap();
        make_things(&db).await;
        all.push(db);
    }
    for db in all {
        let Begun { go, caller } = begin(&db, "first").await;
        let mut second = Box::pin(put(&db, "second"));
        assert_eq!(futures_util::poll!(second.as_mut()), std::task::Poll::Pending);
        drop(second);
        assert_eq!(db.wait_for_outcomes().now_or_never(), Some(()));
        go.send(()).unwrap();
        assert_eq!(caller.await.unwrap(), Ok(()));
        put(&db, "third").await.unwrap();
        assert_eq!(counted(&db).await, Ok(2));
    }
}

#[tokio::test]
async fn a_commit_that_lands_after_its_answer_is_neither_read_past_nor_written_past() {
    let Some(cluster) = Cluster::start_with_slow_commits().unwrap() else { return };
    let db = Db::open(DbSettings::at(cluster.schema().unwrap())).await.unwrap();
    make_things(&db).await;
    let mut settled = db.settled();
    let late = thing("late");
    let unknown = db.write(move |conn| {
        Box::pin(async move {
            insert(conn, &late).await?;
            conn.batch("SET LOCAL synchronous_commit = on").await?;
            Ok::<_, DbError>(())
        })
    });
    let unknown: Result<(), DbError> = unknown.await;
    assert!(matches!(unknown, Err(DbError::Unknown(_))), "{unknown:?}");
    for _ in 0..3 {
        let (read, written) = tokio::join!(counted(&db), put(&db, "past it"));
        assert!(matches!(read, Err(DbError::Unavailable(_))), "{read:?}");
        assert!(matches!(written, Err(DbError::Unavailable(_))), "{written:?}");
    }
    assert_eq!(settled.next().now_or_never(), None);
    cluster.let_commits_go().unwrap();
    db.wait_for_outcomes().await;
    assert_eq!(counted(&db).await, Ok(1));
    assert!(settled.next().await);
    put(&db, "after it").await.unwrap();
}

#[tokio::test]
async fn a_commit_that_died_with_the_database_is_known_when_that_is_back() {
    let Some(mut cluster) = Cluster::start_with_slow_commits().unwrap() else { return };
    let db = Db::open(DbSettings::at(cluster.schema().unwrap())).await.unwrap();
    make_things(&db).await;
    let late = thing("late");
    let unknown: Result<(), DbError> = db
        .write(move |conn| {
            Box::pin(async move {
                insert(conn, &late).await?;
                conn.batch("SET LOCAL synchronous_commit = on").await?;
                Ok::<_, DbError>(())
            })
        })
        .await;
    assert!(matches!(unknown, Err(DbError::Unknown(_))), "{unknown:?}");
    cluster.kill().unwrap();
    assert!(counted(&db).await.is_err());
    cluster.resume_service().unwrap();
    db.wait_for_outcomes().await;
    // It was in PostgreSQL's log already: only its confirmation was missing.
    assert_eq!(counted(&db).await, Ok(1));
}

#[tokio::test]
async fn a_job_of_many_statements_ends_at_its_limit() {
    let opened =
        super::sqlite(|settings| DbSettings { limit: std::time::Duration::from_millis(200), ..settings }).await;
    let db = &opened.db;
    // Without and with a nested transaction; both would take hours.
    for nested in [false, true] {
        let came_to_an_end = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&came_to_an_end);
        let cut: Result<(), DbError> = db
            .write(move |conn| {
                Box::pin(async move {
                    let insert_many = async |conn: &mut Conn| {
                        for i in 0..100_000_000 {
                            insert(conn, &thing(&format!("{i}"))).await?;
                        }
                        Ok::<_, DbError>(())
                    };
                    if nested {
                        conn.transaction(insert_many).await?
                    } else {
                        insert_many(conn).await?
                    }
                    ends.store(true, Ordering::SeqCst);
                    Ok(())
                })
            })
            .await;
        assert!(matches!(cut, Err(DbError::Unavailable(_))), "{cut:?}");
        assert!(!AtomicBool::load(&came_to_an_end, Ordering::SeqCst));
        assert_eq!(counted(db).await, Ok(0));
    }
    let cut: Result<(), DbError> = db
        .read(|conn| {
            Box::pin(async move {
                for _ in 0..100_000_000 {
                    let _: i64 = diesel::QueryDsl::count(super::schema::things::table).get_result(conn).await?;
                }
                Ok(())
            })
        })
        .await;
    assert!(matches!(cut, Err(DbError::Unavailable(_))), "{cut:?}");
    put(db, "goes on").await.unwrap();
    assert_eq!(counted(db).await, Ok(1));
}
