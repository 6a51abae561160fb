//! A run of an evaluation as a server does it: in a child process, which asks a language model through its parent.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use pipeline::engine::EngineChoice;
use pipeline::ports::{NoCheckpoints, NoProgressSink, PortUnavailable, TextStore};
use pipeline::process::{Analyser, Lost, OutlinedSource, Ports, RequestOutline};
use pipeline::request::{CancelToken, Request};
use pipeline::run::PipelineOutcome;
use readers::SourceText;

/// Analyses a request in a child process. No answer of a language model is stored, so that each one is asked for.
///
/// # Errors
/// Returns [`Lost`] under the conditions of [`Analyser::analyse`].
pub async fn analysed_in_child(
    analyser: &Analyser,
    engine: EngineChoice,
    request: Request,
) -> Result<PipelineOutcome, Lost> {
    let Request { job_id, attempt, analysis_type, language, sources, bounds } = request;
    let mut texts = RequestTexts::default();
    let mut outlined = Vec::with_capacity(sources.len());
    for source in sources {
        let unreadable = match source.text {
            Ok(text) => {
                texts.0.insert(source.id.clone(), text);
                None
            }
            Err(unreadable) => Some(unreadable),
        };
        outlined.push(OutlinedSource { id: source.id, kind: source.kind, name: source.name, unreadable });
    }
    let outline = RequestOutline {
        job_id,
        attempt,
        analysis_type,
        language,
        bounds,
        engine,
        glossary: Vec::new(),
        sources: outlined,
    };
    let ports = Ports { texts: &texts, checkpoints: &NoCheckpoints, progress_sink: &NoProgressSink };
    analyser.analyse(&outline, ports, &CancelToken::new()).await
}

/// The texts of a request, by the ids of their sources.
#[derive(Default)]
struct RequestTexts(HashMap<String, Arc<SourceText>>);

#[async_trait]
impl TextStore for RequestTexts {
    async fn text(&self, source_id: &str) -> Result<String, PortUnavailable> {
        let text = self.0.get(source_id).ok_or_else(|| PortUnavailable("there is no such source".to_owned()))?;
        serde_json::to_string(&**text).map_err(|error| PortUnavailable(error.to_string()))
    }
}
