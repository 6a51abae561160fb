//! Reads of whole projects, whose size the people of the project decide.
//!
//! ```text
//! ask the table for the sizes --> reserve memory for what is to be in it at once (or wait, or be refused) --> read
//!                      `--> items, some megabytes at a time --> a spool --> one item after the other
//! ```
//! Requests for the same answer share it. Nothing here is held longer than the work: responses are sent from spools.

pub mod flights;
pub mod memory;

use std::io;

use crate::http::error::ApiError;
use crate::http::spool::{Spool, SpoolWriter, Spools};
use flights::Flights;
use memory::WorkMemory;

/// A response that is shared by the requests for it.
#[derive(Clone)]
pub struct SharedAnswer {
    pub etag: Option<String>,
    pub spool: Spool,
}

/// What large reads need beside the database.
pub struct LargeReads {
    pub memory: WorkMemory,
    pub spools: Spools,
    /// The answers that are being made.
    pub answers: Flights<SharedAnswer>,
}

impl LargeReads {
    #[must_use]
    pub fn new(memory_mib: usize, spools: Spools) -> Self {
        Self { memory: WorkMemory::new(memory_mib), spools, answers: Flights::default() }
    }

    /// Begins a spool of a project.
    #[must_use]
    pub fn spool(&self, project_id: impl ToString) -> SpoolWriter {
        self.spools.begin(project_id.to_string())
    }
}

/// Ends an answer.
///
/// # Errors
/// 503 if the disk is full, or too much is on its way.
pub fn answered(etag: Option<String>, spool: io::Result<Spool>) -> Result<SharedAnswer, ApiError> {
    spool.map(|spool| SharedAnswer { etag, spool }).map_err(ApiError::unavailable)
}
