//! Tells the voices in a recording apart.

use serde::{Deserialize, Serialize};

/// A time in which one voice speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VoiceTurn {
    pub start_ms: u64,
    pub end_ms: u64,
    /// From 1, in the order in which they are heard first.
    pub voice: u32,
}
