//! Writing a user story anew, without keeping anything of it.

use std::panic::AssertUnwindSafe;

use actors::language::Language;
use pipeline::CancelToken;
use pipeline::engine;
use pipeline::loop_control::LoopControl;
use pipeline::regeneration::{RegeneratedStory, StatedRequirement, StoryContent, StoryRequest};
use pipeline::result::{Priority, RequirementType};
use serde_json::Value;
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use super::state::PipelineJobs;
use crate::http::error::ApiError;
use crate::http::fields::{Field, Fields, InvalidValue, Rejected, text};
use crate::http::input::Body;
use crate::http::reason::Reason;

/// The most requirements and sources of a story, and the longest texts, in characters.
const MOST: usize = 50;
const LONGEST: usize = 5_000;

/// A story to write anew, and what from.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PipelineRegenerateStory {
    story: FormerStory,
    /// The requirements that the story covers.
    #[schema(min_items = 1, max_items = 50)]
    requirements: Vec<CoveredRequirement>,
    /// What the sources say.
    #[schema(max_items = 50)]
    sources: Vec<QuotedSource>,
    /// What is to be different, in the words of the person who asked.
    #[schema(min_length = 1, max_length = 5000)]
    feedback: String,
    language: Option<Language>,
}

/// The story as it is.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FormerStory {
    #[schema(max_length = 5000)]
    title: Option<String>,
    #[schema(max_length = 5000)]
    role: Option<String>,
    #[schema(min_length = 1, max_length = 5000)]
    goal: String,
    #[schema(max_length = 5000)]
    benefit: Option<String>,
    #[schema(max_length = 5000)]
    #[expect(dead_code, reason = "it is made anew from the other parts")]
    description: Option<String>,
    priority: Option<Priority>,
    #[schema(max_items = 50)]
    acceptance_criteria: Option<Vec<FormerCriterion>>,
}

/// An acceptance criterion of the story before.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FormerCriterion {
    #[schema(min_length = 1, max_length = 5000)]
    text: String,
    #[schema(max_length = 5000)]
    #[expect(dead_code, reason = "criteria are compared by their texts")]
    given: Option<String>,
    #[schema(max_length = 5000)]
    #[expect(dead_code, reason = "criteria are compared by their texts")]
    when: Option<String>,
    #[schema(max_length = 5000)]
    #[expect(dead_code, reason = "criteria are compared by their texts")]
    then: Option<String>,
}

/// A requirement that the story is written from.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CoveredRequirement {
    #[schema(max_length = 5000)]
    title: Option<String>,
    #[schema(min_length = 1, max_length = 5000)]
    statement: String,
    #[schema(rename = "type")]
    kind: Option<RequirementType>,
    priority: Option<Priority>,
}

/// A place in a source, with its words.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct QuotedSource {
    /// Verbatim text of a source.
    #[schema(min_length = 1, max_length = 5000)]
    quote: String,
}

/// A text that is not empty.
struct SomeText(String);

impl Field for SomeText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, LONGEST).map(Self)
    }
}

/// A text that may be empty, which is the same as none.
struct AnyText(Option<String>);

impl Field for AnyText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, LONGEST).map(|text| Self(Some(text).filter(|text| !text.is_empty())))
    }
}

fn optional_text(fields: &mut Fields, name: &str) -> Result<Option<String>, Rejected> {
    fields.optional::<AnyText>(name).map(|text| text.and_then(|text| text.0))
}

impl Body for PipelineRegenerateStory {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let story = match fields.object("story", FormerStory::read) {
            Ok(None) => Err(fields.fault("story", Reason::Required, Reason::Required.sentence())),
            Ok(Some(story)) => Ok(story),
            Err(rejected) => Err(rejected),
        };
        let requirements = fields.objects("requirements", 1..=MOST, CoveredRequirement::read);
        let sources = fields.objects("sources", 0..=MOST, QuotedSource::read);
        let feedback = fields.required::<SomeText>("feedback");
        let language = fields.optional("language");
        Ok(Self {
            story: story?,
            requirements: requirements?,
            sources: sources?,
            feedback: feedback?.0,
            language: language?,
        })
    }
}

impl FormerStory {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let (title, role) = (optional_text(fields, "title"), optional_text(fields, "role"));
        let goal = fields.required::<SomeText>("goal");
        let (benefit, description) = (optional_text(fields, "benefit"), optional_text(fields, "description"));
        let priority = fields.optional("priority");
        let criteria = match fields.has("acceptanceCriteria") {
            true => fields.objects("acceptanceCriteria", 0..=MOST, FormerCriterion::read).map(Some),
            false => Ok(None),
        };
        Ok(Self {
            title: title?,
            role: role?,
            goal: goal?.0,
            benefit: benefit?,
            description: description?,
            priority: priority?,
            acceptance_criteria: criteria?,
        })
    }
}

impl FormerCriterion {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let text = fields.required::<SomeText>("text");
        let (given, when) = (optional_text(fields, "given"), optional_text(fields, "when"));
        let then = optional_text(fields, "then");
        Ok(Self { text: text?.0, given: given?, when: when?, then: then? })
    }
}

impl CoveredRequirement {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let (title, statement) = (optional_text(fields, "title"), fields.required::<SomeText>("statement"));
        let (kind, priority) = (fields.optional("type"), fields.optional("priority"));
        Ok(Self { title: title?, statement: statement?.0, kind: kind?, priority: priority? })
    }
}

impl QuotedSource {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { quote: fields.required::<SomeText>("quote")?.0 })
    }
}

impl PipelineRegenerateStory {
    fn request(self) -> StoryRequest {
        let former = self.story;
        let criteria = former.acceptance_criteria.unwrap_or_default();
        let title = former.title.unwrap_or_default();
        let stated = |one: CoveredRequirement| StatedRequirement {
            title: one.title.unwrap_or_else(|| title.clone()),
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
                role: former.role,
                goal: former.goal,
                benefit: former.benefit,
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
