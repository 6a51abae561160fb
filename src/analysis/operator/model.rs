//! Runs as an operator sees them: of all projects, without what they found.

use actors::ids::{self, Id, User};
use actors::run::{AiRunStatus, Run};
use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::http::fields::{Field, InvalidValue};
use crate::http::input::Query;
use crate::http::page::Limit;

/// A run of any project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorRun {
    pub id: Id<Run>,
    pub project_id: Id<ids::Project>,
    pub project_name: String,
    /// The account that started it.
    pub created_by_id: Id<User>,
    pub status: AiRunStatus,
    /// Progress in percent.
    #[schema(minimum = 0, maximum = 100)]
    pub progress: i64,
    /// The step that the run is at, or at which it ended.
    #[schema(example = "extract_requirements")]
    pub current_node: String,
    /// The engine that does the analysis: embedded, llm or fallback.
    #[schema(example = "embedded")]
    pub engine: String,
    /// Number of the attempt, starting at 1.
    #[schema(minimum = 1)]
    pub attempt: i64,
    /// Null unless the run failed or was rejected.
    #[schema(required)]
    pub error_message: Option<String>,
    pub created_at: Time,
    /// When this attempt began to be processed; null while it is QUEUED.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When this attempt ended, in whatever way; null until then.
    #[schema(required)]
    pub completed_at: Option<Time>,
    pub updated_at: Time,
}

/// A page of the runs of all projects: unfinished ones first, then newest first.
#[derive(Debug, Clone, Query)]
pub struct RunQuery {
    /// Maximum number of items on the page.
    #[query(as = Limit, default = Limit::DEFAULT)]
    pub limit: i64,
    /// The `nextCursor` of the previous page; absent for the first page.
    #[query(rename = "cursor")]
    pub after: Option<RunCursor>,
    /// Return only runs with this status.
    pub status: Option<AiRunStatus>,
}

/// Where a page of runs ended. Unfinished runs come first, so an id alone does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCursor {
    /// Whether the last run of the page had ended.
    pub is_over: bool,
    pub id: Uuid,
}

impl RunCursor {
    /// The pattern in the OpenAPI document.
    pub const PATTERN: &'static str = "^A[A-Za-f][A-Za-z0-9_-]{20}[AEIMQUYcgkosw048]$";
}

impl PartialSchema for RunCursor {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(Self::PATTERN)).into()
    }
}

impl std::fmt::Display for RunCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes: Vec<u8> = [u8::from(self.is_over)].into_iter().chain(*self.id.as_bytes()).collect();
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl Field for RunCursor {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let read = |text: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let (is_over, id) = bytes.split_first().filter(|(is_over, _)| **is_over <= 1)?;
            Some(Self { is_over: *is_over == 1, id: Uuid::from_slice(id).ok()? })
        };
        let unknown = || InvalidValue::value("This must be the nextCursor of an earlier response, unchanged.");
        value.as_str().and_then(read).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_as_it_was_given_and_fits_its_pattern(is_over: bool, id in any::<u128>()) {
            let cursor = RunCursor { is_over, id: Uuid::from_u128(id) };
            let text = cursor.to_string();
            prop_assert!(Regex::new(RunCursor::PATTERN).unwrap().is_match(&text), "{text}");
            prop_assert_eq!(RunCursor::parse(&Value::from(text)).ok(), Some(cursor));
        }

        #[test]
        fn any_other_text_is_no_cursor(text in "\\PC{0,40}") {
            if let Ok(cursor) = RunCursor::parse(&Value::from(text.clone())) {
                prop_assert_eq!(cursor.to_string(), text);
            }
        }
    }
}
