//! The group-committing writer: what is batched, what fails alone, and what is unknown.

use std::time::{Duration, Instant};

use diesel::QueryDsl;
use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::super::{Db, DbError, DbSettings, RunQueryDsl};
use super::both::{count, insert, thing};
use super::schema::things;
use super::{Opened, on_both, sqlite};

async fn insert_named(db: &Db, name: String) -> Result<(), DbError> {
    db.write(move |conn| Box::pin(async move { insert(conn, &thing(&name)).await })).await
}

async fn counted(db: &Db) -> i64 {
    db.read(|conn| Box::pin(async move { count(conn).await })).await.unwrap()
}

/// Blocks the writer until it is released, so that jobs sent meanwhile wait for one batch.
struct Held {
    go: oneshot::Sender<()>,
    job: JoinHandle<Result<(), DbError>>,
}

async fn hold(db: &Db) -> Held {
    let (go, gone) = oneshot::channel();
    let (begin, began) = oneshot::channel();
    let db = db.clone();
    let job = Handle::current().spawn(async move {
        let job = db.write(move |_| {
            Box::pin(async move {
                begin.send(()).unwrap();
                gone.await.unwrap();
                Ok(())
            })
        });
        job.await
    });
    began.await.unwrap();
    Held { go, job }
}

impl Held {
    async fn release(self) {
        self.go.send(()).unwrap();
        self.job.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn ten_thousand_writes_at_once_are_all_written_or_turned_away() {
    on_both(async |db| {
        // The queue never exceeds its bound: 4,096 wait, and the rest is refused at once.
        let outcomes = join_all((0..10_000).map(|i| insert_named(&db, format!("{i}")))).await;
        let written = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let odd =
            outcomes.iter().find(|outcome| !matches!(outcome, Ok(()) | Err(DbError::Busy | DbError::Unavailable(_))));
        assert_eq!(odd, None);
        assert!(written >= 256, "{written}");
        assert_eq!(counted(&db).await, i64::try_from(written).unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_queue_that_is_deep_enough_takes_them_all() {
    let opened = sqlite(|settings| DbSettings { queue: 10_000, ..settings }).await;
    let began = Instant::now();
    let outcomes = join_all((0..10_000).map(|i| insert_named(&opened.db, format!("{i}")))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(counted(&opened.db).await, 10_000);
    // One by one they would take 10,000 commits of a millisecond or more each.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_error_a_panic_and_a_hang_leave_the_rest_of_the_batch() {
    let opened = sqlite(|settings| DbSettings { limit: Duration::from_millis(300), ..settings }).await;
    let db = &opened.db;
    let held = hold(db).await;
    let refused = db.write(|conn| {
        Box::pin(async move {
            insert(conn, &thing("refused")).await?;
            Err::<(), _>(DbError::Busy)
        })
    });
    let panics = db.write(|conn| {
        Box::pin(async move {
            conn.transaction(async |conn| {
                insert(conn, &thing("panics")).await?;
                panic!("a mistake in a nested transaction");
            })
            .await
        })
    });
    let hangs = db.write(|conn| {
        Box::pin(async move {
            conn.transaction(async |conn| {
                insert(conn, &thing("hangs")).await?;
                std::future::pending().await
            })
            .await
        })
    });
    let first = insert_named(db, "first".to_owned());
    let middle = insert_named(db, "middle".to_owned());
    let last = insert_named(db, "last".to_owned());
    let release = held.release();
    let (first, refused, middle, panics, hangs, last, ()): (_, _, _, Result<(), DbError>, Result<(), DbError>, _, _) =
        tokio::join!(first, refused, middle, panics, hangs, last, release);
    assert_eq!((first, middle, last), (Ok(()), Ok(()), Ok(())));
    assert_eq!(refused, Err(DbError::Busy));
    assert!(matches!(&panics, Err(DbError::Broken(why)) if why.contains("nested")), "{panics:?}");
    assert!(matches!(hangs, Err(DbError::Unavailable(_))), "{hangs:?}");
    let mut names: Vec<String> = db
        .read(|conn| Box::pin(async move { Ok::<_, DbError>(things::table.select(things::name).load(conn).await?) }))
        .await
        .unwrap();
    names.sort();
    assert_eq!(names, ["first", "last", "middle"]);
}

#[tokio::test]
async fn a_full_queue_is_told_at_once() {
    let opened = sqlite(|settings| DbSettings { queue: 2, ..settings }).await;
    let held = hold(&opened.db).await;
    let waiting = join_all((0..2).map(|i| insert_named(&opened.db, format!("{i}"))));
    let more = async {
        let outcome = insert_named(&opened.db, "more".to_owned()).await;
        held.release().await;
        outcome
    };
    let (waiting, more) = tokio::join!(waiting, more);
    assert_eq!(more, Err(DbError::Busy));
    assert_eq!(waiting, [Ok(()), Ok(())]);
    assert_eq!(counted(&opened.db).await, 2);
}

#[tokio::test]
async fn a_full_disk_makes_the_batch_unknown_and_the_writer_goes_on() {
    let opened = sqlite(|settings| settings).await;
    let db = &opened.db;
    insert_named(db, "before".to_owned()).await.unwrap();
    // The limit belongs to the connection, so the next connection doesn't have it.
    let bound =
        db.write(|conn| Box::pin(async move { Ok::<_, DbError>(conn.batch("PRAGMA max_page_count = 1").await?) }));
    bound.await.unwrap();
    let held = hold(db).await;
    let small = insert_named(db, "small".to_owned());
    let large = insert_named(db, "x".repeat(200_000));
    let after = insert_named(db, "after".to_owned());
    let release = held.release();
    let (small, large, after, ()) = tokio::join!(small, large, after, release);
    assert!(matches!(small, Err(DbError::Unknown(_))), "{small:?}");
    assert!(matches!(large, Err(DbError::Unknown(_))), "{large:?}");
    // It had not started when the batch was lost.
    assert_eq!(after, Ok(()));
    assert_eq!(counted(db).await, 2);
    insert_named(db, "y".repeat(200_000)).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_under_a_single_job_is_unknown_too() {
    let opened = sqlite(|settings| settings).await;
    let outcome = opened
        .db
        .write(|conn| {
            Box::pin(async move {
                conn.batch("PRAGMA max_page_count = 1").await?;
                // A job that ignores its errors doesn't get `Ok` either.
                let _swallowed = insert(conn, &thing(&"x".repeat(200_000))).await;
                Ok::<_, DbError>(())
            })
        })
        .await;
    assert!(matches!(outcome, Err(DbError::Unknown(_))), "{outcome:?}");
    assert_eq!(counted(&opened.db).await, 0);
    insert_named(&opened.db, "next".to_owned()).await.unwrap();
}

#[tokio::test]
async fn the_last_clone_can_be_dropped_by_async_code() {
    let opened = sqlite(|settings| settings).await;
    insert_named(&opened.db, "one".to_owned()).await.unwrap();
    drop(opened);
}

/// An error that can't be made of a database's on the threads of the database: a panic outside of any job.
#[derive(Debug)]
struct Bomb;

impl From<DbError> for Bomb {
    fn from(_: DbError) -> Self {
        let thread = std::thread::current();
        assert!(!thread.name().is_some_and(|name| name.starts_with("db-")), "by intention");
        Self
    }
}

const CHILD: &str = "COLLOQUY_TEST_WRITER_CHILD";

/// The child process; does nothing in any other run.
#[tokio::test]
async fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let opened = sqlite(|settings| settings).await;
    let written: Result<(), Bomb> = opened.db.write(|_| Box::pin(async { panic!("by intention") })).await;
    // Its caller may be told first.
    tokio::time::sleep(Duration::from_secs(60)).await;
    panic!("the process goes on without its writer: {written:?}");
}

#[test]
fn a_panic_of_the_writer_outside_of_a_job_ends_the_process() {
    let name = format!("{}::child", module_path!().split_once("::").unwrap().1);
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let ended = command.args(["--exact", &name]).env(CHILD, "1").output().unwrap();
    assert_eq!(ended.status.code(), Some(crate::vital::EXIT_CODE), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[tokio::test]
async fn a_panic_of_a_reader_outside_of_a_job_costs_no_reader() {
    let opened = sqlite(|settings| DbSettings { connections: 2, ..settings }).await;
    for _ in 0..8 {
        let read: Result<(), Bomb> = opened.db.read(|_| Box::pin(async { panic!("by intention") })).await;
        assert!(read.is_err());
    }
    assert_eq!(counted(&opened.db).await, 0);
}

/// How long the write-ahead log of an open database is.
fn log_bytes(opened: &Opened) -> u64 {
    let mut path = opened.path().into_os_string();
    path.push("-wal");
    std::fs::metadata(path).unwrap().len()
}

#[tokio::test]
async fn a_thousand_checks_of_writes_are_one_write_that_needs_room() {
    let opened = sqlite(|settings| settings).await;
    opened.db.overwrite_deleted().await.unwrap();
    let before = log_bytes(&opened);
    let checks = join_all((0..1000).map(|_| opened.db.check_writes())).await;
    assert!(checks.iter().all(Result::is_ok));
    // A page with its header; some more where a thousand checks take seconds.
    let written = log_bytes(&opened) - before;
    assert!((4096..10 * 4120).contains(&written), "{written} bytes");
}

#[tokio::test]
async fn a_check_of_writes_waits_in_their_queue_and_not_for_ever() {
    on_both(async |db| assert_eq!(db.check_writes().await, Ok(()))).await;
    let opened = sqlite(|settings| DbSettings { limit: Duration::from_millis(300), ..settings }).await;
    let db = &opened.db;
    let hangs = join_all((0..5).map(|_| db.write(|_| Box::pin(std::future::pending::<Result<(), DbError>>()))));
    let check = async {
        let stuck = db.check_writes().await;
        assert_eq!(stuck, Err(DbError::Unavailable("no write was committed within 300ms".to_owned())));
    };
    tokio::join!(biased; hangs, check);
    while db.check_writes().await.is_err() {}
}

/// The results are in `writer.rs`. TMPDIR chooses the disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn writes_a_second() {
    for writers in [1_usize, 64, 256] {
        let opened = sqlite(|settings| settings).await;
        let began = Instant::now();
        let each = if writers == 1 { 2_000 } else { 20_000 / writers };
        join_all((0..writers).map(|writer| {
            let db = opened.db.clone();
            async move {
                for i in 0..each {
                    insert_named(&db, format!("{writer}-{i}")).await.unwrap();
                }
            }
        }))
        .await;
        let rate = f64::from(u32::try_from(each * writers).unwrap()) / began.elapsed().as_secs_f64();
        println!("{writers} writers: {rate:.0} writes/s");
    }
}
