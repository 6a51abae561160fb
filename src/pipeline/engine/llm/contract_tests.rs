//! What holds for each engine: the embedded one, and both that ask a model.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::super::chat::{Chat, ChatAnswer, Model};
use super::super::super::loop_control::{Halted, LoopControl};
use super::super::super::readers::{Format, slice};
use super::super::super::request::{Bounds, CancelToken, Source};
use super::super::super::tests::{SPECIFICATION, TALK, both, every_item_has_a_source, request, result, text};
use super::super::super::{NoCheckpoints, NoProgressSink, PipelineOutcome, Request, Workers, run_with};
use super::super::{Embedded, Engine, ModelUse};
use super::Llm;
use super::tests::fake_llm::Manner;
use super::tests::{Pretended, away, engine, outcome, warning_codes};

/// A model that never answers, and notices a cancellation.
struct Hanging;

impl Model for Hanging {
    fn complete(&self, _: &[Chat], control: &LoopControl) -> Result<Vec<ChatAnswer>, Halted> {
        loop {
            std::thread::sleep(Duration::from_millis(5));
            control.check()?;
        }
    }
}

fn engines(manner: Manner) -> Vec<(&'static str, Arc<dyn Engine>)> {
    vec![
        ("embedded", Arc::new(Embedded::default())),
        ("llm", engine(&Pretended::new(manner), 900, false)),
        ("fallback", engine(&Pretended::failing(manner, |number| (number == 1).then(away)), 900, true)),
    ]
}

fn long() -> Request {
    let document = Source::document("d", "x.md", text(Format::Markdown, &SPECIFICATION.repeat(6)));
    let talk = Source::recording("r", "talk.vtt", text(Format::Vtt, TALK));
    request(vec![document, talk])
}

#[tokio::test]
async fn every_quote_is_verbatim_and_every_item_has_one() {
    for manner in [Manner::Honest, Manner::Invents, Manner::Rewords, Manner::Obeys, Manner::Cuts] {
        for (name, engine) in engines(manner) {
            let asked = long();
            let texts: Vec<_> =
                asked.sources.iter().map(|source| (source.id.clone(), source.text.clone().unwrap())).collect();
            let mut result = result(outcome(engine, asked).await);
            assert!(every_item_has_a_source(&result) && result.metrics.ungrounded == 0, "{name}");
            assert!(!result.requirements.is_empty(), "{name}");
            for citation in result.citations() {
                let (_, text) = texts.iter().find(|(id, _)| *id == citation.source_id).unwrap();
                let there = slice(&text.text, citation.start_offset, citation.end_offset);
                assert_eq!(there, Some(citation.quote.as_str()), "{name} {manner:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_same_answers_give_the_same_bytes() {
    for at in 0..3 {
        let mut written = Vec::new();
        for _ in 0..2 {
            let (_, engine) = engines(Manner::Rewords).remove(at);
            written.push(serde_json::to_string(&result(outcome(engine, long()).await)).unwrap());
        }
        assert_eq!(written[0], written[1]);
    }
}

#[tokio::test]
async fn a_cancel_ends_a_run_that_waits_for_a_model_within_a_second() {
    let usage = ModelUse { name: "m".to_owned(), chunk_characters: 900, answer_tokens: 100 };
    for falls_back in [false, true] {
        let engine = Arc::new(Llm::new(Embedded::default(), Arc::new(Hanging), usage.clone(), falls_back));
        let (cancel, workers) = (CancelToken::new(), Workers::new(1));
        let started = Instant::now();
        let running = run_with(engine, both(), &NoCheckpoints, &NoProgressSink, cancel.clone(), &workers);
        let (outcome, ()) = tokio::join!(running, async {
            tokio::time::sleep(Duration::from_millis(700)).await;
            cancel.cancel();
        });
        assert_eq!(outcome, PipelineOutcome::Cancelled);
        assert!(started.elapsed() < Duration::from_millis(1_700));
    }
}

#[tokio::test]
async fn bounds_hold_and_what_is_beyond_is_said() {
    for (name, engine) in engines(Manner::Honest) {
        let bounds = Bounds { items: 2, ..Bounds::default() };
        let result = result(outcome(engine, Request { bounds, ..both() }).await);
        assert_eq!(result.requirements.len(), 2, "{name}");
        assert!(warning_codes(&result).contains(&"TooManyItems"), "{name}");
    }
}

#[test]
fn engines_have_versions_of_their_own() {
    let mut versions: Vec<String> =
        engines(Manner::Honest).iter().map(|(_, engine)| engine.version().to_owned()).collect();
    versions.push(engine(&Pretended::new(Manner::Honest), 901, false).version().to_owned());
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), 4, "{versions:?}");
}
