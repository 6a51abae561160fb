//! The interfaces that a run needs from its caller: checkpoint storage, a progress sink, the source texts, and, for the
//! engines that ask one, a language model.

use actors::run::Node;
use async_trait::async_trait;

use super::chat::{Chat, ChatAnswer};

/// Stores the outputs of finished nodes, so that a killed run resumes at the node it was in.
///
/// The key is (run and attempt as the implementor knows them, node, input hash, engine version). `input_hash` is 64 hex
/// digits of SHA-256 over the node's typed input, so an output is never used for other sources. Outputs are JSON.
#[async_trait]
pub trait CheckpointStore: Send + Sync {
    async fn load(&self, node: Node, input_hash: &str, engine_version: &str)
    -> Result<Option<String>, PortUnavailable>;
    async fn save(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
        output: &str,
    ) -> Result<(), PortUnavailable>;

    /// Returns the stored answer of a model, by the key of its [`Chat`].
    async fn load_answer(&self, _key: &str) -> Result<Option<String>, PortUnavailable> {
        Ok(None)
    }

    /// Stores an answer of a model, so that another attempt of the run does not ask for it again. A store without
    /// answers is asked anew each time.
    async fn save_answer(&self, _key: &str, _answer: &str) -> Result<(), PortUnavailable> {
        Ok(())
    }
}

/// Answers chats with a language model: the retries, the number of calls at once and the form of the requests are its
/// own affair.
#[async_trait]
pub trait Completions: Send + Sync {
    async fn complete(&self, chat: &Chat) -> ChatAnswer;
}

/// Receives the progress of a run. `progress` is 0–99 and never decreases; the caller sets 100 when it has stored the
/// result.
#[async_trait]
pub trait ProgressSink: Send + Sync {
    /// Reports progress; `message` is a sentence for users. `Err(StopRequested)` ends the run as cancelled.
    async fn progressed(&self, node: Node, progress: u8, message: &str) -> Result<(), StopRequested>;
}

/// Provides the texts of sources, one at a time.
#[async_trait]
pub trait TextStore: Send + Sync {
    /// Returns the text as JSON of a [`SourceText`](readers::SourceText).
    async fn text(&self, source_id: &str) -> Result<String, PortUnavailable>;
}

/// The run is no longer wanted: it was cancelled, or a newer attempt has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct StopRequested;

/// The store did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store is unavailable: {0}")]
pub struct PortUnavailable(pub String);

/// Stores nothing: every run starts from the beginning.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

#[async_trait]
impl CheckpointStore for NoCheckpoints {
    async fn load(&self, _: Node, _: &str, _: &str) -> Result<Option<String>, PortUnavailable> {
        Ok(None)
    }

    async fn save(&self, _: Node, _: &str, _: &str, _: &str) -> Result<(), PortUnavailable> {
        Ok(())
    }
}

/// Ignores progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgressSink;

#[async_trait]
impl ProgressSink for NoProgressSink {
    async fn progressed(&self, _: Node, _: u8, _: &str) -> Result<(), StopRequested> {
        Ok(())
    }
}
