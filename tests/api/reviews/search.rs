//! Tests of search: what is found, how it is shown, and who finds it.

use std::time::{Duration, Instant};

use colloquy::db::DbError;
use serde_json::{Value, json};

use super::Reviewed;
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::speech_service::FakeSpeechService;
use crate::support::{Answer, Client, Kind, Role, Server, ServerSetup, World};

/// How long indexing may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn search(client: &Client, project: &str, words: &str, more: &str) -> Answer {
    client.get(format!("/api/projects/{project}/search?q={}{more}", encoded(words))).await
}

async fn hits(client: &Client, project: &str, words: &str) -> Vec<Value> {
    let found = search(client, project, words, "").await.is(200);
    let items = found.data()["items"].as_array().unwrap().clone();
    assert_eq!((&found.data()["nextCursor"], &found.data()["totalCount"]), (&json!(null), &json!(items.len())));
    items
}

/// Searches until so many hits are found; all that changed before is indexed then.
async fn found(client: &Client, project: &str, words: &str, count: usize) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let hits = hits(client, project, words).await;
        if hits.len() == count {
            return hits;
        }
        assert!(began.elapsed() < PATIENCE, "{words}: {hits:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Lists so many words of a project that begin with b and come before bz, as if they were in its texts.
async fn list_words(server: &Server, project: &str, count: u32) {
    let hex = project.replace('-', "");
    let id = if server.kind == Kind::Sqlite { format!("x'{hex}'") } else { format!("'{project}'::uuid") };
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO search_words (project_id, word, passages) SELECT {id}, 'b' || (100000 + i * 7919 % 800000) || 'ation', 1 FROM n"
    );
    let db = server.db().await;
    let listed = db.write(move |conn| Box::pin(async move { Ok::<_, DbError>(conn.batch(&sql).await?) }));
    listed.await.unwrap();
}

/// The marked words of a text.
fn marked(text: &Value, marks: &Value) -> Vec<String> {
    let signs: Vec<char> = text.as_str().unwrap().chars().collect();
    let place = |mark: &Value, key: &str| usize::try_from(mark[key].as_u64().unwrap()).unwrap();
    let marks = marks.as_array().unwrap().iter();
    marks.map(|mark| signs[place(mark, "startOffset")..place(mark, "endOffset")].iter().collect()).collect()
}

fn codes(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(|hit| hit["code"].as_str().unwrap_or("-")).collect()
}

on_both! {
    async fn items_and_documents_are_found_by_words_beginnings_and_codes(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (ada, project) = (&reviewed.ada.client, reviewed.project.as_str());
        let requirement = reviewed.item("requirements", "two seconds").await;
        let (story, _) = reviewed.story().await;
        let two = found(ada, project, "search seconds", 2).await;
        assert_eq!(two.iter().map(|hit| hit["kind"].clone()).collect::<Vec<_>>(), [json!("REQUIREMENT"), json!("DOCUMENT")]);
        assert_eq!((&two[0]["id"], &two[0]["code"], &two[0]["title"]), (&requirement["id"], &requirement["code"], &requirement["title"]));
        assert_eq!(
            (&two[0]["excerpt"], marked(&two[0]["excerpt"], &two[0]["marks"])),
            (&requirement["statement"], vec!["search".to_owned(), "seconds".to_owned()])
        );
        assert_eq!((&two[0]["score"], &two[0]["startOffset"], &two[0]["startMs"]), (&json!(1.0), &json!(null), &json!(null)));
        assert!(two[1]["score"].as_f64().unwrap() <= 1.0);
        assert_eq!(two[1]["title"], "booking.md");
        let text = ada.get(reviewed.at(&format!("documents/{}/text", two[1]["id"].as_str().unwrap()))).await.is(200);
        let text: Vec<char> = text.data()["text"].as_str().unwrap().chars().collect();
        let place = |key: &str| usize::try_from(two[1][key].as_u64().unwrap()).unwrap();
        assert_eq!(two[1]["excerpt"], text[place("startOffset")..place("endOffset")].iter().collect::<String>());
        assert_eq!(marked(&two[1]["excerpt"], &two[1]["marks"]), ["search", "seconds"]);

        assert_eq!(hits(ada, project, "search sec").await.len(), 2, "the last word may be a beginning");
        assert_eq!(hits(ada, project, "sec search").await.len(), 0, "the others may not");
        assert_eq!(hits(ada, project, "search sec.").await.len(), 0, "nor a word that has ended");
        assert_eq!(hits(ada, project, "serach secnods").await.len(), 2, "a letter or two may be wrong");
        assert_eq!(hits(ada, project, "search zebra").await.len(), 0);
        assert_eq!(hits(ada, project, "booking.md").await[0]["kind"], "DOCUMENT");
        for item in [&requirement, &story] {
            let code = item["code"].as_str().unwrap();
            let first = &hits(ada, project, &code.to_lowercase()).await[0];
            assert_eq!((&first["id"], &first["score"]), (&item["id"], &json!(1.0)));
        }
        for (kinds, wanted) in [("requirement,user_story", vec!["REQUIREMENT"]), ("DOCUMENT", vec!["DOCUMENT"]), ("TRANSCRIPT", vec![])] {
            let found = search(ada, project, "seconds", &format!("&kinds={kinds}")).await.is(200);
            let kinds: Vec<&str> = found.data()["items"].as_array().unwrap().iter().map(|hit| hit["kind"].as_str().unwrap()).collect();
            assert_eq!(kinds, wanted);
        }
        let one = search(ada, project, "seconds", "&limit=1").await.is(200);
        assert_eq!(one.data()["items"].as_array().unwrap().len(), 1);
    }

    async fn what_is_edited_rejected_or_deleted_is_found_as_it_is_now(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (ada, project) = (&reviewed.ada.client, reviewed.project.as_str());
        let requirement = reviewed.item("requirements", "two seconds").await;
        let two = found(ada, project, "seconds", 2).await;
        let edit = json!({"title": "Answers in heartbeats", "statement": "The system shall answer every search within three heartbeats."});
        ada.patch(reviewed.path(&requirement)).json(edit).await.is(200);
        let edited = found(ada, project, "three heartbeats", 1).await;
        assert_eq!(edited[0]["id"], requirement["id"]);
        assert_eq!(codes(&hits(ada, project, "seconds kinds").await), [""; 0]);
        assert_eq!(codes(&hits(ada, project, "seconds").await), ["-"], "the document alone");
        let rejected = json!({"workflowStatus": "REJECTED", "comment": "Not needed."});
        reviewed.judge(&requirement, rejected).await.is(200);
        assert_eq!(hits(ada, project, "heartbeats").await.len(), 0, "at once, and for good");
        let document = two.iter().find(|hit| hit["kind"] == "DOCUMENT").unwrap();
        ada.delete(reviewed.at(&format!("documents/{}", document["id"].as_str().unwrap()))).await.is(200);
        assert_eq!(hits(ada, project, "seconds").await.len(), 0, "at once, and for good");
        let began = Instant::now();
        let kept = async |word: &str| {
            let tables = crate::support::tables::tables(world.server).await;
            tables["search_passages"].contains(word) || tables["search_words"].contains(word)
        };
        while kept("heartbeats").await {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn arabic_and_german_are_found_however_they_are_written(world: World) {
        let ada = world.server.user().await;
        let project = ada.project().await;
        let (client, project) = (&ada.client, project.as_str());
        let german = "# Größe\n\n🦀 Die Maße der GROSSEN Räume müssen prüfbar sein.\n";
        let arabic = "# النظام\n\nيَجِبُ أن يُرسِلَ النظام إشعارات المستخدمين إلى الإدارة كل ٢٤ ساعة.\n";
        ada.read(project, "masse.md", german.as_bytes()).await;
        ada.read(project, "arabic.md", arabic.as_bytes()).await;
        for (words, wanted) in [("masse", "Maße"), ("MAẞE", "Maße"), ("raume", "Räume"), ("Prüfba", "prüfbar"), ("prufbar", "prüfbar")] {
            let hit = &found(client, project, words, 1).await[0];
            assert_eq!(marked(&hit["excerpt"], &hit["marks"]), [wanted], "{words}");
        }
        for (words, wanted) in [
            ("يجب", "يَجِبُ"), ("مستخدمين", "المستخدمين"), ("المستخد", "المستخدمين"), ("المس", "المستخدمين"), ("اشعارات", "إشعارات"),
            ("إدارة", "الإدارة"), ("اداره", "الإدارة"), ("24", "٢٤"), ("مستخدمبن", "المستخدمين"), ("مـسـتـخـدمـيـن", "المستخدمين"),
        ] {
            let hit = &found(client, project, words, 1).await[0];
            assert_eq!(marked(&hit["excerpt"], &hit["marks"]), [wanted], "{words}");
        }
    }

    async fn nobody_finds_what_is_not_theirs(world: World) {
        let (ada, eve) = (world.server.user().await, world.server.user().await);
        let (hers, others) = (ada.project().await, eve.project().await);
        ada.read(&hers, "hers.md", b"The zebrafish crosses the vestibule.").await;
        eve.read(&others, "others.md", b"The gorilla crosses the vestibule.").await;
        assert_eq!(found(&ada.client, &hers, "vestibule", 1).await[0]["title"], "hers.md");
        assert_eq!(found(&eve.client, &others, "vestibule", 1).await[0]["title"], "others.md");
        assert_eq!(hits(&eve.client, &others, "zebrafish").await.len(), 0);
        assert_eq!(hits(&eve.client, &others, "zebrafihs").await.len(), 0, "nor as what a misspelt word stands for");
        let scope = format!("p{}", hers.replace('-', ""));
        assert_eq!(hits(&eve.client, &others, &scope).await.len(), 0, "nor by the id of the project");
        assert_eq!(hits(&ada.client, &hers, &scope).await.len(), 0);
        search(&eve.client, &hers, "vestibule", "").await.refused(403, "Forbidden");
        search(&world.nobody, &hers, "vestibule", "").await.is(401);
        let unknown = "00000000-0000-7000-8000-000000000000";
        search(&ada.client, unknown, "vestibule", "").await.refused(404, "NotFound");
        ada.client.delete(format!("/api/projects/{hers}")).await.is(200);
        search(&ada.client, &hers, "vestibule", "").await.is(404);
        let began = Instant::now();
        while crate::support::tables::tables(world.server).await["search_passages"].contains("zebrafish") {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn a_query_is_words_and_nothing_else(world: World) {
        let ada = world.server.user().await;
        let project = ada.project().await;
        let (client, project) = (&ada.client, project.as_str());
        ada.read(project, "note.md", "A note: near OR not, 100% of 'quotes'. <b>AND</b> 🦀 =1+1".as_bytes()).await;
        found(client, project, "note", 1).await;
        for words in [
            "NEAR(", "note NEAR/2 near", "\"note", "'note", "note*", "*", "%", "_", "\\", "note AND", "OR note", "NOT note", "title:note",
            "scope : note", "{title words} : note", "^note", "note & !near", "note | ':*", "note'::tsvector", "note <-> near", "-note",
            "+note", "🦀", "\u{202e}note", "note); DROP TABLE items; --", "$1", "((((((((((", "a\tb\nc", "\u{64b}", "ـ", "é\u{301}",
        ] {
            let found = search(client, project, words, "").await.is(200);
            assert!(found.data()["items"].as_array().unwrap().len() <= 1, "{words}");
        }
        for words in ["100%", "quotes'", "near or not", "AND", "note*", "=1+1"] {
            assert_eq!(hits(client, project, words).await.len(), 1, "{words}");
        }
        assert_eq!(hits(client, project, "*").await.len(), 0);
        let wide = "x ".repeat(100);
        assert_eq!(hits(client, project, &wide).await.len(), 0);
        for words in ["", "   ", "note\0", &"x".repeat(201), &"x".repeat(1_000)] {
            let refused = search(client, project, words, "").await.is(422);
            assert!(refused.faults().iter().all(|(field, _)| field == "q"), "{:?}", refused.faults());
        }
        search(client, project, &"x".repeat(10_000), "").await.is(414);
        for (more, field) in [("&kinds=REQUIREMENT,RISK", "kinds"), ("&kinds=", "kinds"), ("&limit=0", "limit"), ("&limit=101", "limit")] {
            let refused = search(client, project, "note", more).await.is(422);
            assert_eq!(refused.faults()[0].0, field);
        }
        assert_eq!(client.get(format!("/api/projects/{project}/search")).await.is(422).faults(), [("q".to_owned(), "Required".to_owned())]);
    }

    async fn a_misspelt_word_is_found_however_many_words_come_before_it(world: World) {
        let ada = world.server.user().await;
        let project = ada.project().await;
        let (client, project) = (&ada.client, project.as_str());
        ada.read(project, "bones.md", b"The bzygomatic arch and the bzylinder.").await;
        found(client, project, "bzygomatic", 1).await;
        list_words(world.server, project, 30_000).await;
        for misspelt in ["bzygomtaic.", "bzygomatci", "bzygomatics.", "zbygomatic."] {
            let hit = &hits(client, project, misspelt).await[0];
            assert_eq!(marked(&hit["excerpt"], &hit["marks"]), ["bzygomatic"], "{misspelt}");
        }
        assert_eq!(hits(client, project, "bzygomtaic bzylindre arhc teh").await.len(), 0, "short words are taken as they are");
        assert_eq!(hits(client, project, "bzygomtaic bzylindre arhc the").await.len(), 1);
        assert_eq!(hits(client, project, "bzygomtaic bzylindre arhc bzilinder bzygomatik.").await.len(), 0, "four at most");
    }

    async fn misspelt_searches_of_one_account_do_not_keep_others_from_reading(setup: ServerSetup) {
        let server = setup.start_small(&[]);
        let (eve, ada) = (server.user().await, server.user().await);
        let (large, small) = (eve.project().await, ada.project().await);
        list_words(&server, &large, 20_000).await;
        let wrong = |letters: usize, count: usize| (0..count).map(|number| format!("b{number:0letters$}qx")).collect::<Vec<_>>().join(" ");
        let queries = [wrong(8, 16), wrong(9, 4), wrong(20, 4), wrong(60, 3)];
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let attack = futures_util::future::join_all((0..40).map(|number| {
            let (client, project, queries, is_over) = (&eve.client, &large, &queries, &is_over);
            async move {
                let (mut answered, mut refused) = (0, 0);
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let found = search(client, project, &queries[number % queries.len()], "").await;
                    match found.status {
                        200 => answered += 1,
                        _ => {
                            found.refused(429, "TooManyRequests");
                            refused += 1;
                        }
                    }
                }
                (answered, refused)
            }
        }));
        let reads = async {
            let path = format!("/api/projects/{small}/documents");
            let mut slowest = Duration::ZERO;
            for _ in 0..100 {
                let began = Instant::now();
                ada.client.get(&path).await.is(200);
                slowest = slowest.max(began.elapsed());
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            slowest
        };
        let (attacks, slowest) = tokio::join!(attack, reads);
        let (answered, refused): (Vec<u32>, Vec<u32>) = attacks.into_iter().unzip();
        let (answered, refused): (u32, u32) = (answered.iter().sum(), refused.iter().sum());
        println!("slowest of 100 reads: {slowest:?}; searches answered: {answered}, refused: {refused}");
        assert!(answered > 0 && refused > 0, "the project has its turns, and not more: {answered}, {refused}");
    }

    async fn searches_count_in_a_rate_of_their_own_for_each_account(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__COSTLY_CALLS__MOST", "3"), ("COLLOQUY__LIMITS__COSTLY_CALLS__SECONDS", "86400")]);
        let (ada, eve) = (server.user().await, server.user().await);
        let (hers, others) = (ada.project().await, eve.project().await);
        for _ in 0..3 {
            search(&ada.client, &hers, "anything", "").await.is(200);
        }
        search(&ada.client, &hers, "anything", "").await.refused(429, "TooManyRequests");
        ada.client.get(format!("/api/projects/{hers}")).await.is(200);
        search(&eve.client, &others, "anything", "").await.is(200);
    }

    async fn what_a_killed_server_had_not_indexed_is_found_after_its_restart(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let long: String = (0..2_000)
            .map(|line| format!("Paragraph {line} says that the valve has to open in time, whatever else.\n\n"))
            .collect();
        ada.read(&project, "long.md", format!("{long}The last word is thermostat.").as_bytes()).await;
        server.kill();
        let server = setup.start(&[]);
        let client = ada.at(&server).client;
        let hit = &found(&client, &project, "thermostat", 1).await[0];
        assert_eq!(marked(&hit["excerpt"], &hit["marks"]), ["thermostat"]);
        assert_eq!(hits(&client, &project, "valve").await.len(), 3, "of one document the three best passages are enough");
    }

    async fn transcripts_are_found_by_those_who_may_read_them(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let recorder: Recorder =
            crate::meetings::transcripts::imported(&room, "audio/mpeg", crate::meetings::transcripts::MP3.to_vec())
                .await;
        recorder.until_transcript("READY").await;
        let (ada, project) = (&room.ada.client, room.project.as_str());
        let said = json!({"text": "The sluice gate opens at dawn."});
        ada.patch(format!("{}/transcript/segments/1", recorder.path)).json(said).await.is(200);
        let hit = found(ada, project, "sluice dawn", 1).await.remove(0);
        let transcript = recorder.transcript().await.is(200).data().clone();
        let segment = &transcript["segments"][1];
        assert_eq!((&hit["kind"], &hit["id"], &hit["title"]), (&json!("TRANSCRIPT"), &transcript["recordingId"], &json!("Discovery")));
        assert_eq!((&hit["startMs"], &hit["endMs"], &hit["startOffset"]), (&segment["startMs"], &segment["endMs"], &json!(null)));
        assert_eq!(hit["meetingId"], room.path.rsplit('/').next().unwrap());
        assert_eq!(marked(&hit["excerpt"], &hit["marks"]), ["sluice", "dawn"]);
        let (analyst, stakeholder) = (room.member(&server, Role::Analyst).await, room.member(&server, Role::Stakeholder).await);
        assert_eq!(hits(&analyst.client, project, "sluice").await.len(), 1);
        assert_eq!(hits(&stakeholder.client, project, "sluice").await.len(), 0, "was not in the meeting");
        // Who joins a meeting may be heard in what was recorded elsewhere: nothing is shown before they consent.
        room.joined(&stakeholder).await;
        assert_eq!(hits(&stakeholder.client, project, "sluice").await.len(), 0);
        assert_eq!(hits(ada, project, "sluice").await.len(), 0);
    }
}
