//! Tests of the pipeline as a service of its own: its operations, what it keeps and for how long, and servers that send
//! their runs to it.

mod access;
mod bounds;
mod files;
mod jobs;
mod lies;
mod regeneration;
mod remote;
mod restarts;

use std::time::{Duration, Instant};

use actors::ids::{AiJob, Id};
use serde_json::{Value, json};

use crate::support::Client;

/// A text with two requirements.
const TEXT: &str =
    "The system must let a patient cancel an appointment.\n\nThe system shall answer within two seconds.\n";

/// How long something may take that takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);

fn new_id() -> String {
    Id::<AiJob>::generate().to_string()
}

/// Returns a request over one text.
fn request_of(id: &str, text: &str) -> Value {
    let source = json!({"id": "a", "kind": "DOCUMENT", "name": "a.txt", "text": text});
    json!({"jobId": id, "analysisType": "FULL", "language": "EN", "sources": [source]})
}

/// Waits until a job satisfies `wanted` and returns it.
async fn once(client: &Client, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let job = client.get(format!("/internal/jobs/{id}")).await.is(200).data().clone();
        if wanted(&job) {
            return job;
        }
        assert!(Instant::now() < deadline, "it never is: {job}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until a job has ended and returns it.
async fn ended(client: &Client, id: &str) -> Value {
    once(client, id, |job| !matches!(job["status"].as_str(), Some("QUEUED" | "PROCESSING"))).await
}
