//! Search over a project's requirements, user stories, documents and transcripts.
//!
//! ```text
//! any write ─trigger─> search_pending ─(indexing, in the background)─> passages, their folded words, a list of all words
//! query ─> words, folded ─> unknown ones: near words of the list ─> the database's index ─> excerpts with marks
//!          (a costly call: reads only look up, and what is to be computed is computed between them)
//! ```
//! Both databases get the same folded words ([`folding`]) and only look them up, so that they find the same. Triggers note
//! what changed, in the transaction that changes it, because the features that write it know nothing of search. What is
//! indexed may be some seconds old; whether it still exists and may be read is asked when it is found.

pub mod bodies;
pub mod difference;
pub mod excerpts;
pub mod folding;
pub mod indexing;
pub mod model;
pub mod operations;
pub mod parts;
pub mod passages;
pub mod routes;
pub mod spelling;
pub mod store;
pub mod terms;

#[cfg(test)]
mod tests;
