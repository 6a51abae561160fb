//! AI runs, their results, and the dashboard.

mod dashboard;
mod ends;
mod lifecycle;
mod limits;
mod process;
mod restart;
mod start;
mod status;

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::User;

/// A note with three requirements, a risk, a question, an action item and a decision.
const NOTE: &str = "# Booking\n\n\
    The system must let a patient cancel an appointment until 24 hours before it begins.\n\n\
    The system shall answer every search within two seconds.\n\n\
    As a clerk, I want to see the waiting list, so that I can fill free slots.\n\n\
    There is a risk that the old archive can't be migrated in time.\n\n\
    Who signs the data processing agreement?\n";

fn runs(project: &str) -> String {
    format!("/api/projects/{project}/ai/runs")
}

/// Sentences enough to keep the pipeline at work for some seconds.
pub fn long_text() -> String {
    text_of(6_000)
}

fn text_of(sentences: usize) -> String {
    let mut text = String::from("# A long list\n\n");
    for number in 0..sentences {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "The booking desk number {number} must be able to print the list of ward {} within {} seconds.\n",
            number * 7 % 613,
            number % 50 + 1
        );
    }
    text
}

impl User {
    /// Starts a run over everything that is READY; its path and how it was answered.
    async fn run(&self, project: &str) -> (String, Value) {
        let started = self.client.post(runs(project)).json(json!({})).await.is(202);
        (format!("{}/{}", runs(project), started.text_of("id")), started.data().clone())
    }

    /// The run once it is over.
    async fn over(&self, run: &str) -> Value {
        self.once(run, |run| !matches!(run["status"].as_str(), Some("QUEUED" | "PROCESSING"))).await
    }

    /// The run once it is as wanted.
    async fn once(&self, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let now = self.client.get(run).await.is(200).data().clone();
            if wanted(&now) {
                return now;
            }
            assert!(Instant::now() < deadline, "it never is: {now}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
