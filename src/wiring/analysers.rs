//! Builds what analyses sources, for `colloquy serve` and for `colloquy pipeline`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pipeline::process::{Analyser, ChildLimits as AnalyserLimits};
use pipeline::readers::{Reader, ReaderLimits};

use crate::analysis::backend::AnalysisBackend;
use crate::analysis::supervisor::RunSupervisor;
use crate::clients::pipeline::{PipelineService, PipelineServiceSettings};
use crate::config::{Analysis, Config};

/// Creates the supervisor that executes analysis runs.
///
/// # Errors
/// Returns a message if the path of this program can't be determined, or no HTTP client can be created.
pub fn runner(config: &Config) -> Result<RunSupervisor, String> {
    if config.pipeline.mode != "remote" {
        return Ok(RunSupervisor::new(AnalysisBackend::Local(analyser(&config.analysis)?), at_once(&config.analysis)));
    }
    let settings = PipelineServiceSettings {
        url: config.pipeline.url.clone(),
        key: config.pipeline.key.reveal().to_owned(),
        limit: Duration::from_secs(config.pipeline.timeout_seconds),
        transfer_limit: Duration::from_secs(config.pipeline.transfer_seconds),
    };
    tracing::info!(url = config.pipeline.url, "runs are analysed by the pipeline service");
    let service = AnalysisBackend::Remote(Arc::new(PipelineService::new(settings)?));
    Ok(RunSupervisor::new(service, config.pipeline.parallel))
}

/// Creates the analyser of this machine.
///
/// # Errors
/// Returns a message if the path of this program can't be determined.
pub fn analyser(settings: &Analysis) -> Result<Analyser, String> {
    let limits =
        AnalyserLimits { memory_mib: settings.run_memory_mib, wall: Duration::from_secs(settings.run_seconds) };
    Ok(Analyser::new(program()?, limits))
}

/// Returns how many analyses this machine executes at once.
#[must_use]
pub fn at_once(settings: &Analysis) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if settings.workers == 0 { cores.saturating_sub(1).max(1) } else { settings.workers }
}

/// Creates the reader of documents.
///
/// # Errors
/// Returns a message if the path of this program can't be determined.
pub fn reader(settings: &Analysis) -> Result<Reader, String> {
    let limits = ReaderLimits { parallel: settings.readers, ..ReaderLimits::default() };
    Ok(Reader::new(program()?, limits))
}

/// Returns the path of the server's own binary, which its child processes run too.
///
/// # Errors
/// Returns a message if it can't be determined.
pub fn program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("the path of this program can't be determined: {error}"))
}
