//! How many statements each operation sends to the database. One that is added is easily overlooked, and a loop of them
//! grows with the data: the table beside this file says how many each may send, BEGIN and COMMIT included.
//!
//! The operations are those of the examples' story. Those that read are counted, and those that write and can be repeated;
//! a count is the lowest of several, as the server has work of its own in between. With `COLLOQUY_RECORD_STATEMENTS=1` the
//! table is written anew.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::openapi_story::{Teller, read};
use crate::support::{Kind, Server, ServerSetup};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/statements.tsv");
/// How often an operation is repeated: more often while it seems to send more than it may, as a job that it started, or
/// work of the server's own, may send statements at the same time.
const MIN_REPEATS: usize = 3;
const MAX_REPEATS: usize = 12;
/// Those that write and change nothing more when they are repeated, or nothing that the story goes on with.
const REPEATABLE: [&str; 8] = [
    "editProfile",
    "editProject",
    "updateMeeting",
    "joinMeeting",
    "saveRecordingConsent",
    "issueSocketTicket",
    "editRequirement",
    "login",
];

/// Statements by operation: on SQLite, on PostgreSQL.
type Table = BTreeMap<String, [u64; 2]>;

fn table() -> Table {
    let text = std::fs::read_to_string(FILE).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        (cells[0].to_owned(), [cells[1].parse().unwrap(), cells[2].parse().unwrap()])
    })
    .collect()
}

/// The statements that the server has sent since it started.
async fn sent(server: &Server) -> u64 {
    let text = server.operator().get("/metrics").await.is(200).text();
    let line = text.lines().find_map(|line| line.strip_prefix("colloquy_database_statements_total "));
    line.unwrap_or_else(|| panic!("no count of statements in {text}")).parse().unwrap()
}

/// The statements that reading the count itself takes.
async fn overhead(server: &Server) -> u64 {
    let mut lowest = u64::MAX;
    for _ in 0..10 {
        let before = sent(server).await;
        lowest = lowest.min(sent(server).await - before);
    }
    lowest
}

/// The lowest number of statements of a step that was carried out once already; it is repeated until that is `enough`. What
/// has a title or a name gets another one each time: a change of nothing would be free.
async fn count(teller: &Teller<'_>, step: &Value, overhead: u64, enough: u64) -> u64 {
    let (mut step, mut lowest) = (step.clone(), u64::MAX);
    for number in 0..MAX_REPEATS {
        for name in ["title", "name"] {
            if let Some(text) = step["body"].get_mut(name) {
                *text = json!(format!("Counted {number}"));
            }
        }
        let before = sent(teller.server).await;
        let answer = teller.request(&step).await;
        assert!(answer.status < 300, "{}: {}", step["operation"], answer.text());
        lowest = lowest.min(sent(teller.server).await - before - overhead);
        if number >= MIN_REPEATS && lowest <= enough {
            break;
        }
    }
    lowest
}

on_both! {
    async fn no_operation_sends_more_statements_than_its_table_says(setup: ServerSetup) {
        let server = setup.start(&[]);
        let column = usize::from(setup.kind == Kind::Postgres);
        let mut teller = Teller::of(&server);
        let overhead = overhead(&server).await;
        let is_recording = std::env::var_os("COLLOQUY_RECORD_STATEMENTS").is_some();
        // What is recorded is the lowest of all repeats.
        let allowed = if is_recording { Table::new() } else { table() };
        let mut found = BTreeMap::new();
        let steps = read();
        for step in &steps {
            let id = step["operation"].as_str().unwrap();
            let answer = teller.answer(step).await;
            if teller.operation(id).answer.data.is_some() {
                teller.cast.learn(&step["response"], answer.data());
            }
            if teller.operation(id).method == "GET" || REPEATABLE.contains(&id) {
                let enough = allowed.get(id).map_or(0, |counts| counts[column]);
                let lowest = count(&teller, step, overhead, enough).await;
                // The story calls some more than once: in the richest state they may need the most.
                let most: &mut u64 = found.entry(id.to_owned()).or_default();
                *most = lowest.max(*most);
            }
        }
        assert!(found.len() > 40, "{found:?}");
        if is_recording {
            let mut table = table();
            table.retain(|id, _| found.contains_key(id));
            for (id, count) in &found {
                table.entry(id.clone()).or_default()[column] = *count;
            }
            let rows: String = table.iter().map(|(id, [sqlite, postgres])| format!("{id}\t{sqlite}\t{postgres}\n")).collect();
            std::fs::write(FILE, format!("# operation\tSQLite\tPostgreSQL\n{rows}")).unwrap();
            return;
        }
        let known: Vec<&String> = allowed.keys().collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), known, "COLLOQUY_RECORD_STATEMENTS=1 writes the table anew");
        for (id, count) in &found {
            let allowed = allowed[id][column];
            assert!(*count <= allowed, "{id} sends {count} statements, and its table allows {allowed}: a loop, or one more?");
            if *count < allowed {
                println!("{id} sends {count} statements, and its table allows {allowed}");
            }
        }
    }

    async fn a_page_of_many_projects_or_meetings_sends_no_more_statements_than_one_of_one(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        // More than a page has: then all have to be counted.
        for _ in 0..5 {
            ada.project().await;
            ada.meeting(&project).await;
        }
        for path in ["/api/projects".to_owned(), format!("/api/projects/{project}/meetings")] {
            let mut lowest = [u64::MAX; 2];
            // The lowest of several, as the server has work of its own in between.
            for _ in 0..MAX_REPEATS {
                for (limit, lowest) in [1, 4].into_iter().zip(&mut lowest) {
                    let before = sent(&server).await;
                    let page = ada.client.get(format!("{path}?limit={limit}")).await.is(200);
                    assert_eq!(page.data()["items"].as_array().map(Vec::len), Some(limit));
                    *lowest = (*lowest).min(sent(&server).await - before);
                }
            }
            assert_eq!(lowest[0], lowest[1], "{path}");
        }
    }
}
