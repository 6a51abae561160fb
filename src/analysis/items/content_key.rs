//! The hash of the content of an item, by which the same content is known again.

use sha2::{Digest, Sha256};

use super::project_item::ProjectItem;

/// The hash of the content of an item, as that of a finding with the same content.
#[must_use]
pub fn content_key(item: &ProjectItem) -> String {
    match item {
        ProjectItem::Requirement(one) => hash(&(one.kind, one.category, &one.title, &one.statement, one.priority)),
        ProjectItem::UserStory(one) => {
            let criteria: Vec<&str> = one.acceptance_criteria.iter().map(|one| one.text.as_str()).collect();
            let told = (&one.title, &one.role, &one.goal, &one.benefit, &one.description);
            hash(&(told, one.priority, criteria))
        }
        ProjectItem::Risk(one) => {
            hash(&(&one.title, &one.description, (one.severity, one.likelihood, &one.mitigation)))
        }
        ProjectItem::OpenQuestion(one) => hash(&(&one.question, &one.why, &one.raised_by)),
        ProjectItem::ActionItem(one) => hash(&(&one.text, &one.assignee, &one.due_date)),
        ProjectItem::Decision(one) => hash(&(&one.text,)),
    }
}

/// Hashes a content as 32 hex digits. What can't be serialized, which no content is, hashes as nothing.
#[must_use]
pub fn hash(content: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(content).unwrap_or_default();
    hex::encode(Sha256::digest(text)).chars().take(32).collect()
}
