//! The state of the pipeline service.

use std::sync::Arc;

use pipeline::process::Analyser;
use readers::Reader;
use tokio::sync::Semaphore;

use super::table::JobTable;
use crate::tasks::Tasks;

/// How many requests are received at once, each of them into a folder of its own.
pub const INTAKES: usize = 4;
use crate::http::mounted::Mounted;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area.
    PipelineJobs(PipelineJobsParts)
}

pub struct PipelineJobsParts {
    pub table: JobTable,
    pub analyser: Analyser,
    /// Reads documents that are sent as files.
    pub reader: Reader,
    /// Permits for working on a job.
    pub permits: Arc<Semaphore>,
    /// Permits for receiving a request, and for reading its JSON.
    pub intakes: Arc<Semaphore>,
    pub readings: Arc<Semaphore>,
    pub tasks: Tasks,
    /// The largest request, and the largest document in it, in bytes.
    pub job_bytes: u64,
    pub document_bytes: u64,
}

impl Mounted for PipelineJobs {}
