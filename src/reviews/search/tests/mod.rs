//! Tests search at the size of a large project, and prints how long it takes.

mod turns;

use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::time::Time;
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use super::indexing::SearchIndexer;
use super::model::{SearchKind, SearchTerm};
use super::spelling::NearWords;
use super::store::finding::{self, PassageQuery};
use crate::db::schema::{items, projects, runs};
use crate::db::tests::{GROUND, on_both, rows_in, run};
use crate::db::{Conn, Db, DbError, RunQueryDsl, many};

const REQUIREMENTS: i64 = 10_000;
/// Segments of ten transcripts: some seven hours each.
const SEGMENTS: i64 = 5_000;
/// How many different words are used.
const WORDS: i64 = 20_000;
/// No query may take longer, however it is built.
const MAX_DURATION: Duration = Duration::from_secs(1);

fn now() -> Time {
    Time::from_millis(1_764_000_000_000).unwrap()
}

/// A word of its own for each number.
fn word(number: i64) -> String {
    let syllables = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "xo", "zu", "ha"];
    let mut left = number.unsigned_abs() % WORDS.unsigned_abs() + 4_096;
    let mut word = String::new();
    while left > 0 {
        word.push_str(syllables[usize::try_from(left % 16).unwrap()]);
        left /= 16;
    }
    word
}

fn requirement(number: i64, run_id: Id<actors::run::Run>) -> (Id<()>, String) {
    let id = Id::<()>::generate();
    let words: Vec<String> = (0..12).map(|index| word(number * 7 + index * 613)).collect();
    let statement = format!("The system shall {}.", words.join(" "));
    let at = "2026-01-01T00:00:00.000Z";
    let body = json!({
        "id": id, "code": format!("REQ-{number:03}"), "type": "FUNCTIONAL", "category": null, "title": words[..3].join(" "),
        "statement": statement, "priority": "MEDIUM", "confidence": 1.0, "workflowStatus": "NEEDS_REVIEW", "qualityIssues": [],
        "sources": [], "duplicateOf": null, "conflictsWith": [], "version": 1, "revisionSource": "AI_GENERATED",
        "suspect": false, "runId": run_id, "createdAt": at, "updatedAt": at,
    });
    (id, body.to_string())
}

async fn plant_requirements(db: &Db, count: i64) -> Id<ids::Project> {
    run(db, GROUND).await;
    let found = db.read(|conn| {
        Box::pin(async move {
            let project: Id<ids::Project> = projects::table.select(projects::id).first(conn).await?;
            let run: Id<actors::run::Run> = runs::table.select(runs::id).first(conn).await?;
            Ok::<_, DbError>((project, run))
        })
    });
    let (project, of_run) = found.await.unwrap();
    for first in (0..count).step_by(500) {
        let added = db.write(move |conn| {
            Box::pin(async move {
                let at = now();
                let rows: Vec<_> = (first..count.min(first + 500))
                    .map(|number| {
                        let (id, body) = requirement(number + 1, of_run);
                        (
                            items::id.eq(id),
                            items::project_id.eq(project),
                            items::run_id.eq(of_run),
                            items::kind.eq("REQUIREMENT"),
                            items::number.eq(number + 1),
                            (items::text_key.eq("t"), items::item_type.eq("FUNCTIONAL"), items::priority.eq("MEDIUM")),
                            items::workflow_status.eq("NEEDS_REVIEW"),
                            (items::search_text.eq(""), items::body.eq(body), items::touched.eq(false)),
                            (items::content_key.eq(""), items::created_at.eq(at), items::updated_at.eq(at)),
                        )
                    })
                    .collect();
                many!(conn, &rows, |some| diesel::insert_into(items::table).values(some));
                Ok::<_, DbError>(())
            })
        });
        added.await.unwrap();
    }
    project
}

async fn plant(db: &Db) -> Id<ids::Project> {
    let project = plant_requirements(db, REQUIREMENTS).await;
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ";
    let segment =
        "'In the meeting we said that the valve ' || i || ' opens before number ' || (i * 7) || ' closes in time.'";
    run(db, &format!(
        "{numbers}10) INSERT INTO recordings (id, meeting_id, upload_mode, mime_type, basis, status, repairable, next_chunk, chunk_count, \
         received_bytes, upload, pauses, lacking, started_by_id, started_at) SELECT {{id}}, meetings.id, 'CHUNKED', 'audio/wav', 'LIVE', \
         'READY', {{no}}, 0, 0, 0, 0, '[]', '', created_by_id, {{old}} FROM n, meetings; \
         INSERT INTO transcripts (id, recording_id, number, status, engine, model, done_ms, segment_count, crashes, created_at) \
         SELECT {{id}}, recordings.id, 1, 'READY', 'e', 'm', 0, {SEGMENTS}, 0, {{old}} FROM recordings; \
         {numbers}{SEGMENTS}) INSERT INTO transcript_segments (transcript_id, position, meeting_id, start_ms, end_ms, text, confidence) \
         SELECT transcripts.id, i, recordings.meeting_id, i * 5000, i * 5000 + 4000, {segment}, 1 \
         FROM n, transcripts JOIN recordings ON recordings.id = transcripts.recording_id;"
    )).await;
    project
}

#[tokio::test]
async fn ten_thousand_requirements_and_long_transcripts_are_searched_within_a_second() {
    on_both(async |db| {
        let project_id = plant(&db).await;
        let began = Instant::now();
        let mut indexer = SearchIndexer::on(db.clone());
        while indexer.turn(now()).await.unwrap() {}
        let passages = rows_in(&db, "search_passages").await;
        let kind = db.read(|conn| {
            Box::pin(async move { Ok::<_, DbError>(if matches!(conn, Conn::Pg(_)) { "PostgreSQL" } else { "SQLite" }) })
        });
        println!("{}: {passages} passages indexed in {:.1} s", kind.await.unwrap(), began.elapsed().as_secs_f64());
        assert!(passages > REQUIREMENTS + 10 * SEGMENTS / 20, "{passages}");
        let whole = |word: String| SearchTerm { words: vec![word], beginnings: Vec::new() };
        let begun = |word: &str| SearchTerm { words: Vec::new(), beginnings: vec![word.to_owned()] };
        let queries = [
            ("a rare word", vec![whole(word(5_000))]),
            ("three words", vec![whole("system".into()), whole(word(7)), begun(&word(620)[..4])]),
            ("a word of every requirement", vec![whole("system".into())]),
            ("a word of every transcript", vec![whole("valve".into())]),
            ("a beginning of one letter", vec![begun("s")]),
        ];
        for (what, terms) in queries {
            let query = PassageQuery {
                project_id,
                caller: Id::generate(),
                hears_all: true,
                terms,
                code: String::new(),
                kinds: vec![SearchKind::Requirement, SearchKind::Transcript],
                limit: 25,
            };
            let began = Instant::now();
            let found = db.read(move |conn| Box::pin(async move { finding::find(conn, &query).await })).await.unwrap();
            println!("  {what}: {} hits in {:.1} ms", found.len(), began.elapsed().as_secs_f64() * 1_000.0);
            assert!(!found.is_empty() && began.elapsed() < MAX_DURATION, "{what}: {:?}", began.elapsed());
        }
        // Two letters are wrong.
        let misspelt = word(4_321).replacen('a', "aa", 1) + "q";
        let (mut near, mut read, mut comparing) = (NearWords::of(&misspelt), 0, Duration::ZERO);
        let began = Instant::now();
        while let Some(range) = near.next().cloned() {
            let page =
                db.read(move |conn| Box::pin(async move { finding::words_in(conn, project_id, &range, 256).await }));
            let page = page.await.unwrap();
            read += page.len();
            let (is_end, began) = (page.len() < 256, Instant::now());
            near.take(page, is_end);
            comparing += began.elapsed();
        }
        let took = began.elapsed();
        println!(
            "  a misspelt word: {read} words read in {:.1} ms, {:.1} ms of them to compare",
            took.as_secs_f64() * 1_000.0,
            comparing.as_secs_f64() * 1_000.0
        );
        assert!(near.found().contains(&word(4_321)) && took < MAX_DURATION, "{misspelt}");
    })
    .await;
}
