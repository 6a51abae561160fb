//! Tests of the engine against a model that answers as it is told.

use std::sync::Arc;

use super::super::super::loop_control::LoopControl;
use super::super::super::readers::Format;
use super::super::super::request::{Bounds, CancelToken};
use super::super::super::tests::text;
use super::super::{Corpus, Indexer, Texts};
use super::chunks::{Chunk, chunks};

pub fn control() -> LoopControl {
    LoopControl::new(CancelToken::new())
}

/// Returns the corpus of a Markdown document, and its chunks of at most 4,000 characters.
pub fn corpus_of(words: &str) -> (Corpus, Vec<Chunk>) {
    let control = control();
    let mut texts = Texts::default();
    texts.open(text(Format::Markdown, words));
    let mut indexer = Indexer::new(Bounds::default(), words.chars().count(), &control);
    indexer.add(0, texts.get(0).unwrap()).unwrap();
    let corpus = Corpus::new(Arc::new(texts), indexer.finish(), &control).unwrap();
    let chunks = chunks(&corpus, 4_000, &control).unwrap();
    (corpus, chunks)
}
