//! An interrupted deletion of an account resumes from where it was.

use std::time::{Duration, Instant};

use colloquy::db::{Conn, Db, DbError};
use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use serde_json::{Value, json};

use super::deletion::delete;
use crate::meetings::invitations::Guest;
use crate::meetings::participants::TestMeeting;
use crate::support::{Kind, Server, ServerSetup};

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
                Conn::Sqlite(lite) => lite.run(|conn| diesel::RunQueryDsl::load(query, conn)).await?,
            };
            Ok::<_, DbError>(found)
        })
    });
    found.await.unwrap().into_iter().map(|line| line.text).collect()
}

async fn run(db: &Db, sql: String) {
    let done = db.write(move |conn| Box::pin(async move { Ok::<_, DbError>(conn.batch(&sql).await?) }));
    done.await.unwrap();
}

/// Polls until the query returns a text, and returns the first one. Panics after 60 s.
async fn wait_for(db: &Db, sql: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(text) = texts(db, sql).await.into_iter().next() {
            return text;
        }
        assert!(Instant::now() < deadline, "{sql}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns a guest with 6,000 events about them in their meeting, and the account that has the guest's address.
async fn guest_with_many_events(server: &Server) -> (Guest, crate::support::User) {
    let room = TestMeeting::scheduled(server, json!({})).await;
    let guest = Guest::of(server, &room).await;
    let eve = server.user_as(&guest.email, "Gus Guest", "en").await;
    let (topic, payload) = (room.topic(), json!({"id": guest.participant, "displayName": "Gus Guest"}));
    let at = if server.kind == Kind::Sqlite { "1" } else { "to_timestamp(1)" };
    run(
        &server.db().await,
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) \
             INSERT INTO events (topic, position, kind, data, at, request_id) \
             SELECT '{topic}', revision + i, 'participant.updated', '{payload}', {at}, 'r' FROM n, meetings; \
             UPDATE meetings SET revision = revision + 6000; \
             UPDATE topics SET last = last + 6000 WHERE topic = '{topic}';"
        ),
    )
    .await;
    (guest, eve)
}

on_both! {
    async fn a_meeting_erases_a_participant_at_once_and_their_events_page_by_page(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (guest, eve) = guest_with_many_events(&server).await;
        // Restarts the server: an actor in memory has not seen the inserted rows.
        server.kill();
        let server = setup.start(&[]);
        let db = &server.db().await;
        let (stop, go_on) = match server.kind {
            Kind::Sqlite => (
                "CREATE TRIGGER stop BEFORE UPDATE ON events WHEN OLD.position = 5100 BEGIN SELECT RAISE(ABORT, 'not now'); END",
                "DROP TRIGGER stop",
            ),
            Kind::Postgres => (
                "CREATE FUNCTION stop() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$ LANGUAGE plpgsql; \
                 CREATE TRIGGER stop BEFORE UPDATE ON events FOR EACH ROW WHEN (OLD.position = 5100) EXECUTE FUNCTION stop()",
                "DROP TRIGGER stop ON events",
            ),
        };
        run(db, stop.to_owned()).await;
        delete(&eve.at(&server)).await.is(200);
        // The meeting's own save does not rewrite its earlier events.
        wait_for(db, "SELECT display_name AS text FROM participants WHERE display_name = 'Deleted account'").await;
        let interrupted = "SELECT payload AS text FROM jobs WHERE kind = 'rename-forgotten' AND last_error IS NOT NULL";
        let noted: Value = serde_json::from_str(&wait_for(db, interrupted).await).unwrap();
        assert_eq!((&noted["participantId"], &noted["after"]["position"]), (&json!(guest.participant), &json!(5000)));
        assert!(!noted.to_string().contains("Gus"), "{noted}");
        let first = "SELECT CAST(min(position) AS text) AS text FROM events WHERE topic LIKE 'meeting:%' AND data LIKE '%Gus Guest%'";
        assert_eq!(texts(db, first).await, ["5001"], "of what is written in one go, all stands or nothing");
        run(db, go_on.to_owned()).await;
        wait_for(db, "SELECT 'none' AS text WHERE NOT EXISTS (SELECT 1 FROM events WHERE data LIKE '%Gus Guest%')").await;
        wait_for(db, "SELECT 'done' AS text WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'rename-forgotten')").await;
        let renamed = "SELECT CAST(count(*) AS text) AS text FROM events WHERE data LIKE '%Deleted account%' AND position > 5000";
        let renamed: i64 = texts(db, renamed).await.remove(0).parse().unwrap();
        assert!(renamed > 1000, "what was told is told again, without the name: {renamed}");
    }

    async fn an_erasure_that_was_interrupted_goes_on_from_where_it_was(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let db = &server.db().await;
        let payload = json!({"userId": ada.id, "fullName": "Ada"}).to_string();
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
                 SELECT 'a', i, 'k', CASE WHEN i IN (10, 5000) THEN '{payload}' ELSE '' END, {at}, 'r' FROM n; {stop};"
            ),
        )
        .await;
        delete(&ada).await.is(200);
        let interrupted = "SELECT payload AS text FROM jobs WHERE kind = 'erase-account' AND last_error IS NOT NULL";
        let noted: Value = serde_json::from_str(&wait_for(db, interrupted).await).unwrap();
        assert_eq!(noted["reached"]["events"], json!({"topic": "a", "position": 250}), "where it last wrote");
        assert_eq!(texts(db, "SELECT data AS text FROM events WHERE topic = 'a' AND position = 10 AND data LIKE '%Ada%'").await, [""; 0]);
        // If this row were read again, it would be erased again.
        run(db, format!("{go_on}; UPDATE events SET data = '{payload}' WHERE topic = 'a' AND position = 10")).await;
        wait_for(db, "SELECT data AS text FROM events WHERE topic = 'a' AND position = 5000 AND data NOT LIKE '%Ada%'").await;
        assert_eq!(texts(db, "SELECT data AS text FROM events WHERE topic = 'a' AND position = 10").await, [payload]);
    }
}
