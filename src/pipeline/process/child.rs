//! The child's side: `colloquy analyse --memory-mib N --seconds N`, the request on stdin, questions and the outcome on stdout.
//!
//! It has two threads: this one asks and waits, the other one works at nodes. A question that nobody answers ends it, and while a node
//! is at work one is asked twice a second: so it ends with its parent.

use std::io::{self, BufReader, BufWriter, Stdin, Stdout, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::frame;
use super::{CHECKPOINT_BYTES, FromChild, Outline, RESULT_BYTES, ToChild};
use crate::pipeline::confined::{Allowance, start_nothing};
use crate::pipeline::nodes::Node;
use crate::pipeline::ports::{Checkpoints, Stop, Unavailable, Watcher};
use crate::pipeline::request::{CancelToken, Request, Source};
use crate::pipeline::run::{Outcome, run};
use crate::pipeline::workers::Workers;

/// Rust's own words, on standard error, where there is no memory and it aborts.
pub(super) const NO_MEMORY: &str = "memory allocation of";

/// Body of the hidden subcommand. Dispatch it in `main` before any runtime or thread is started.
pub fn child_main(allowance: Allowance) -> ExitCode {
    match allowance.take().and_then(|()| work()) {
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
    // Where, and not what: a panic's words may be of the sources, and standard error goes to the log.
    std::panic::set_hook(Box::new(|panic| {
        if let Some(place) = panic.location() {
            eprintln!("a panic at {place}");
        }
    }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(1)
        .thread_keep_alive(Duration::from_secs(24 * 3600))
        .build()?;
    // Started while threads may be: they count as processes. It panics where there is no memory for it.
    let starting = || runtime.block_on(async { tokio::task::spawn_blocking(|| ()).await.is_ok() });
    if !catch_unwind(AssertUnwindSafe(starting)).unwrap_or(false) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    runtime.block_on(async {
        start_nothing()?;
        let pipe = Pipe::default();
        let request = pipe.request()?;
        let outcome = run(request, &pipe, &pipe, CancelToken::new(), &Workers::new(1)).await;
        pipe.say(&FromChild::End, &written(&outcome)?)
    })
}

fn written(outcome: &Outcome) -> io::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(outcome)?;
    if bytes.len() <= RESULT_BYTES {
        return Ok(bytes);
    }
    Ok(serde_json::to_vec(&Outcome::too_much())?)
}

/// The way to the parent.
struct Pipe {
    ends: Mutex<(BufReader<Stdin>, BufWriter<Stdout>)>,
}

impl Default for Pipe {
    fn default() -> Self {
        Self { ends: Mutex::new((BufReader::new(stdin()), BufWriter::new(stdout()))) }
    }
}

impl Pipe {
    fn request(&self) -> io::Result<Request> {
        let (ToChild::Start, outline) = self.hear()? else { return Err(io::ErrorKind::InvalidData.into()) };
        let Outline { job_id, attempt, analysis_type, language, bounds, sources: outlined } =
            serde_json::from_slice(&outline)?;
        let mut sources = Vec::with_capacity(outlined.len());
        for source in outlined {
            let text = match source.unreadable {
                Some(unreadable) => Err(unreadable),
                None => {
                    let (ToChild::Text, text) = self.hear()? else { return Err(io::ErrorKind::InvalidData.into()) };
                    Ok(Arc::new(serde_json::from_slice(&text)?))
                }
            };
            sources.push(Source { id: source.id, kind: source.kind, name: source.name, text });
        }
        Ok(Request { job_id, attempt, analysis_type, language, sources, bounds })
    }

    fn hear(&self) -> io::Result<(ToChild, Vec<u8>)> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        frame::read_blocking(&mut ends.0)
    }

    fn say(&self, word: &FromChild, body: &[u8]) -> io::Result<()> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write_blocking(&mut ends.1, word, body)
    }

    /// Ends the process where nobody answers: whatever a node is at, nobody wants it any more.
    fn ask(&self, word: &FromChild, body: &[u8]) -> (ToChild, Vec<u8>) {
        match self.say(word, body).and_then(|()| self.hear()) {
            Ok(answer) => answer,
            Err(_) => std::process::exit(1),
        }
    }
}

#[async_trait]
impl Checkpoints for Pipe {
    async fn load(&self, node: Node, input_hash: &str, engine_version: &str) -> Result<Option<String>, Unavailable> {
        let (input_hash, engine_version) = (input_hash.to_owned(), engine_version.to_owned());
        match self.ask(&FromChild::Load { node, input_hash, engine_version }, &[]) {
            (ToChild::Found, kept) => String::from_utf8(kept).map(Some).map_err(|error| Unavailable(error.to_string())),
            (ToChild::Missing, _) => Ok(None),
            _ => Err(Unavailable("the parent has none".to_owned())),
        }
    }

    async fn save(&self, node: Node, input_hash: &str, engine_version: &str, output: &str) -> Result<(), Unavailable> {
        if output.len() > CHECKPOINT_BYTES {
            return Err(Unavailable("the output is too long to be kept".to_owned()));
        }
        let (input_hash, engine_version) = (input_hash.to_owned(), engine_version.to_owned());
        match self.ask(&FromChild::Save { node, input_hash, engine_version }, output.as_bytes()) {
            (ToChild::Done, _) => Ok(()),
            _ => Err(Unavailable("the parent kept nothing".to_owned())),
        }
    }
}

#[async_trait]
impl Watcher for Pipe {
    async fn progressed(&self, node: Node, progress: u8, _: &str) -> Result<(), Stop> {
        match self.ask(&FromChild::Progress { node, progress }, &[]) {
            (ToChild::Stop, _) => Err(Stop),
            _ => Ok(()),
        }
    }
}
