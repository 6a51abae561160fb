//! A second server on the same database is refused.

use std::time::{Duration, Instant};

use super::super::{Alone, Conn, Db, Failed, Settings};
use super::{postgres, sqlite};

#[tokio::test]
async fn a_second_server_on_a_file_is_refused_in_words() {
    let opened = sqlite(|settings| settings).await;
    let first = Alone::take(&opened.db).await.unwrap();
    let second = Alone::take(&opened.db).await.err().unwrap();
    assert!(second.to_string().starts_with("another server (process "), "{second}");
    assert!(!*first.lost().borrow());
    drop(first);
    Alone::take(&opened.db).await.unwrap();
}

#[tokio::test]
async fn a_second_server_on_postgresql_is_refused_while_the_first_lives() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let one = Db::open(Settings::at(&url)).await.unwrap();
    let two = Db::open(Settings::at(&url)).await.unwrap();
    let first = Alone::take(&one).await.unwrap();
    let began = Instant::now();
    let refused = Alone::take(&two).await.err().unwrap();
    assert!(refused.to_string().starts_with("another server works on this PostgreSQL"), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(5));
    // Given back, the next has it at once.
    first.release().await;
    let began = Instant::now();
    let second = Alone::take(&two).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    // Another took it by force: the holder hears of it.
    let mut lost = second.lost();
    let steal = two.write(|conn| {
        Box::pin(async move {
            assert!(matches!(conn, Conn::Pg(_)));
            let sql = "UPDATE server_lease SET holder = '00000000-0000-7000-8000-000000000000', epoch = epoch + 1";
            Ok::<_, Failed>(conn.batch(sql).await?)
        })
    });
    steal.await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), lost.changed()).await.unwrap().unwrap();
    assert!(*lost.borrow());
}

#[tokio::test]
async fn a_killed_servers_lease_runs_out() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let one = Db::open(Settings::at(&url)).await.unwrap();
    drop(Alone::take(&one).await.unwrap());
    let began = Instant::now();
    let _second = Alone::take(&one).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
}
