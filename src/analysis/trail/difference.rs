//! What differs between two states of an item, field by field.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::analysis::items::model::{
    AcceptanceCriterion, ActionItem, Decision, OpenQuestion, Requirement, Risk, UserStory,
};
use crate::analysis::items::project_item::ProjectItem;

/// A field that changed, with both of its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// As in the resource. Acceptance criteria are compared by their texts, as one field.
    #[schema(example = "statement")]
    pub name: String,
    /// The value before; null for none.
    #[schema(value_type = Value, nullable)]
    pub before: Value,
    /// The value after; null for none.
    #[schema(value_type = Value, nullable)]
    pub after: Value,
}

/// The fields of a requirement whose change makes the approved stories that rest on it suspect: what is demanded. Its title and
/// its priority say nothing else about what is to be built.
const DEMAND: [&str; 3] = ["statement", "type", "category"];

/// Returns the fields of the content that differ, in the order of the resource. A status or a reference is none of them.
#[must_use]
pub fn differences(before: &ProjectItem, after: &ProjectItem) -> Vec<FieldChange> {
    let changes = content(before).into_iter().zip(content(after));
    let changed = changes.filter(|((_, before), (_, after))| before != after);
    changed.map(|((name, before), (_, after))| FieldChange { name: name.to_owned(), before, after }).collect()
}

/// Whether the changes of a requirement make the stories that rest on it suspect.
#[must_use]
pub fn change_the_demand(changes: &[FieldChange]) -> bool {
    changes.iter().any(|change| DEMAND.contains(&change.name.as_str()))
}

fn content(item: &ProjectItem) -> Vec<(&'static str, Value)> {
    match item {
        ProjectItem::Requirement(Requirement { title, statement, kind, category, priority, .. }) => vec![
            ("title", json(title)),
            ("statement", json(statement)),
            ("type", json(kind)),
            ("category", json(category)),
            ("priority", json(priority)),
        ],
        ProjectItem::UserStory(UserStory { title, role, goal, benefit, priority, acceptance_criteria, .. }) => vec![
            ("title", json(title)),
            ("role", json(role)),
            ("goal", json(goal)),
            ("benefit", json(benefit)),
            ("priority", json(priority)),
            ("acceptanceCriteria", acceptance_criteria.iter().map(criterion).collect()),
        ],
        ProjectItem::Risk(Risk { title, description, severity, likelihood, mitigation, .. }) => vec![
            ("title", json(title)),
            ("description", json(description)),
            ("severity", json(severity)),
            ("likelihood", json(likelihood)),
            ("mitigation", json(mitigation)),
        ],
        ProjectItem::OpenQuestion(OpenQuestion { question, why, raised_by, .. }) => {
            vec![("question", json(question)), ("why", json(why)), ("raisedBy", json(raised_by))]
        }
        ProjectItem::ActionItem(ActionItem { text, assignee, due_date, .. }) => {
            vec![("text", json(text)), ("assignee", json(assignee)), ("dueDate", json(due_date))]
        }
        ProjectItem::Decision(Decision { text, .. }) => vec![("text", json(text))],
    }
}

/// A criterion by what it says: its id and its code are not content.
fn criterion(AcceptanceCriterion { text, given, when, then, .. }: &AcceptanceCriterion) -> Value {
    serde_json::json!({ "text": text, "given": given, "when": when, "then": then })
}

/// Nothing of an item fails to be JSON.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
