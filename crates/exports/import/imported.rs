//! What a file says that came back.

use serde::{Deserialize, Serialize};

/// What a file says. An absent field (`None`) is one that the file has no place for: it is not compared. An empty text is one that the file
/// leaves empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    pub requirements: Vec<ImportedRequirement>,
    pub user_stories: Vec<ImportedUserStory>,
    /// The first of them, up to [`MAX_NOTES`](super::MAX_NOTES).
    pub not_understood: Vec<NotUnderstood>,
    /// How many there are beyond those.
    pub more_not_understood: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedRequirement {
    /// As the file names it: a UUID where the item was exported from here, otherwise the identifier of another program. Links of the same
    /// file use it.
    pub id: Option<String>,
    pub code: Option<String>,
    /// The version that was exported.
    pub version: Option<i64>,
    pub title: Option<String>,
    pub statement: Option<String>,
    /// A word of the interface: `words::Vocabulary::RequirementType`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// A word of the interface.
    pub category: Option<String>,
    /// A word of the interface: `words::Vocabulary::Priority`.
    pub priority: Option<String>,
    /// Read to report a difference; it is never taken over.
    pub workflow_status: Option<String>,
    /// Ids or codes. Read to report a difference; they are never taken over.
    pub duplicate_of: Option<String>,
    pub conflicts_with: Option<Vec<String>>,
    /// Where it stands in the file, for messages: `Requirements, row 7`.
    pub place: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedUserStory {
    /// As in [`ImportedRequirement::id`].
    pub id: Option<String>,
    pub code: Option<String>,
    pub version: Option<i64>,
    /// Ids or codes of requirements, of this file or of the project.
    pub requirement_ids: Option<Vec<String>>,
    pub title: Option<String>,
    pub role: Option<String>,
    pub goal: Option<String>,
    pub benefit: Option<String>,
    /// The story in one sentence.
    pub description: Option<String>,
    pub priority: Option<String>,
    pub acceptance_criteria: Option<Vec<ImportedCriterion>>,
    /// Read to report a difference; it is never taken over.
    pub workflow_status: Option<String>,
    pub place: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedCriterion {
    pub id: Option<String>,
    pub code: Option<String>,
    pub text: String,
    pub given: Option<String>,
    pub when: Option<String>,
    pub then: Option<String>,
}

/// Something in a file that is not used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotUnderstood {
    pub place: String,
    /// A sentence for the person who uploads the file.
    pub reason: String,
}
