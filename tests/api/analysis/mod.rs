//! Tests AI runs, their results and the dashboard.

mod dashboard;
pub mod ends;
pub mod exports;
mod findings;
mod hostile_imports;
mod imports;
mod items;
mod lifecycle;
mod limits;
mod llm;
mod llm_client;
mod llm_eval;
mod llm_recorded;
mod pairs;
pub mod process;
mod proposals;
mod restart;
mod start;
mod status;
mod twelve_weeks;
mod versions;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::support::User;
use crate::support::patience::Patience;

/// A note with two requirements, a user story, a risk and an open question.
pub const NOTE: &str = "# Booking\n\n\
    The system must let a patient cancel an appointment until 24 hours before it begins.\n\n\
    The system shall answer every search within two seconds.\n\n\
    As a clerk, I want to see the waiting list, so that I can fill free slots.\n\n\
    There is a risk that the old archive can't be migrated in time.\n\n\
    Who signs the data processing agreement?\n";

/// Returns the path of a project's AI runs.
pub fn runs(project: &str) -> String {
    format!("/api/projects/{project}/ai/runs")
}

/// Returns a text that keeps the pipeline busy for some seconds.
pub fn long_text() -> String {
    text_of(6_000)
}

/// Returns a Markdown text with so many requirement sentences, all different.
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
    /// Starts a run on all READY documents of a project. Returns the run's path and the body of the response.
    pub async fn run(&self, project: &str) -> (String, Value) {
        let started = self.client.post(runs(project)).json(json!({})).await.is(202);
        (format!("{}/{}", runs(project), started.text_of("id")), started.data().clone())
    }

    /// Waits until a run has ended and returns it. Panics after 120 s.
    pub async fn over(&self, run: &str) -> Value {
        self.once(run, |run| !matches!(run["status"].as_str(), Some("QUEUED" | "PROCESSING"))).await
    }

    /// Waits until a run satisfies `wanted` and returns it. Panics after 120 s.
    pub async fn once(&self, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let patience = Patience::of_seconds(120);
        loop {
            let now = self.client.get(run).await.is(200).data().clone();
            if wanted(&now) {
                return now;
            }
            patience.pause(|| format!("it never is: {now}")).await;
        }
    }
}
