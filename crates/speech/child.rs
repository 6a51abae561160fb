//! The child process that reads the sound of one recording: `colloquy transcribe --memory-mib N --seconds N`, the
//! recording on its standard input, the work in its environment. It answers in lines of JSON, one for each batch or
//! piece; the bytes of a piece follow its line.

use std::fs::File;
use std::io::{StdoutLock, Write, stdin, stdout};
use std::os::fd::AsFd;
use std::process::ExitCode;

use confined::{Allowance, forbid_new_processes};
use serde::{Deserialize, Serialize};

use super::cutting::{CutRequest, SoundPiece, cut};
use super::turns::{TurnsRequest, VoiceTurn, turns};
use super::{HeardBatch, SpeechRequest, Untranscribed, transcribe};

/// Name of the hidden subcommand.
pub const VERB: &str = "transcribe";
/// The environment variable with the work: command lines can be read by everyone on the machine.
pub(super) const WORK: &str = "COLLOQUY_SPEECH_WORK";

/// What a child is to do.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum SpeechWork {
    Transcribe(SpeechRequest),
    Cut(CutRequest),
    Turns(TurnsRequest),
}

/// A line of the answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(super) enum ChildLine {
    Heard(HeardBatch),
    /// A piece of the sound; so many bytes follow.
    Piece {
        from_ms: u64,
        to_ms: u64,
        bytes: usize,
    },
    /// So much of the sound was looked at for voices.
    Looked {
        done_ms: u64,
    },
    /// The next turn of a voice.
    Turn(VoiceTurn),
    /// Everything is done.
    Finished,
    /// The recording can't be read.
    Unreadable(String),
    /// The model can't be used.
    Model(String),
}

/// The parsed command line of the child process.
#[derive(Debug, Clone, Copy)]
pub struct SpeechTask {
    allowance: Allowance,
}

impl SpeechTask {
    /// Parses the arguments after [`VERB`]. Returns `None` unless they have exactly the form in which a server starts
    /// its children.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        Some(Self { allowance: Allowance::of_arguments(arguments)? })
    }
}

/// Runs the hidden subcommand. Call it in `main` before any runtime or thread is started.
#[must_use]
pub fn child_main(task: SpeechTask) -> ExitCode {
    let limited = task.allowance.apply().and_then(|()| forbid_new_processes());
    let Ok(file) = limited.and_then(|()| stdin().as_fd().try_clone_to_owned()).map(File::from) else {
        return ExitCode::FAILURE;
    };
    let work = std::env::var(WORK).ok().and_then(|work| serde_json::from_str(&work).ok());
    let Some(work) = work else { return ExitCode::FAILURE };
    let mut out = stdout().lock();
    let done = match work {
        SpeechWork::Transcribe(request) => {
            transcribe(file, &request, |batch| write(&mut out, &ChildLine::Heard(batch), &[]))
        }
        SpeechWork::Cut(request) => cut(file, request, |SoundPiece { from_ms, to_ms, wav }| {
            write(&mut out, &ChildLine::Piece { from_ms, to_ms, bytes: wav.len() }, &wav)
        }),
        SpeechWork::Turns(request) => {
            let found = turns(file, &request, |done_ms| write(&mut out, &ChildLine::Looked { done_ms }, &[]));
            found.map(|turns| {
                let _is_read = turns.into_iter().all(|turn| write(&mut out, &ChildLine::Turn(turn), &[]));
            })
        }
    };
    let last = match done {
        Ok(()) => ChildLine::Finished,
        Err(Untranscribed::Unreadable(why)) => ChildLine::Unreadable(why),
        Err(failed) => ChildLine::Model(failed.to_string()),
    };
    if write(&mut out, &last, &[]) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns false when nobody reads any more.
fn write(out: &mut StdoutLock<'_>, line: &ChildLine, bytes: &[u8]) -> bool {
    let Ok(mut json) = serde_json::to_vec(line) else { return false };
    json.push(b'\n');
    out.write_all(&json).and_then(|()| out.write_all(bytes)).and_then(|()| out.flush()).is_ok()
}
