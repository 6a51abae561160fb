//! What the server and the child that plans an import tell each other: JSON, one item or one proposal a line, so that the server holds
//! some of them at a time and never all.
//!
//! ```text
//! to the child:   head ── item … ── empty line ── the file
//! from the child: reply ── proposal …
//! ```

use std::io::{BufRead, Read, Write};

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use serde::{Deserialize, Serialize};

use super::model::ImportReport;
use super::planning::{ImportGround, ImportPlan, MAX_PROPOSED_BYTES};
use crate::analysis::proposals::store::drafts::ProposalDraft;
use crate::projects::item_kind::ItemKind;

/// The most that the child writes: JSON within JSON is longer than the text.
pub const MAX_ANSWER_BYTES: u64 = 2 * MAX_PROPOSED_BYTES as u64 + 64 * 1024 * 1024;
/// The longest line of an answer, in bytes. An item has at most some hundred kilobytes.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// The beginning of what the child gets.
#[derive(Debug, Serialize, Deserialize)]
pub struct GroundHead {
    pub run_id: Id<Run>,
    pub now: Time,
}

/// An item of the project as it is stored: its target, its text key and its body.
pub type GroundItem = (ItemKind, String, String);

/// What the child answers, before the proposals.
#[derive(Debug, Serialize, Deserialize)]
pub enum PlanReply {
    Planned(ImportReport),
    /// A sentence for the person who uploaded the file.
    Refused(String),
    /// What is compared with the file can't be read: not the file's fault.
    Broken(String),
}

/// One proposal of an answer.
pub type DraftLine = (ItemKind, ProposalDraft);

/// Writes a value in a line of its own.
///
/// # Errors
/// Returns the I/O error.
pub fn write_line(to: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

/// Reads what a file is compared with; what comes after it is the file.
///
/// # Errors
/// Returns a message if it is not what a server writes.
pub fn read_ground(from: &mut impl BufRead) -> Result<ImportGround, String> {
    let broken = |error: &dyn std::fmt::Display| format!("what the file is compared with can't be read: {error}");
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line).map_err(|error| broken(&error))?;
    let head: GroundHead = serde_json::from_slice(&line).map_err(|error| broken(&error))?;
    let mut ground = ImportGround::new(head.run_id, head.now);
    loop {
        line.clear();
        from.read_until(b'\n', &mut line).map_err(|error| broken(&error))?;
        if line == b"\n" {
            return Ok(ground);
        }
        let (target, text_key, body): GroundItem = serde_json::from_slice(&line).map_err(|error| broken(&error))?;
        ground.add(target, text_key, body)?;
    }
}

/// Writes an answer.
///
/// # Errors
/// Returns the I/O error.
pub fn write_answer(to: &mut impl Write, planned: Result<ImportPlan, PlanReply>) -> std::io::Result<()> {
    match planned {
        Ok(plan) => {
            write_line(to, &PlanReply::Planned(plan.report))?;
            plan.drafts.iter().try_for_each(|draft| write_line(to, draft))?;
        }
        Err(reply) => write_line(to, &reply)?,
    }
    to.flush()
}

/// Reads the next line of an answer; `None` at its end.
///
/// # Errors
/// Returns a message for a line that is too long, or is not what a child writes.
pub fn read_line<T: for<'de> Deserialize<'de>>(from: &mut impl BufRead) -> Result<Option<T>, String> {
    let mut line = Vec::new();
    from.take(MAX_LINE_BYTES).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| format!("the answer of the child can't be read: {error}"))
}
