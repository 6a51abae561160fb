//! Edits of the content of requirements and stories.

use actors::time::Time;
use pipeline::engine;
use pipeline::result::{Priority, QualityCategory, RequirementType};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::model::{AcceptanceCriterion, Requirement, RevisionSource, UserStory, UserStoryText, WorkflowStatus};
use super::project_item::ProjectItem;
use crate::http::error::ApiError;
use crate::http::fields::{Field, InvalidValue, line, text};
use crate::http::patch::Patch;
use crate::http::reason::Reason;

/// The most acceptance criteria of a story.
pub const MAX_CRITERIA: usize = 50;

/// The most bytes that the texts of an item have together, so that a page of items is never much larger than a page may be. What
/// readers of documents write is far below it: some sentences.
pub const MAX_TEXT_BYTES: usize = 32 * 1024;

/// How many bytes the texts of an item have, without those that follow from others.
#[must_use]
pub fn text_bytes(item: &ProjectItem) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match item {
        ProjectItem::Requirement(one) => one.title.len() + one.statement.len(),
        ProjectItem::UserStory(one) => {
            let told = one.title.len() + length(&one.role) + one.goal.len() + length(&one.benefit);
            let criteria = one.acceptance_criteria.iter();
            told + criteria
                .map(|one| one.text.len() + length(&one.given) + length(&one.when) + length(&one.then))
                .sum::<usize>()
        }
        ProjectItem::Risk(one) => one.title.len() + one.description.len() + length(&one.mitigation),
        ProjectItem::OpenQuestion(one) => one.question.len() + one.why.len() + length(&one.raised_by),
        ProjectItem::ActionItem(one) => one.text.len() + length(&one.assignee),
        ProjectItem::Decision(one) => one.text.len(),
    }
}

/// Checks that a change leaves an item within [`MAX_TEXT_BYTES`]. One that is beyond them from before may be shortened step by
/// step, and changed in anything else.
///
/// # Errors
/// 422 on the field with the most text.
pub fn must_fit(before: Option<&ProjectItem>, after: &ProjectItem) -> Result<(), ApiError> {
    let bytes = text_bytes(after);
    if bytes <= MAX_TEXT_BYTES || before.is_some_and(|before| bytes <= text_bytes(before)) {
        return Ok(());
    }
    let field = match after {
        ProjectItem::Requirement(_) => "statement",
        ProjectItem::UserStory(_) => "acceptanceCriteria",
        ProjectItem::Risk(_) => "description",
        ProjectItem::OpenQuestion(_) => "question",
        ProjectItem::ActionItem(_) | ProjectItem::Decision(_) => "text",
    };
    let sentence = format!("The texts of an item have at most {MAX_TEXT_BYTES} bytes together; these have {bytes}.");
    Err(ApiError::field(field, Reason::TooLong, sentence))
}

/// 1–200 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(
    min_length = 1,
    max_length = 200,
    pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$",
    example = "Cancel an appointment"
)]
pub struct ItemTitle(pub String);

impl Field for ItemTitle {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 200).map(Self)
    }
}

/// 1–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 5000, example = "A patient must be able to cancel an appointment.")]
pub struct StatementText(pub String);

impl Field for StatementText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5000).map(Self)
    }
}

/// 1–2,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 2000)]
pub struct ClauseText(pub String);

impl Field for ClauseText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 2000).map(Self)
    }
}

/// An edit of a requirement.
#[derive(Debug, Clone)]
pub struct RequirementEdit {
    pub title: Option<ItemTitle>,
    pub statement: Option<StatementText>,
    pub kind: Option<RequirementType>,
    pub category: Patch<QualityCategory>,
    pub priority: Option<Priority>,
}

/// The content of a story, as it is edited or written anew.
#[derive(Debug, Clone)]
pub struct StoryEdit {
    pub title: Option<ItemTitle>,
    pub role: Patch<ClauseText>,
    pub goal: Option<ClauseText>,
    pub benefit: Patch<ClauseText>,
    pub priority: Option<Priority>,
    pub criteria: Option<Vec<CriterionText>>,
}

/// What an acceptance criterion says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionText {
    pub text: String,
    pub given: Option<String>,
    pub when: Option<String>,
    pub then: Option<String>,
}

impl RequirementEdit {
    /// The requirement with this edit: to be reviewed again, under the next version. The same one, if nothing changes.
    ///
    /// # Errors
    /// 422 for a category of a requirement that is not NON_FUNCTIONAL.
    pub fn apply(&self, item: &Requirement, now: Time) -> Result<Requirement, ApiError> {
        let kind = self.kind.unwrap_or(item.kind);
        let has_category = kind == RequirementType::NonFunctional;
        let category = match &self.category {
            Patch::Set(_) if !has_category => {
                let sentence = "Only a requirement of the type NON_FUNCTIONAL has a category.";
                return Err(ApiError::field("category", Reason::InvalidValue, sentence));
            }
            Patch::Set(category) => Some(*category),
            Patch::Clear => None,
            Patch::Keep => item.category.filter(|_| has_category),
        };
        let edited = Requirement {
            title: self.title.clone().map_or_else(|| item.title.clone(), |title| title.0),
            statement: self.statement.clone().map_or_else(|| item.statement.clone(), |statement| statement.0),
            kind,
            category,
            priority: self.priority.unwrap_or(item.priority),
            ..item.clone()
        };
        if edited == *item {
            return Ok(edited);
        }
        let (quality_issues, pattern) =
            engine::requirement_quality(edited.kind, &edited.statement, &item.quality_issues);
        Ok(Requirement {
            quality_issues,
            pattern,
            original: Some(item.first_text()),
            workflow_status: WorkflowStatus::NeedsReview,
            revision_source: RevisionSource::HumanEdited,
            suspect: false,
            deferred_until: None,
            version: item.version + 1,
            updated_at: now,
            ..edited
        })
    }
}

impl StoryEdit {
    /// The story with this edit: to be reviewed again, under the next version. The same one, if nothing changes. A criterion
    /// keeps its id as long as it says the same; `new_id` makes those of the others.
    #[must_use]
    pub fn apply(&self, item: &UserStory, now: Time, new_id: impl Fn() -> Uuid) -> UserStory {
        let text = |patch: &Patch<ClauseText>, own: &Option<String>| match patch {
            Patch::Keep => own.clone(),
            Patch::Clear => None,
            Patch::Set(text) => Some(text.0.clone()),
        };
        let criteria = match &self.criteria {
            Some(criteria) => renumbered(criteria, &item.acceptance_criteria, new_id),
            None => item.acceptance_criteria.clone(),
        };
        let edited = UserStory {
            title: self.title.clone().map_or_else(|| item.title.clone(), |title| title.0),
            role: text(&self.role, &item.role),
            goal: self.goal.clone().map_or_else(|| item.goal.clone(), |goal| goal.0),
            benefit: text(&self.benefit, &item.benefit),
            priority: self.priority.unwrap_or(item.priority),
            acceptance_criteria: criteria,
            ..item.clone()
        };
        if edited == *item {
            return edited;
        }
        let is_told_anew = (&edited.role, &edited.goal, &edited.benefit) != (&item.role, &item.goal, &item.benefit);
        let description = match is_told_anew {
            true => engine::describe(edited.role.as_deref(), &edited.goal, edited.benefit.as_deref()),
            false => item.description.clone(),
        };
        let is_testable = edited.acceptance_criteria.iter().any(|criterion| criterion.then.is_some());
        let (has_role, has_benefit) = (edited.role.is_some(), edited.benefit.is_some());
        let (quality_score, quality_issues) =
            engine::edited_story_quality(&item.quality_issues, has_role, has_benefit, is_testable);
        UserStory {
            description,
            quality_score,
            quality_issues,
            ..revised(edited, item.first_text(), RevisionSource::HumanEdited, now)
        }
    }
}

/// A story whose content has changed: to be reviewed again, under the next version.
#[must_use]
pub fn revised(story: UserStory, original: Box<UserStoryText>, by: RevisionSource, now: Time) -> UserStory {
    UserStory {
        original: Some(original),
        workflow_status: WorkflowStatus::NeedsReview,
        revision_source: by,
        suspect: false,
        deferred_until: None,
        version: story.version + 1,
        updated_at: now,
        ..story
    }
}

/// The criteria of a story with ids and codes: those that say the same keep their ids, and all are numbered in their order.
#[must_use]
pub fn renumbered(
    criteria: &[CriterionText],
    former: &[AcceptanceCriterion],
    new_id: impl Fn() -> Uuid,
) -> Vec<AcceptanceCriterion> {
    let mut taken = Vec::new();
    let criterion = |(at, one): (usize, &CriterionText)| {
        let same = former.iter().find(|own| own.text == one.text && !taken.contains(&own.id)).map(|own| own.id);
        let id = same.unwrap_or_else(&new_id);
        taken.push(id);
        AcceptanceCriterion {
            id,
            code: format!("AC-{:03}", at + 1),
            text: one.text.clone(),
            given: one.given.clone(),
            when: one.when.clone(),
            then: one.then.clone(),
        }
    };
    criteria.iter().enumerate().map(criterion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(criterion: usize) -> ProjectItem {
        let body = serde_json::json!({
            "id": Uuid::nil(), "code": "US-001", "requirementIds": [], "title": "t", "role": null, "goal": "g", "benefit": null,
            "description": "d", "priority": "HIGH", "workflowStatus": "NEEDS_REVIEW", "qualityScore": 1.0, "qualityIssues": [],
            "sources": [], "version": 1, "revisionSource": "AI_GENERATED", "suspect": false, "trackerIssue": null,
            "runId": Uuid::nil(), "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
            "acceptanceCriteria": [{
                "id": Uuid::nil(), "code": "AC-001", "text": "x".repeat(criterion), "given": null, "when": null, "then": null,
            }],
        });
        ProjectItem::UserStory(serde_json::from_value(body).unwrap())
    }

    #[test]
    fn texts_are_bounded_and_what_was_longer_may_be_shortened() {
        let most = MAX_TEXT_BYTES - 2;
        assert!(must_fit(None, &story(most)).is_ok());
        let refused = must_fit(Some(&story(1)), &story(most + 1)).unwrap_err();
        assert_eq!((refused.code.status, refused.faults.len()), (422, 1));
        let former = story(10 * most);
        assert!(must_fit(Some(&former), &former).is_ok(), "another priority");
        assert!(must_fit(Some(&former), &story(9 * most)).is_ok());
        assert!(must_fit(Some(&former), &story(10 * most + 1)).is_err());
    }
}
