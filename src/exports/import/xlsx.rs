//! Reads a workbook that was exported from here.

use super::{ImportFault, Imported};

pub(super) fn read(_bytes: &[u8]) -> Result<Imported, ImportFault> {
    Err(ImportFault::new("Workbooks cannot be read."))
}
