//! Tests that kill the server at random times under load (R1), and that kill or suspend its database (R11).
//!
//! Each meeting has one writer, so that the state after a kill is known exactly: the last acknowledged write, or the
//! one in progress, in full and nothing in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::analysis::long_text;
use crate::support::chance::Chance;
use crate::support::full::rounds;
use crate::support::postgres::Cluster;
use crate::support::{Client, Server, ServerSetup, User};

/// The state of a meeting as its writer knows it.
#[derive(Debug, Clone)]
struct Written {
    id: String,
    /// The description of the last response.
    description: String,
    version: u64,
    /// The description of a write that was sent and got no response.
    under_way: Option<String>,
    writes: u64,
}

/// Updates the meeting until the server no longer responds, or until `stop`.
async fn write(client: &Client, mut meeting: Written, stop: &AtomicBool) -> Written {
    while !stop.load(Ordering::SeqCst) {
        meeting.writes += 1;
        let next = format!("write {}", meeting.writes);
        meeting.under_way = Some(next.clone());
        let patch = client.patch(format!("/api/meetings/{}", meeting.id)).json(json!({"description": next}));
        let Ok(answer) = patch.tried().await else { return meeting };
        let answer = answer.is(200);
        assert_eq!(answer.data()["description"], next);
        meeting.version += 1;
        assert_eq!(answer.etag(), format!("\"{}\"", meeting.version), "applied once");
        meeting.description = next;
        meeting.under_way = None;
    }
    meeting
}

impl Written {
    /// Checks the meeting after a restart and returns the state to continue from.
    async fn settled(mut self, client: &Client) -> Self {
        let read = client.get(format!("/api/meetings/{}", self.id)).await.is(200);
        let (description, version) = (read.text_of("description"), read.data()["version"].as_u64().unwrap());
        let kept = (description == self.description, version) == (true, self.version);
        let finished = self.under_way.as_ref() == Some(&description) && version == self.version + 1;
        assert!(kept || finished, "{self:?} became {description} in version {version}");
        (self.description, self.version, self.under_way) = (description, version, None);
        self
    }
}

/// A project created with an idempotency key: the response, or `None` when there was none.
struct Made {
    key: String,
    answer: Option<Vec<u8>>,
}

async fn make(client: &Client, round: usize, stop: &AtomicBool) -> Vec<Made> {
    let mut made = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let key = format!("{round}-{}", made.len());
        let answer = client.post("/api/projects").key(&key).json(json!({"name": key})).tried().await;
        let answer = answer.ok().map(|answer| answer.is(201).bytes);
        let over = answer.is_none();
        made.push(Made { key, answer });
        if over {
            break;
        }
    }
    made
}

/// A run that is in progress while the server is killed; when it has ended, the next one is started.
struct Work {
    list: String,
    run: String,
    progress: u64,
    runs: usize,
    met: usize,
    /// How often the server was killed since this run was requested.
    kills: usize,
}

impl Work {
    async fn begin(ada: &User) -> Self {
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let list = format!("/api/projects/{project}/ai/runs");
        let run = Self::next(&list, ada).await;
        Self { list, run, progress: 0, runs: 1, met: 0, kills: 0 }
    }

    async fn next(list: &str, ada: &User) -> String {
        format!("{list}/{}", ada.client.post(list).json(json!({})).await.is(202).text_of("id"))
    }

    /// Checks the run after a restart: it is in its first attempt and its progress has not fallen.
    async fn goes_on(&mut self, ada: &User) {
        self.kills += 1;
        let run = ada.client.get(&self.run).await.is(200).data().clone();
        let progress = run["progress"].as_u64().unwrap();
        assert!(progress >= self.progress && run["attempt"] == 1, "{} % and then {run}", self.progress);
        match run["status"].as_str().unwrap() {
            "QUEUED" | "PROCESSING" => (self.progress, self.met) = (progress, self.met + 1),
            status => {
                // A run that was begun five times without ending has failed. It can end as PARTIAL, because the text
                // has more items than are stored of one run.
                let is_over = matches!(status, "COMPLETED" | "PARTIAL") || (status == "FAILED" && self.kills >= 5);
                assert!(is_over, "after {} kills: {run}", self.kills);
                (self.run, self.progress, self.kills) = (Self::next(&self.list, ada).await, 0, 0);
                self.runs += 1;
            }
        }
    }

    async fn ends(&self, ada: &User) {
        let deadline = Instant::now() + Duration::from_secs(120);
        let is_over = |run: &Value| matches!(run["status"].as_str(), Some("COMPLETED" | "PARTIAL"));
        while !is_over(ada.client.get(&self.run).await.is(200).data()) {
            assert!(Instant::now() < deadline, "it never ends");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

const WRITERS: usize = 8;

async fn begin(server: &Server) -> (User, Vec<Written>) {
    let ada = server.user().await;
    let project = ada.project().await;
    let mut meetings = Vec::new();
    for _ in 0..WRITERS {
        let meeting: Value = ada.meeting(&project).await;
        let id = meeting["id"].as_str().unwrap().to_owned();
        let description = meeting["description"].as_str().unwrap().to_owned();
        meetings.push(Written { id, description, version: 1, under_way: None, writes: 0 });
    }
    (ada, meetings)
}

on_both! {
    async fn acknowledged_writes_survive_a_kill_and_nothing_is_applied_twice(setup: ServerSetup) {
        let rounds = rounds(6, 50);
        let mut chance = Chance::new();
        let mut server = setup.start(&[]);
        let (mut ada, mut meetings) = begin(&server).await;
        let mut work = Work::begin(&ada).await;
        let (mut acknowledged, mut made, mut under_way) = (0, 0, 0);
        for round in 0..rounds {
            let stop = AtomicBool::new(false);
            let clients: Vec<Client> = meetings.iter().map(|_| ada.client.apart()).collect();
            let writers = join_all(meetings.drain(..).zip(&clients).map(|(meeting, client)| write(client, meeting, &stop)));
            let maker = ada.client.apart();
            let killed = async {
                tokio::time::sleep(chance.millis(1, 400)).await;
                server.kill();
                stop.store(true, Ordering::SeqCst);
            };
            let (written, projects, ()) = tokio::join!(writers, make(&maker, round, &stop), killed);
            server = setup.start(&[]);
            ada = ada.at(&server);
            work.goes_on(&ada).await;
            under_way += written.iter().filter(|meeting| meeting.under_way.is_some()).count();
            meetings = join_all(written.into_iter().map(|meeting| meeting.settled(&ada.client))).await;
            acknowledged += projects.iter().filter(|project| project.answer.is_some()).count();
            for project in &projects {
                let again = ada.client.post("/api/projects").key(&project.key).json(json!({"name": project.key})).await;
                match &project.answer {
                    Some(answer) => assert_eq!(&again.is(201).bytes, answer, "the same answer again"),
                    // The killed request may have taken effect, or it still holds the key until its lease expires.
                    None => assert!(matches!(again.status, 201 | 409), "{}", again.text()),
                }
                let found = ada.client.get(format!("/api/projects?search={}&limit=100", project.key)).await.is(200);
                let named = found.data()["items"].as_array().unwrap().iter().filter(|item| item["name"] == project.key);
                let count = named.count();
                assert!(count == 1 || (count == 0 && project.answer.is_none()), "{} stands {count} times", project.key);
            }
            made += projects.len();
        }
        let writes: u64 = meetings.iter().map(|meeting| meeting.version - 1).sum();
        println!("{rounds} kills: {writes} writes stand, {under_way} were under way; {acknowledged} of {made} projects answered");
        println!("{} runs; {} kills met one at work", work.runs, work.met);
        assert!(writes > 0 && under_way > 0 && work.met > 0, "there was load");
        if work.kills < 5 {
            work.ends(&ada).await;
        }
        for meeting in &meetings {
            let positions = server.positions_of_meeting(&meeting.id).await;
            let expected: Vec<i64> = (1..i64::try_from(meeting.version).unwrap()).collect();
            assert_eq!(positions, expected, "one event a write, without a hole");
        }
    }
}

/// Writes until `until` is set; returns the start, the status and the duration of each write.
async fn load(client: Client, meeting: String, until: Arc<AtomicBool>) -> Vec<(Instant, u16, Duration)> {
    let mut seen = Vec::new();
    let mut writes = 0;
    while !until.load(Ordering::SeqCst) {
        writes += 1;
        let began = Instant::now();
        let answer = client.patch(&meeting).json(json!({"description": format!("write {writes}")})).await;
        assert!(matches!(answer.status, 200 | 503), "{}", answer.text());
        seen.push((began, answer.status, began.elapsed()));
    }
    seen
}

/// Makes the database unavailable by `away` and available again by `back`, under load, and checks the writes meanwhile.
fn without_the_database(away: impl Fn(&mut Cluster), back: impl Fn(&mut Cluster)) {
    let Some(mut cluster) = Cluster::start().unwrap() else { return };
    let setup = ServerSetup::on(&cluster);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let stop = Arc::new(AtomicBool::new(false));
        let mut writers = Vec::new();
        for _ in 0..4 {
            let meeting = ada.meeting_path(&project).await;
            writers.push(load(ada.client.apart(), meeting, Arc::clone(&stop)));
        }
        let script = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let gone = Instant::now();
            tokio::task::block_in_place(|| away(&mut cluster));
            tokio::time::sleep(Duration::from_millis(2500)).await;
            let unready = server.client().get("/health/ready").await;
            unready.refused(503, "ServiceUnavailable");
            server.client().get("/health/live").await.is(200);
            tokio::time::sleep(Duration::from_millis(2500)).await;
            tokio::task::block_in_place(|| back(&mut cluster));
            let returned = Instant::now();
            tokio::time::sleep(Duration::from_secs(6)).await;
            stop.store(true, Ordering::SeqCst);
            (gone, returned)
        };
        let (seen, (gone, returned)) = tokio::join!(join_all(writers), script);
        for writes in seen {
            let during =
                writes.iter().filter(|(began, status, _)| *began > gone && *began < returned && *status == 503);
            let slowest = during.map(|(_, _, took)| *took).max().expect("writes were refused");
            assert!(slowest < Duration::from_millis(2500), "a write was refused after {slowest:?}");
            let back =
                writes.iter().find(|(began, status, _)| *began >= returned && *status == 200).expect("it came back");
            let took = back.0 + back.2 - returned;
            assert!(took < Duration::from_secs(5), "back after {took:?}");
            let settled = returned + Duration::from_secs(5);
            let well = writes.iter().filter(|(began, _, _)| *began > settled).all(|(_, status, _)| *status == 200);
            assert!(well, "all is well five seconds after its return");
        }
        server.client().get("/health/ready").await.is(200);
        ada.client.get(format!("/api/projects/{project}")).await.is(200);
    });
}

#[test]
fn a_database_that_was_killed_fails_writes_in_two_seconds_and_is_found_again_in_five() {
    without_the_database(|cluster| cluster.kill().unwrap(), |cluster| cluster.resume_service().unwrap());
}

#[test]
fn a_database_that_hangs_fails_writes_in_two_seconds_and_is_found_again_in_five() {
    without_the_database(|cluster| cluster.freeze().unwrap(), |cluster| cluster.thaw().unwrap());
}
