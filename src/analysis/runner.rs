//! Works at unfinished runs: the sources into the pipeline, its progress to the run's actor, what it found into the store.
//!
//! The run's actor decides what counts; the runner only reports, with the attempt it works at. A run that nobody works at
//! (the server was killed, the database was away) is found by the sweep and goes on at the node it was in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::run::{self, Command, Refusal, Warning};
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Semaphore;
use tracing::Instrument;

use super::{Run, results, store};
use crate::app::App;
use crate::db::{Failed, Key};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::pipeline::{
    self, AnalysisType, CancelToken, Checkpoints, Node, Outcome, Request, Source, SourceKind, Stop, Unavailable,
    Watcher, Workers,
};
use crate::projects::documents;

/// How often runs that nobody works at are looked for.
const SWEEP: Duration = Duration::from_secs(5);
/// Runs that are worked at in turns; the pipeline's own pool bounds the processors.
const AT_ONCE: usize = 4;

/// Who works at what.
#[derive(Clone)]
pub struct Runner {
    under_way: Arc<Mutex<HashMap<Id<run::Run>, CancelToken>>>,
    places: Arc<Semaphore>,
    workers: Workers,
    keeping: Arc<tokio::sync::Mutex<()>>,
}

impl Runner {
    #[must_use]
    pub fn new(workers: Workers) -> Self {
        Self { under_way: Arc::default(), places: Arc::new(Semaphore::new(AT_ONCE)), workers, keeping: Arc::default() }
    }

    /// Begins to work at a run, unless somebody does.
    pub fn begin(&self, app: &App, id: Id<run::Run>) {
        let token = CancelToken::new();
        {
            let mut under_way = self.under_way();
            if under_way.contains_key(&id) {
                return;
            }
            under_way.insert(id, token.clone());
        }
        let (runner, app) = (self.clone(), app.clone());
        let tasks = app.tasks.clone();
        tasks.spawn(async move {
            let stopping = app.tasks.stopping();
            tokio::select! {
                () = runner.work(&app, id, &token) => {}
                () = stopping.cancelled() => {}
            }
            runner.under_way().remove(&id);
        });
    }

    /// Stops the work at a run; whether to begin it again is the run's own affair.
    pub fn cancel(&self, id: Id<run::Run>) {
        if let Some(token) = self.under_way().get(&id) {
            token.cancel();
        }
    }

    /// Begins what nobody works at, again and again until the server stops.
    pub async fn sweep(self, app: App) {
        let stopping = app.tasks.stopping();
        loop {
            match app.db.read(|conn| Box::pin(store::all_unfinished(conn))).await {
                Ok(unfinished) => unfinished.into_iter().for_each(|id| self.begin(&app, id)),
                Err(error) => tracing::warn!(%error, "unfinished runs could not be looked for"),
            }
            tokio::select! {
                () = tokio::time::sleep(SWEEP) => {}
                () = stopping.cancelled() => return,
            }
        }
    }

    /// Results are kept one after the other, so that the same statement of two runs becomes one item.
    pub(super) async fn keeping(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.keeping.lock().await
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id<run::Run>, CancelToken>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn work(&self, app: &App, id: Id<run::Run>, token: &CancelToken) {
        let Ok(_place) = self.places.acquire().await else { return };
        let found = app.runs.snapshot(id).await;
        let Ok(Some(run)) = found else { return };
        if run.state.is_over() {
            return;
        }
        let request: RequestId = format!("run-{id}-{}", run.state.attempt).into();
        let span = tracing::info_span!("run", request_id = %request);
        if let Err(failure) = self.attempt(app, &run, token, &request).instrument(span).await {
            tracing::warn!(%failure, run = %id, "work at a run broke off; the sweep takes it up again");
        }
    }

    async fn attempt(&self, app: &App, run: &Run, token: &CancelToken, request: &RequestId) -> Result<(), Failure> {
        let since = Mutex::new((Node::Queued, app.now()));
        let report = Report { app, id: run.state.id, attempt: run.state.attempt, request, since };
        if report.tell(Command::Begin { attempt: run.state.attempt }).await?.is_err() {
            return Ok(());
        }
        let asked = self::request(app, run).await?;
        let kept = Kept { app, id: run.state.id, attempt: run.state.attempt };
        let outcome = pipeline::run(asked, &kept, &report, token.clone(), &self.workers).await;
        let attempt = run.state.attempt;
        let command = match outcome {
            Outcome::Completed(result) => {
                results::operations::keep(app, &run.state, *result).await?;
                Command::Complete { attempt, warnings: Vec::new() }
            }
            Outcome::Partial(result, warnings) => {
                results::operations::keep(app, &run.state, *result).await?;
                Command::Complete { attempt, warnings: warnings.into_iter().map(source_failed).collect() }
            }
            Outcome::Rejected { reason, .. } => Command::Reject { attempt, reason },
            Outcome::Failed { message, .. } => Command::Fail { attempt, message },
            // By the run's actor, which knows it already, or by the end of the server.
            Outcome::Cancelled => return Ok(()),
        };
        // A refusal says that the attempt is no longer wanted.
        let _ = report.tell(command).await?;
        let id = run.state.id;
        let forgotten = app.db.write(move |conn| Box::pin(store::forget_node_outputs(conn, id))).await;
        if let Err(error) = forgotten {
            tracing::debug!(%error, "the outputs of a run's nodes stay until its next attempt");
        }
        Ok(())
    }
}

/// A source that gave nothing has failed, whatever the reason; the pipeline's own warnings keep their codes.
fn source_failed(warning: pipeline::result::Warning) -> Warning {
    let failed = warning.is_of_a_failed_source();
    Warning {
        code: if failed { Warning::SOURCE_FAILED.to_owned() } else { warning.code },
        message: warning.message,
        source_id: warning.source_id.and_then(|id| id.parse().ok()),
    }
}

async fn request(app: &App, run: &Run) -> Result<Request, Failure> {
    let ids = run.state.document_ids.clone();
    let texts = documents::operations::texts(&app.db, run.state.project_id, ids).await.map_err(Failure::from)?;
    let mut sources = Vec::with_capacity(run.state.document_ids.len());
    for id in &run.state.document_ids {
        let name = id.to_string();
        sources.push(match texts.iter().find(|text| text.id == *id) {
            Some(found) => match &found.text {
                Ok(text) => Source::document(name, found.file_name.clone(), Arc::clone(text)),
                Err(why) => {
                    Source::unreadable(name, SourceKind::Document, found.file_name.clone(), "Unreadable", why.clone())
                }
            },
            None => {
                Source::unreadable(name, SourceKind::Document, "a document", "Deleted", "The document was deleted.")
            }
        });
    }
    Ok(Request {
        job_id: run.state.ai_job_id.to_string(),
        attempt: run.state.attempt,
        analysis_type: match run.state.analysis_type {
            run::AnalysisType::Full => AnalysisType::Full,
            run::AnalysisType::Requirements => AnalysisType::Requirements,
            run::AnalysisType::UserStories => AnalysisType::UserStories,
            run::AnalysisType::MeetingMinutes => AnalysisType::MeetingMinutes,
        },
        language: serde_json::from_value(Value::String(run.state.language.clone())).unwrap_or(pipeline::Language::Auto),
        sources,
        bounds: pipeline::Bounds::default(),
    })
}

/// Tells the run's actor how far its work is.
struct Report<'a> {
    app: &'a App,
    id: Id<run::Run>,
    attempt: u32,
    request: &'a RequestId,
    /// The node under way, and since when.
    since: Mutex<(Node, Time)>,
}

impl Report<'_> {
    /// The pipeline's message, and how long its node has been at work: so that a long node is told of every second even
    /// where its share of the whole is less than a hundredth.
    fn timed(&self, node: Node, message: &str) -> String {
        let now = self.app.now();
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.0 != node {
            *since = (node, now);
        }
        match now.since(since.1).as_secs() {
            0 => message.to_owned(),
            seconds => format!("{message} ({seconds} s)"),
        }
    }

    /// Outer error: it could not be told. Inner: the run refuses, its work is not wanted.
    async fn tell(&self, command: Command) -> Result<Result<(), Refusal>, Failure> {
        match self.app.runs.ask(self.id, command, Arc::clone(self.request)).await {
            Ok(_) => Ok(Ok(())),
            Err(shell::Failure::Refused(refusal)) => Ok(Err(refusal)),
            Err(shell::Failure::Missing) => Err(Failure::of(Code::NOT_FOUND)),
            Err(other) => Err(Failure::unavailable(format!("{other:?}"))),
        }
    }
}

#[async_trait]
impl Watcher for Report<'_> {
    async fn progressed(&self, node: Node, progress: u8, message: &str) -> Result<(), Stop> {
        let message = self.timed(node, message);
        let Ok(node) = node.name().parse() else { return Ok(()) };
        let command = Command::Progress { attempt: self.attempt, node, progress, message };
        match self.tell(command).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Stop),
            Err(failure) if failure.code == Code::NOT_FOUND => Err(Stop),
            // The database is away for a moment: the work itself goes on.
            Err(failure) => {
                tracing::warn!(%failure, "progress could not be told");
                Ok(())
            }
        }
    }
}

/// Keeps what nodes gave.
struct Kept<'a> {
    app: &'a App,
    id: Id<run::Run>,
    attempt: u32,
}

#[async_trait]
impl Checkpoints for Kept<'_> {
    async fn load(&self, node: Node, input_hash: &str, engine_version: &str) -> Result<Option<Value>, Unavailable> {
        let (id, input_hash, engine_version) = (self.id, input_hash.to_owned(), engine_version.to_owned());
        let found = self.app.db.read(move |conn| {
            Box::pin(async move { store::node_output(conn, id, node.name(), &input_hash, &engine_version).await })
        });
        let found: Option<String> = found.await.map_err(|error: Failed| Unavailable(error.to_string()))?;
        found.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| Unavailable(error.to_string()))
    }

    async fn save(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
        output: &Value,
    ) -> Result<(), Unavailable> {
        let output = store::NodeOutput {
            run_id: Key(self.id),
            attempt: i64::from(self.attempt),
            node: node.name().to_owned(),
            input_hash: input_hash.to_owned(),
            engine_version: engine_version.to_owned(),
            output: output.to_string(),
        };
        let kept = self.app.db.write(move |conn| Box::pin(store::keep_node_output(conn, output))).await;
        kept.map_err(|error| Unavailable(error.to_string()))
    }
}
