//! PostgreSQL's pool and SQLite's write-ahead log: what a late or slow job costs the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Integer;
use diesel::{Connection, QueryableByName, SqliteConnection};
use futures_util::future::join_all;
use tokio::sync::{Barrier, oneshot};

use super::super::{Conn, Db, DbError, DbSettings};
use super::both::{insert, thing};
use super::{postgres, sqlite};

#[derive(QueryableByName)]
struct Pid {
    #[diesel(sql_type = Integer)]
    pid: i32,
}

async fn pid(conn: &mut Conn) -> Result<i32, DbError> {
    let Conn::Pg(pg) = conn else { return Err(DbError::Broken("this is PostgreSQL's".to_owned())) };
    let query = diesel::sql_query("SELECT pg_backend_pid() AS pid");
    let found: Pid = diesel_async::RunQueryDsl::get_result(query, &mut **pg).await?;
    Ok(found.pid)
}

/// The backend pids of all connections of a pool, used at the same time.
async fn all(db: &Db, many: usize) -> BTreeSet<i32> {
    let together = Arc::new(Barrier::new(many));
    let pids = join_all((0..many).map(|_| {
        let together = Arc::clone(&together);
        db.read(move |conn| {
            Box::pin(async move {
                let pid = pid(conn).await?;
                together.wait().await;
                Ok::<_, DbError>(pid)
            })
        })
    }));
    pids.await.into_iter().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn one_late_job_closes_its_own_connection_and_no_other() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let db = Db::open(DbSettings { connections: 4, ..DbSettings::at(url) }).await.unwrap();
    let before = all(&db, 4).await;
    for _ in 0..2 {
        let late = db.read(|conn| {
            Box::pin(async move {
                // Each statement is within the statement timeout.
                conn.batch("SELECT pg_sleep(1.5)").await?;
                Ok::<_, DbError>(conn.batch("SELECT pg_sleep(1.5)").await?)
            })
        });
        let late = late.await;
        assert!(matches!(late, Err(DbError::Unavailable(_))), "{late:?}");
    }
    let after = all(&db, 4).await;
    assert!(before.intersection(&after).count() >= 2, "{before:?} {after:?}");
}

#[tokio::test]
async fn a_read_that_is_given_up_in_the_middle_ends_and_leaves_its_connection_to_others() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let db = Db::open(DbSettings { connections: 1, ..DbSettings::at(url) }).await.unwrap();
    let before = all(&db, 1).await;
    let ((go, gone), (tell, told)) = (oneshot::channel::<()>(), oneshot::channel());
    let (begun, began) = oneshot::channel();
    let mut reading = Box::pin(db.read(move |conn| {
        Box::pin(async move {
            conn.transaction(async |conn| {
                begun.send(()).unwrap();
                gone.await.unwrap();
                tell.send(pid(conn).await?).unwrap();
                Ok::<_, DbError>(())
            })
            .await
        })
    }));
    tokio::select! {
        done = &mut reading => panic!("{done:?}"),
        _ = began => {}
    }
    drop(reading);
    go.send(()).unwrap();
    let within = told.await.unwrap();
    assert_eq!(BTreeSet::from([within]), before);
    // In no transaction any more: it would be discarded.
    assert_eq!(all(&db, 1).await, before);
}

#[test]
fn a_caller_needs_no_timers_of_its_own() {
    let runtime = || tokio::runtime::Builder::new_current_thread();
    let Some(url) = postgres::schema().unwrap() else { return };
    // As many as are used: a larger pool may open another one while one of them is on its way back.
    let settings = DbSettings { connections: 2, ..DbSettings::at(url) };
    let db = runtime().enable_all().build().unwrap().block_on(Db::open(settings)).unwrap();
    let found = runtime().build().unwrap().block_on(all(&db, 2));
    assert_eq!(found.len(), 2);
    // Nor does a connection end with the runtime of who opened it.
    assert_eq!(runtime().build().unwrap().block_on(all(&db, 2)), found);
}

async fn put(db: &Db, name: String) -> Result<(), DbError> {
    db.write(move |conn| Box::pin(async move { insert(conn, &thing(&name)).await })).await
}

#[tokio::test]
async fn a_reader_that_is_open_for_long_neither_holds_up_nor_refuses_a_write() {
    let opened = sqlite(|settings| settings).await;
    let (db, file) = (&opened.db, opened.path());
    for i in 0..100 {
        put(db, format!("before {i}")).await.unwrap();
    }
    let mut backup = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    backup.batch_execute("BEGIN; SELECT count(*) FROM things").unwrap();
    put(db, "which it doesn't see".to_owned()).await.unwrap();
    let mut emptying = Box::pin(db.overwrite_deleted());
    let mut written = 0;
    let emptied = loop {
        tokio::select! {
            biased;
            emptied = &mut emptying => break emptied,
            done = put(db, format!("while {written}")) => done.unwrap(),
        }
        written += 1;
    };
    // If the reader delayed writes, there would be one.
    assert!(written > 10, "{written}");
    assert!(matches!(emptied, Err(DbError::Unavailable(_))), "{emptied:?}");
    let log = file.with_extension("sqlite-wal");
    assert!(log.metadata().unwrap().len() > 0);
    backup.batch_execute("COMMIT").unwrap();
    db.overwrite_deleted().await.unwrap();
    assert_eq!(log.metadata().unwrap().len(), 0);
}
