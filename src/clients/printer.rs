//! The program that sets PDF: `colloquy-printer`, which is built and installed beside the server or not at all.
//!
//! It runs as a child with limits on its memory and time, reads a specification as JSON and writes the file, so that no text of
//! anybody can take the server down.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use confined::{Allowance, ChildExit};
use exports::specification::Specification;
use thiserror::Error;
use tokio::io::AsyncWriteExt;

/// The name of the program.
pub const PROGRAM: &str = "colloquy-printer";
/// The largest file that is taken from it.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Why there is no PDF.
#[derive(Debug, Error)]
pub enum PrintError {
    #[error("the program {} is missing", .0.display())]
    Missing(PathBuf),
    #[error("it takes more than {} s", .0.as_secs())]
    TooLong(Duration),
    #[error("the printer failed: {0}")]
    Failed(String),
    /// It was ended from outside, with the server for example.
    #[error("the printer was stopped")]
    Stopped,
}

/// Calls the program.
#[derive(Debug, Clone)]
pub struct PdfPrinter {
    pub program: PathBuf,
    pub limit: Duration,
    /// Of its address space.
    pub memory_mib: u64,
}

impl PdfPrinter {
    /// Whether the program is installed.
    pub async fn is_installed(&self) -> bool {
        tokio::fs::metadata(&self.program).await.is_ok_and(|found| found.is_file())
    }

    /// Sets a specification as PDF.
    ///
    /// # Errors
    /// Returns why there is none.
    pub async fn print(&self, specification: &Specification) -> Result<Vec<u8>, PrintError> {
        if !self.is_installed().await {
            return Err(PrintError::Missing(self.program.clone()));
        }
        let input = serde_json::to_vec(specification).map_err(|error| PrintError::Failed(error.to_string()))?;
        let allowance = Allowance { memory_mib: self.memory_mib, seconds: self.limit.as_secs() };
        let mut command = confined::command(&self.program, &[], allowance);
        let child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|error| PrintError::Failed(error.to_string()))?;
        let stdin = child.stdin.take();
        // A program that reads no further has failed: its exit says so.
        let write = async move {
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(&input).await;
            }
        };
        // Twice the processor's time, because others use the processor too.
        let ((), printed) = tokio::join!(write, confined::answer(child, self.limit * 2, MAX_BYTES));
        printed.map_err(|exit| match exit {
            ChildExit::CpuTimeExceeded | ChildExit::TimedOut => PrintError::TooLong(self.limit),
            ChildExit::Terminated => PrintError::Stopped,
            ChildExit::NotStarted(error) => PrintError::Failed(error.to_string()),
            ChildExit::OutputTooLarge => PrintError::Failed("the file is too large".to_owned()),
            ChildExit::Crashed => PrintError::Failed("it ended without a file".to_owned()),
        })
    }
}
