//! One run: the nodes in order, each from its checkpoint or worked anew, watched and cancellable at any moment.
//!
//! A panic in a node ends this run as [`Outcome::Failed`] and nothing else. What takes all memory, or never ends, takes its process along:
//! a server runs this in a child (see [`super::process`]). A store of checkpoints that does not answer costs time,
//! not the run: the node is worked again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval_at};

use super::engine::{Book, Embedded, Engine, Texts};
use super::nodes::build_source_index::{BuildSourceIndex, ToIndex};
use super::nodes::classify_requirements::{ClassifyRequirements, ToClassify};
use super::nodes::evidence_grounding::{EvidenceGrounding, ToGround};
use super::nodes::extract_requirements::{ExtractRequirements, ToRead};
use super::nodes::finalize::{Finalize, Parts};
use super::nodes::generate_user_stories::{GenerateUserStories, ToTell};
use super::nodes::prepare_sources::{Offered, OfferedSource, PrepareSources};
use super::nodes::quality_checks::{QualityChecks, ToCheck};
use super::nodes::summarize::{Summarize, ToSummarize};
use super::nodes::transcribe_recordings::{Spoken, TranscribeRecordings};
use super::nodes::{Desk, Node, Step};
use super::pace::{Halted, Pace};
use super::ports::{Checkpoints, Watcher};
use super::request::{CancelToken, Request};
use super::result::{PipelineResult, ResultStatus, Warning};
use super::workers::{Panicked, Workers};

/// How often a node under way tells where it stands.
const TICK: Duration = Duration::from_millis(500);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    Completed(Box<PipelineResult>),
    /// Some sources could not be read; the warnings, also in the result, say which.
    Partial(Box<PipelineResult>, Vec<Warning>),
    /// There was nothing to analyse.
    Rejected {
        reason: String,
        warnings: Vec<Warning>,
    },
    Failed {
        node: Node,
        /// A sentence for the run's owner, and for the log: without internals, and without text of the sources.
        message: String,
    },
    /// By the token or by the watcher.
    Cancelled,
}

impl Outcome {
    /// There is more in the result than anybody keeps.
    #[must_use]
    pub fn too_much() -> Self {
        let message = "More was found than one analysis keeps. Analyse fewer documents at once.".to_owned();
        Self::Failed { node: Node::Finalize, message }
    }
}

/// Runs with the embedded engine. Never panics; dropping the future ends the work under way.
pub async fn run(
    request: Request,
    checkpoints: &dyn Checkpoints,
    watcher: &dyn Watcher,
    cancel: CancelToken,
    workers: &Workers,
) -> Outcome {
    run_with(Arc::new(Embedded), request, checkpoints, watcher, cancel, workers).await
}

/// Runs with any engine.
pub async fn run_with(
    engine: Arc<dyn Engine>,
    request: Request,
    checkpoints: &dyn Checkpoints,
    watcher: &dyn Watcher,
    cancel: CancelToken,
    workers: &Workers,
) -> Outcome {
    let started = Instant::now();
    let token = cancel.child_token();
    let _ends_with_this_future = token.clone().drop_guard();
    let pace = Pace::new(token.clone());
    let mut line = Line { checkpoints, watcher, token, workers, engine, pace };
    match line.pass(request).await {
        Ok(mut result) => {
            result.metrics.processing_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let warnings = result.warnings.clone();
            match result.status {
                ResultStatus::Completed => Outcome::Completed(Box::new(result)),
                ResultStatus::Partial => Outcome::Partial(Box::new(result), warnings),
            }
        }
        Err(End::Rejected { reason, warnings }) => Outcome::Rejected { reason, warnings },
        Err(End::Failed { node, message }) => {
            tracing::error!(node = node.name(), message, "a pipeline node failed");
            Outcome::Failed { node, message }
        }
        Err(End::Cancelled) => Outcome::Cancelled,
    }
}

/// Why a run ends before its last node.
enum End {
    Rejected { reason: String, warnings: Vec<Warning> },
    Failed { node: Node, message: String },
    Cancelled,
}

struct Line<'a> {
    checkpoints: &'a dyn Checkpoints,
    watcher: &'a dyn Watcher,
    token: CancelToken,
    workers: &'a Workers,
    engine: Arc<dyn Engine>,
    pace: Pace,
}

impl Line<'_> {
    async fn pass(&mut self, request: Request) -> Result<PipelineResult, End> {
        let Request { job_id, attempt: _, analysis_type, language, sources, bounds } = request;
        self.tell(Node::PrepareSources, 0).await?;
        let (texts, offered) = self
            .seated(Node::PrepareSources, move |pace: &Pace| {
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
        let mut desk = Desk {
            texts: Arc::new(texts),
            book: Arc::new(Book::default()),
            engine: Arc::clone(&self.engine),
            pace: self.pace.clone(),
        };

        let (prepared, _) = self.step::<PrepareSources>(offered, &desk).await?;
        let mut warnings = prepared.warnings;
        if prepared.sources.is_empty() {
            return Err(nothing_to_read(warnings));
        }
        let (spoken, _) = self.step::<TranscribeRecordings>(Spoken { sources: prepared.sources }, &desk).await?;
        let sources = spoken.sources;

        let (index, index_hash) =
            self.step::<BuildSourceIndex>(ToIndex { sources: sources.clone(), bounds }, &desk).await?;
        if !index.has_prose() {
            let reason = "There is nothing to analyse: the sources hold no sentence.".to_owned();
            return Err(End::Rejected { reason, warnings });
        }
        warnings.extend(index.warnings(&sources, bounds));
        let texts = Arc::clone(&desk.texts);
        let book = self.seated(Node::BuildSourceIndex, move |pace: &Pace| Book::new(texts, index, pace)).await?;
        desk.book = Arc::new(book);

        let to_read = ToRead { analysis_type, index_hash: index_hash.clone(), bounds };
        let (found, _) = self.step::<ExtractRequirements>(to_read, &desk).await?;

        let to_classify = ToClassify { index_hash: index_hash.clone(), sources: sources.clone(), found, bounds };
        let (items, _) = self.step::<ClassifyRequirements>(to_classify, &desk).await?;

        let (grounded, _) = self.step::<EvidenceGrounding>(ToGround { sources: sources.clone(), items }, &desk).await?;
        let mut items = grounded.items;

        let requirements = items.requirements.clone();
        let to_tell = ToTell { analysis_type, index_hash: index_hash.clone(), requirements };
        let (told, _) = self.step::<GenerateUserStories>(to_tell, &desk).await?;

        let to_check = ToCheck { sources: sources.clone(), items: items.clone(), user_stories: told.user_stories };
        let (checked, _) = self.step::<QualityChecks>(to_check, &desk).await?;
        items.requirements = checked.requirements;
        let user_stories = checked.user_stories;

        let to_summarize = ToSummarize {
            index_hash,
            sources: sources.clone(),
            items: items.clone(),
            user_stories: user_stories.clone(),
        };
        let (summary, _) = self.step::<Summarize>(to_summarize, &desk).await?;

        let quality = checked.quality;
        let dropped = grounded.dropped;
        let parts = Parts { job_id, sources, items, user_stories, quality, summary, dropped, warnings };
        let (result, _) = self.step::<Finalize>(parts, &desk).await?;
        Ok(result)
    }

    /// One node: its checkpoint if there is one for this input, else its work. Gives the output and the input's hash.
    async fn step<S: Step>(&mut self, input: S::Input, desk: &Desk) -> Result<(S::Output, String), End> {
        let node = S::NODE;
        self.pace.restart();
        self.tell(node, 0).await?;
        let version = self.engine.version().to_owned();
        let salt = version.clone();
        let (input, hash) = self
            .seated(node, move |_: &Pace| {
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

        let desk = desk.clone();
        let (output, kept) = self
            .seated(node, move |_: &Pace| {
                let output = S::work(&input, &desk)?;
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

    /// Works on the pool and, meanwhile, tells every [`TICK`] where the node stands.
    async fn seated<T, F>(&self, node: Node, work: F) -> Result<T, End>
    where
        T: Send + 'static,
        F: FnOnce(&Pace) -> Result<T, Halted> + Send + 'static,
    {
        let pace = self.pace.clone();
        let seating = self.workers.seat(move || work(&pace));
        tokio::pin!(seating);
        let mut ticks = interval_at(tokio::time::Instant::now() + TICK, TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut answer = loop {
            tokio::select! {
                biased;
                () = self.token.cancelled() => return Err(End::Cancelled),
                answer = &mut seating => break answer,
                _ = ticks.tick() => self.tell(node, self.pace.permille()).await?,
            }
        };
        loop {
            tokio::select! {
                biased;
                () = self.token.cancelled() => return Err(End::Cancelled),
                told = &mut answer => return match told {
                    Ok(Ok(Ok(output))) => Ok(output),
                    Ok(Ok(Err(Halted))) => Err(End::Cancelled),
                    // What it panicked with may be words of the sources.
                    Ok(Err(Panicked)) => Err(broken(node)),
                    Err(_) => Err(End::Cancelled),
                },
                _ = ticks.tick() => self.tell(node, self.pace.permille()).await?,
            }
        }
    }

    async fn tell(&self, node: Node, permille: u32) -> Result<(), End> {
        if self.token.is_cancelled() {
            return Err(End::Cancelled);
        }
        let told = self.watcher.progressed(node, node.progress_within(permille), node.label()).await;
        told.map_err(|_stop| End::Cancelled)
    }
}

fn broken(node: Node) -> End {
    End::Failed { node, message: format!("The step “{}” failed because of a fault of ours.", node.label()) }
}

fn nothing_to_read(warnings: Vec<Warning>) -> End {
    let reason = if warnings.is_empty() {
        "There is nothing to analyse: no source was given.".to_owned()
    } else {
        let each: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
        format!("There is nothing to analyse. {}", each.join(" "))
    };
    End::Rejected { reason, warnings }
}

/// 64 hex digits over node, engine version and the input's JSON.
fn hash_of<T: Serialize>(node: Node, version: &str, input: &T) -> Result<String, serde_json::Error> {
    let mut hasher = Sha256::new();
    hasher.update(node.name());
    hasher.update([0]);
    hasher.update(version);
    hasher.update([0]);
    hasher.update(serde_json::to_vec(input)?);
    Ok(hex::encode(hasher.finalize()))
}
