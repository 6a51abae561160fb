//! The query of the list of documents.

use super::model::DocumentStatus;
use crate::http::input::Query;
use crate::http::list::Search;

/// The filter of the list of documents.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only documents with this status.
    pub status: Option<DocumentStatus>,
    /// Return only documents whose file name contains this text.
    pub search: Option<Search>,
}
