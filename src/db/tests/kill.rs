//! Acknowledged writes survive `kill -9`: a child process writes and prints what was acknowledged, until it is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;

use super::super::{Db, DbError, DbSettings, RunQueryDsl};
use super::both::{insert, thing};
use super::make_things;
use super::schema::things;

const URL: &str = "COLLOQUY_TEST_KILL_URL";
const ROUND: &str = "COLLOQUY_TEST_KILL_ROUND";
const ROUNDS: u32 = 20;

/// The child process; does nothing in any other run.
#[tokio::test]
async fn child() {
    let Ok(url) = std::env::var(URL) else { return };
    let round = std::env::var(ROUND).unwrap();
    let db = Db::open(DbSettings::at(url)).await.unwrap();
    join_all((0..32).map(|writer| {
        let (db, round) = (db.clone(), round.clone());
        async move {
            for i in 0.. {
                let name = format!("{round}-{writer}-{i}");
                let row = name.clone();
                let job = db.write(move |conn| Box::pin(async move { insert(conn, &thing(&row)).await }));
                job.await.unwrap();
                // One write to the pipe per line, so that no line is torn.
                println!("acknowledged {name} .");
            }
        }
    }))
    .await;
}

#[tokio::test]
async fn every_acknowledged_write_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("test.sqlite").display());
    make_things(&Db::open(DbSettings::at(&url)).await.unwrap()).await;
    let name = format!("{}::child", module_path!().split_once("::").unwrap().1);
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(URL, &url)
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reading = std::thread::spawn(move || {
            let names = lines
                .map_while(Result::ok)
                .filter_map(|line| Some(line.split_once("acknowledged ")?.1.strip_suffix(" .")?.to_owned()));
            names.collect::<Vec<_>>()
        });
        // At a different point of the commit each time; the first tenth of a second is the start.
        tokio::time::sleep(Duration::from_micros(150_000 + u64::from(round) * 7_919)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(reading.join().unwrap());
    }
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
    let db = Db::open(DbSettings::at(&url)).await.unwrap();
    for name in acknowledged {
        let there: i64 = db
            .read(move |conn| {
                Box::pin(async move {
                    Ok::<_, DbError>(things::table.filter(things::name.eq(name)).count().get_result(conn).await?)
                })
            })
            .await
            .unwrap();
        assert_eq!(there, 1);
    }
}
