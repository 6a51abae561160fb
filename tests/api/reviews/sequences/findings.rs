//! The documents of the sequences, and what the analysis finds in them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::Reviewed;
use super::Play;
use super::model::{content, id, is_story, words};

/// Sentences in three wordings that are nearly the same. Those of two topics have no telling word in common, so that none is
/// taken for a change of the other one, wherever it stands.
struct SentenceTopic {
    wordings: [&'static str; 3],
    /// One of these is in whatever is said about it.
    signs: &'static [&'static str],
}

const TOPICS: [SentenceTopic; 6] = [
    SentenceTopic {
        wordings: [
            "The system must let a patient cancel an appointment until 24 hours before it begins.",
            "The system must let a patient cancel an appointment until 12 hours before it begins.",
            "The system must let a patient cancel an appointment until 36 hours before it begins.",
        ],
        signs: &["patient", "cancel", "appointment", "hours"],
    },
    SentenceTopic {
        wordings: [
            "The system shall answer every search within two seconds.",
            "The system shall answer every search within five seconds.",
            "The system shall answer every search within nine seconds.",
        ],
        signs: &["answer", "search", "seconds"],
    },
    SentenceTopic {
        wordings: [
            "As a clerk, I want to see the waiting list, so that I can fill free slots.",
            "As a clerk, I want to sort the waiting list, so that I can fill free slots.",
            "As a clerk, I want to browse the waiting list, so that I can fill free slots.",
        ],
        signs: &["clerk", "waiting", "slots"],
    },
    SentenceTopic {
        wordings: [
            "The system must export all bookings as a CSV file.",
            "The system must export all bookings as a PDF file.",
            "The system must export all bookings as a JSON file.",
        ],
        signs: &["export", "bookings", "file"],
    },
    SentenceTopic {
        wordings: [
            "As a nurse, I want to read the ward rota, so that I know who is on duty.",
            "As a nurse, I want to copy the ward rota, so that I know who is on duty.",
            "As a nurse, I want to download the ward rota, so that I know who is on duty.",
        ],
        signs: &["nurse", "ward", "rota", "duty"],
    },
    SentenceTopic {
        wordings: [
            "The system must print a short receipt for each payment.",
            "The system must print a signed receipt for each payment.",
            "The system must print a coloured receipt for each payment.",
        ],
        signs: &["print", "receipt", "payment"],
    },
];

pub const TOPIC_COUNT: usize = TOPICS.len();
/// How many topics a document has.
const TOPICS_EACH: usize = TOPIC_COUNT / 2;
pub const NAMES: [&str; 2] = ["booking.md", "desk.md"];

/// For each topic its wording, or that it is left out.
pub type TopicWordings = [Option<usize>; TOPIC_COUNT];

/// Some topics come up later, when their items are NEW.
pub const FIRST_WORDINGS: TopicWordings = [Some(0), Some(0), None, Some(0), None, None];

/// The text of one of the two documents. Each topic is in one of them only.
pub fn text(wordings: &TopicWordings, document: usize) -> String {
    let mut text = String::from("# Clinic\n\n");
    for topic in document * TOPICS_EACH..(document + 1) * TOPICS_EACH {
        if let Some(wording) = wordings[topic] {
            text.push_str(TOPICS[topic].wordings[wording]);
            text.push_str("\n\n");
        }
    }
    text
}

pub const fn first_topic(document: usize) -> usize {
    document * TOPICS_EACH
}

/// The topics that a text has a sign of.
fn topics_of(text: &str) -> BTreeSet<usize> {
    let lower = text.to_lowercase();
    let has_sign = |topic: &usize| TOPICS[*topic].signs.iter().any(|sign| lower.contains(sign));
    (0..TOPIC_COUNT).filter(has_sign).collect()
}

/// A requirement or a story that a run is to find.
#[derive(Debug, Clone)]
pub struct ExpectedFinding {
    pub is_story: bool,
    pub content: Value,
    pub words: String,
    /// By what it is known again: of a story, what the requirement demands that it is told of.
    pub key: String,
    topic: usize,
    /// The words of the requirements that it covers.
    pub covers: BTreeSet<String>,
}

/// Whether an item is what a finding is a change of, provided that it was not found itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    Alike,
    /// It has words of the same topic and others; what is nearly the same is for the analysis to say.
    Perhaps,
    Unlike,
}

impl ExpectedFinding {
    pub fn likeness(&self, is_found_text: bool, words: &str) -> Likeness {
        match topics_of(words).contains(&self.topic) {
            false => Likeness::Unlike,
            true if is_found_text => Likeness::Alike,
            true => Likeness::Perhaps,
        }
    }
}

/// The document that a finding is in.
pub fn document_of(found: &str) -> usize {
    let topics = topics_of(found);
    assert_eq!(topics.len(), 1, "a finding has one topic: {found}");
    topics.first().unwrap() / TOPICS_EACH
}

impl Play<'_> {
    /// What the analysis finds in some of the documents: what it finds in each.
    pub async fn findings(&mut self, documents: &[usize]) -> Vec<ExpectedFinding> {
        let mut all = Vec::new();
        for document in documents {
            all.extend(self.findings_in(*document).await);
        }
        all
    }

    /// What the analysis publishes in a project that has this document and nothing else, where nobody has reviewed anything.
    async fn findings_in(&mut self, document: usize) -> Vec<ExpectedFinding> {
        let text = text(&self.wordings, document);
        if let Some(known) = self.findings.get(&text) {
            return known.clone();
        }
        let apart = Reviewed::of(self.server, &text).await;
        let requirements = apart.items("requirements").await;
        let found = |item: &Value| {
            let (is_story, content) = (is_story(item), content(item));
            let words = words(is_story, &content);
            let topics = topics_of(&words);
            assert_eq!(topics.len(), 1, "a finding has one topic: {item:#}");
            let is_covered =
                |one: &&Value| item["requirementIds"].as_array().is_some_and(|ids| ids.contains(&json!(id(one))));
            let covers = requirements.iter().filter(is_covered);
            let covers: BTreeSet<String> = covers.map(|one| one["statement"].as_str().unwrap().to_owned()).collect();
            assert_eq!(covers.len(), usize::from(is_story), "{item:#}");
            let key = covers.first().unwrap_or(&words).clone();
            ExpectedFinding { is_story, content, words, key, topic: *topics.first().unwrap(), covers }
        };
        let mut all: Vec<ExpectedFinding> = requirements.iter().map(found).collect();
        all.extend(apart.items("user-stories").await.iter().map(found));
        for one in &all {
            self.found_texts.insert((one.is_story, one.words.clone()));
        }
        self.findings.insert(text, all.clone());
        all
    }
}
