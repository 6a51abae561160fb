//! An ordinary user: holds meetings in a project of their own, subscribes to their events, and has a document analysed
//! now and then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api_client::caller::{ApiClient, unanswered};
use api_client::sources;
use futures_util::StreamExt;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::super::sockets;
use super::tally::{Outcome, Tally};

/// Pause between two calls; 50 users make about 50 calls a second.
const THOUGHT: Duration = Duration::from_millis(700);
/// A document is analysed in every eighth round.
const ROUNDS: usize = 8;
/// The timeout for a response, an event, the reading of a document, or a run.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval for polling a document or a run.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

pub struct SimulatedPerson {
    pub caller: ApiClient,
    pub tally: Arc<Tally>,
    /// Staggers the users, so that they do not all do the same at the same time.
    pub number: usize,
}

impl SimulatedPerson {
    /// Runs until it is dropped. An error ends the round, and the next one starts.
    pub async fn live(self) {
        tokio::time::sleep(THOUGHT.mul_f64(self.number as f64 / 7.0 % 1.0)).await;
        let mut project = None;
        for round in self.number.. {
            let id = match project.take() {
                Some(id) => Some(id),
                None => self.begin().await,
            };
            if let Some(id) = &id {
                self.meet(id).await;
                if round % ROUNDS == 0 {
                    self.analyse(id).await;
                }
            }
            project = id;
        }
    }

    async fn begin(&self) -> Option<String> {
        let made = self.call(Method::POST, "/api/projects", Some(json!({ "name": "Soak" }))).await?;
        text(&made, "id")
    }

    /// Holds a meeting, from scheduling it to its end.
    async fn meet(&self, project: &str) -> Option<()> {
        let body = json!({ "title": "Weekly", "scheduledAt": "2026-11-21T09:00:00.000Z" });
        let made = self.call(Method::POST, &format!("/api/projects/{project}/meetings"), Some(body)).await?;
        let meeting = text(&made, "id")?;
        let path = format!("/api/meetings/{meeting}");
        self.call(Method::POST, &format!("{path}/start"), Some(json!({}))).await?;
        self.call(Method::POST, &format!("{path}/join"), Some(json!({}))).await?;
        let began = Instant::now();
        let mut socket = match sockets::open(&self.caller, &meeting).await {
            Ok(socket) => socket,
            Err(why) => {
                self.tally.note(began.elapsed(), Outcome::Odd);
                self.tally.note_message(why);
                return None;
            }
        };
        for number in 0..3 {
            let body = json!({ "title": format!("Weekly, item {number}") });
            self.call(Method::PATCH, &path, Some(body)).await?;
            let began = Instant::now();
            let received =
                async { while socket.next().await.is_some_and(|next| next.is_ok_and(|next| !next.is_text())) {} };
            if tokio::time::timeout(PATIENCE, received).await.is_err() {
                self.tally.note(began.elapsed(), Outcome::Odd);
                self.tally.note_message("A change was not pushed.".to_owned());
            }
            self.call(Method::GET, &path, None).await?;
        }
        self.call(Method::GET, &format!("{path}/participants"), None).await?;
        self.call(Method::POST, &format!("{path}/leave"), Some(json!({}))).await?;
        self.call(Method::POST, &format!("{path}/end"), Some(json!({}))).await?;
        self.call(Method::GET, &format!("/api/projects/{project}/meetings?limit=10"), None).await?;
        Some(())
    }

    /// Uploads a document, runs an analysis over it, and loads the results.
    async fn analyse(&self, project: &str) -> Option<()> {
        let file = sources::samples().pop()?;
        let part = Part::bytes(file.content).file_name(file.name);
        let documents = format!("/api/projects/{project}/documents");
        let request = self.caller.request(Method::POST, &documents).multipart(Form::new().part("file", part));
        let document = text(&self.timed(&documents, request).await?, "id")?;
        self.settled(&format!("{documents}/{document}")).await?;
        let runs = format!("/api/projects/{project}/ai/runs");
        let started = self.call(Method::POST, &runs, Some(json!({ "documentIds": [document] }))).await?;
        let run = text(&started, "id")?;
        self.settled(&format!("{runs}/{run}")).await?;
        self.call(Method::GET, &format!("/api/projects/{project}/ai/results-dashboard?runId={run}"), None).await?;
        self.call(Method::DELETE, &format!("{documents}/{document}"), None).await?;
        Some(())
    }

    /// Polls a document or a run until it has been processed.
    async fn settled(&self, path: &str) -> Option<()> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let now = self.call(Method::GET, path, None).await?;
            if !matches!(text(&now, "status")?.as_str(), "PENDING" | "PROCESSING" | "QUEUED") {
                return Some(());
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        self.tally.note(began.elapsed(), Outcome::Odd);
        self.tally.note_message(format!("{path} did not finish within {} s.", PATIENCE.as_secs()));
        None
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Option<Value> {
        let request = self.caller.request(method, path);
        self.timed(path, body.iter().fold(request, |request, body| request.json(body))).await
    }

    /// Sends a request and pauses. Returns the data of a successful response; anything else is recorded as an error.
    async fn timed(&self, path: &str, request: reqwest::RequestBuilder) -> Option<Value> {
        let began = Instant::now();
        let answered = async {
            let answer = request.timeout(PATIENCE).send().await?;
            Ok::<_, reqwest::Error>((answer.status().as_u16(), answer.bytes().await?))
        };
        let answered = answered.await;
        let took = began.elapsed();
        let (outcome, data) = match answered {
            Ok((200..300, body)) => {
                let mut envelope: Value = serde_json::from_slice(&body).unwrap_or_default();
                (Outcome::Good, Some(envelope.get_mut("data").map(Value::take).unwrap_or_default()))
            }
            Ok((status, body)) => {
                let body: String = String::from_utf8_lossy(&body).chars().take(200).collect();
                self.tally.note_message(format!("{path}: {status} {body}"));
                let outcome = match status {
                    500.. => Outcome::Failed,
                    429 => Outcome::Limited,
                    _ => Outcome::Odd,
                };
                (outcome, None)
            }
            Err(error) => {
                self.tally.note_message(unanswered(path, &error));
                (Outcome::Odd, None)
            }
        };
        self.tally.note(took, outcome);
        tokio::time::sleep(THOUGHT).await;
        data
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}
