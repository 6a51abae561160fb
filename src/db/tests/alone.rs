//! A second server on the same database is refused.

use std::time::{Duration, Instant};

use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use tokio::sync::oneshot;

use super::super::{Conn, Db, DbError, DbSettings, InstanceLease};
use super::both::{count, insert, thing};
use super::{make_things, postgres, sqlite};

#[tokio::test]
async fn a_second_server_on_a_file_is_refused_in_words() {
    let opened = sqlite(|settings| settings).await;
    let first = InstanceLease::take(&opened.db).await.unwrap();
    let second = InstanceLease::take(&opened.db).await.err().unwrap();
    assert!(second.to_string().starts_with("another server (process "), "{second}");
    assert!(!*first.lost().borrow());
    drop(first);
    InstanceLease::take(&opened.db).await.unwrap();
}

#[tokio::test]
async fn a_second_server_on_postgresql_is_refused_while_the_first_lives() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let one = Db::open(DbSettings::at(&url)).await.unwrap();
    let two = Db::open(DbSettings::at(&url)).await.unwrap();
    let first = InstanceLease::take(&one).await.unwrap();
    let began = Instant::now();
    let refused = InstanceLease::take(&two).await.err().unwrap();
    assert!(refused.to_string().starts_with("another server is using this PostgreSQL"), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(5));
    // Once it is given back, the next server gets it at once.
    first.release().await;
    let began = Instant::now();
    let second = InstanceLease::take(&two).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    drop(second);
}

#[tokio::test]
async fn a_server_that_waits_for_the_lease_has_it_when_it_is_given_back() {
    let Some(Three { server, next, .. }) = Three::open().await else { return };
    let first = InstanceLease::take(&server).await.unwrap();
    let released = async {
        // The other server has read the row, and no server has renewed it.
        tokio::time::sleep(Duration::from_millis(800)).await;
        first.release().await;
    };
    let (second, ()) = tokio::join!(InstanceLease::take(&next), released);
    assert!(second.is_ok(), "{:?}", second.err());
}

async fn put(db: &Db, name: &str) -> Result<(), DbError> {
    let thing = thing(name);
    db.write(move |conn| Box::pin(async move { insert(conn, &thing).await })).await
}

async fn counted(db: &Db) -> i64 {
    db.read(|conn| Box::pin(async move { count(conn).await })).await.unwrap()
}

async fn change(db: &Db, sql: &'static str) {
    let changed = db.write(move |conn| Box::pin(async move { Ok::<_, DbError>(conn.batch(sql).await?) }));
    changed.await.unwrap();
}

/// Three programs on one database: its server, a second server that may take over, and a program that is no server.
struct Three {
    server: Db,
    next: Db,
    other: Db,
}

impl Three {
    async fn open() -> Option<Self> {
        let url = postgres::schema().unwrap()?;
        let open = || async { Db::open(DbSettings::at(&url)).await.unwrap() };
        let three = Self { server: open().await, next: open().await, other: open().await };
        make_things(&three.other).await;
        Some(three)
    }
}

#[tokio::test]
async fn a_server_that_lost_its_lease_keeps_no_write_and_hears_of_it() {
    let Some(Three { server, other, .. }) = Three::open().await else { return };
    let alone = InstanceLease::take(&server).await.unwrap();
    put(&server, "as long as it has it").await.unwrap();
    // A program that is no server writes beside it.
    put(&other, "beside it").await.unwrap();
    change(
        &other,
        "UPDATE server_lease SET holder = '00000000-0000-7000-8000-000000000000', epoch = epoch + 1, \
         lease_until = lease_until + interval '1 hour'",
    )
    .await;
    let lost = alone.lost();
    let refused = put(&server, "too late").await;
    assert!(matches!(&refused, Err(DbError::Unavailable(why)) if why.contains("another server")), "{refused:?}");
    assert!(*lost.borrow(), "it was told by the first write that was refused");
    assert_eq!(counted(&server).await, 2);
}

#[tokio::test]
async fn who_takes_the_lease_waits_for_what_was_begun_under_it_and_nothing_comes_after() {
    let Some(Three { server, next, other }) = Three::open().await else { return };
    let _alone = InstanceLease::take(&server).await.unwrap();
    let ((go, gone), (tell, started)) = (oneshot::channel(), oneshot::channel());
    let first = thing("begun under it");
    let writing = tokio::runtime::Handle::current().spawn({
        let server = server.clone();
        async move {
            let job = server.write(move |conn| {
                Box::pin(async move {
                    insert(conn, &first).await?;
                    tell.send(()).unwrap();
                    gone.await.unwrap();
                    Ok::<_, DbError>(())
                })
            });
            job.await
        }
    });
    started.await.unwrap();
    change(&other, "UPDATE server_lease SET lease_until = to_timestamp(0)").await;
    let taking = tokio::runtime::Handle::current().spawn({
        let next = next.clone();
        async move { InstanceLease::take(&next).await.unwrap() }
    });
    while waiting_for_a_lock(&other).await == 0 {
        assert!(!taking.is_finished());
        tokio::task::yield_now().await;
    }
    go.send(()).unwrap();
    let written = writing.await.unwrap();
    let _next = taking.await.unwrap();
    // It was committed before the lease changed hands: its own check before COMMIT passed.
    assert_eq!(written, Ok(()));
    assert_eq!(counted(&next).await, 1);
    let refused = put(&server, "after it").await;
    assert!(matches!(refused, Err(DbError::Unavailable(_))), "{refused:?}");
    put(&next, "after it").await.unwrap();
    assert_eq!(counted(&next).await, 2);
}

#[derive(QueryableByName)]
struct Many {
    #[diesel(sql_type = BigInt)]
    many: i64,
}

async fn waiting_for_a_lock(db: &Db) -> i64 {
    let waiting = db.read(|conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else { return Err(DbError::Broken("PostgreSQL's".to_owned())) };
            let sql = "SELECT count(*) AS many FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                       AND classid = 12587269 AND objid = 'server_lease'::regclass::oid";
            let found: Many = diesel_async::RunQueryDsl::get_result(diesel::sql_query(sql), &mut **pg).await?;
            Ok(found.many)
        })
    });
    waiting.await.unwrap()
}

#[tokio::test]
async fn a_clock_that_is_set_on_takes_the_lease_from_nobody() {
    let Some(Three { server, next, other }) = Three::open().await else { return };
    let alone = InstanceLease::take(&server).await.unwrap();
    // What a lease looks like to a database whose clock has jumped, by 30 s and by an hour.
    for jump in [
        "UPDATE server_lease SET lease_until = lease_until - interval '30 seconds'",
        "UPDATE server_lease SET lease_until = lease_until - interval '1 hour'",
    ] {
        change(&other, jump).await;
        let refused = InstanceLease::take(&next).await.err().unwrap();
        assert!(refused.to_string().starts_with("another server is using this"), "{refused}");
    }
    assert!(!*alone.lost().borrow());
    put(&server, "still its own").await.unwrap();
}

#[tokio::test]
async fn a_clock_that_is_set_back_keeps_nobody_waiting() {
    let Some(Three { server, next, other }) = Three::open().await else { return };
    // Killed: the lease is neither renewed nor given back.
    drop(InstanceLease::take(&server).await.unwrap());
    change(&other, "UPDATE server_lease SET lease_until = lease_until + interval '1 hour'").await;
    InstanceLease::take(&next).await.unwrap();
}

#[tokio::test]
async fn a_killed_servers_lease_runs_out() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let one = Db::open(DbSettings::at(&url)).await.unwrap();
    drop(InstanceLease::take(&one).await.unwrap());
    let began = Instant::now();
    let _second = InstanceLease::take(&one).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
}
