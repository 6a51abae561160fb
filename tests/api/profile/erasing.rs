//! What becomes of a deletion that is interrupted: it goes on from where it was.

use std::time::{Duration, Instant};

use colloquy::db::{Conn, Db, Failed};
use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use serde_json::{Value, json};

use super::deletion::delete;
use crate::support::{Kind, Place};

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    text: String,
}

async fn texts(db: &Db, sql: &str) -> Vec<String> {
    let query = diesel::sql_query(sql.to_owned());
    let found = db.read(move |conn| {
        Box::pin(async move {
            let found: Vec<Line> = match conn {
                Conn::Pg(pg) => query.load(&mut **pg).await?,
                Conn::Sqlite(lite) => query.load(lite).await?,
            };
            Ok::<_, Failed>(found)
        })
    });
    found.await.unwrap().into_iter().map(|line| line.text).collect()
}

async fn run(db: &Db, sql: String) {
    let done = db.write(move |conn| Box::pin(async move { Ok::<_, Failed>(conn.batch(&sql).await?) }));
    done.await.unwrap();
}

/// The first text that there is once there is one.
async fn wait_for(db: &Db, sql: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(text) = texts(db, sql).await.into_iter().next() {
            return text;
        }
        assert!(Instant::now() < deadline, "{sql}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

on_both! {
    async fn an_erasure_that_was_interrupted_goes_on_from_where_it_was(place: Place) {
        let server = place.start(&[]);
        let ada = server.user().await;
        let db = &server.db().await;
        let told = json!({"userId": ada.id, "fullName": "Ada"}).to_string();
        let (at, stop, go_on) = match server.kind {
            Kind::Sqlite => (
                "1",
                "CREATE TRIGGER stop BEFORE UPDATE ON events WHEN OLD.position = 5000 BEGIN SELECT RAISE(ABORT, 'not now'); END",
                "DROP TRIGGER stop",
            ),
            Kind::Postgres => (
                "to_timestamp(1)",
                "CREATE FUNCTION stop() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$ LANGUAGE plpgsql; \
                 CREATE TRIGGER stop BEFORE UPDATE ON events FOR EACH ROW WHEN (OLD.position = 5000) EXECUTE FUNCTION stop()",
                "DROP TRIGGER stop ON events",
            ),
        };
        run(
            db,
            format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) \
                 INSERT INTO events (topic, position, kind, data, at, request_id) \
                 SELECT 'a', i, 'k', CASE WHEN i IN (10, 5000) THEN '{told}' ELSE '' END, {at}, 'r' FROM n; {stop};"
            ),
        )
        .await;
        delete(&ada).await.is(200);
        let interrupted = "SELECT payload AS text FROM jobs WHERE kind = 'erase-account' AND last_error IS NOT NULL";
        let noted: Value = serde_json::from_str(&wait_for(db, interrupted).await).unwrap();
        assert_eq!(noted["reached"]["events"], json!({"topic": "a", "position": 250}), "where it last wrote");
        assert_eq!(texts(db, "SELECT data AS text FROM events WHERE topic = 'a' AND position = 10 AND data LIKE '%Ada%'").await, [""; 0]);
        // Were it looked at again, it would be erased again.
        run(db, format!("{go_on}; UPDATE events SET data = '{told}' WHERE topic = 'a' AND position = 10")).await;
        wait_for(db, "SELECT data AS text FROM events WHERE topic = 'a' AND position = 5000 AND data NOT LIKE '%Ada%'").await;
        assert_eq!(texts(db, "SELECT data AS text FROM events WHERE topic = 'a' AND position = 10").await, [told]);
    }
}
