//! Writing a user story anew, without keeping anything of it.

use std::panic::AssertUnwindSafe;

use actors::language::Language;
use pipeline::loop_control::LoopControl;
use pipeline::regeneration::{RegeneratedStory, StatedRequirement, StoryContent, StoryRequest};
use pipeline::result::{Priority, RequirementType};
use pipeline::{CancelToken, engine};
use serde_json::Value;
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use super::state::PipelineJobs;
use crate::http::error::ApiError;
use crate::http::fields::{Field, InvalidValue, text};
use crate::http::input::Body;

/// The longest texts, in characters.
const MAX_TEXT_LENGTH: usize = 5_000;

/// A story to write anew, and what from.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct PipelineRegenerateStory {
    #[body(object)]
    story: FormerStory,
    /// The requirements that the story covers.
    #[schema(min_items = 1, max_items = 50)]
    #[body(objects)]
    requirements: Vec<CoveredRequirement>,
    /// What the sources say.
    #[schema(max_items = 50)]
    #[body(objects)]
    sources: Vec<QuotedSource>,
    /// What is to be different, in the words of the person who asked.
    #[schema(min_length = 1, max_length = 5000)]
    #[body(as = SomeText)]
    feedback: String,
    language: Option<Language>,
}

/// The story as it is.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct FormerStory {
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    title: Option<String>,
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    role: Option<String>,
    #[schema(min_length = 1, max_length = 5000)]
    #[body(as = SomeText)]
    goal: String,
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    benefit: Option<String>,
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    #[expect(dead_code, reason = "it is made anew from the other parts")]
    description: Option<String>,
    priority: Option<Priority>,
    #[schema(max_items = 50)]
    #[body(objects)]
    acceptance_criteria: Option<Vec<FormerCriterion>>,
}

/// An acceptance criterion of the story before.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct FormerCriterion {
    #[schema(min_length = 1, max_length = 5000)]
    #[body(as = SomeText)]
    text: String,
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    #[expect(dead_code, reason = "criteria are compared by their texts")]
    given: Option<String>,
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    #[expect(dead_code, reason = "criteria are compared by their texts")]
    when: Option<String>,
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    #[expect(dead_code, reason = "criteria are compared by their texts")]
    then: Option<String>,
}

/// A requirement that the story is written from.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct CoveredRequirement {
    #[schema(max_length = 5000)]
    #[body(as = AnyText)]
    title: Option<String>,
    #[schema(min_length = 1, max_length = 5000)]
    #[body(as = SomeText)]
    statement: String,
    #[schema(rename = "type")]
    kind: Option<RequirementType>,
    priority: Option<Priority>,
}

/// A place in a source, with its words.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct QuotedSource {
    /// Verbatim text of a source.
    #[schema(min_length = 1, max_length = 5000)]
    #[body(as = SomeText)]
    quote: String,
}

/// A text that is not empty.
struct SomeText(String);

impl Field for SomeText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, MAX_TEXT_LENGTH).map(Self)
    }
}

/// A text that may be empty, which is the same as none.
struct AnyText(String);

impl Field for AnyText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, MAX_TEXT_LENGTH).map(Self)
    }
}

fn not_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

impl PipelineRegenerateStory {
    fn request(self) -> StoryRequest {
        let former = self.story;
        let criteria = former.acceptance_criteria.unwrap_or_default();
        let title = former.title.unwrap_or_default();
        let stated = |one: CoveredRequirement| StatedRequirement {
            title: not_empty(one.title).unwrap_or_else(|| title.clone()),
            statement: one.statement,
            kind: one.kind.unwrap_or(RequirementType::Unknown),
            priority: one.priority.or(former.priority).unwrap_or(Priority::Unknown),
        };
        StoryRequest {
            requirements: self.requirements.into_iter().map(stated).collect(),
            quotes: self.sources.into_iter().map(|source| source.quote).collect(),
            feedback: self.feedback,
            language: self.language.unwrap_or(Language::Auto),
            story: StoryContent {
                role: not_empty(former.role),
                goal: former.goal,
                benefit: not_empty(former.benefit),
                criteria: criteria.into_iter().map(|criterion| criterion.text).collect(),
            },
        }
    }
}

/// Writes a story anew.
///
/// # Errors
/// 500 for a defect of the engine; 503 while the service stops.
pub async fn regenerate(state: &PipelineJobs, body: PipelineRegenerateStory) -> Result<RegeneratedStory, ApiError> {
    let request = body.request();
    let token: CancelToken = state.tasks.stopping().child_token();
    let control = LoopControl::new(token);
    let written =
        spawn_blocking(move || std::panic::catch_unwind(AssertUnwindSafe(|| engine::regenerate(&request, &control))));
    let written = written.await.map_err(ApiError::internal)?;
    let written = written.map_err(|_| ApiError::internal("the engine panicked over a story"))?;
    written.map_err(|halted| ApiError::unavailable(halted.to_string()))
}
