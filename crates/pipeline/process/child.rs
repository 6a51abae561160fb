//! The child's side: `colloquy analyse --memory-mib N --seconds N` with the request on stdin, and its messages and the
//! outcome on stdout.
//!
//! It has two threads: this one sends messages and waits for the answers, the other one executes nodes. The process
//! exits when an answer fails to arrive. While a node is executing, a progress message is sent twice a second, so the
//! child exits soon after its parent.

use std::io::{self, BufReader, BufWriter, Stdin, Stdout, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actors::run::Node;
use async_trait::async_trait;
use confined::{Allowance, forbid_new_processes};

use super::frame;
use super::{CHATS, CHATS_BYTES, CHECKPOINT_BYTES, FromChild, RESULT_BYTES, RequestOutline, ToChild};
use crate::chat::{Chat, ChatAnswer, Model, NoCompletion};
use crate::engine::EngineChoice;
use crate::glossary::ProjectTerms;
use crate::loop_control::{Halted, LoopControl};
use crate::ports::{CheckpointStore, PortUnavailable, ProgressSink, StopRequested};
use crate::request::{CancelToken, Request, Source};
use crate::run::{PipelineOutcome, run_with};
use crate::workers::Workers;

/// The message of Rust's runtime on standard error when it aborts because an allocation failed.
pub(super) const NO_MEMORY: &str = "memory allocation of";

/// Entry point of the hidden subcommand. Call it in `main` before any runtime or thread is started.
pub fn child_main(allowance: Allowance) -> ExitCode {
    match allowance.apply().and_then(|()| work()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if error.kind() == io::ErrorKind::OutOfMemory {
                eprintln!("{NO_MEMORY} what it begins with failed");
            }
            ExitCode::FAILURE
        }
    }
}

fn work() -> io::Result<()> {
    // Only the location, not the message: a panic message may contain text of the sources, and standard error goes to
    // the log.
    std::panic::set_hook(Box::new(|panic| {
        if let Some(location) = panic.location() {
            eprintln!("a panic at {location}");
        }
    }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(1)
        .thread_keep_alive(Duration::from_secs(24 * 3600))
        .build()?;
    // The blocking thread is started here, because threads count as processes and `start_nothing` forbids new ones.
    // `spawn_blocking` panics if there is no memory for the thread.
    let starting = || runtime.block_on(async { tokio::task::spawn_blocking(|| ()).await.is_ok() });
    if !catch_unwind(AssertUnwindSafe(starting)).unwrap_or(false) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    runtime.block_on(async {
        forbid_new_processes()?;
        let pipe = Arc::new(Pipe::default());
        let (request, choice, terms) = pipe.request()?;
        let engine = choice.engine(terms, || Arc::clone(&pipe) as Arc<dyn Model>);
        let outcome = run_with(engine, request, &*pipe, &*pipe, CancelToken::new(), &Workers::new(1)).await;
        pipe.send(&FromChild::End, &encode(&outcome)?)
    })
}

fn encode(outcome: &PipelineOutcome) -> io::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(outcome)?;
    if bytes.len() <= RESULT_BYTES {
        return Ok(bytes);
    }
    Ok(serde_json::to_vec(&PipelineOutcome::too_much())?)
}

/// The pipe to and from the parent.
struct Pipe {
    ends: Mutex<(BufReader<Stdin>, BufWriter<Stdout>)>,
}

impl Default for Pipe {
    fn default() -> Self {
        Self { ends: Mutex::new((BufReader::new(stdin()), BufWriter::new(stdout()))) }
    }
}

impl Pipe {
    fn request(&self) -> io::Result<(Request, EngineChoice, ProjectTerms)> {
        let (ToChild::Start, outline) = self.receive()? else { return Err(io::ErrorKind::InvalidData.into()) };
        let RequestOutline { job_id, attempt, analysis_type, language, bounds, engine, glossary, sources: outlined } =
            serde_json::from_slice(&outline)?;
        let mut sources = Vec::with_capacity(outlined.len());
        for source in outlined {
            let text = match source.unreadable {
                Some(unreadable) => Err(unreadable),
                None => {
                    let (ToChild::Text, text) = self.receive()? else { return Err(io::ErrorKind::InvalidData.into()) };
                    Ok(Arc::new(serde_json::from_slice(&text)?))
                }
            };
            sources.push(Source { id: source.id, kind: source.kind, name: source.name, text });
        }
        let request = Request { job_id, attempt, analysis_type, language, sources, bounds };
        Ok((request, engine, ProjectTerms::new(glossary)))
    }

    fn receive(&self) -> io::Result<(ToChild, Vec<u8>)> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        frame::read_blocking(&mut ends.0)
    }

    fn send(&self, message: &FromChild, body: &[u8]) -> io::Result<()> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write_blocking(&mut ends.1, message, body)
    }

    /// Sends a message and returns the answer. Exits the process if the parent does not answer: nothing needs the
    /// result then, whatever node is executing. Both threads may call it: one exchange is over before the next begins.
    fn exchange(&self, message: &FromChild, body: &[u8]) -> (ToChild, Vec<u8>) {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let (reading, writing) = &mut *ends;
        match frame::write_blocking(writing, message, body).and_then(|()| frame::read_blocking(reading)) {
            Ok(answer) => answer,
            Err(_) => std::process::exit(1),
        }
    }

    /// Asks the parent some questions, and waits for the answers.
    fn ask(&self, chats: &[Chat], control: &LoopControl) -> Result<Vec<ChatAnswer>, Halted> {
        let failed = |why: &str| Ok(vec![Err(NoCompletion::Invalid(why.to_owned())); chats.len()]);
        let Ok(body) = serde_json::to_vec(chats) else { return failed("the question can't be written") };
        if body.len() > CHATS_BYTES {
            return failed("the question is too long");
        }
        let (ToChild::Done, _) = self.exchange(&FromChild::Ask, &body) else { return failed("nobody was asked") };
        loop {
            control.check()?;
            // The parent takes its time to answer this, so the loop does not spin.
            match self.exchange(&FromChild::Await, &[]) {
                (ToChild::Pending, _) => {}
                (ToChild::Answered, answers) => match serde_json::from_slice::<Vec<ChatAnswer>>(&answers) {
                    Ok(answers) if answers.len() == chats.len() => return Ok(answers),
                    _ => return failed("the answers can't be read"),
                },
                _ => return failed("there is no answer"),
            }
        }
    }
}

impl Model for Pipe {
    fn complete(&self, chats: &[Chat], control: &LoopControl) -> Result<Vec<ChatAnswer>, Halted> {
        let mut answers = Vec::with_capacity(chats.len());
        for some in chats.chunks(CHATS) {
            answers.extend(self.ask(some, control)?);
        }
        Ok(answers)
    }
}

#[async_trait]
impl CheckpointStore for Pipe {
    async fn load(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
    ) -> Result<Option<String>, PortUnavailable> {
        let (input_hash, engine_version) = (input_hash.to_owned(), engine_version.to_owned());
        match self.exchange(&FromChild::Load { node, input_hash, engine_version }, &[]) {
            (ToChild::Found, output) => {
                String::from_utf8(output).map(Some).map_err(|error| PortUnavailable(error.to_string()))
            }
            (ToChild::Missing, _) => Ok(None),
            _ => Err(PortUnavailable("the parent has none".to_owned())),
        }
    }

    async fn save(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
        output: &str,
    ) -> Result<(), PortUnavailable> {
        if output.len() > CHECKPOINT_BYTES {
            return Err(PortUnavailable("the output is too long to be kept".to_owned()));
        }
        let (input_hash, engine_version) = (input_hash.to_owned(), engine_version.to_owned());
        match self.exchange(&FromChild::Save { node, input_hash, engine_version }, output.as_bytes()) {
            (ToChild::Done, _) => Ok(()),
            _ => Err(PortUnavailable("the parent kept nothing".to_owned())),
        }
    }
}

#[async_trait]
impl ProgressSink for Pipe {
    async fn progressed(&self, node: Node, progress: u8, _: &str) -> Result<(), StopRequested> {
        match self.exchange(&FromChild::Progress { node, progress }, &[]) {
            (ToChild::Stop, _) => Err(StopRequested),
            _ => Ok(()),
        }
    }
}
