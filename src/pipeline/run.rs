//! Executes one run: the nodes in order, each loaded from its checkpoint or computed, with progress and cancellation.
//!
//! A panic in a node ends this run as [`PipelineOutcome::Failed`] and affects nothing else. Exhausted memory or an
//! endless loop affects the whole process, so a server runs this in a child process (see [`super::process`]). A
//! checkpoint store that does not answer costs time but does not fail the run: the node is computed again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval_at};

use super::engine::{Book, Embedded, Engine, Texts};
use super::loop_control::{Halted, LoopControl};
use super::nodes::build_source_index::{BuildSourceIndex, ToIndex};
use super::nodes::classify_requirements::{ClassifyRequirements, ToClassify};
use super::nodes::evidence_grounding::{EvidenceGrounding, ToGround};
use super::nodes::extract_requirements::{ExtractRequirements, ToRead};
use super::nodes::finalize::{FinalParts, Finalize};
use super::nodes::generate_user_stories::{GenerateUserStories, ToTell};
use super::nodes::prepare_sources::{Offered, OfferedSource, PrepareSources};
use super::nodes::quality_checks::{QualityChecks, ToCheck};
use super::nodes::summarize::{Summarize, ToSummarize};
use super::nodes::transcribe_recordings::{Spoken, TranscribeRecordings};
use super::nodes::{Node, NodeContext, Step};
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
    watcher: &dyn ProgressSink,
    cancel: CancelToken,
    workers: &Workers,
) -> PipelineOutcome {
    run_with(Arc::new(Embedded), request, checkpoints, watcher, cancel, workers).await
}

/// Runs with the given engine. Otherwise the same as [`run`].
pub async fn run_with(
    engine: Arc<dyn Engine>,
    request: Request,
    checkpoints: &dyn CheckpointStore,
    watcher: &dyn ProgressSink,
    cancel: CancelToken,
    workers: &Workers,
) -> PipelineOutcome {
    let started = Instant::now();
    let token = cancel.child_token();
    let _ends_with_this_future = token.clone().drop_guard();
    let pace = LoopControl::new(token.clone());
    let mut line = Execution { checkpoints, watcher, token, workers, engine, pace };
    match line.pass(request).await {
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
            tracing::error!(node = node.name(), message, "a pipeline node failed");
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
    watcher: &'a dyn ProgressSink,
    token: CancelToken,
    workers: &'a Workers,
    engine: Arc<dyn Engine>,
    pace: LoopControl,
}

impl Execution<'_> {
    async fn pass(&mut self, request: Request) -> Result<PipelineResult, EarlyEnd> {
        let Request { job_id, attempt: _, analysis_type, language, sources, bounds } = request;
        self.tell(Node::PrepareSources, 0).await?;
        let (texts, offered) = self
            .seated(Node::PrepareSources, move |pace: &LoopControl| {
                let mut texts = Texts::default();
                let mut offered = Vec::new();
                for (done, source) in sources.iter().enumerate() {
                    pace.mark(done, sources.len())?;
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
            book: Arc::new(Book::default()),
            engine: Arc::clone(&self.engine),
            pace: self.pace.clone(),
        };

        let (prepared, _) = self.step::<PrepareSources>(offered, &context).await?;
        let mut warnings = prepared.warnings;
        if prepared.sources.is_empty() {
            return Err(nothing_to_read(warnings));
        }
        let (spoken, _) = self.step::<TranscribeRecordings>(Spoken { sources: prepared.sources }, &context).await?;
        let sources = spoken.sources;

        let (index, index_hash) =
            self.step::<BuildSourceIndex>(ToIndex { sources: sources.clone(), bounds }, &context).await?;
        if !index.has_prose() {
            let reason = "There is nothing to analyse: the sources hold no sentence.".to_owned();
            return Err(EarlyEnd::Rejected { reason, warnings });
        }
        warnings.extend(index.warnings(&sources, bounds));
        let texts = Arc::clone(&context.texts);
        let book = self.seated(Node::BuildSourceIndex, move |pace: &LoopControl| Book::new(texts, index, pace)).await?;
        context.book = Arc::new(book);

        let to_read = ToRead { analysis_type, index_hash: index_hash.clone(), bounds };
        let (found, _) = self.step::<ExtractRequirements>(to_read, &context).await?;

        let to_classify = ToClassify { index_hash: index_hash.clone(), sources: sources.clone(), found, bounds };
        let (items, _) = self.step::<ClassifyRequirements>(to_classify, &context).await?;

        let (grounded, _) =
            self.step::<EvidenceGrounding>(ToGround { sources: sources.clone(), items }, &context).await?;
        let mut items = grounded.items;

        let requirements = items.requirements.clone();
        let to_tell = ToTell { analysis_type, index_hash: index_hash.clone(), requirements };
        let (told, _) = self.step::<GenerateUserStories>(to_tell, &context).await?;

        let to_check = ToCheck { sources: sources.clone(), items: items.clone(), user_stories: told.user_stories };
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
        let parts = FinalParts { job_id, sources, items, user_stories, quality, summary, dropped, warnings };
        let (result, _) = self.step::<Finalize>(parts, &context).await?;
        Ok(result)
    }

    /// Executes one node: loads its checkpoint if there is one for this input, and computes the output otherwise.
    /// Returns the output and the hash of the input.
    async fn step<S: Step>(&mut self, input: S::Input, context: &NodeContext) -> Result<(S::Output, String), EarlyEnd> {
        let node = S::NODE;
        self.pace.restart();
        self.tell(node, 0).await?;
        let version = self.engine.version().to_owned();
        let salt = version.clone();
        let (input, hash) = self
            .seated(node, move |_: &LoopControl| {
                let hash = hash_of(node, &salt, &input).map_err(|_| Halted)?;
                Ok((input, hash))
            })
            .await?;

        match self.checkpoints.load(node, &hash, &version).await {
            Ok(Some(kept)) => match serde_json::from_str::<S::Output>(&kept) {
                Ok(output) => return Ok((output, hash)),
                Err(fault) => tracing::warn!(node = node.name(), %fault, "a checkpoint could not be read; worked anew"),
            },
            Ok(None) => {}
            Err(fault) => tracing::warn!(node = node.name(), %fault, "no checkpoint to be had; worked anew"),
        }

        let context = context.clone();
        let (output, kept) = self
            .seated(node, move |_: &LoopControl| {
                let output = S::work(&input, &context)?;
                let kept = serde_json::to_string(&output).ok();
                Ok((output, kept))
            })
            .await?;
        let Some(kept) = kept else {
            return Err(broken(node));
        };
        if let Err(fault) = self.checkpoints.save(node, &hash, &version, &kept).await {
            tracing::warn!(node = node.name(), %fault, "a checkpoint was not kept");
        }
        Ok((output, hash))
    }

    /// Runs `work` on the worker pool and reports the node's progress every [`TICK`] meanwhile.
    async fn seated<T, F>(&self, node: Node, work: F) -> Result<T, EarlyEnd>
    where
        T: Send + 'static,
        F: FnOnce(&LoopControl) -> Result<T, Halted> + Send + 'static,
    {
        let pace = self.pace.clone();
        let seating = self.workers.seat(move || work(&pace));
        tokio::pin!(seating);
        let mut ticks = interval_at(tokio::time::Instant::now() + TICK, TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut answer = loop {
            tokio::select! {
                biased;
                () = self.token.cancelled() => return Err(EarlyEnd::Cancelled),
                answer = &mut seating => break answer,
                _ = ticks.tick() => self.tell(node, self.pace.permille()).await?,
            }
        };
        loop {
            tokio::select! {
                biased;
                () = self.token.cancelled() => return Err(EarlyEnd::Cancelled),
                told = &mut answer => return match told {
                    Ok(Ok(Ok(output))) => Ok(output),
                    Ok(Ok(Err(Halted))) => Err(EarlyEnd::Cancelled),
                    // The panic message may contain text of the sources, so it is not passed on.
                    Ok(Err(WorkPanicked)) => Err(broken(node)),
                    Err(_) => Err(EarlyEnd::Cancelled),
                },
                _ = ticks.tick() => self.tell(node, self.pace.permille()).await?,
            }
        }
    }

    async fn tell(&self, node: Node, permille: u32) -> Result<(), EarlyEnd> {
        if self.token.is_cancelled() {
            return Err(EarlyEnd::Cancelled);
        }
        let told = self.watcher.progressed(node, node.progress_within(permille), node.label()).await;
        told.map_err(|_stop| EarlyEnd::Cancelled)
    }
}

fn broken(node: Node) -> EarlyEnd {
    EarlyEnd::Failed { node, message: format!("The step “{}” failed because of a fault of ours.", node.label()) }
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
    hasher.update(node.name());
    hasher.update([0]);
    hasher.update(version);
    hasher.update([0]);
    hasher.update(serde_json::to_vec(input)?);
    Ok(hex::encode(hasher.finalize()))
}
