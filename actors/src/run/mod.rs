//! An analysis run: the pipeline's work on some sources, attempt by attempt. Pure.
//!
//! ```text
//!            begin               complete
//!   QUEUED ---------> PROCESSING ---------> COMPLETED
//!    ^  \              |  |  |  `---------> PARTIAL  (some sources failed)
//!    |   \             |  |  `-- reject --> REJECTED (nothing to analyse)
//!    |    \            |  `---- fail -----> FAILED
//!    |     `--cancel---`------------------> CANCELLED
//!    `--- retry: from FAILED, CANCELLED, PARTIAL; same id, next attempt
//! ```
//!
//! Every command of the pipeline names its attempt; a command of an old attempt is refused as such, so that the worker
//! knows it may stop. Begins are counted: an attempt that was begun five times without finishing fails when it is begun
//! again. Progress never falls within an attempt and is 100 only in COMPLETED and PARTIAL.

mod command;
mod event;
mod node;
mod state;

pub use command::{Command, Refusal};
pub use event::Event;
pub use node::Node;
pub use state::{AiRunStatus, AnalysisType, MAX_BEGINS, Run, RunDraft, RunWarning, State, documents};
