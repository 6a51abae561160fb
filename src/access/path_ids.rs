//! The ids in the path of a request.

use actix_web::HttpRequest;
use actors::ids::Id;

use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError};
use crate::http::route_table::path_parameter;

/// The ids in a request's path.
pub struct PathIds<'a>(&'a HttpRequest);

impl<'a> PathIds<'a> {
    #[must_use]
    pub const fn of(request: &'a HttpRequest) -> Self {
        Self(request)
    }

    /// Parses an id.
    ///
    /// # Errors
    /// 400 if it is not a UUID.
    pub fn id<T>(&self, name: &'static str) -> Result<Id<T>, ApiError> {
        let text = path_parameter(self.0, name);
        text.parse().map_err(|_| ApiError {
            faults: vec![FieldError::of(Code::BAD_REQUEST, Some(name.to_owned()), "This must be a UUID.")],
            ..ApiError::with_message(Code::BAD_REQUEST, format!("The {name} in the path is not a UUID."))
        })
    }

    /// Parses a number, of which one that is too large is the largest.
    ///
    /// # Errors
    /// 400 if it is no number.
    pub fn number(&self, name: &'static str) -> Result<u32, ApiError> {
        let text = path_parameter(self.0, name);
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ApiError::with_message(Code::BAD_REQUEST, format!("The {name} in the path is not a number.")));
        }
        Ok(text.parse().unwrap_or(u32::MAX))
    }
}
