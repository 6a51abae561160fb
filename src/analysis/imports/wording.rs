//! What a file says of an item, as an edit of the one that is here or as a new one. The same limits hold as for edits.

use std::collections::HashMap;
use std::str::FromStr;

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use exports::import::{
    CriterionWording, FieldDifference, FieldValue, ImportedCriterion, ImportedRequirement, ImportedUserStory,
};
use exports::text::clean_line;
use pipeline::engine;
use pipeline::result::{Priority, RequirementType};
use serde_json::Value;
use uuid::Uuid;

use crate::analysis::items::edits::{
    ClauseText, CriterionText, ItemTitle, MAX_CRITERIA, MAX_TEXT_BYTES, RequirementEdit, StatementText, StoryEdit,
    renumbered, revised,
};
use crate::analysis::items::model::{Requirement, RevisionSource, UserStory, WorkflowStatus};
use crate::http::fields::{Field, InvalidValue};
use crate::http::patch::Patch;

/// The most requirements that a story covers, of those that a file names.
const MAX_LINKS: usize = 200;
/// How much of a text becomes the title of an item without one, in characters.
const TITLE_CHARACTERS: usize = 120;

/// Why an item of a file is left out: a sentence.
type Refused = String;

/// The requirements of the project and those that are proposed, by the names that links have after the comparison.
pub type LinkedRequirements = HashMap<String, Uuid>;

/// The requirement with what the file says differently.
///
/// # Errors
/// A field has a value that no edit would take.
pub fn changed_requirement(item: &Requirement, fields: &[FieldDifference], now: Time) -> Result<Requirement, Refused> {
    let mut edit = RequirementEdit { title: None, statement: None, kind: None, category: Patch::Keep, priority: None };
    for FieldDifference { name, after, .. } in fields {
        match *name {
            "title" => edit.title = Some(title(after)?),
            "statement" => edit.statement = Some(required(name, after)?),
            "type" => edit.kind = Some(word(name, after)?),
            "priority" => edit.priority = Some(word(name, after)?),
            "category" => edit.category = patch(after, |after| word(name, after))?,
            _ => return Err(unknown(name)),
        }
    }
    if matches!(edit.category, Patch::Set(_)) {
        takes_category(edit.kind.unwrap_or(item.kind))?;
    }
    edit.apply(item, now).map_err(|error| error.message)
}

/// The story with what the file says differently. Links that lead nowhere are left out: they are notes already.
///
/// # Errors
/// As [`changed_requirement`].
pub fn changed_story(
    item: &UserStory,
    fields: &[FieldDifference],
    linked: &LinkedRequirements,
    now: Time,
) -> Result<UserStory, Refused> {
    let (role, benefit) = (Patch::Keep, Patch::Keep);
    let mut edit = StoryEdit { title: None, role, goal: None, benefit, priority: None, criteria: None };
    let (mut description, mut links) = (None, None);
    for FieldDifference { name, after, .. } in fields {
        match (*name, after) {
            ("title", after) => edit.title = Some(title(after)?),
            ("role", after) => edit.role = patch(after, |after| required(name, after))?,
            ("goal", after) => edit.goal = Some(required(name, after)?),
            ("benefit", after) => edit.benefit = patch(after, |after| required(name, after))?,
            ("priority", after) => edit.priority = Some(word(name, after)?),
            ("description", after) => description = Some(required::<StatementText>(name, after)?.0),
            ("requirementIds", FieldValue::Links(named)) => links = Some(ids(named, linked)?),
            ("acceptanceCriteria", FieldValue::Criteria(said)) => edit.criteria = Some(criteria(said)?),
            ("acceptanceCriteria", FieldValue::Nothing) => edit.criteria = Some(Vec::new()),
            _ => return Err(unknown(name)),
        }
    }
    let mut changed = edit.apply(item, now, || Id::<()>::generate().uuid());
    changed.description = description.unwrap_or(changed.description);
    changed.requirement_ids = links.unwrap_or(changed.requirement_ids);
    if changed.version == item.version && changed != *item {
        // Only what an edit of a story does not have.
        changed = revised(changed, item.first_text(), RevisionSource::HumanEdited, now);
    }
    Ok(changed)
}

/// A requirement that only the file has, which has not got a code yet.
///
/// # Errors
/// A field has a value that no edit would take.
pub fn new_requirement(found: &ImportedRequirement, run_id: Id<Run>, now: Time) -> Result<Requirement, Refused> {
    let (statement, title) = text_and_title(&found.statement, &found.title)?;
    let statement = given::<StatementText>("statement", &statement)?.0;
    let kind = optional(&found.kind, |kind| parsed("type", kind))?.unwrap_or(RequirementType::Unknown);
    let category = optional(&found.category, |category| parsed("category", category))?;
    if category.is_some() {
        takes_category(kind)?;
    }
    let priority = optional(&found.priority, |priority| parsed("priority", priority))?;
    let (quality_issues, pattern) = engine::requirement_quality(kind, &statement, &[]);
    Ok(Requirement {
        id: Id::<()>::generate().uuid(),
        code: String::new(),
        kind,
        category,
        title,
        statement,
        priority: priority.unwrap_or(Priority::Unknown),
        // Nobody had to guess.
        confidence: 1.0,
        workflow_status: WorkflowStatus::NeedsReview,
        quality_issues,
        sources: Vec::new(),
        duplicate_of: None,
        conflicts_with: Vec::new(),
        version: 1,
        revision_source: RevisionSource::HumanEdited,
        suspect: false,
        run_id,
        created_at: now,
        updated_at: now,
        pattern,
        original: None,
        deferred_until: None,
    })
}

/// A story that only the file has.
///
/// # Errors
/// As [`new_requirement`].
pub fn new_story(
    found: &ImportedUserStory,
    linked: &LinkedRequirements,
    run_id: Id<Run>,
    now: Time,
) -> Result<UserStory, Refused> {
    let (goal, title) = text_and_title(&found.goal, &found.title)?;
    let goal = given::<ClauseText>("goal", &goal)?.0;
    let clause = |name, text: &Option<String>| optional(text, |text| given::<ClauseText>(name, text));
    let role = clause("role", &found.role)?.map(|role| role.0);
    let benefit = clause("benefit", &found.benefit)?.map(|benefit| benefit.0);
    let description = optional(&found.description, |text| given::<StatementText>("description", text))?;
    let priority = optional(&found.priority, |priority| parsed("priority", priority))?;
    let said: Vec<CriterionWording> =
        found.acceptance_criteria.iter().flatten().map(|one: &ImportedCriterion| one.into()).collect();
    let acceptance_criteria = renumbered(&criteria(&said)?, &[], || Id::<()>::generate().uuid());
    let is_testable = acceptance_criteria.iter().any(|criterion| criterion.then.is_some());
    let (quality_score, quality_issues) =
        engine::edited_story_quality(&[], role.is_some(), benefit.is_some(), is_testable);
    Ok(UserStory {
        id: Id::<()>::generate().uuid(),
        code: String::new(),
        requirement_ids: ids(found.requirement_ids.as_deref().unwrap_or_default(), linked)?,
        title,
        description: description
            .map_or_else(|| engine::describe(role.as_deref(), &goal, benefit.as_deref()), |text| text.0),
        role,
        goal,
        benefit,
        priority: priority.unwrap_or(Priority::Unknown),
        acceptance_criteria,
        workflow_status: WorkflowStatus::NeedsReview,
        quality_score,
        quality_issues,
        sources: Vec::new(),
        version: 1,
        revision_source: RevisionSource::HumanEdited,
        suspect: false,
        tracker_issue: None,
        run_id,
        created_at: now,
        updated_at: now,
        original: None,
        deferred_until: None,
    })
}

fn takes_category(kind: RequirementType) -> Result<(), Refused> {
    match kind {
        RequirementType::NonFunctional => Ok(()),
        _ => Err("category: Only a requirement of the type NON_FUNCTIONAL has one.".to_owned()),
    }
}

/// The text of a new item and its title, each of which stands for the other where the file has one alone.
fn text_and_title(text: &Option<String>, title: &Option<String>) -> Result<(String, String), Refused> {
    let written =
        |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let (text, title) = (written(text), written(title));
    let title = match (&title, &text) {
        (Some(title), _) => given::<ItemTitle>("title", &clean_line(title))?.0,
        (None, text) => shortened(&clean_line(text.as_deref().unwrap_or_default())),
    };
    Ok((text.unwrap_or_else(|| title.clone()), title))
}

/// The beginning of a line, up to a word.
fn shortened(line: &str) -> String {
    if line.chars().count() <= TITLE_CHARACTERS {
        return line.to_owned();
    }
    let beginning: String = line.chars().take(TITLE_CHARACTERS).collect();
    let words = beginning.rsplit_once(' ').map_or(beginning.as_str(), |(words, _)| words);
    format!("{words} …")
}

fn title(after: &FieldValue) -> Result<ItemTitle, Refused> {
    given("title", &clean_line(said(after)))
}

/// An empty value for a field that needs one is refused by the field itself.
fn required<T: Field>(name: &str, after: &FieldValue) -> Result<T, Refused> {
    given(name, said(after))
}

fn said(value: &FieldValue) -> &str {
    match value {
        FieldValue::Text(text) => text,
        _ => "",
    }
}

fn patch<T>(after: &FieldValue, read: impl Fn(&FieldValue) -> Result<T, Refused>) -> Result<Patch<T>, Refused> {
    match after {
        FieldValue::Nothing => Ok(Patch::Clear),
        after => read(after).map(Patch::Set),
    }
}

fn optional<T>(text: &Option<String>, read: impl Fn(&str) -> Result<T, Refused>) -> Result<Option<T>, Refused> {
    text.as_deref().filter(|text| !text.trim().is_empty()).map(read).transpose()
}

fn given<T: Field>(name: &str, text: &str) -> Result<T, Refused> {
    T::parse(&Value::String(text.to_owned())).map_err(|wrong: InvalidValue| format!("{name}: {}", wrong.message))
}

fn word<T: FromStr>(name: &str, after: &FieldValue) -> Result<T, Refused> {
    parsed(name, said(after))
}

fn parsed<T: FromStr>(name: &str, text: &str) -> Result<T, Refused> {
    text.parse().map_err(|_| format!("{name}: “{}” is none of its values.", shortened(&clean_line(text))))
}

fn criteria(said: &[CriterionWording]) -> Result<Vec<CriterionText>, Refused> {
    if said.len() > MAX_CRITERIA {
        return Err(format!("acceptanceCriteria: A story has at most {MAX_CRITERIA} criteria."));
    }
    let clause = |name, text: &Option<String>| optional(text, |text| given::<ClauseText>(name, text));
    let criterion = |one: &CriterionWording| {
        Ok(CriterionText {
            text: given::<ClauseText>("acceptanceCriteria", &one.text)?.0,
            given: clause("given", &one.given)?.map(|text| text.0),
            when: clause("when", &one.when)?.map(|text| text.0),
            then: clause("then", &one.then)?.map(|text| text.0),
        })
    };
    let criteria = said.iter().map(criterion).collect::<Result<Vec<_>, Refused>>()?;
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let bytes = criteria.iter().map(|one| one.text.len() + length(&one.given) + length(&one.when) + length(&one.then));
    if bytes.sum::<usize>() > MAX_TEXT_BYTES {
        return Err(format!("acceptanceCriteria: The criteria of a story have at most {MAX_TEXT_BYTES} bytes."));
    }
    Ok(criteria)
}

fn ids(named: &[String], linked: &LinkedRequirements) -> Result<Vec<Uuid>, Refused> {
    if named.len() > MAX_LINKS {
        return Err(format!("requirementIds: A story of a file covers at most {MAX_LINKS} requirements."));
    }
    // A requirement of this file that is left out has no id: its own note says why.
    Ok(named.iter().filter_map(|name| linked.get(name).copied()).collect())
}

fn unknown(name: &str) -> Refused {
    format!("{name}: This is not taken over from files.")
}
