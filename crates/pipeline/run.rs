//! Executes one run: the nodes in order, each loaded from its checkpoint or computed, with progress and cancellation.
//!
//! A panic in a node ends this run as [`PipelineOutcome::Failed`] and affects nothing else. Exhausted memory or an
//! endless loop affects the whole process, so a server runs this in a child process (see [`super::process`]). A
//! checkpoint store that does not answer costs time but does not fail the run: the node is computed again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::run::Node;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval_at};

use super::engine::{Corpus, Embedded, Engine, Texts};
use super::loop_control::{Halted, LoopControl};
use super::nodes::build_source_index::{BuildSourceIndex, ToIndex};
use super::nodes::classify_requirements::{ClassifyRequirements, ToClassify};
use super::nodes::evidence_grounding::{EvidenceGrounding, ToGround};
use super::nodes::extract_requirements::{ExtractRequirements, ToExtract};
use super::nodes::finalize::{FinalParts, Finalize};
use super::nodes::generate_user_stories::{GenerateUserStories, ToGenerate};
use super::nodes::prepare_sources::{Offered, OfferedSource, PrepareSources};
use super::nodes::quality_checks::{QualityChecks, ToCheck};
use super::nodes::summarize::{Summarize, ToSummarize};
use super::nodes::transcribe_recordings::{TranscribeRecordings, Transcribed};
use super::nodes::{NodeContext, Step};
use super::ports::{CheckpointStore, ProgressSink};
use super::request::{CancelToken, Request};
use super::result::{PipelineResult, ResultStatus, Warning};
use super::workers::{WorkPanicked, Workers};

/// Interval at which a running node reports its progress.
const TICK: Duration = Duration::from_millis(500);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PipelineOutcome {
    Completed(Box<PipelineResult>),
    /// Some input was left out; the warnings, which the result also contains, say which.
    Partial(Box<PipelineResult>, Vec<Warning>),
    /// There was nothing to analyse.
    Rejected {
        reason: String,
        warnings: Vec<Warning>,
    },
    Failed {
        node: Node,
        /// A sentence for the run's owner and the log, without internals and without text of the sources.
        message: String,
    },
    /// Cancelled by the token or by the progress sink.
    Cancelled,
}

impl PipelineOutcome {
    /// Returns the failure for a result that is larger than can be stored.
    #[must_use]
    pub fn too_much() -> Self {
        let message = "More was found than one analysis keeps. Analyse fewer documents at once.".to_owned();
        Self::Failed { node: Node::Finalize, message }
    }
}

/// Runs with the embedded engine. Never panics; dropping the future cancels the work in progress.
pub async fn run(
    request: Request,
    checkpoints: &dyn CheckpointStore,
    progress_sink: &dyn ProgressSink,
    cancel: CancelToken,
    workers: &Workers,
) -> PipelineOutcome {
    run_with(Arc::new(Embedded::default()), request, checkpoints, progress_sink, cancel, workers).await
}

/// Runs with the given engine. Otherwise the same as [`run`].
pub async fn run_with(
    engine: Arc<dyn Engine>,
    request: Request,
    checkpoints: &dyn CheckpointStore,
    progress_sink: &dyn ProgressSink,
    cancel: CancelToken,
    workers: &Workers,
) -> PipelineOutcome {
    let started = Instant::now();
    let token = cancel.child_token();
    let _ends_with_this_future = token.clone().drop_guard();
    let control = LoopControl::new(token.clone());
    let mut execution = Execution { checkpoints, progress_sink, token, workers, engine, control };
    match execution.execute(request).await {
        Ok(mut result) => {
            result.metrics.processing_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let warnings = result.warnings.clone();
            match result.status {
                ResultStatus::Completed => PipelineOutcome::Completed(Box::new(result)),
                ResultStatus::Partial => PipelineOutcome::Partial(Box::new(result), warnings),
            }
        }
        Err(EarlyEnd::Rejected { reason, warnings }) => PipelineOutcome::Rejected { reason, warnings },
        Err(EarlyEnd::Failed { node, message }) => {
            tracing::error!(node = node.into_str(), message, "a pipeline node failed");
            PipelineOutcome::Failed { node, message }
        }
        Err(EarlyEnd::Cancelled) => PipelineOutcome::Cancelled,
    }
}

/// Why a run ends before its last node.
enum EarlyEnd {
    Rejected { reason: String, warnings: Vec<Warning> },
    Failed { node: Node, message: String },
    Cancelled,
}

struct Execution<'a> {
    checkpoints: &'a dyn CheckpointStore,
    progress_sink: &'a dyn ProgressSink,
    token: CancelToken,
    workers: &'a Workers,
    engine: Arc<dyn Engine>,
    control: LoopControl,
}

impl Execution<'_> {
    async fn execute(&mut self, request: Request) -> Result<PipelineResult, EarlyEnd> {
        let Request { job_id, attempt: _, analysis_type, language, sources, bounds } = request;
        self.report_progress(Node::PrepareSources, 0).await?;
        let (texts, offered) = self
            .run_blocking(Node::PrepareSources, move |control: &LoopControl| {
                let mut texts = Texts::default();
                let mut offered = Vec::new();
                for (done, source) in sources.iter().enumerate() {
                    control.report(done, sources.len())?;
                    let digest = match &source.text {
                        Ok(text) => Ok(texts.open(Arc::clone(text))),
                        Err(unreadable) => {
                            texts.leave_out();
                            Err(unreadable.clone())
                        }
                    };
                    let (id, name) = (source.id.clone(), source.name.clone());
                    offered.push(OfferedSource { id, kind: source.kind, name, digest });
                }
                Ok((texts, Offered { language, sources: offered }))
            })
            .await?;
        let mut context = NodeContext {
            texts: Arc::new(texts),
            corpus: Arc::new(Corpus::default()),
            engine: Arc::clone(&self.engine),
            control: self.control.clone(),
        };

        let (prepared, _) = self.step::<PrepareSources>(offered, &context).await?;
        let mut warnings = prepared.warnings;
        if prepared.sources.is_empty() {
            return Err(nothing_to_read(warnings));
        }
        let (transcribed, _) =
            self.step::<TranscribeRecordings>(Transcribed { sources: prepared.sources }, &context).await?;
        let sources = transcribed.sources;

        let (index, index_hash) =
            self.step::<BuildSourceIndex>(ToIndex { sources: sources.clone(), bounds }, &context).await?;
        if !index.has_prose() {
            let reason = "There is nothing to analyse: the sources hold no sentence.".to_owned();
            return Err(EarlyEnd::Rejected { reason, warnings });
        }
        warnings.extend(index.warnings(&sources, bounds));
        let (texts, engine) = (Arc::clone(&context.texts), Arc::clone(&self.engine));
        let corpus = self
            .run_blocking(Node::BuildSourceIndex, move |control: &LoopControl| {
                Corpus::new(texts, index, |sentence| engine.order(sentence), control)
            })
            .await?;
        warnings.extend(corpus.warnings(&sources));
        context.corpus = Arc::new(corpus);

        let to_extract = ToExtract { analysis_type, index_hash: index_hash.clone(), bounds };
        let (mut found, _) = self.step::<ExtractRequirements>(to_extract, &context).await?;
        let report = std::mem::take(&mut found.report);
        if let Some(message) = report.failure.clone() {
            return Err(EarlyEnd::Failed { node: Node::ExtractRequirements, message });
        }

        let to_classify = ToClassify { index_hash: index_hash.clone(), sources: sources.clone(), found, bounds };
        let (items, _) = self.step::<ClassifyRequirements>(to_classify, &context).await?;

        let (grounded, _) =
            self.step::<EvidenceGrounding>(ToGround { sources: sources.clone(), items }, &context).await?;
        let mut items = grounded.items;

        let requirements = items.requirements.clone();
        let to_generate = ToGenerate { analysis_type, index_hash: index_hash.clone(), requirements };
        let (generated, _) = self.step::<GenerateUserStories>(to_generate, &context).await?;

        let to_check = ToCheck { sources: sources.clone(), items: items.clone(), user_stories: generated.user_stories };
        let (checked, _) = self.step::<QualityChecks>(to_check, &context).await?;
        items.requirements = checked.requirements;
        let user_stories = checked.user_stories;

        let to_summarize = ToSummarize {
            index_hash,
            sources: sources.clone(),
            items: items.clone(),
            user_stories: user_stories.clone(),
        };
        let (summary, _) = self.step::<Summarize>(to_summarize, &context).await?;

        let quality = checked.quality;
        let dropped = grounded.dropped;
        let parts = FinalParts { job_id, sources, items, user_stories, quality, summary, dropped, warnings, report };
        let (result, _) = self.step::<Finalize>(parts, &context).await?;
        Ok(result)
    }

    /// Executes one node: loads its checkpoint if there is one for this input, and computes the output otherwise.
    /// Returns the output and the hash of the input.
    async fn step<S: Step>(&mut self, input: S::Input, context: &NodeContext) -> Result<(S::Output, String), EarlyEnd> {
        let node = S::NODE;
        self.control.restart();
        self.report_progress(node, 0).await?;
        let version = self.engine.version().to_owned();
        let salt = version.clone();
        let (input, hash) = self
            .run_blocking(node, move |_: &LoopControl| {
                let hash = hash_of(node, &salt, &input).map_err(|_| Halted)?;
                Ok((input, hash))
            })
            .await?;

        match self.checkpoints.load(node, &hash, &version).await {
            Ok(Some(serialized)) => match serde_json::from_str::<S::Output>(&serialized) {
                Ok(output) => return Ok((output, hash)),
                Err(fault) => {
                    tracing::warn!(%node, %fault, "the checkpoint could not be parsed; recomputing");
                }
            },
            Ok(None) => {}
            Err(fault) => tracing::warn!(%node, %fault, "the checkpoint could not be loaded; recomputing"),
        }

        let context = context.clone();
        let (output, serialized) = self
            .run_blocking(node, move |_: &LoopControl| {
                let output = S::work(&input, &context)?;
                let serialized = serde_json::to_string(&output).ok();
                Ok((output, serialized))
            })
            .await?;
        let Some(serialized) = serialized else {
            return Err(internal_error(node));
        };
        if let Err(fault) = self.checkpoints.save(node, &hash, &version, &serialized).await {
            tracing::warn!(%node, %fault, "the checkpoint could not be stored");
        }
        Ok((output, hash))
    }

    /// Runs `work` on the worker pool and reports the node's progress every [`TICK`] meanwhile.
    async fn run_blocking<T, F>(&self, node: Node, work: F) -> Result<T, EarlyEnd>
    where
        T: Send + 'static,
        F: FnOnce(&LoopControl) -> Result<T, Halted> + Send + 'static,
    {
        let control = self.control.clone();
        let starting = self.workers.spawn(move || work(&control));
        tokio::pin!(starting);
        let mut ticks = interval_at(tokio::time::Instant::now() + TICK, TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut answer = loop {
            tokio::select! {
                biased;
                () = self.token.cancelled() => return Err(EarlyEnd::Cancelled),
                answer = &mut starting => break answer,
                _ = ticks.tick() => self.report_progress(node, self.control.permille()).await?,
            }
        };
        loop {
            tokio::select! {
                biased;
                () = self.token.cancelled() => return Err(EarlyEnd::Cancelled),
                result = &mut answer => return match result {
                    Ok(Ok(Ok(output))) => Ok(output),
                    Ok(Ok(Err(Halted))) => Err(EarlyEnd::Cancelled),
                    // The panic message may contain text of the sources, so it is not passed on.
                    Ok(Err(WorkPanicked)) => Err(internal_error(node)),
                    Err(_) => Err(EarlyEnd::Cancelled),
                },
                _ = ticks.tick() => self.report_progress(node, self.control.permille()).await?,
            }
        }
    }

    async fn report_progress(&self, node: Node, permille: u32) -> Result<(), EarlyEnd> {
        if self.token.is_cancelled() {
            return Err(EarlyEnd::Cancelled);
        }
        let reported = self.progress_sink.progressed(node, node.progress_within(permille), node.label()).await;
        reported.map_err(|_stop| EarlyEnd::Cancelled)
    }
}

fn internal_error(node: Node) -> EarlyEnd {
    EarlyEnd::Failed { node, message: format!("The step “{}” failed because of an internal error.", node.label()) }
}

fn nothing_to_read(warnings: Vec<Warning>) -> EarlyEnd {
    let reason = if warnings.is_empty() {
        "There is nothing to analyse: no source was given.".to_owned()
    } else {
        let each: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
        format!("There is nothing to analyse. {}", each.join(" "))
    };
    EarlyEnd::Rejected { reason, warnings }
}

/// Returns 64 hex digits of SHA-256 over the node's name, the engine version and the input's JSON.
fn hash_of<T: Serialize>(node: Node, version: &str, input: &T) -> Result<String, serde_json::Error> {
    let mut hasher = Sha256::new();
    hasher.update(node.into_str());
    hasher.update([0]);
    hasher.update(version);
    hasher.update([0]);
    hasher.update(serde_json::to_vec(input)?);
    Ok(hex::encode(hasher.finalize()))
}
