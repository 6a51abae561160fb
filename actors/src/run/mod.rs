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
//! Whatever the pipeline says names its attempt; what an old attempt says is refused as such, so that it learns it may
//! stop. Begin is counted: an attempt that was begun five times without an end has failed. Progress never falls within an attempt and is 100 in COMPLETED and PARTIAL alone.

mod command;
mod event;
mod node;
mod state;

pub use command::{Command, Refusal};
pub use event::Event;
pub use node::Node;
pub use state::{AnalysisType, Draft, MOST_TAKEN_UP, Run, State, Status, Warning};
