//! What a run needs from its surroundings: somewhere to keep finished nodes, someone to tell, and its texts.

use async_trait::async_trait;

use super::nodes::Node;

/// Keeps the outputs of finished nodes, so that a killed run goes on at the node it was in.
///
/// A key is (run and attempt as the implementor knows them, node, input hash, engine version). `input_hash` is 64 hex digits of
/// SHA-256 over the node's typed input, so an output is never used for other sources. Outputs are JSON.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    async fn load(&self, node: Node, input_hash: &str, engine_version: &str) -> Result<Option<String>, Unavailable>;
    async fn save(&self, node: Node, input_hash: &str, engine_version: &str, output: &str) -> Result<(), Unavailable>;
}

/// Is told where a run stands. `progress` is 0–99 and never falls; 100 is the caller's to set when it has stored the result.
#[async_trait]
pub trait Watcher: Send + Sync {
    /// `message` is a sentence for people. `Err(Stop)` ends the run as cancelled.
    async fn progressed(&self, node: Node, progress: u8, message: &str) -> Result<(), Stop>;
}

/// Gives the texts of sources, one at a time.
#[async_trait]
pub trait TextStore: Send + Sync {
    /// As JSON of a [`SourceText`](super::readers::SourceText).
    async fn text(&self, source_id: &str) -> Result<String, Unavailable>;
}

/// Nobody wants this run any more: cancelled, or a newer attempt has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct Stop;

/// The store did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store is unavailable: {0}")]
pub struct Unavailable(pub String);

/// Keeps nothing: a run that starts anew every time.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

#[async_trait]
impl Checkpoints for NoCheckpoints {
    async fn load(&self, _: Node, _: &str, _: &str) -> Result<Option<String>, Unavailable> {
        Ok(None)
    }

    async fn save(&self, _: Node, _: &str, _: &str, _: &str) -> Result<(), Unavailable> {
        Ok(())
    }
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWatcher;

#[async_trait]
impl Watcher for NoWatcher {
    async fn progressed(&self, _: Node, _: u8, _: &str) -> Result<(), Stop> {
        Ok(())
    }
}
