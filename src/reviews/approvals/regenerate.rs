//! Writes a user story anew, by the rules of the embedded engine: from its requirements and from what the sources say. The
//! engine can't interpret feedback; the response says so in its notes, and the feedback is kept in the trail.

use std::collections::HashSet;
use std::iter;
use std::panic::AssertUnwindSafe;

use actors::ids::Id;
use actors::live::RequestId;
use pipeline::engine;
use pipeline::loop_control::LoopControl;
use pipeline::regeneration::{RegeneratedStory, StatedRequirement, StoryContent, StoryRequest};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use utoipa::ToSchema;
use uuid::Uuid;

use super::TargetItem;
use super::model::ReviewComment;
use super::operations::{Signs, begin, find_to_change};
use crate::access::principal::Caller;
use crate::analysis::items::edits::{CriterionText, renumbered, revised};
use crate::analysis::items::item_of;
use crate::analysis::items::model::{RevisionSource, UserStory};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::trail::difference::{FieldChange, differences};
use crate::analysis::trail::model::{ApprovalAction, ItemDecision};
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::projects::item_kind::ItemKind;
use crate::reviews::feedback::model::Feedback;
use crate::reviews::feedback::store as feedbacks;
use crate::reviews::state::Reviews;
use crate::{analysis, projects};

/// The most quotes that a story is written from.
const MAX_QUOTES: usize = 50;

/// A user story that was written anew, and what is different in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegeneratedUserStory {
    #[serde(flatten)]
    #[schema(inline)]
    pub story: UserStory,
    /// What is different now; empty if the story came out as it was, and was left as it is.
    pub diff: Vec<FieldChange>,
    /// What was asked for and could not be done, and what the sources do not say.
    pub notes: Vec<String>,
}

/// What a story that is written anew is to heed.
#[derive(Debug, Clone)]
pub struct Wishes {
    pub feedback: ReviewComment,
    /// Comments of reviewers.
    pub comments: Vec<Id<Feedback>>,
}

/// Writes a story anew.
///
/// # Errors
/// 412 for a stale version; 422 for a comment that is closed or about something else; 409 for a story without a
/// requirement, for one that was changed meanwhile, and in an archived project.
pub async fn regenerate(
    state: &Reviews,
    item: TargetItem,
    caller: Caller,
    wishes: Wishes,
    version: Option<i64>,
    request: RequestId,
) -> Result<RegeneratedUserStory, ApiError> {
    let (former, asked) = story_to_write(state, item, wishes.clone()).await?;
    if version.is_some_and(|version| version != former.version) {
        return Err(ApiError::of(Code::PRECONDITION_FAILED));
    }
    let written = write(state, asked).await?;
    let now = state.now();
    let saved = state.db.write(move |conn| {
        Box::pin(async move {
            let mut changes = begin(conn, item.project_id, caller, now, Signs::No).await?;
            let ProjectItem::UserStory(present) = find_to_change(conn, item, version).await? else {
                return Err(ApiError::of(Code::NOT_FOUND));
            };
            if present.version != former.version {
                let message = "The story was changed while it was written anew. Read it again and retry.";
                return Err(ApiError::with_message(Code::CONFLICT, message));
            }
            let notes = written.notes.clone();
            let before = ProjectItem::UserStory(present.clone());
            let content = with_content(&present, written);
            let diff = differences(&before, &ProjectItem::UserStory(content.clone()));
            if diff.is_empty() {
                return Ok((RegeneratedUserStory { story: present, diff, notes }, Vec::new()));
            }
            let story = revised(content, present.first_text(), RevisionSource::AiRegenerated, now);
            let decision = ItemDecision {
                comment: Some(wishes.feedback.0),
                feedback_ids: wishes.comments.iter().map(|id| id.uuid()).collect(),
                ..ItemDecision::of(ApprovalAction::Regenerate)
            };
            changes.change(conn, &before, &ProjectItem::UserStory(story.clone()), None, decision).await?;
            let records = changes.finish(conn, &request).await?;
            Ok::<_, ApiError>((RegeneratedUserStory { story, diff, notes }, records))
        })
    });
    let (story, records) = saved.await?;
    state.hub.publish(records);
    Ok(story)
}

/// The story as it is, and what it is to be written from.
async fn story_to_write(
    state: &Reviews,
    item: TargetItem,
    wishes: Wishes,
) -> Result<(UserStory, StoryRequest), ApiError> {
    let TargetItem { project_id, .. } = item;
    let Wishes { feedback, comments: asked } = wishes;
    let wanted = asked.clone();
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let project = projects::store::find(conn, project_id).await?;
            let own = analysis::items::store::find_many(conn, project_id, vec![item.uuid()]).await?;
            let story = own.first().map(|row| item_of(ItemKind::UserStory, &row.body)).transpose()?;
            let Some(ProjectItem::UserStory(story)) = story else { return Ok((project, None, Vec::new(), Vec::new())) };
            let ids = story.requirement_ids.clone();
            let rows = analysis::items::store::find_many(conn, project_id, ids).await?;
            let requirements =
                rows.iter().map(|row| item_of(ItemKind::Requirement, &row.body)).collect::<Result<_, _>>()?;
            let comments = feedbacks::find_many(conn, project_id, &wanted).await?;
            Ok::<(_, _, Vec<ProjectItem>, _), DbError>((project, Some(story), requirements, comments))
        })
    });
    let (project, story, requirements, comments) = read.await.map_err(ApiError::from)?;
    let gone = || ApiError::of(Code::NOT_FOUND);
    let (project, story) = (project.ok_or_else(gone)?, story.ok_or_else(gone)?);
    projects::must_be_active(&project)?;
    if requirements.is_empty() {
        let message = "The story covers no requirement: there is nothing to write it from. Edit it instead.";
        return Err(ApiError::with_message(Code::INVALID_STATE, message));
    }
    heeded(&story, &asked, &comments)?;
    let texts = iter::once(feedback.0).chain(comments.into_iter().map(|one| one.comment));
    let request = StoryRequest {
        story: StoryContent {
            role: story.role.clone(),
            goal: story.goal.clone(),
            benefit: story.benefit.clone(),
            criteria: story.acceptance_criteria.iter().map(|criterion| criterion.text.clone()).collect(),
        },
        quotes: quotes(&story, &requirements),
        requirements: stated(&story, requirements),
        feedback: texts.collect::<Vec<_>>().join("\n"),
        language: project.language,
    };
    Ok((story, request))
}

/// Checks that every comment that was asked for is about the story and not closed.
fn heeded(story: &UserStory, asked: &[Id<Feedback>], comments: &[Feedback]) -> Result<(), ApiError> {
    let criteria = story.acceptance_criteria.iter().map(|criterion| criterion.id);
    let about: HashSet<Uuid> = criteria.chain(story.requirement_ids.iter().copied()).chain([story.id]).collect();
    let is_heeded = |id: &Id<Feedback>| {
        let own = comments.iter().find(|one| one.id == *id);
        own.is_some_and(|one| {
            !one.status.is_decided() && one.target.item.as_ref().is_some_and(|(item, _)| about.contains(item))
        })
    };
    match asked.iter().position(|id| !is_heeded(id)) {
        None => Ok(()),
        Some(at) => {
            let message = "This must be an open comment on the story, one of its criteria or one of its requirements.";
            Err(ApiError::field(&format!("feedbackIds[{at}]"), Reason::InvalidValue, message))
        }
    }
}

/// What the sources of a story and of its requirements say, each once.
fn quotes(story: &UserStory, requirements: &[ProjectItem]) -> Vec<String> {
    let sources = story.sources.iter().chain(requirements.iter().flat_map(|item| item.sources()));
    let mut quotes: Vec<String> = Vec::new();
    for source in sources {
        if quotes.len() < MAX_QUOTES && !quotes.contains(&source.quote) {
            quotes.push(source.quote.clone());
        }
    }
    quotes
}

/// The requirements in the order in which the story names them.
fn stated(story: &UserStory, requirements: Vec<ProjectItem>) -> Vec<StatedRequirement> {
    let place = |id: Uuid| story.requirement_ids.iter().position(|own| *own == id);
    let mut requirements = requirements;
    requirements.sort_by_key(|item| place(item.id()));
    let stated = requirements.into_iter().filter_map(|item| match item {
        ProjectItem::Requirement(one) => Some(StatedRequirement {
            title: one.title,
            statement: one.statement,
            kind: one.kind,
            priority: one.priority,
        }),
        _ => None,
    });
    stated.collect()
}

async fn write(state: &Reviews, request: StoryRequest) -> Result<RegeneratedStory, ApiError> {
    let control = LoopControl::new(state.tasks.stopping().child_token());
    let written =
        spawn_blocking(move || std::panic::catch_unwind(AssertUnwindSafe(|| engine::regenerate(&request, &control))));
    let written = written.await.map_err(ApiError::internal)?;
    let written = written.map_err(|_| ApiError::internal("the engine panicked over a story"))?;
    written.map_err(|halted| ApiError::unavailable(halted.to_string()))
}

/// The story with the content that was written.
fn with_content(story: &UserStory, written: RegeneratedStory) -> UserStory {
    let criteria = written.acceptance_criteria.into_iter().map(|one| CriterionText {
        text: one.text,
        given: one.given,
        when: one.when,
        then: one.then,
    });
    let criteria: Vec<CriterionText> = criteria.collect();
    let new_id = || actors::ids::Id::<()>::generate().uuid();
    UserStory {
        title: written.title,
        role: written.role,
        goal: written.goal,
        benefit: written.benefit,
        description: written.description,
        priority: written.priority,
        acceptance_criteria: renumbered(&criteria, &story.acceptance_criteria, new_id),
        quality_score: written.quality_score,
        quality_issues: written.quality_issues,
        ..story.clone()
    }
}
