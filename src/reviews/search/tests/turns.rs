//! Tests that projects take turns in the index, and that what fails is passed over.

use std::time::Duration;

use actors::ids::{self, Id};
use diesel::sql_types::{BigInt, Text};
use diesel::{ExpressionMethods, QueryDsl, QueryableByName};
use serde_json::json;

use super::super::folding;
use super::super::indexing::SearchIndexer;
use super::now;
use crate::db::schema::{document_texts, documents, projects, search_passages, search_words};
use crate::db::tests::{GROUND, on_both, rows_in, run};
use crate::db::{Conn, Db, DbError, RunQueryDsl, each};

/// How many turns everything takes that these tests index, at most.
const ENOUGH: usize = 200;

/// A second project; returns both.
async fn two_projects(db: &Db) -> [Id<ids::Project>; 2] {
    run(db, GROUND).await;
    run(
        db,
        "INSERT INTO projects (id, name, description, language, status, owner_id, version, created_at, updated_at) \
             SELECT {id}, 'Q', '', 'en', 'ACTIVE', id, 1, {old}, {old} FROM users",
    )
    .await;
    let found = db.read(|conn| {
        Box::pin(async move {
            let all = projects::table.order(projects::name.asc()).select(projects::id);
            Ok::<Vec<Id<ids::Project>>, DbError>(all.load(conn).await?)
        })
    });
    let found = found.await.unwrap();
    [found[0], found[1]]
}

/// A document of so many passages, each of which has the word that its number names.
async fn document(db: &Db, project_id: Id<ids::Project>, name: &str, passages: usize) -> Id<ids::Document> {
    let paragraph = |number: usize| format!("{name}word{number} {}\n", "filling words ".repeat(50));
    let text: String = (0..passages).map(paragraph).collect();
    let source = json!({
        "text": text.trim_end(), "pages": [], "sections": [], "cues": [], "blocks": [], "language": null, "readerVersion": "1",
    });
    stored(db, project_id, name, source.to_string()).await
}

async fn stored(db: &Db, project_id: Id<ids::Project>, name: &str, source_text: String) -> Id<ids::Document> {
    let id = Id::<ids::Document>::generate();
    let file_name = format!("{name}.txt");
    run(db, &format!(
        "INSERT INTO documents (id, project_id, file_name, mime_type, size_bytes, sha256, status, language, uploaded_by_id, created_at) \
         SELECT {{id}}, id, '{file_name}', 'm', 1, '{name}', 'READY', 'en', owner_id, {{old}} FROM projects LIMIT 1"
    )).await;
    db.write(move |conn| {
        Box::pin(async move {
            let added = documents::table.filter(documents::file_name.eq(file_name));
            diesel::update(added)
                .set((documents::id.eq(id), documents::project_id.eq(project_id)))
                .execute(conn)
                .await?;
            diesel::insert_into(document_texts::table)
                .values((
                    document_texts::document_id.eq(id),
                    document_texts::source_text.eq(source_text),
                    document_texts::reader_version.eq("1"),
                ))
                .execute(conn)
                .await?;
            Ok::<_, DbError>(())
        })
    })
    .await
    .unwrap();
    id
}

/// Asserts that the list of words is what the passages have, each counted once for a passage.
async fn assert_words_are_those_of_the_passages(db: &Db) {
    let found = db.read(|conn| {
        Box::pin(async move {
            let texts = search_passages::table.select((
                search_passages::title,
                search_passages::text,
                search_passages::position,
                search_passages::project_id,
            ));
            let texts: Vec<(String, String, i64, Id<ids::Project>)> = texts.load(conn).await?;
            let counts =
                search_words::table.select((search_words::project_id, search_words::word, search_words::passages));
            Ok::<(_, Vec<(Id<ids::Project>, String, i64)>), DbError>((texts, counts.load(conn).await?))
        })
    });
    let (texts, counts) = found.await.unwrap();
    let mut expected = std::collections::BTreeMap::<_, i64>::new();
    for (title, text, position, project_id) in texts {
        let title = if position == 0 { title } else { String::new() };
        let mut words: Vec<String> =
            folding::words(&format!("{title} {text}")).into_iter().map(|word| word.text).collect();
        words.sort_unstable();
        words.dedup();
        for word in words.into_iter().filter(|word| super::super::spelling::is_listed(word)) {
            *expected.entry((project_id.uuid(), word)).or_default() += 1;
        }
    }
    let counts = counts.into_iter().map(|(project_id, word, passages)| ((project_id.uuid(), word), passages));
    let counts: std::collections::BTreeMap<_, _> = counts.collect();
    let differing = counts.iter().find(|(word, passages)| expected.get(word) != Some(passages));
    assert_eq!((counts.len(), differing), (expected.len(), None));
}

/// Turns until there is nothing more to be done; returns how many there were.
async fn all_turns(indexer: &mut SearchIndexer, at: actors::time::Time) -> usize {
    for turns in 0..ENOUGH {
        if !indexer.turn(at).await.unwrap() {
            return turns;
        }
    }
    panic!("still something to be done after {ENOUGH} turns")
}

/// How many passages a search finds by a word of the index, in both databases' own languages.
async fn found(db: &Db, word: &str) -> i64 {
    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        found: i64,
    }
    let word = word.to_owned();
    let counted = db.read(move |conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => {
                    "SELECT count(*) AS found FROM search_index WHERE words @@ ('''' || $1 || '''')::tsquery"
                }
                Conn::Sqlite(_) => {
                    "SELECT count(*) AS found FROM search_index WHERE search_index MATCH '\"' || $1 || '\"'"
                }
            };
            let query = diesel::sql_query(sql).bind::<Text, _>(word);
            let found: Vec<Count> = each!(conn, load, query)?;
            Ok::<_, DbError>(found[0].found)
        })
    });
    counted.await.unwrap()
}

#[tokio::test]
async fn a_small_project_waits_for_a_turn_of_each_other_one_and_not_for_their_backlog() {
    on_both(async |db| {
        let [large, small] = two_projects(&db).await;
        for number in 0..3 {
            document(&db, large, &format!("large{number}"), 1_100).await;
        }
        let mut indexer = SearchIndexer::on(db.clone());
        for _ in 0..2 {
            assert!(indexer.turn(now()).await.unwrap());
        }
        let after_two = rows_in(&db, "search_passages").await;
        assert!(after_two <= 2 * 500, "a turn is bounded: {after_two} passages after two");
        document(&db, small, "small", 1).await;
        let mut turns = 0;
        while found(&db, "smallword0").await == 0 {
            turns += 1;
            assert!(turns <= 2, "a new document of a small project waits behind the backlog of a large one");
            indexer.turn(now()).await.unwrap();
        }
        let rest = all_turns(&mut indexer, now()).await;
        assert!(rest > 4, "{rest}: the large one was spread over turns");
        for number in 0..3 {
            assert_eq!(found(&db, &format!("large{number}word1099")).await, 1);
        }
        assert_eq!(rows_in(&db, "search_pending").await, 0);
        assert_words_are_those_of_the_passages(&db).await;
    })
    .await;
}

#[tokio::test]
async fn an_indexer_that_was_killed_in_the_middle_is_followed_by_one_that_ends_with_the_same() {
    on_both(async |db| {
        let [project, _] = two_projects(&db).await;
        let id = document(&db, project, "long", 1_100).await;
        for turns in 1..=3 {
            // Each begins anew, with nothing but what is in the database.
            let mut indexer = SearchIndexer::on(db.clone());
            for _ in 0..turns {
                assert!(indexer.turn(now()).await.unwrap());
            }
            assert!(
                rows_in(&db, "search_pending").await > 0 || turns == 3,
                "the note stays until the last part is written"
            );
        }
        all_turns(&mut SearchIndexer::on(db.clone()), now()).await;
        assert_eq!(rows_in(&db, "search_passages").await, 1_100);
        assert_eq!((found(&db, "longword0").await, found(&db, "longword1099").await), (1, 1));
        assert_words_are_those_of_the_passages(&db).await;
        // What is deleted goes in turns, too.
        db.write(move |conn| {
            Box::pin(async move { Ok::<_, DbError>(diesel::delete(documents::table.find(id)).execute(conn).await?) })
        })
        .await
        .unwrap();
        let mut indexer = SearchIndexer::on(db.clone());
        indexer.turn(now()).await.unwrap();
        assert!(rows_in(&db, "search_passages").await > 0, "not all at once");
        all_turns(&mut indexer, now()).await;
        assert_eq!((rows_in(&db, "search_passages").await, rows_in(&db, "search_words").await), (0, 0));
        assert_eq!(rows_in(&db, "search_pending").await, 0);
    })
    .await;
}

#[tokio::test]
async fn what_changes_while_its_source_is_under_way_is_indexed_as_it_is_now() {
    a_change_between_turns_is_indexed(false).await;
}

/// On PostgreSQL a note has its id before it is committed: another one may be read and indexed first that has a higher id.
#[tokio::test]
async fn a_change_whose_note_comes_late_with_a_lower_id_is_indexed_too() {
    a_change_between_turns_is_indexed(true).await;
}

/// Gives the latest note the lowest id.
async fn let_the_latest_note_come_late(db: &Db) {
    let written = db.write(|conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => {
                    "INSERT INTO search_pending (id, kind, source_id, project_id) OVERRIDING SYSTEM VALUE \
                     SELECT -1, kind, source_id, project_id FROM search_pending ORDER BY id DESC LIMIT 1; \
                     DELETE FROM search_pending WHERE id = (SELECT max(id) FROM search_pending)"
                }
                Conn::Sqlite(_) => "UPDATE search_pending SET id = -1 WHERE id = (SELECT max(id) FROM search_pending)",
            };
            Ok::<_, DbError>(conn.batch(sql).await?)
        })
    });
    written.await.unwrap();
}

/// Changes a segment of a transcript after two of the turns that it takes.
async fn a_change_between_turns_is_indexed(is_note_late: bool) {
    on_both(async |db| {
        run(&db, GROUND).await;
        let segment = "'segment' || i || ' ' || replace('................................................', '.', 'many words said there ')";
        run(&db, &format!(
            "INSERT INTO recordings (id, meeting_id, upload_mode, mime_type, basis, status, repairable, next_chunk, chunk_count, \
             received_bytes, upload, pauses, lacking, started_by_id, started_at) \
             SELECT {{id}}, meetings.id, 'CHUNKED', 'audio/wav', 'LIVE', 'READY', {{no}}, 0, 0, 0, 0, '[]', '', \
               created_by_id, {{old}} FROM meetings; \
             INSERT INTO transcripts (id, recording_id, number, status, engine, model, done_ms, segment_count, crashes, created_at) \
             SELECT {{id}}, recordings.id, 1, 'READY', 'e', 'm', 0, 1700, 0, {{old}} FROM recordings; \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1699) \
             INSERT INTO transcript_segments (transcript_id, position, meeting_id, start_ms, end_ms, text, confidence) \
             SELECT transcripts.id, i, recordings.meeting_id, i * 5000, i * 5000 + 4000, {segment}, 1 \
             FROM n, transcripts JOIN recordings ON recordings.id = transcripts.recording_id;"
        )).await;
        let mut indexer = SearchIndexer::on(db.clone());
        for _ in 0..2 {
            assert!(indexer.turn(now()).await.unwrap());
        }
        assert_eq!((found(&db, "segment0").await, found(&db, "segment1699").await), (1, 0), "a part is indexed");
        run(&db, "UPDATE transcript_segments SET text = 'corrected afterwards' WHERE position = 0").await;
        if is_note_late {
            let_the_latest_note_come_late(&db).await;
        }
        all_turns(&mut indexer, now()).await;
        assert_eq!((found(&db, "segment0").await, found(&db, "corrected").await), (0, 1));
        assert_eq!((found(&db, "segment1").await, found(&db, "segment1699").await), (1, 1));
        assert_eq!(rows_in(&db, "search_pending").await, 0);
        assert_words_are_those_of_the_passages(&db).await;
    })
    .await;
}

/// Has every passage refused whose title is this.
async fn refuse(db: &Db, title: &str) {
    let title = title.to_owned();
    db.write(move |conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => {
                    format!("ALTER TABLE search_passages ADD CONSTRAINT refused CHECK (title <> '{title}') NOT VALID")
                }
                Conn::Sqlite(_) => format!(
                    "CREATE TRIGGER refused BEFORE INSERT ON search_passages WHEN NEW.title = '{title}' \
                     BEGIN SELECT RAISE(ABORT, 'refused'); END"
                ),
            };
            Ok::<_, DbError>(conn.batch(&sql).await?)
        })
    })
    .await
    .unwrap();
}

async fn refuse_nothing(db: &Db) {
    db.write(|conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => "ALTER TABLE search_passages DROP CONSTRAINT refused",
                Conn::Sqlite(_) => "DROP TRIGGER refused",
            };
            Ok::<_, DbError>(conn.batch(sql).await?)
        })
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_source_that_always_fails_is_put_off_and_holds_up_no_other_and_is_indexed_once_its_cause_is_gone() {
    on_both(async |db| {
        let [project, other] = two_projects(&db).await;
        refuse(&db, "refused.txt").await;
        document(&db, project, "refused", 1).await;
        let unreadable = stored(&db, project, "unreadable", "no JSON".to_owned()).await;
        run(&db, "INSERT INTO search_pending (kind, source_id, project_id) SELECT 'NONSENSE', id, id FROM projects WHERE name = 'P'").await;
        document(&db, project, "behind", 1).await;
        document(&db, other, "elsewhere", 1).await;
        let mut indexer = SearchIndexer::on(db.clone());
        all_turns(&mut indexer, now()).await;
        assert_eq!((found(&db, "behindword0").await, found(&db, "elsewhereword0").await), (1, 1));
        assert_eq!((found(&db, "refusedword0").await, rows_in(&db, "search_pending").await), (0, 0));
        assert_eq!(rows_in(&db, "search_retries").await, 3, "kept, and not lost");
        // Before its time nothing is tried, not even by another server; each pause is longer.
        let [soon, after_first, after_second] = [4, 5, 5 + 20].map(|seconds| now() + Duration::from_secs(seconds));
        assert!(!SearchIndexer::on(db.clone()).turn(soon).await.unwrap());
        assert!(all_turns(&mut indexer, after_first).await > 0);
        assert_eq!(rows_in(&db, "search_retries").await, 3);
        assert!(!indexer.turn(after_first + Duration::from_secs(5)).await.unwrap(), "twice failed, longer put off");
        refuse_nothing(&db).await;
        assert!(all_turns(&mut indexer, after_second).await > 0);
        assert_eq!((found(&db, "refusedword0").await, rows_in(&db, "search_retries").await), (1, 2));
        // A change is a reason to try again at once.
        db.write(move |conn| {
            Box::pin(async move {
                Ok::<_, DbError>(diesel::delete(documents::table.find(unreadable)).execute(conn).await?)
            })
        })
        .await
        .unwrap();
        all_turns(&mut indexer, after_second).await;
        assert_eq!(rows_in(&db, "search_retries").await, 1);
    })
    .await;
}

#[tokio::test]
async fn an_item_that_fails_does_not_hold_up_those_that_are_indexed_with_it() {
    on_both(async |db| {
        super::plant_requirements(&db, 20).await;
        run(&db, "UPDATE items SET body = 'no JSON' WHERE number = 7").await;
        let mut indexer = SearchIndexer::on(db.clone());
        all_turns(&mut indexer, now()).await;
        assert_eq!((rows_in(&db, "search_passages").await, rows_in(&db, "search_retries").await), (19, 1));
        run(
            &db,
            "UPDATE items SET body = (SELECT other.body FROM items other WHERE other.number = 8) WHERE number = 7",
        )
        .await;
        all_turns(&mut indexer, now()).await;
        assert_eq!((rows_in(&db, "search_passages").await, rows_in(&db, "search_retries").await), (20, 0));
    })
    .await;
}

#[tokio::test]
async fn whose_turn_it_is_is_looked_up_by_an_index_and_so_are_their_notes() {
    on_both(async |db| {
        let postgres =
            db.read(|conn| Box::pin(async move { Ok::<_, DbError>(matches!(conn, Conn::Pg(_))) })).await.unwrap();
        let (id, at) = if postgres {
            ("'00000000-0000-7000-8000-000000000000'", "now()")
        } else {
            ("x'00000000000070008000000000000000'", "1")
        };
        for sql in [
            format!("SELECT project_id FROM search_pending WHERE project_id > {id} ORDER BY project_id LIMIT 1"),
            format!("SELECT id FROM search_pending WHERE project_id = {id} ORDER BY id LIMIT 200"),
            format!("SELECT source_id FROM search_retries WHERE due_at <= {at} LIMIT 1"),
        ] {
            crate::db::tests::assert_is_by_index(&crate::db::tests::plan(&db, &sql).await);
        }
    })
    .await;
}
