//! Attackers with an account and a project of their own: hostile documents, imports that unpack to hundreds of megabytes,
//! misspelt searches, and items as large as may be that are read many times at once.

use std::sync::Arc;
use std::time::Duration;

use api_client::answer::{DocumentAnswer, ProjectAnswer, RunAnswer};
use api_client::caller::ApiClient;
use api_client::sources::{self, SampleFile};
use futures_util::future::join_all;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::connections::{PAUSE, TRY};
use super::documents;

/// How many documents of unlike words the one who searches has, and how many words each.
const WORD_LISTS: usize = 4;
const LISTED_WORDS: usize = 40_000;
/// How many equal requests are sent at once.
const AT_ONCE: usize = 32;
/// Lengths of a requirement's statement in bytes: the first that is accepted is used.
const STATEMENTS: [usize; 4] = [400_000, 60_000, 20_000, 4_000];
/// How long an attacker with an account waits after a round, so that its rate limit lets most calls through.
const ROUND: Duration = Duration::from_secs(5);

pub struct Stranger {
    caller: ApiClient,
    project: String,
}

#[derive(Deserialize)]
struct FatStory {
    id: String,
}

#[derive(Deserialize)]
struct FatStories {
    items: Vec<FatStory>,
}

impl Stranger {
    /// # Errors
    /// Returns a message if the project can't be created.
    pub async fn with_project(caller: ApiClient) -> Result<Self, String> {
        let project: ProjectAnswer = caller.post("/api/projects", &json!({ "name": "Hostile" })).await?;
        Ok(Self { caller, project: project.id })
    }

    /// Has a document analysed, so that the project has items.
    ///
    /// # Errors
    /// Returns a message if a call fails.
    pub async fn with_items(caller: ApiClient) -> Result<Self, String> {
        let stranger = Self::with_project(caller).await?;
        let file = sources::samples().pop().ok_or("there is no sample document")?;
        stranger.analyse(file).await?;
        Ok(stranger)
    }

    /// Uploads documents with many words.
    ///
    /// # Errors
    /// Returns a message if a call fails.
    pub async fn with_words(caller: ApiClient) -> Result<Self, String> {
        let stranger = Self::with_project(caller).await?;
        for list in 0..WORD_LISTS {
            let words = (list * LISTED_WORDS..(list + 1) * LISTED_WORDS).map(word).collect::<Vec<_>>();
            let content = words.chunks(12).map(|line| line.join(" ") + ".\n").collect::<String>().into_bytes();
            stranger.read(SampleFile { name: format!("words-{list}.txt"), content }).await?;
        }
        Ok(stranger)
    }

    /// Uploads a document whose text is larger than the operating system's socket buffers, and returns the path of the text.
    ///
    /// # Errors
    /// Returns a message if a call fails.
    pub async fn long_text(&self) -> Result<String, String> {
        let content = "A text that nobody will read to its end.\n\n".repeat(60_000).into_bytes();
        let read = self.read(SampleFile { name: "long.txt".to_owned(), content }).await?;
        Ok(format!("/api/projects/{}/documents/{}/text", self.project, read.id))
    }

    /// Uploads one hostile document after the other, and analyses those that can be read.
    pub async fn write_documents(self) {
        loop {
            for file in documents::hostile() {
                // The outcome does not matter.
                let _ = timeout(TRY, self.analyse(file)).await;
                sleep(PAUSE).await;
            }
        }
    }

    /// Imports one hostile file after the other.
    pub async fn import(self, files: Arc<Vec<SampleFile>>) {
        let path = format!("/api/projects/{}/imports", self.project);
        loop {
            for SampleFile { name, content } in files.iter() {
                let _ = timeout(TRY, self.caller.upload::<Value>(&path, name, content.clone())).await;
                sleep(PAUSE).await;
            }
        }
    }

    /// Searches for words that the project doesn't have but nearly has, many at once.
    pub async fn misspell(self) {
        for round in 0_usize.. {
            let searches = (0..AT_ONCE).map(|search| {
                let words: Vec<String> = (0..16)
                    .map(|nth| word((round * AT_ONCE + search) * 16 + nth).chars().rev().collect::<String>())
                    .collect();
                self.ask(format!("/api/projects/{}/search?q={}", self.project, words.join("%20")))
            });
            let _ = timeout(TRY, join_all(searches)).await;
            sleep(ROUND).await;
        }
    }

    /// Makes all requirements as large as they may be, and then reads them many times at once.
    pub async fn fatten(self) {
        let list = format!("/api/projects/{}/requirements?limit=100", self.project);
        let found: Result<FatStories, String> = self.caller.get(&list).await;
        for item in found.map(|found| found.items).unwrap_or_default() {
            let path = format!("/api/projects/{}/requirements/{}", self.project, item.id);
            for length in STATEMENTS {
                let body = json!({ "statement": "The system shall answer. ".repeat(length / 25) });
                let request = self.caller.request(Method::PATCH, &path).timeout(TRY).json(&body);
                if request.send().await.is_ok_and(|answer| answer.status().is_success()) {
                    break;
                }
            }
        }
        let dashboard = format!("/api/projects/{}/ai/results-dashboard", self.project);
        loop {
            for path in [&list, &dashboard] {
                let _ = timeout(TRY, join_all((0..AT_ONCE).map(|_| self.ask(path.clone())))).await;
                sleep(ROUND).await;
            }
        }
    }

    /// Sends a GET and reads its response to the end.
    async fn ask(&self, path: String) {
        if let Ok(answer) = self.caller.request(Method::GET, &path).timeout(TRY).send().await {
            let _ = answer.bytes().await;
        }
    }

    async fn read(&self, file: SampleFile) -> Result<DocumentAnswer, String> {
        let document: DocumentAnswer = sources::upload(&self.caller, &self.project, file).await?;
        sources::read(&self.caller, &self.project, &document.id).await
    }

    async fn analyse(&self, file: SampleFile) -> Result<(), String> {
        let document = self.read(file).await?;
        if document.status == "READY" {
            let path = format!("/api/projects/{}/ai/runs", self.project);
            let started: RunAnswer = self.caller.post(&path, &json!({ "documentIds": [document.id] })).await?;
            while !self.caller.get::<RunAnswer>(&format!("{path}/{}", started.id)).await?.is_over() {
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

/// Returns a word of twelve letters; each number has its own.
fn word(number: usize) -> String {
    // Spreads neighbours over the alphabet.
    let mut left = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..12)
        .map(|_| {
            let letter = char::from(b'a' + u8::try_from(left % 26).unwrap_or_default());
            left /= 26;
            letter
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::word;

    #[test]
    fn each_number_has_a_word_of_its_own() {
        let words: HashSet<String> = (0..100_000).map(word).collect();
        assert_eq!(words.len(), 100_000);
    }
}
