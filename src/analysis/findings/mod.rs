//! What a run found, on its way into the project.
//!
//! ```text
//! finding ──┬── the same words as an item, or in another order ──> CONFIRMED: its places are added, the version stays
//!           ├── an item's words with other content ──────────────> nobody touched it: refreshed; else a CHANGED proposal
//!           ├── something else about what an item is about ──────> CHANGED: a proposal
//!           └── anything else ───────────────────────────────────> ADDED, to be reviewed
//! item that was not found, though all its sources were read ─────> GONE: a proposal
//! ```
//! The items are those of the project, whichever runs they come from, of all kinds; a run never removes one. That a finding is
//! about an item, is decided by rules alone ([`reconciling`]):
//! - the same words: the key of the finding is that of the item (`text_key`);
//! - something else about the same: of the items that this run has not found, the one at the same place of a source, or with
//!   nearly the same words, one to one and the most alike first ([`matching`]);
//! - an item is GONE if it was not found, is not rejected, and rests on sources that this run has read as a whole, and on no
//!   other. A run that was not asked for a kind of items, or left findings out, makes no item of it GONE.
//!
//! A person has touched an item once they judged, edited or accepted it (`items.touched`, which stays). What was dismissed is
//! not proposed again: no CHANGED one with its content for the same item; nor is an item GONE again that was once kept. A later
//! run supersedes the OPEN proposals about each item that it has a say about.
//!
//! All of it is written as a draft beside what counts, and published in the transaction that completes the run
//! ([`store::publish`]). Each item that a run has a say about is noted with what it did and why (`run_findings`), for
//! `getRunFindings`, and to undo the run.

pub mod adoption;
pub mod draft;
mod drafted;
mod finding;
pub mod grounding;
mod matching;
pub mod model;
pub mod operations;
mod present;
mod reconciling;
pub mod routes;
#[cfg(test)]
mod sequences;
pub mod store;
