//! The server's side of planning an import: one child process at a time, bounded in memory, time and output.
//!
//! The child has a file as its standard input and another as its standard output, so that the server holds no part of either, but
//! some proposals at a time as it reads them back.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use confined::{Allowance, ChildExit};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::child::VERB;
use super::exchange::{DraftLine, PlanReply, read_line};
use super::model::{ImportFormat, ImportReport};
use crate::analysis::items::item_of;
use crate::analysis::proposals::model::ProposalKind;

/// Maximum address space of the child, in MiB. The largest files within the bounds take most of it.
const MEMORY_MIB: u64 = 1024;
/// Processor time in seconds: `CPU_BASE` for any file, `CPU_PER_MIB` for each mebibyte of it and of the items that it is compared
/// with, at most `MAX_CPU_SECONDS`.
const CPU_BASE: u64 = 10;
const CPU_PER_MIB: u64 = 3;
const MAX_CPU_SECONDS: u64 = 90;
/// Wall-clock timeout as a multiple of the processor time, because the child shares the machine at a lower priority.
const WALL_PER_CPU: u32 = 20;
/// How many proposals are read at a time, and at how many bytes of their texts it is fewer.
const MAX_AT_ONCE: usize = 200;
const BYTES_AT_ONCE: usize = 8 * 1024 * 1024;

/// Why an import has no plan.
#[derive(Debug)]
pub enum Unplanned {
    /// The file is the reason: a sentence for the person who uploaded it.
    Refused(String),
    /// Something else is: the next try may succeed.
    Interrupted(String),
}

/// What a file would change. Its proposals are read from the child's answer as they are asked for.
pub struct PlannedImport {
    pub report: ImportReport,
    answer: BufReader<File>,
}

/// Plans imports in child processes. Clones share the semaphore that limits their number.
#[derive(Debug, Clone)]
pub struct ImportPlanner {
    program: PathBuf,
    permits: Arc<Semaphore>,
}

impl ImportPlanner {
    /// `program` is this server's own binary.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program, permits: Arc::new(Semaphore::new(1)) }
    }

    /// Plans an import. `input` is what the child reads; `output` is an empty file. Dropping the future kills the child process.
    ///
    /// # Errors
    /// Why there is no plan.
    pub async fn plan(&self, format: ImportFormat, input: File, output: File) -> Result<PlannedImport, Unplanned> {
        let interrupted = |error: std::io::Error| Unplanned::Interrupted(error.to_string());
        let _permit = self.permits.acquire().await.map_err(|error| Unplanned::Interrupted(error.to_string()))?;
        let size = input.metadata().map_err(interrupted)?.len();
        let allowance = Allowance { memory_mib: MEMORY_MIB, seconds: cpu_seconds(size) };
        let format = format.to_string();
        let mut command = confined::command(&self.program, &[VERB, "--format", &format], allowance);
        let written = output.try_clone().map_err(interrupted)?;
        command.stdin(Stdio::from(input)).stdout(Stdio::from(written)).stderr(Stdio::null());
        let child = command.spawn().map_err(interrupted)?;
        let wall = Duration::from_secs(allowance.seconds) * WALL_PER_CPU;
        confined::end_of(child, wall).await.map_err(unplanned)?;
        spawn_blocking(move || PlannedImport::of(output))
            .await
            .map_err(|error| Unplanned::Interrupted(error.to_string()))?
    }
}

/// A small file gets little, whatever it contains.
fn cpu_seconds(size: u64) -> u64 {
    (CPU_BASE + CPU_PER_MIB * size.div_ceil(1024 * 1024)).min(MAX_CPU_SECONDS)
}

fn unplanned(exit: ChildExit) -> Unplanned {
    let refused = |why: &str| Unplanned::Refused(why.to_owned());
    match exit {
        ChildExit::CpuTimeExceeded => refused("Reading the file took too long for its size, so it was stopped."),
        ChildExit::Crashed | ChildExit::OutputTooLarge => refused(
            "The file could not be read: its reader stopped, most likely because the file is damaged or needs too much memory.",
        ),
        ChildExit::NotStarted(_) | ChildExit::TimedOut | ChildExit::Terminated => {
            Unplanned::Interrupted(format!("the reader of the file was interrupted: {exit:?}"))
        }
    }
}

impl PlannedImport {
    /// Reads the beginning of an answer. It is trusted no more than the file.
    fn of(mut answer: File) -> Result<Self, Unplanned> {
        answer.rewind().map_err(|error| Unplanned::Interrupted(error.to_string()))?;
        let mut answer = BufReader::new(answer);
        match read_line(&mut answer).map_err(Unplanned::Interrupted)? {
            Some(PlanReply::Planned(report)) => Ok(Self { report, answer }),
            Some(PlanReply::Refused(why)) => Err(Unplanned::Refused(why)),
            Some(PlanReply::Broken(why)) => Err(Unplanned::Interrupted(why)),
            None => Err(Unplanned::Interrupted("the answer of the child is empty".to_owned())),
        }
    }

    /// Returns the next proposals; none at the end.
    ///
    /// # Errors
    /// Returns a message for what is no proposal.
    pub fn next_drafts(&mut self) -> Result<Vec<DraftLine>, String> {
        let (mut drafts, mut bytes): (Vec<DraftLine>, usize) = (Vec::new(), 0);
        while drafts.len() < MAX_AT_ONCE && bytes < BYTES_AT_ONCE {
            let Some(line) = read_line::<DraftLine>(&mut self.answer)? else { break };
            must_be_whole(&line)?;
            let (_, draft) = &line;
            bytes += [&draft.before, &draft.after].into_iter().flatten().map(String::len).sum::<usize>();
            drafts.push(line);
        }
        Ok(drafts)
    }
}

/// Whether a proposal has an item as one has to be that people accept.
fn must_be_whole((target, draft): &DraftLine) -> Result<(), String> {
    let body = draft.after.as_deref().ok_or("a proposal of the child has no item")?;
    let item = item_of(*target, body).map_err(|error| error.to_string())?;
    let is_whole = item.id() == draft.item_id
        && matches!(
            (draft.kind, &draft.before, draft.target_version),
            (ProposalKind::New, None, None) | (ProposalKind::Changed, Some(_), Some(_))
        );
    is_whole.then_some(()).ok_or_else(|| "a proposal of the child is not of its item".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_small_file_never_has_the_time_of_a_large_one() {
        assert_eq!([600, 300_000, 10 << 20, 50 << 20].map(cpu_seconds), [13, 13, 40, 90]);
    }

    #[tokio::test]
    async fn a_child_that_fails_fails_the_file_and_one_that_is_ended_from_outside_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        for (script, refused) in [
            ("kill -KILL $$", true),
            ("kill -SEGV $$", true),
            ("kill -XCPU $$", true),
            ("kill -XFSZ $$", true),
            ("exit 1", true),
            ("echo '{\"Refused\":\"No.\"}'", true),
            ("kill -TERM $$", false),
            ("kill -INT $$", false),
            ("echo '{\"Broken\":\"No.\"}'", false),
            ("echo '{\"Planned\":7}'", false),
            ("exit 0", false),
        ] {
            let program = folder.path().join("program");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
            let (input, output) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            let planned = ImportPlanner::new(program).plan(ImportFormat::Xlsx, input, output).await;
            match planned {
                Err(Unplanned::Refused(why)) => assert!(refused && why.ends_with('.'), "{script}: {why}"),
                Err(Unplanned::Interrupted(why)) => assert!(!refused, "{script}: {why}"),
                Ok(_) => panic!("{script}"),
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_proposal_of_its_item_is_not_taken_from_a_child() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let report = serde_json::to_string(&PlanReply::Planned(ImportReport::default())).unwrap();
        for draft in ["7", "[]", "[\"REQUIREMENT\",{}]", "x"] {
            fs::write(&program, format!("#!/bin/sh\necho '{report}'\necho '{draft}'\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
            let (input, output) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            let planned = ImportPlanner::new(program.clone()).plan(ImportFormat::Reqif, input, output).await;
            assert!(planned.unwrap().next_drafts().is_err(), "{draft}");
        }
    }
}
