//! Why a dashboard was not parsed.

use crate::http::code::Code;
use crate::http::error::ApiError;

/// Why a dashboard was not parsed.
pub enum Unparsed {
    /// It has more bytes than it may have.
    TooLarge,
    Failed(ApiError),
}

impl From<Unparsed> for ApiError {
    fn from(unparsed: Unparsed) -> Self {
        match unparsed {
            Unparsed::TooLarge => Self::of(Code::RESULTS_TOO_LARGE),
            Unparsed::Failed(failed) => failed,
        }
    }
}
