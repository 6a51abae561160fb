//! The texts of the operations: a Markdown file of each area, `api.md`, has a section for each of its operations. The
//! section says what the operation does and, in a list below `Errors:`, which codes it responds with besides the usual
//! ones, and when:
//!
//! ```text
//! ## cancelMeeting
//!
//! Cancels a SCHEDULED meeting. …
//!
//! Errors:
//! - `InvalidState`: The meeting is LIVE or ENDED.
//! ```
//!
//! A list below `In the redirect:` has the codes that a redirect tells in the fragment of its address.

use super::super::operation::Operation;
use crate::http::code::Code;

/// What an area's file says of an operation.
#[derive(Debug, Default)]
pub struct OperationText {
    pub description: &'static str,
    pub errors: Vec<(Code, String)>,
    /// The errors that a redirect tells in the fragment of its address, as the name of the code.
    pub redirected: Vec<(Code, String)>,
}

/// Reads the section of an operation.
///
/// # Errors
/// There is no such section, or its list of errors is malformed.
pub fn of(operation: &Operation) -> Result<OperationText, String> {
    let id = operation.id;
    let named = |section: &&str| section.lines().next() == Some(id);
    let mut sections = operation.texts.split("\n## ").filter(named);
    let section = sections.next().ok_or_else(|| format!("{id} has no section"))?;
    if sections.next().is_some() {
        return Err(format!("{id} has two sections"));
    }
    let text = section.strip_prefix(id).unwrap_or_default();
    let (text, redirected) = text.split_once("\nIn the redirect:\n").unwrap_or((text, ""));
    let (description, errors) = text.split_once("\nErrors:\n").unwrap_or((text, ""));
    Ok(OperationText { description: description.trim(), errors: list(id, errors)?, redirected: list(id, redirected)? })
}

fn list(id: &str, list: &str) -> Result<Vec<(Code, String)>, String> {
    let Some(list) = list.trim().strip_prefix("- ") else { return Ok(Vec::new()) };
    let error = |item: &str| {
        let malformed = || format!("{id}: {item} is not an error of the table with its condition");
        let (name, when) = item.split_once(": ").ok_or_else(malformed)?;
        let name = name.trim_matches('`');
        let code = Code::ALL.iter().find(|code| code.name == name).ok_or_else(malformed)?;
        Ok((*code, when.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    list.split("\n- ").map(error).collect()
}
