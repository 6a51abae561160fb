//! Why a file could not be written.

use std::fmt;

/// Why a file could not be written.
#[derive(Debug)]
pub struct ExportFault(pub String);

impl fmt::Display for ExportFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ExportFault {}
