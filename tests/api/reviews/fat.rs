//! Projects whose items are as large as they could be made before their texts were bounded: what reads them is bounded, and the
//! people of such a project are served.

use actors::ids::Id;
use actors::time::Time;
use colloquy::db::schema::items;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Reviewed;
use crate::support::{Server, ServerSetup};

/// Their 40 MB can't be in memory for each of 32 readers, by far.
const STORIES: i64 = 100;
/// What a page may have, with the room of JSON around it.
const MAX_PAGE: usize = 4 * 1024 * 1024;

/// Copies a story many times, each with 400 KB of criteria, as former versions took them.
async fn fatten(server: &Server, reviewed: &Reviewed) {
    let (story, _) = reviewed.story().await;
    let id: Uuid = story["id"].as_str().unwrap().parse().unwrap();
    let words = "x".repeat(2000);
    let criterion = |at: usize| {
        let (id, code) = (Uuid::from_u128(at as u128), format!("AC-{:03}", at + 1));
        json!({"id": id, "code": code, "text": words, "given": words, "when": words, "then": words})
    };
    let criteria: Vec<Value> = (0..50).map(criterion).collect();
    let db = server.db().await;
    for first in (0..STORIES).step_by(20) {
        let (story, criteria) = (story.clone(), criteria.clone());
        let written = db.write(move |conn| {
            Box::pin(async move {
                let own = items::table.find(actors::ids::Id::<()>::from_uuid(id));
                let (project_id, run_id, updated_at): (Id<actors::ids::Project>, Id<actors::run::Run>, Time) =
                    own.select((items::project_id, items::run_id, items::updated_at)).first(conn).await?;
                for number in first..first + 20 {
                    let copy = actors::ids::Id::<()>::generate();
                    let mut body = story.clone();
                    body["id"] = json!(copy.uuid());
                    body["code"] = json!(format!("US-{:03}", number + 1000));
                    body["acceptanceCriteria"] = json!(criteria);
                    let later = updated_at + std::time::Duration::from_secs(60);
                    let row = (
                        (items::id.eq(copy), items::project_id.eq(project_id), items::run_id.eq(run_id)),
                        (items::kind.eq("USER_STORY"), items::number.eq(number + 1000)),
                        (items::text_key.eq(copy.to_string()), items::item_type.eq(""), items::priority.eq("MUST")),
                        (items::workflow_status.eq("NEEDS_REVIEW"), items::search_text.eq("fat")),
                        (items::body.eq(body.to_string()), items::created_at.eq(later), items::updated_at.eq(later)),
                        (items::touched.eq(true), items::content_key.eq("")),
                    );
                    diesel::insert_into(items::table).values(row).execute(conn).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        written.await.unwrap();
    }
}

/// Walks over a list to its end, and returns how many items it has. Panics for a page that is empty or too large.
async fn walked(reviewed: &Reviewed, list: &str) -> i64 {
    let (mut found, mut cursor) = (0, String::new());
    loop {
        let page = reviewed.ada.client.get(reviewed.at(&format!("{list}?limit=100{cursor}"))).await.is(200);
        let items = page.data()["items"].as_array().unwrap().len();
        assert!(page.text().len() <= MAX_PAGE, "{list}: {} bytes", page.text().len());
        found += i64::try_from(items).unwrap();
        let Some(next) = page.data()["nextCursor"].as_str() else {
            assert_eq!(page.data()["totalCount"], json!(found), "{list}");
            return found;
        };
        assert!(items > 0, "{list}: an empty page that is not the last one");
        cursor = format!("&cursor={next}");
    }
}

on_both! {
    async fn many_reads_of_a_project_of_fat_stories_at_once_take_bounded_memory_and_its_people_are_served(setup: ServerSetup) {
        let server = setup.start_small(&[]);
        let reviewed = Reviewed::new(&server).await;
        let baseline = reviewed.at("baselines");
        let before = reviewed.ada.client.post(&baseline).json(json!({"name": "Before"})).await.is(201).text_of("id");
        fatten(&server, &reviewed).await;
        let paths = [
            "ai/results-dashboard".to_owned(),
            "ai/results-dashboard?search=clerk".to_owned(),
            "user-stories?limit=100".to_owned(),
            "trace-matrix".to_owned(),
            format!("baselines/{before}/comparison"),
        ];
        for path in &paths {
            let answers = join_all((0..32).map(|_| async { reviewed.ada.client.apart().get(reviewed.at(path)).served().await })).await;
            let mut served = 0;
            for answer in answers {
                match answer.status {
                    200 => served += 1,
                    503 => assert!(answer.header("retry-after").is_some(), "{path}"),
                    409 => assert_eq!(answer.codes(), ["ResultsTooLarge"], "{path}"),
                    other => panic!("{path}: {other} {}", answer.text()),
                }
            }
            println!("{path}: {served} of 32 served, {} KiB of its own", server.memory().own);
        }
        // Afterwards its people are served.
        assert_eq!(walked(&reviewed, "user-stories").await, STORIES + 2);
        walked(&reviewed, "requirements").await;
        let dashboard = reviewed.ada.client.get(reviewed.at("ai/results-dashboard")).await.is(200);
        assert_eq!(dashboard.data()["userStories"].as_array().unwrap().len(), STORIES as usize + 2);
        assert_eq!(dashboard.data()["metrics"]["userStories"], json!(STORIES + 2));
        reviewed.ada.client.get(reviewed.at("ai/results-dashboard")).header("if-none-match", dashboard.etag()).await.is(304);
        reviewed.ada.client.get(reviewed.at("trace-matrix")).await.is(200);
        reviewed.ada.client.post(&baseline).json(json!({"name": "After"})).await.is(201);
    }

    async fn the_texts_of_a_story_are_bounded_and_one_from_before_can_be_shortened(world: crate::support::World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let criteria = |count: usize| json!({"acceptanceCriteria": vec![json!({"text": "x".repeat(1000)}); count]});
        let edit = |body: Value| reviewed.ada.client.patch(reviewed.path(&story)).json(body);
        edit(criteria(30)).await.is(200);
        let refused = edit(criteria(40)).await.is(422);
        assert_eq!(refused.faults()[0].0, "acceptanceCriteria");
    }
}
