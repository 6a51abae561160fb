//! Reads ReqIF.
use super::{ImportFault, Imported};

pub(super) fn read(_bytes: &[u8]) -> Result<Imported, ImportFault> {
    Err(ImportFault::new("ReqIF files cannot be read."))
}
