//! An attempt whose work the pipeline service does: sends the sources, follows the job, and takes its result.
//!
//! ```text
//!  status ── 404 ──> send the sources ──┐        over          result       quotes verified
//!    ^  └─ unfinished ── progress ──────┤ ──────────────> Begin ─────> check ─────────────> outcome
//!    └───── pause, longer while the service is away ──┘
//! ```
//! The job has the run's `aiJobId`, which is new in each attempt: a late answer of an older attempt is about another
//! job. A server that was restarted finds the job by its id; a service that was restarted goes on with it. While the
//! service is away the attempt waits, however long, and the run says so. Only fetching a result counts as taking up the
//! work once more: nothing before can bring this server down.

use std::sync::Arc;
use std::time::Duration;

use actors::run::{self, Command, Node};
use pipeline::process::RequestOutline;
use pipeline::remote::{PipelineJob, PipelineProcessingStatus as Status, ResultVerification};
use pipeline::result::ResultStatus;
use pipeline::{CancelToken, PipelineOutcome, PipelineResult, ProgressSink, TextStore};
use readers::SourceText;
use tokio::task::spawn_blocking;

use super::Attempt;
use crate::clients::pipeline::{PipelineRefusal, PipelineService, line};
use crate::http::error::ApiError;

/// How long after an answer the job is looked at again; longer each time that nothing has changed.
const FIRST_CHECK_INTERVAL: Duration = Duration::from_millis(50);
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long a service that is away is left alone; longer each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause that a service may ask for.
const MAX_WANTED_PAUSE: Duration = Duration::from_secs(120);
/// How many invalid answers in a row are one too many.
const MAX_INVALID: u32 = 5;
/// How often sources are sent that do not arrive, although the service is there.
const MAX_UNSENT: u32 = 8;
/// How often a cancellation is tried.
const CANCELLATIONS: u32 = 5;

const AWAY: &str = "The pipeline service can't be reached or is busy; the analysis goes on as soon as it can";
const WAITING: &str = "Waiting for the pipeline service to begin";

/// What following a job came to.
enum Followed<T> {
    Done(T),
    /// The run ends without anything that was found.
    Ended(PipelineOutcome),
}

impl Attempt<'_> {
    /// # Errors
    /// The attempt was interrupted and has to be started again.
    pub(super) async fn work_remotely(
        &self,
        service: &Arc<PipelineService>,
        outline: &RequestOutline,
        token: &CancelToken,
    ) -> Result<PipelineOutcome, ApiError> {
        let job = RemoteJob { attempt: self, service, outline, token };
        let outcome = job.outcome().await?;
        if matches!(outcome, PipelineOutcome::Cancelled) {
            self.cancel_remotely(service);
        }
        Ok(outcome)
    }

    /// Cancels the job without waiting for it. A job that can't be cancelled ends by itself, and nobody fetches its
    /// result.
    fn cancel_remotely(&self, service: &Arc<PipelineService>) {
        let (service, request, id) = (Arc::clone(service), Arc::clone(&self.request), self.run.ai_job_id);
        let stopping = self.state.tasks.stopping();
        self.state.tasks.spawn(async move {
            let mut pause = FIRST_PAUSE;
            for _ in 0..CANCELLATIONS {
                let Err(PipelineRefusal::Away(why, _)) = service.cancel(id, &request).await else { return };
                tracing::warn!(why, job = %id, "the job of a cancelled run could not be cancelled yet");
                if stopping.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                    return;
                }
                pause *= 2;
            }
        });
    }
}

/// The job of an attempt.
struct RemoteJob<'a> {
    attempt: &'a Attempt<'a>,
    service: &'a PipelineService,
    outline: &'a RequestOutline,
    token: &'a CancelToken,
}

impl RemoteJob<'_> {
    async fn outcome(&self) -> Result<PipelineOutcome, ApiError> {
        let job = match self.follow().await? {
            Followed::Done(job) => job,
            Followed::Ended(outcome) => return Ok(outcome),
        };
        let why = job.error_message.as_deref().map(line).unwrap_or_default();
        let failed = |message: String| PipelineOutcome::Failed { node: job.current_node, message };
        match job.status {
            Status::Rejected => Ok(PipelineOutcome::Rejected { reason: why, warnings: Vec::new() }),
            Status::Failed => Ok(failed(why)),
            Status::Cancelled => Ok(failed("The pipeline service cancelled the analysis.".to_owned())),
            _ => self.found().await,
        }
    }

    /// Waits until the job has ended, and passes its progress on.
    async fn follow(&self) -> Result<Followed<PipelineJob>, ApiError> {
        let mut pauses = PollPauses::new();
        let mut seen = None;
        loop {
            let looked = match self.token.run_until_cancelled(self.fetch_job()).await {
                Some(looked) => looked,
                None => return Ok(Followed::Ended(PipelineOutcome::Cancelled)),
            };
            let looked = match looked {
                Ok(job) if job.job_id != self.attempt.run.ai_job_id => {
                    Err(PipelineRefusal::Invalid("the pipeline service answers for another job".to_owned()))
                }
                looked => looked,
            };
            let pause = match looked {
                Ok(job) if job.status.is_over() => return Ok(Followed::Done(job)),
                Ok(job) => {
                    let is_new = seen.as_ref() != Some(&job);
                    if is_new && !self.progressed(&job).await? {
                        return Ok(Followed::Ended(PipelineOutcome::Cancelled));
                    }
                    seen = Some(job);
                    pauses.answered(is_new)
                }
                Err(refusal) => match self.pause_or_end(refusal, &mut pauses).await? {
                    Followed::Done(pause) => pause,
                    Followed::Ended(outcome) => return Ok(Followed::Ended(outcome)),
                },
            };
            if self.token.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return Ok(Followed::Ended(PipelineOutcome::Cancelled));
            }
        }
    }

    /// Returns where the job stands; sends the sources if the service does not know it.
    async fn fetch_job(&self) -> Result<PipelineJob, PipelineRefusal> {
        let (id, request) = (self.attempt.run.ai_job_id, &self.attempt.request);
        match self.service.status(id, request).await {
            Err(PipelineRefusal::Missing) => {}
            looked => return looked,
        }
        match self.service.process(id, self.outline, self.attempt, request).await {
            // It came in the meantime, with the sources as they were then.
            Err(PipelineRefusal::Conflict) => self.service.status(id, request).await,
            Err(PipelineRefusal::Missing) => Err(PipelineRefusal::Misconfigured(
                "There is no pipeline service at pipeline.url (404). Correct the address.".to_owned(),
            )),
            sent => sent,
        }
    }

    /// Returns how long to wait after a refusal, or how the run ends by it.
    async fn pause_or_end(
        &self,
        refusal: PipelineRefusal,
        pauses: &mut PollPauses,
    ) -> Result<Followed<Duration>, ApiError> {
        let (id, node) = (self.attempt.run.ai_job_id, self.attempt.run.node());
        let failed = |message: String| Ok(Followed::Ended(PipelineOutcome::Failed { node, message }));
        match refusal {
            PipelineRefusal::Away(why, wanted) => {
                tracing::warn!(why, job = %id, "the pipeline service is away");
                let is_wanted = self.report(AWAY).await?;
                let pause = pauses.away().max(wanted.unwrap_or_default().min(MAX_WANTED_PAUSE));
                Ok(if is_wanted { Followed::Done(pause) } else { Followed::Ended(PipelineOutcome::Cancelled) })
            }
            PipelineRefusal::Invalid(why) => {
                tracing::error!(why, job = %id, "the pipeline service gave an invalid answer");
                match pauses.invalid() {
                    Some(pause) => Ok(Followed::Done(pause)),
                    None => failed(format!("The analysis was given up: {why}.")),
                }
            }
            PipelineRefusal::Unsent(why) => {
                tracing::warn!(why, job = %id, "the sources could not be sent to the pipeline service");
                match pauses.unsent() {
                    Some(pause) => Ok(Followed::Done(pause)),
                    None => failed(format!("The sources could not be sent to the pipeline service: {why}.")),
                }
            }
            PipelineRefusal::Misconfigured(message) => failed(message),
            PipelineRefusal::Refused(why) => failed(format!("The pipeline service refuses the analysis: {why}")),
            PipelineRefusal::Missing | PipelineRefusal::Conflict => {
                Err(ApiError::unavailable("the pipeline service has lost the job"))
            }
            PipelineRefusal::Texts(unavailable) => Err(ApiError::unavailable(unavailable)),
        }
    }

    /// Passes progress on. Returns false if the run does not want it any more.
    async fn progressed(&self, job: &PipelineJob) -> Result<bool, ApiError> {
        if job.status == Status::Queued {
            return self.report(WAITING).await;
        }
        let node = job.current_node.clamp(Node::PrepareSources, Node::Finalize);
        Ok(self.attempt.progressed(node, job.progress.min(99), node.label()).await.is_ok())
    }

    /// Shows a message at the node that the run has reached. Returns false if the run does not want it any more.
    async fn report(&self, message: &str) -> Result<bool, ApiError> {
        let (id, attempt) = (self.attempt.run.id, self.attempt.run.attempt);
        let run = self.attempt.state.registry.snapshot(id).await.map_err(|away| ApiError::unavailable(away.0))?;
        let Some(node) = run.map(|run| run.state.node()) else { return Ok(false) };
        let command = Command::Progress { attempt, node, progress: 0, message: message.to_owned() };
        Ok(self.attempt.send(command).await?.is_ok())
    }

    /// Fetches what was found, and checks it.
    async fn found(&self) -> Result<PipelineOutcome, ApiError> {
        let attempt = self.attempt.run.attempt;
        match self.attempt.send(Command::Begin { attempt }).await? {
            Ok(run) if matches!(run.state.state, run::State::Processing { .. }) => {}
            _ => return Ok(PipelineOutcome::Cancelled),
        }
        let result = match self.fetch().await? {
            Followed::Done(result) => result,
            Followed::Ended(outcome) => return Ok(outcome),
        };
        let unacceptable = |why: String| {
            tracing::error!(why, run = %self.attempt.run.id, "the result of the pipeline service is not accepted");
            let message = format!("The result of the pipeline service is not accepted: {why}.");
            Ok(PipelineOutcome::Failed { node: Node::Finalize, message })
        };
        let mut verification = match ResultVerification::new(result) {
            Ok(verification) => verification,
            Err(why) => return unacceptable(why.to_string()),
        };
        for source in self.outline.sources.iter().filter(|source| source.unreadable.is_none()) {
            let text = self.attempt.text(&source.id).await.map_err(ApiError::unavailable)?;
            let (id, kind) = (source.id.clone(), source.kind);
            let looked = spawn_blocking(move || {
                let text: SourceText = serde_json::from_str(&text)?;
                verification.look_in(&id, kind, Arc::new(text));
                Ok::<_, serde_json::Error>(verification)
            });
            verification = looked.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
        }
        let result = verification.finish();
        let warnings = result.warnings.clone();
        Ok(match result.status {
            ResultStatus::Completed if warnings.is_empty() => PipelineOutcome::Completed(Box::new(result)),
            ResultStatus::Completed | ResultStatus::Partial => PipelineOutcome::Partial(Box::new(result), warnings),
        })
    }

    async fn fetch(&self) -> Result<Followed<PipelineResult>, ApiError> {
        let (id, request) = (self.attempt.run.ai_job_id, &self.attempt.request);
        let mut pauses = PollPauses::new();
        loop {
            let Some(fetched) = self.token.run_until_cancelled(self.service.result(id, request)).await else {
                return Ok(Followed::Ended(PipelineOutcome::Cancelled));
            };
            let refusal = match fetched {
                Ok(result) if result.job_id == id => match result.into_result() {
                    Some(result) => return Ok(Followed::Done(result)),
                    None => PipelineRefusal::Invalid("a job that has ended well has no result".to_owned()),
                },
                Ok(_) => PipelineRefusal::Invalid("the result is another job's".to_owned()),
                Err(refusal) => refusal,
            };
            let pause = match self.pause_or_end(refusal, &mut pauses).await? {
                Followed::Done(pause) => pause,
                Followed::Ended(outcome) => return Ok(Followed::Ended(outcome)),
            };
            if self.token.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return Ok(Followed::Ended(PipelineOutcome::Cancelled));
            }
        }
    }
}

/// How long to wait until the service is asked again.
struct PollPauses {
    look: Duration,
    pause: Duration,
    invalid: u32,
    unsent: u32,
}

impl PollPauses {
    const fn new() -> Self {
        Self { look: FIRST_CHECK_INTERVAL, pause: FIRST_PAUSE, invalid: 0, unsent: 0 }
    }

    /// After an answer, which said something new or not.
    fn answered(&mut self, is_new: bool) -> Duration {
        (self.pause, self.invalid, self.unsent) = (FIRST_PAUSE, 0, 0);
        self.look = if is_new { FIRST_CHECK_INTERVAL } else { (self.look * 2).min(MAX_CHECK_INTERVAL) };
        self.look
    }

    fn away(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(MAX_PAUSE);
        pause
    }

    /// `None` after sending too often in a row.
    fn unsent(&mut self) -> Option<Duration> {
        self.unsent += 1;
        (self.unsent < MAX_UNSENT).then(|| self.away())
    }

    /// `None` after too many invalid answers in a row.
    fn invalid(&mut self) -> Option<Duration> {
        self.invalid += 1;
        (self.invalid < MAX_INVALID).then(|| self.away())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_is_away_is_asked_less_and_less_often_and_one_that_answers_as_before() {
        let mut pauses = PollPauses::new();
        let told: Vec<u128> = (0..9).map(|_| pauses.away().as_millis()).collect();
        assert_eq!(told, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(pauses.answered(true), FIRST_CHECK_INTERVAL);
        assert_eq!(pauses.away(), FIRST_PAUSE);
        let looks: Vec<u128> = (0..6).map(|_| pauses.answered(false).as_millis()).collect();
        assert_eq!(looks, [100, 200, 400, 800, 1_000, 1_000]);
    }

    #[test]
    fn so_many_invalid_answers_in_a_row_are_one_too_many() {
        let mut pauses = PollPauses::new();
        assert!((1..MAX_INVALID).all(|_| pauses.invalid().is_some()));
        assert!(pauses.invalid().is_none());
        pauses.answered(true);
        assert!(pauses.invalid().is_some());
    }
}
