//! PostgreSQL's pool, and SQLite's log of writes: what one who is late or slow costs the others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Integer;
use diesel::{Connection, QueryableByName, SqliteConnection};
use futures_util::future::join_all;
use tokio::sync::Barrier;

use super::super::{Conn, Db, Failed, Settings};
use super::both::{insert, thing};
use super::{postgres, sqlite};

#[derive(QueryableByName)]
struct Pid {
    #[diesel(sql_type = Integer)]
    pid: i32,
}

async fn pid(conn: &mut Conn) -> Result<i32, Failed> {
    let Conn::Pg(pg) = conn else { return Err(Failed::Broken("this is PostgreSQL's".to_owned())) };
    let query = diesel::sql_query("SELECT pg_backend_pid() AS pid");
    let found: Pid = diesel_async::RunQueryDsl::get_result(query, &mut **pg).await?;
    Ok(found.pid)
}

/// All connections of a pool, used at the same time.
async fn all(db: &Db, many: usize) -> BTreeSet<i32> {
    let together = Arc::new(Barrier::new(many));
    let pids = join_all((0..many).map(|_| {
        let together = Arc::clone(&together);
        db.read(move |conn| {
            Box::pin(async move {
                let pid = pid(conn).await?;
                together.wait().await;
                Ok::<_, Failed>(pid)
            })
        })
    }));
    pids.await.into_iter().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn one_late_job_closes_its_own_connection_and_no_other() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let settings = Settings { connections: 4, limit: Duration::from_millis(800), ..Settings::at(url) };
    let db = Db::open(settings).await.unwrap();
    let before = all(&db, 4).await;
    for _ in 0..2 {
        let late: Result<(), Failed> = db
            .read(|conn| Box::pin(async move { Ok(conn.batch("SELECT pg_sleep(0.79), pg_sleep(0.79)").await?) }))
            .await;
        assert!(matches!(late, Err(Failed::Unavailable(_))), "{late:?}");
    }
    let after = all(&db, 4).await;
    assert!(before.intersection(&after).count() >= 2, "{before:?} {after:?}");
}

async fn put(db: &Db, name: String) -> Result<(), Failed> {
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
    let emptying = db.overwrite_deleted();
    let writing = async {
        // Some of it while the log can't be emptied, each of them as soon as ever.
        for i in 0..500 {
            put(db, format!("while {i}")).await?;
        }
        Ok::<_, Failed>(())
    };
    let (emptied, written) = {
        let mut emptying = Box::pin(emptying);
        let mut writing = Box::pin(writing);
        tokio::select! {
            biased;
            written = &mut writing => (emptying.await, written),
            emptied = &mut emptying => panic!("the log was given up before 500 writes were through: {emptied:?}"),
        }
    };
    assert_eq!(written, Ok(()));
    assert!(matches!(emptied, Err(Failed::Unavailable(_))), "{emptied:?}");
    let log = file.with_extension("sqlite-wal");
    assert!(log.metadata().unwrap().len() > 0);
    backup.batch_execute("COMMIT").unwrap();
    db.overwrite_deleted().await.unwrap();
    assert_eq!(log.metadata().unwrap().len(), 0);
}
