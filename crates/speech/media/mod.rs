//! Recorded media: how long it lasts, found out in a child process like the reading of documents.

mod child;
mod duration;
mod parent;

pub use child::{ProbeTask, VERB, child_main};
pub use parent::{Prober, Unprobed};

#[cfg(test)]
mod tests;
