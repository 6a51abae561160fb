//! What is to change in the index: the difference between the passages that a source has and those that are indexed of it,
//! with their words. Computed outside of the database, where folding thousands of words would hold up others.

use std::collections::{BTreeMap, HashMap};

use actors::ids::{self, Id};

use super::model::SearchKind;
use super::passages::SearchPassage;
use super::spelling;
use super::store::IndexedPassage;

/// A passage that is to be in the index.
#[derive(Debug, Clone)]
pub struct WantedPassage {
    pub project_id: Id<ids::Project>,
    pub kind: SearchKind,
    pub source_id: Id<()>,
    pub position: usize,
    pub passage: SearchPassage,
}

/// A passage to be added, with its folded words.
#[derive(Debug)]
pub struct AddedPassage {
    pub wanted: WantedPassage,
    pub title_words: Vec<String>,
    pub text_words: Vec<String>,
}

/// What is to be removed and added.
#[derive(Debug, Default)]
pub struct IndexChange {
    pub removed: Vec<i64>,
    pub added: Vec<AddedPassage>,
    /// In how many more or fewer passages of a project a word is.
    pub words: BTreeMap<(Id<ids::Project>, String), i64>,
}

impl IndexChange {
    /// Makes those passages that are indexed the wanted ones. One at the same place with the same content stays.
    #[must_use]
    pub fn between(indexed: Vec<IndexedPassage>, wanted: Vec<WantedPassage>) -> Self {
        let mut change = Self::default();
        let mut at_place: HashMap<(Id<()>, usize), IndexedPassage> =
            indexed.into_iter().map(|one| ((one.source_id, one.position), one)).collect();
        for one in wanted {
            let place = (one.source_id, one.position);
            match at_place.remove(&place) {
                Some(same) if same.passage == one.passage => {}
                other => {
                    other.into_iter().for_each(|indexed| change.remove(&indexed));
                    change.add(one);
                }
            }
        }
        at_place.values().for_each(|indexed| change.remove(indexed));
        change
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    fn remove(&mut self, indexed: &IndexedPassage) {
        let title = indexed.passage.title_words(indexed.position);
        self.count(indexed.project_id, &title, &indexed.passage.text_words(), -1);
        self.removed.push(indexed.id);
    }

    fn add(&mut self, wanted: WantedPassage) {
        let title_words = wanted.passage.title_words(wanted.position);
        let text_words = wanted.passage.text_words();
        self.count(wanted.project_id, &title_words, &text_words, 1);
        self.added.push(AddedPassage { wanted, title_words, text_words });
    }

    fn count(&mut self, project_id: Id<ids::Project>, title: &[String], text: &[String], by: i64) {
        let mut words: Vec<&String> = title.iter().chain(text).filter(|word| spelling::is_listed(word)).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            *self.words.entry((project_id, word.clone())).or_default() += by;
        }
    }
}
