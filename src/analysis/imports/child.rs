//! The child process that plans one import: `colloquy plan-import --format NAME --memory-mib N --seconds N`.
//!
//! It reads what the file is compared with and the file itself from its standard input, and writes what the file would change to its
//! standard output, which is a file too.

use std::io::{BufReader, BufWriter, Read, stdin, stdout};
use std::process::ExitCode;

use confined::{Allowance, forbid_new_processes, limit_written_bytes};
use exports::import::{read_reqif, read_xlsx};

use super::exchange::{MAX_ANSWER_BYTES, PlanReply, read_ground, write_answer};
use super::model::ImportFormat;
use super::planning::{ImportPlan, plan};

/// Name of the hidden subcommand.
pub const VERB: &str = "plan-import";

/// The parsed command line of the child process.
#[derive(Debug, Clone, Copy)]
pub struct ImportTask {
    format: ImportFormat,
    allowance: Allowance,
}

impl ImportTask {
    /// Parses the arguments after [`VERB`]. Returns `None` unless they have exactly the form in which a server starts its
    /// children.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        match arguments {
            ["--format", format, allowance @ ..] => {
                Some(Self { format: format.parse().ok()?, allowance: Allowance::of_arguments(allowance)? })
            }
            _ => None,
        }
    }
}

/// Runs the hidden subcommand. Call it in `main` before any runtime or thread is started.
#[must_use]
pub fn child_main(task: ImportTask) -> ExitCode {
    let limited = task.allowance.apply().and_then(|()| forbid_new_processes());
    if limited.and_then(|()| limit_written_bytes(MAX_ANSWER_BYTES)).is_err() {
        return ExitCode::FAILURE;
    }
    match write_answer(&mut BufWriter::new(stdout().lock()), planned(task.format)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn planned(format: ImportFormat) -> Result<ImportPlan, PlanReply> {
    let mut from = BufReader::new(stdin().lock());
    let ground = read_ground(&mut from).map_err(PlanReply::Broken)?;
    let mut file = Vec::new();
    from.read_to_end(&mut file).map_err(|error| PlanReply::Broken(error.to_string()))?;
    let read = match format {
        ImportFormat::Xlsx => read_xlsx(&file),
        ImportFormat::Reqif => read_reqif(&file),
    };
    drop(file);
    let imported = read.map_err(|fault| PlanReply::Refused(fault.to_string()))?;
    plan(&ground, imported).map_err(PlanReply::Refused)
}
