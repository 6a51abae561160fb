//! The queries of documents.

use super::model::DocumentStatus;
use crate::http::input::{QueriedVersion, Query};
use crate::http::list::Search;

/// The filter of the list of documents.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only documents with this status.
    pub status: Option<DocumentStatus>,
    /// Return only documents whose file name contains this text.
    pub search: Option<Search>,
}

/// Which version of a document is asked for.
#[derive(Debug, Clone, Copy, Query)]
pub struct VersionQuery {
    /// The number of a version. Absent: the present one.
    #[query(as = QueriedVersion)]
    pub version: Option<u32>,
}

/// What a version of a document is compared with.
#[derive(Debug, Clone, Copy, Query)]
pub struct ComparisonQuery {
    /// The number of another version. Absent: the one before it that could be read.
    #[query(as = QueriedVersion)]
    pub with: Option<u32>,
}
