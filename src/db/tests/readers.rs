//! The readers of SQLite: how many read at once, and what happens to those for whom there is none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use super::super::{Db, DbError, DbSettings};
use super::both::count;
use super::sqlite;

fn two(settings: DbSettings) -> DbSettings {
    DbSettings { connections: 2, limit: Duration::from_millis(500), ..settings }
}

async fn counted(db: &Db) -> Result<i64, DbError> {
    db.read(|conn| Box::pin(async move { count(conn).await })).await
}

/// A read that goes on until the returned sender is used or dropped.
async fn hold(db: &Db) -> oneshot::Sender<()> {
    let (go, gone) = oneshot::channel::<()>();
    let begun = Arc::new(Notify::new());
    let (own, begins) = (db.clone(), Arc::clone(&begun));
    Handle::current().spawn(async move {
        own.read(|_| {
            Box::pin(async move {
                begins.notify_one();
                // The sender may be dropped, too.
                let _ = gone.await;
                Ok::<_, DbError>(())
            })
        })
        .await
    });
    begun.notified().await;
    go
}

#[tokio::test]
async fn no_more_read_at_once_than_there_are_readers_and_all_are_answered() {
    let opened = sqlite(two).await;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let reads = join_all((0..200).map(|_| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        opened.db.read(move |conn| {
            Box::pin(async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let counted = count(conn).await;
                now.fetch_sub(1, Ordering::SeqCst);
                counted
            })
        })
    }));
    assert!(reads.await.into_iter().all(|counted| counted == Ok(0)));
    assert!((1..=2).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}

#[tokio::test]
async fn who_waits_for_a_reader_gets_the_next_one() {
    let opened = sqlite(two).await;
    let (one, other) = (hold(&opened.db).await, hold(&opened.db).await);
    let db = opened.db.clone();
    let waiting = Handle::current().spawn(async move { counted(&db).await });
    tokio::task::yield_now().await;
    drop(one);
    assert_eq!(waiting.await.unwrap(), Ok(0));
    drop(other);
    assert_eq!(counted(&opened.db).await, Ok(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_too_long_is_refused() {
    let opened = sqlite(two).await;
    // A statement that computes for long can't be interrupted.
    let computing = (0..2).map(|_| {
        opened.db.read(|_| {
            Box::pin(async {
                std::thread::sleep(Duration::from_secs(2));
                Ok::<_, DbError>(())
            })
        })
    });
    let (_, waited) = tokio::join!(join_all(computing), counted(&opened.db));
    assert_eq!(waited, Err(DbError::Busy));
    assert_eq!(counted(&opened.db).await, Ok(0));
}

#[tokio::test]
async fn a_read_that_was_given_up_while_it_waited_is_not_run() {
    let opened = sqlite(two).await;
    let holders = [hold(&opened.db).await, hold(&opened.db).await];
    let ran = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&ran);
    let given_up = opened.db.read(move |_| {
        Box::pin(async move {
            counting.fetch_add(1, Ordering::SeqCst);
            Ok::<_, DbError>(())
        })
    });
    assert!(tokio::time::timeout(Duration::from_millis(50), given_up).await.is_err());
    drop(holders);
    assert_eq!(counted(&opened.db).await, Ok(0));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_panic_costs_its_own_read_alone() {
    let opened = sqlite(two).await;
    for _ in 0..5 {
        let panicked: Result<(), DbError> = opened.db.read(|_| Box::pin(async { panic!("a bug") })).await;
        assert!(matches!(panicked, Err(DbError::Broken(_))), "{panicked:?}");
    }
    assert_eq!(counted(&opened.db).await, Ok(0));
}
