//! Tests of what becomes of items whose statement a verdict denies, and of quotes of many sentences.

use readers::Format;

use super::super::super::request::Source;
use super::super::super::result::{PipelineResult, ResultStatus};
use super::super::super::tests::{both, request, result, text};
use super::tests::fake_llm::Manner;
use super::tests::{Pretended, engine, outcome, warning_codes};

fn statements(result: &PipelineResult) -> Vec<&str> {
    result.requirements.iter().map(|item| item.statement.as_str()).collect()
}

#[tokio::test]
async fn an_item_whose_verdict_is_opposite_is_dropped_although_it_is_called_supported() {
    let found = result(outcome(engine(&Pretended::new(Manner::Contradicts), 4_000, false), both()).await);
    // The others are in the words of their source, so that there is nothing to deny.
    assert_eq!(
        statements(&found),
        [
            "The system shall let a patient book an appointment.",
            "The system should send a reminder by mail 48 hours before the appointment",
            "The system should show a calendar of all rooms",
            "The search shall answer within 2 seconds.",
        ]
    );
    assert_eq!(found.metrics.model.as_ref().map(|model| model.unsupported), Some(3), "and what was taken back");
    assert!(warning_codes(&found).contains(&"ModelItemsDropped"));
}

#[tokio::test]
async fn a_missing_verdict_is_said_as_such() {
    let model = Pretended::new(Manner::SaysNothing);
    let found = result(outcome(engine(&model, 4_000, false), both()).await);
    assert_eq!(warning_codes(&found)[0], "ModelUnavailable");
    assert_eq!(
        found.warnings[0].message,
        "2 items could not be verified by the language model, so they are in the words of their source: it gave no \
         verdict on them."
    );
}

#[tokio::test]
async fn of_a_quote_of_several_paragraphs_in_their_own_words_the_first_is_an_item_and_the_others_are_not_lost() {
    let words = "# Booking\n\nThe system must let a clerk book a room for up to 14 days, also on behalf of others. \
        This must work offline.\n\nThe search shall answer within 2 seconds.\n\nWho approves the great hall?\n";
    let document = || request(vec![Source::document("d", "x.md", text(Format::Markdown, words))]);
    let found = result(outcome(engine(&Pretended::new(Manner::Lumps), 4_000, false), document()).await);
    assert_eq!(
        statements(&found),
        [
            "The system must let a clerk book a room for up to 14 days, also on behalf of others. This must work offline."
        ]
    );
    let quotes: Vec<&str> = found.requirements[0].sources.iter().map(|source| source.quote.as_str()).collect();
    assert!(quotes.iter().all(|quote| !quote.contains("search") && !quote.contains("great hall")), "{quotes:?}");
    assert_eq!((found.status, warning_codes(&found)), (ResultStatus::Partial, vec!["ModelAnswerCut"]));
    // Where the embedded engine takes over, it judges what is left over.
    let fallback = result(outcome(engine(&Pretended::new(Manner::Lumps), 4_000, true), document()).await);
    assert_eq!(statements(&fallback)[1..], ["The search shall answer within 2 seconds."]);
    assert_eq!(fallback.open_questions[0].question, "Who approves the great hall?");
}
