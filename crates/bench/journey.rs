//! The way from documents to a dashboard, and how long a user waits for it.

use std::time::{Duration, Instant};

use colloquy::analysis::dashboard::model::ResultsDashboard;
use serde_json::json;

use api_client::answer::{ProjectAnswer, RunAnswer};
use api_client::caller::ApiClient;
use api_client::{runs, sources};

/// The figures of one journey.
pub struct Journey {
    pub documents: usize,
    pub words: u64,
    pub requirements: usize,
    /// Time from the first upload until the last document is READY.
    pub reading: Duration,
    /// Time from the start of the run until it is COMPLETED or PARTIAL.
    pub analysing: Duration,
    /// Time from the first upload to the dashboard.
    pub whole: Duration,
    /// The project of the run, for further requests.
    pub project_id: String,
    pub run_id: String,
}

/// Uploads the samples, analyses them, and loads the dashboard.
///
/// # Errors
/// Returns a message if a call fails, a document can't be read, or the run does not succeed.
pub async fn travel(caller: &ApiClient) -> Result<Journey, String> {
    let project: ProjectAnswer = caller.post("/api/projects", &json!({ "name": "Journey" })).await?;
    let began = Instant::now();
    let mut ids = Vec::new();
    for file in sources::samples() {
        ids.push(sources::upload(caller, &project.id, file).await?.id);
    }
    for id in &ids {
        let document = sources::read(caller, &project.id, id).await?;
        if document.status != "READY" {
            return Err(format!("{} could not be read.", document.file_name));
        }
    }
    let reading = began.elapsed();
    let run: RunAnswer = caller.post(&format!("/api/projects/{}/ai/runs", project.id), &json!({})).await?;
    let run = runs::follow(caller, &run, |_| ()).await?;
    let analysing = began.elapsed() - reading;
    if !run.has_results() {
        return Err(format!("A run ended with the status {}.", run.status));
    }
    let path = format!("/api/projects/{}/ai/results-dashboard?runId={}", project.id, run.id);
    let found: ResultsDashboard = caller.get(&path).await?;
    Ok(Journey {
        documents: ids.len(),
        words: found.metrics.words,
        requirements: found.requirements.len(),
        reading,
        analysing,
        whole: began.elapsed(),
        project_id: project.id,
        run_id: run.id,
    })
}
