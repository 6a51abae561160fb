//! The process that makes an avatar of an uploaded picture: `colloquy decode-picture --memory-mib N --seconds N`, the picture on its
//! standard input; and the server's side of it.

use std::fs::File;
use std::io::{self, Read, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use confined::{Allowance, ChildExit, forbid_new_processes};
use tokio::sync::Semaphore;

use super::picture::{self, Unusable};

/// Name of the hidden subcommand.
pub const VERB: &str = "decode-picture";
/// Address space in MiB: the largest picture takes up to 300 MB.
const MEMORY_MIB: u64 = 512;
/// Processor time in seconds: `CPU_BASE` for any picture, because a small file may have many pixels, and `CPU_PER_MIB` for each
/// mebibyte. The largest picture takes a few.
const CPU_BASE: u64 = 10;
const CPU_PER_MIB: u64 = 3;
/// Wall-clock timeout as a multiple of the processor time, because the child shares the machine at a lower priority.
const WALL_PER_CPU: u32 = 6;
/// Maximum bytes of the answer. The pixels of an avatar have one million.
const OUTPUT: u64 = 4 * 1024 * 1024;

/// How an answer begins.
const MADE: u8 = b'm';
const OTHER_TYPE: u8 = b'o';
const TOO_LARGE: u8 = b'l';
const DAMAGED: u8 = b'd';

/// The parsed command line of the child process.
#[derive(Debug, Clone, Copy)]
pub struct DecodeTask {
    allowance: Allowance,
}

impl DecodeTask {
    /// Parses the arguments after [`VERB`]. Returns `None` unless they have exactly the form in which a server starts its
    /// children.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        Some(Self { allowance: Allowance::of_arguments(arguments)? })
    }
}

/// Runs the hidden subcommand. Call it in `main` before any runtime or thread is started.
#[must_use]
pub fn child_main(task: DecodeTask) -> ExitCode {
    if task.allowance.apply().and_then(|()| forbid_new_processes()).is_err() {
        return ExitCode::FAILURE;
    }
    let mut bytes = Vec::new();
    if stdin().lock().read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let (kind, face) = match picture::face(&bytes) {
        Ok(face) => (MADE, face),
        Err(Unusable::OtherType) => (OTHER_TYPE, Vec::new()),
        Err(Unusable::TooLarge) => (TOO_LARGE, Vec::new()),
        Err(Unusable::Damaged) => (DAMAGED, Vec::new()),
    };
    let mut out = stdout().lock();
    match out.write_all(&[kind]).and_then(|()| out.write_all(&face)).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Why there is no avatar.
#[derive(Debug)]
pub enum Undecoded {
    /// The picture is the reason.
    Unusable(Unusable),
    /// The child was ended from outside, or could not be started: the next try may succeed.
    Interrupted(String),
}

/// Makes avatars in child processes, one at a time.
pub struct PictureDecoder {
    program: PathBuf,
    permits: Semaphore,
}

impl PictureDecoder {
    /// `program` is this server's own binary.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program, permits: Semaphore::new(1) }
    }

    /// Returns the avatar of a picture: WebP. Dropping the future kills the child process.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn face(&self, picture: File) -> Result<Vec<u8>, Undecoded> {
        let interrupted = |error: io::Error| Undecoded::Interrupted(error.to_string());
        let _permit = self.permits.acquire().await.map_err(|error| Undecoded::Interrupted(error.to_string()))?;
        let mebibytes = picture.metadata().map_err(interrupted)?.len().div_ceil(1024 * 1024);
        let seconds = CPU_BASE + CPU_PER_MIB * mebibytes;
        let mut command = confined::command(&self.program, &[VERB], Allowance { memory_mib: MEMORY_MIB, seconds });
        let child = command.stdin(Stdio::from(picture)).stderr(Stdio::null()).spawn().map_err(interrupted)?;
        let wall = Duration::from_secs(seconds) * WALL_PER_CPU;
        let answer = confined::answer(child, wall, OUTPUT).await.map_err(|exit| match exit {
            ChildExit::NotStarted(error) => interrupted(error),
            ChildExit::Terminated | ChildExit::TimedOut => Undecoded::Interrupted(format!("{exit:?}")),
            ChildExit::CpuTimeExceeded | ChildExit::OutputTooLarge | ChildExit::Crashed => {
                tracing::warn!(?exit, "the decoder of a picture failed");
                Undecoded::Unusable(Unusable::Damaged)
            }
        })?;
        decoded(answer).map_err(Undecoded::Unusable)
    }
}

/// The answer of a child, which is trusted no more than the picture.
fn decoded(mut answer: Vec<u8>) -> Result<Vec<u8>, Unusable> {
    match answer.first() {
        Some(&MADE) => {
            answer.drain(..1);
            let is_webp = answer.starts_with(b"RIFF") && answer.get(8..).is_some_and(|rest| rest.starts_with(b"WEBP"));
            if is_webp { Ok(answer) } else { Err(Unusable::Damaged) }
        }
        Some(&OTHER_TYPE) => Err(Unusable::OtherType),
        Some(&TOO_LARGE) => Err(Unusable::TooLarge),
        _ => Err(Unusable::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::{Unusable, decoded};

    #[test]
    fn what_is_no_avatar_is_not_taken_from_a_child() {
        assert_eq!(decoded(b"mRIFF....WEBPVP8L".to_vec()), Ok(b"RIFF....WEBPVP8L".to_vec()));
        for (answer, why) in [
            (&b""[..], Unusable::Damaged),
            (b"m<html>", Unusable::Damaged),
            (b"mRIFF....", Unusable::Damaged),
            (b"d", Unusable::Damaged),
            (b"l", Unusable::TooLarge),
            (b"o", Unusable::OtherType),
        ] {
            assert_eq!(decoded(answer.to_vec()), Err(why), "{answer:?}");
        }
    }
}
