//! The server's side of the embedded engine: one child process at a time, whose batches are passed on as they come.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::child::{ChildLine, REQUEST, VERB};
use super::{HeardSink, SpeechRequest, Transcriber, Untranscribed};
use crate::confined::{self, Allowance, ChildExit};

/// The most processor time of a transcription, in seconds: twelve hours of audio at twice their duration.
const CPU_SECONDS: u64 = 24 * 60 * 60;
/// How long a child may work on one batch: a window takes seconds, also on a machine that is busy with meetings.
const STALLED: Duration = Duration::from_secs(10 * 60);
/// The longest line of an answer, in bytes.
const LONGEST_LINE: u64 = 1024 * 1024;

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

    fn child(&self, recording: File, request: &SpeechRequest) -> Result<Child, Untranscribed> {
        let interrupted = |error: &dyn std::fmt::Display| Untranscribed::Interrupted(error.to_string());
        let allowance = Allowance { memory_mib: self.memory_mib, seconds: CPU_SECONDS };
        let request = serde_json::to_string(request).map_err(|error| interrupted(&error))?;
        let mut command = confined::command(&self.program, &[VERB], allowance);
        let command = command.env(REQUEST, request).stdin(Stdio::from(recording)).stderr(Stdio::null());
        command.spawn().map_err(|error| interrupted(&error))
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
        let mut child = self.child(recording, &request)?;
        let crashed = || Untranscribed::Crashed("the transcriber has no output".to_owned());
        let mut lines = BufReader::new(child.stdout.take().ok_or_else(crashed)?);
        let outcome = passed_on(&mut lines, sink).await;
        if let Some(outcome) = outcome {
            // `kill` also waits for the exit, so that the child's slot becomes free only when the process is gone.
            let _ = child.kill().await;
            return outcome;
        }
        let exit = child.wait().await.map_or(ChildExit::Crashed, confined::classify);
        Err(match exit {
            ChildExit::Terminated => Untranscribed::Interrupted("the transcriber was ended from outside".to_owned()),
            exit => Untranscribed::Crashed(format!("the transcriber ended: {exit:?}")),
        })
    }
}

/// Passes the batches on. Returns `None` if the output ended without saying how the transcription did.
async fn passed_on(lines: &mut BufReader<ChildStdout>, sink: &mut dyn HeardSink) -> Option<Result<(), Untranscribed>> {
    loop {
        let mut line = Vec::new();
        let mut bounded = lines.take(LONGEST_LINE);
        match timeout(STALLED, bounded.read_until(b'\n', &mut line)).await {
            Err(_) => return Some(Err(Untranscribed::Crashed("the transcriber hangs".to_owned()))),
            Ok(Err(_)) | Ok(Ok(0)) => return None,
            Ok(Ok(_)) => {}
        }
        if line.last() != Some(&b'\n') {
            return None;
        }
        let Ok(line) = serde_json::from_slice(&line) else {
            return Some(Err(Untranscribed::Crashed("the transcriber's answer is invalid".to_owned())));
        };
        match line {
            ChildLine::Finished => return Some(Ok(())),
            ChildLine::Unreadable(why) => return Some(Err(Untranscribed::Unreadable(why))),
            ChildLine::Model(why) => return Some(Err(Untranscribed::Model(why))),
            ChildLine::Heard(batch) => {
                if sink.heard(batch).await.is_err() {
                    return Some(Err(Untranscribed::Stopped));
                }
            }
        }
    }
}
