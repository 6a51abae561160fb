//! The server's side of the child processes that read sound: what they give out is passed on as it comes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use confined::{Allowance, ChildExit};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::child::{ChildLine, SpeechWork, VERB, WORK};
use super::cutting::{CutRequest, MAX_PIECE_MS, SoundPiece};
use super::turns::{TurnsRequest, VoiceTurn};
use super::{HeardSink, SpeechRequest, Transcriber, Untranscribed};

/// The most processor time of a child, in seconds: twelve hours of audio at twice their duration.
const CPU_SECONDS: u64 = 24 * 60 * 60;
/// How long a child may work on one batch: a window takes seconds, also on a machine that is busy with meetings.
const STALLED: Duration = Duration::from_secs(10 * 60);
/// The most turns of a recording; a day of them at one a second.
const MAX_TURNS: usize = 24 * 60 * 60;
/// The longest line of an answer, in bytes.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
/// The largest piece, in bytes: 32 for each millisecond, and its header.
const MAX_PIECE_BYTES: usize = 44 + 32 * MAX_PIECE_MS as usize;

/// A running child process. Dropping it kills the process.
struct SpeechChild {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl SpeechChild {
    fn start(program: &Path, memory_mib: u64, recording: File, work: &SpeechWork) -> Result<Self, Untranscribed> {
        let interrupted = |error: &dyn std::fmt::Display| Untranscribed::Interrupted(error.to_string());
        let allowance = Allowance { memory_mib, seconds: CPU_SECONDS };
        let work = serde_json::to_string(work).map_err(|error| interrupted(&error))?;
        let mut command = confined::command(program, &[VERB], allowance);
        let command = command.env(WORK, work).stdin(Stdio::from(recording)).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| interrupted(&error))?;
        let out = child.stdout.take().ok_or_else(|| Untranscribed::Crashed("the child has no output".to_owned()))?;
        Ok(Self { child, out: BufReader::new(out) })
    }

    /// Returns the next line; an error if the process ended without saying how its work did.
    async fn next(&mut self) -> Result<ChildLine, Untranscribed> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.out).take(MAX_LINE_BYTES);
        let read = timeout(STALLED, bounded.read_until(b'\n', &mut line)).await;
        let Ok(read) = read else { return Err(Untranscribed::Crashed("the child hangs".to_owned())) };
        if read.is_err() || line.last() != Some(&b'\n') {
            return Err(self.ended().await);
        }
        serde_json::from_slice(&line).map_err(|_| Untranscribed::Crashed("the child's answer is invalid".to_owned()))
    }

    /// Returns the bytes of a piece.
    async fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Untranscribed> {
        if count > MAX_PIECE_BYTES {
            return Err(Untranscribed::Crashed("the child's piece is too large".to_owned()));
        }
        let mut bytes = vec![0; count];
        match timeout(STALLED, self.out.read_exact(&mut bytes)).await {
            Ok(Ok(_)) => Ok(bytes),
            _ => Err(self.ended().await),
        }
    }

    async fn ended(&mut self) -> Untranscribed {
        let _ = self.child.start_kill();
        match self.child.wait().await.map_or(ChildExit::Crashed, confined::classify) {
            ChildExit::Terminated => Untranscribed::Interrupted("the child was ended from outside".to_owned()),
            exit => Untranscribed::Crashed(format!("the child ended: {exit:?}")),
        }
    }

    /// Kills the process and waits for its exit, so that its slot becomes free only when it is gone.
    async fn end(mut self) {
        let _ = self.child.kill().await;
    }
}

/// Transcribes with Whisper in a child process. Clones share the semaphore that limits their number to one.
#[derive(Debug, Clone)]
pub struct LocalTranscriber {
    program: PathBuf,
    memory_mib: u64,
    permits: Arc<Semaphore>,
}

impl LocalTranscriber {
    /// `program` is this server's own binary; `memory_mib` the address space of the child process.
    #[must_use]
    pub fn new(program: PathBuf, memory_mib: u64) -> Self {
        Self { program, memory_mib, permits: Arc::new(Semaphore::new(1)) }
    }
}

#[async_trait]
impl Transcriber for LocalTranscriber {
    async fn transcribe(
        &self,
        recording: File,
        request: SpeechRequest,
        sink: &mut dyn HeardSink,
    ) -> Result<(), Untranscribed> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|error| Untranscribed::Interrupted(error.to_string()))?;
        let work = SpeechWork::Transcribe(request);
        let mut child = SpeechChild::start(&self.program, self.memory_mib, recording, &work)?;
        let outcome = loop {
            match child.next().await {
                Err(failed) => break Err(failed),
                Ok(ChildLine::Heard(batch)) => {
                    if sink.take_batch(batch).await.is_err() {
                        break Err(Untranscribed::Stopped);
                    }
                }
                Ok(last) => break outcome(last),
            }
        };
        child.end().await;
        outcome
    }
}

/// Receives the pieces of a sound.
#[async_trait]
pub trait PieceSink: Send {
    /// Takes the next piece. An error ends the cutting, and is its result.
    async fn piece(&mut self, piece: SoundPiece) -> Result<(), Untranscribed>;
}

/// Cuts sounds into pieces, in child processes. Clones share the semaphore that limits their number.
#[derive(Debug, Clone)]
pub struct SoundCutter {
    program: PathBuf,
    memory_mib: u64,
    permits: Arc<Semaphore>,
}

impl SoundCutter {
    /// `program` is this server's own binary; `memory_mib` the address space of a child process.
    #[must_use]
    pub fn new(program: PathBuf, memory_mib: u64, at_once: usize) -> Self {
        Self { program, memory_mib, permits: Arc::new(Semaphore::new(at_once)) }
    }

    /// Cuts a recording. Dropping the future ends the work.
    ///
    /// # Errors
    /// The recording can't be read, the child process failed, or the sink did.
    pub async fn cut(
        &self,
        recording: File,
        request: CutRequest,
        sink: &mut dyn PieceSink,
    ) -> Result<(), Untranscribed> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|error| Untranscribed::Interrupted(error.to_string()))?;
        let mut child = SpeechChild::start(&self.program, self.memory_mib, recording, &SpeechWork::Cut(request))?;
        let outcome = loop {
            let passed = match child.next().await {
                Err(failed) => Err(failed),
                Ok(ChildLine::Piece { from_ms, to_ms, bytes }) => match child.bytes(bytes).await {
                    Err(failed) => Err(failed),
                    Ok(wav) => sink.piece(SoundPiece { from_ms, to_ms, wav }).await,
                },
                Ok(last) => break outcome(last),
            };
            if passed.is_err() {
                break passed;
            }
        };
        child.end().await;
        outcome
    }

    /// Returns what is heard between two times, as a WAV file; an empty one past the end of the recording.
    ///
    /// # Errors
    /// As [`SoundCutter::cut`].
    pub async fn excerpt(&self, recording: File, from_ms: u64, to_ms: u64) -> Result<Vec<u8>, Untranscribed> {
        let mut kept = KeptPiece(Vec::new());
        self.cut(recording, CutRequest::Excerpt { from_ms, to_ms }, &mut kept).await?;
        Ok(kept.0)
    }
}

struct KeptPiece(Vec<u8>);

#[async_trait]
impl PieceSink for KeptPiece {
    async fn piece(&mut self, piece: SoundPiece) -> Result<(), Untranscribed> {
        self.0 = piece.wav;
        Ok(())
    }
}

/// Tells the voices in recordings apart, in child processes. Clones share the semaphore that limits their number to one.
#[derive(Debug, Clone)]
pub struct TurnFinder {
    program: PathBuf,
    memory_mib: u64,
    permits: Arc<Semaphore>,
}

impl TurnFinder {
    /// `program` is this server's own binary; `memory_mib` the address space of the child process.
    #[must_use]
    pub fn new(program: PathBuf, memory_mib: u64) -> Self {
        Self { program, memory_mib, permits: Arc::new(Semaphore::new(1)) }
    }

    /// Returns the turns of the voices in a recording, in the order of their times. Dropping the future ends the work.
    ///
    /// # Errors
    /// The recording can't be read, the model not be used, or the child process failed.
    pub async fn find(&self, recording: File, request: TurnsRequest) -> Result<Vec<VoiceTurn>, Untranscribed> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|error| Untranscribed::Interrupted(error.to_string()))?;
        let work = SpeechWork::Turns(request);
        let mut child = SpeechChild::start(&self.program, self.memory_mib, recording, &work)?;
        let mut turns = Vec::new();
        let outcome = loop {
            match child.next().await {
                Err(failed) => break Err(failed),
                Ok(ChildLine::Looked { .. }) => {}
                Ok(ChildLine::Turn(turn)) if turns.len() < MAX_TURNS => turns.push(turn),
                Ok(last) => break outcome(last),
            }
        };
        child.end().await;
        outcome.map(|()| turns)
    }
}

/// Returns how the work did, by the last line.
fn outcome(last: ChildLine) -> Result<(), Untranscribed> {
    match last {
        ChildLine::Finished => Ok(()),
        ChildLine::Unreadable(why) => Err(Untranscribed::Unreadable(why)),
        ChildLine::Model(why) => Err(Untranscribed::Model(why)),
        ChildLine::Heard(_) | ChildLine::Piece { .. } | ChildLine::Looked { .. } | ChildLine::Turn(_) => {
            Err(Untranscribed::Crashed("the child's answer is invalid".to_owned()))
        }
    }
}
