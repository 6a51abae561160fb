//! Files that come back: what they say, and how it differs from what is here.
//!
//! A reader turns bytes into an [`Imported`]; [`compare`] sets it beside the current state. Nothing is changed here and nothing is
//! dropped silently: what a reader or the comparison cannot use stands in `not_understood`, with its place and the reason.

mod bounds;
mod comparison;
mod fault;
mod imported;
mod notes;
mod reqif;
mod xlsx;
mod xml;

pub use bounds::MAX_FILE_BYTES;
pub use comparison::{
    ChangedEntry, Comparison, ComparisonEntry, CriterionWording, EntryKind, FieldDifference, FieldValue, compare,
};
pub use fault::ImportFault;
pub use imported::{Imported, ImportedCriterion, ImportedRequirement, ImportedUserStory, NotUnderstood};
pub use notes::MAX_NOTES;

/// Reads a `.reqif` or `.reqifz` file, of this program or of others.
pub fn read_reqif(bytes: &[u8]) -> Result<Imported, ImportFault> {
    reqif::read(bytes)
}

/// Reads a workbook that was exported from here.
pub fn read_xlsx(bytes: &[u8]) -> Result<Imported, ImportFault> {
    xlsx::read(bytes)
}
