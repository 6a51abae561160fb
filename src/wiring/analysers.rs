//! Builds what analyses sources, for `colloquy serve` and for `colloquy pipeline`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actors::time::Clock;
use pipeline::process::{Analyser, ChildLimits as AnalyserLimits, ModelAccess, ModelBudget};
use readers::{Reader, ReaderLimits};
use speech::SoundCutter;

use crate::analysis::supervisor::RunSupervisor;
use crate::clients::llm::{LlmService, LlmSettings};
use crate::clients::pipeline::{PipelineService, PipelineServiceSettings};
use crate::config::{Analysis, Config, Llm, Speech};

/// How many excerpts of recordings are cut at once.
const EXCERPTS: usize = 2;

/// Creates what cuts excerpts out of recordings.
///
/// # Errors
/// Returns a message if the path of this program can't be determined.
pub fn excerpts(settings: &Speech) -> Result<SoundCutter, String> {
    Ok(SoundCutter::new(program()?, settings.memory_mib, EXCERPTS))
}

/// Creates the supervisor that executes analysis runs.
///
/// # Errors
/// Returns a message if the path of this program can't be determined, or no HTTP client can be created.
pub fn runner(config: &Config, clock: Arc<dyn Clock>) -> Result<RunSupervisor, String> {
    let analyser = analyser_with_model(config, clock)?;
    if config.pipeline.mode != "remote" {
        return Ok(RunSupervisor::new(analyser, None, at_once(&config.analysis), config.llm.runs));
    }
    let settings = PipelineServiceSettings {
        url: config.pipeline.url.clone(),
        key: config.pipeline.key.reveal().to_owned(),
        limit: Duration::from_secs(config.pipeline.timeout_seconds),
        transfer_limit: Duration::from_secs(config.pipeline.transfer_seconds),
    };
    tracing::info!(url = config.pipeline.url, "runs are analysed by the pipeline service");
    let service = Arc::new(PipelineService::new(settings)?);
    Ok(RunSupervisor::new(analyser, Some(service), config.pipeline.parallel, config.llm.runs))
}

/// Creates an analyser for runs outside a server, with the language model of the settings, if there is one.
///
/// # Errors
/// Returns a message if the path of this program can't be determined, or no HTTP client can be created.
pub fn analyser_with_model(config: &Config, clock: Arc<dyn Clock>) -> Result<Analyser, String> {
    Ok(analyser(&config.analysis)?.with_model(language_model(&config.llm, clock)?))
}

/// Creates the client of the language model, if there is one, with the budget of each run.
fn language_model(settings: &Llm, clock: Arc<dyn Clock>) -> Result<Option<ModelAccess>, String> {
    if !settings.is_set() {
        return Ok(None);
    }
    let service = LlmSettings {
        url: settings.url.clone(),
        key: settings.key.reveal().to_owned(),
        limit: Duration::from_secs(settings.call_seconds),
        at_once: settings.calls_at_once,
    };
    let budget = ModelBudget {
        tokens: settings.run_tokens,
        time: Duration::from_secs(settings.run_seconds),
        at_once: settings.calls_at_once,
    };
    Ok(Some(ModelAccess { completions: Arc::new(LlmService::new(service, clock)?), budget }))
}

/// Creates the analyser of this machine, without a language model.
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

/// Creates the reader of transcripts that are attached: their uploads wait for it, so that it is not the one of documents.
///
/// # Errors
/// Returns a message if the path of this program can't be determined.
pub fn transcript_reader() -> Result<Reader, String> {
    Ok(Reader::new(program()?, ReaderLimits { parallel: 2, ..ReaderLimits::default() }))
}

/// Returns the path of the server's own binary, which its child processes run too.
///
/// # Errors
/// Returns a message if it can't be determined.
pub fn program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("the path of this program can't be determined: {error}"))
}
