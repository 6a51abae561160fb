//! What the attributes and relations of a file mean, by their names: those that are written here, in any language, and those that the
//! implementation guide of the prostep ivip association recommends.

use crate::reqif::{RelationKind, ReqifField};
use crate::words::Label;

const CHAPTER_NAME: &str = "reqif.chaptername";

/// `None` where the attribute has no counterpart here.
pub(super) fn field_named(name: &str) -> Option<ReqifField> {
    let plain = name.trim().to_lowercase();
    let fields = ReqifField::OF_REQUIREMENTS.iter().chain(&ReqifField::OF_USER_STORIES);
    if let Some(field) = fields.copied().find(|field| field.long_name().to_lowercase() == plain) {
        return Some(field);
    }
    if plain == CHAPTER_NAME {
        return Some(ReqifField::Title);
    }
    let labels = [
        (Label::Code, ReqifField::Code),
        (Label::Title, ReqifField::Title),
        (Label::Statement, ReqifField::Text),
        (Label::Text, ReqifField::Text),
        (Label::Description, ReqifField::Text),
        (Label::Type, ReqifField::Kind),
        (Label::Category, ReqifField::Category),
        (Label::Priority, ReqifField::Priority),
        (Label::Status, ReqifField::Status),
        (Label::Role, ReqifField::Role),
        (Label::Goal, ReqifField::Goal),
        (Label::Benefit, ReqifField::Benefit),
        (Label::AcceptanceCriteria, ReqifField::Criteria),
    ];
    labels.into_iter().find(|(label, _)| label.is_written(&plain)).map(|(_, field)| field)
}

/// Whether the attribute is the text of a heading.
pub(super) fn is_heading(name: &str) -> bool {
    name.trim().to_lowercase() == CHAPTER_NAME
}

pub(super) fn is_user_story_type(name: &str) -> bool {
    name.to_lowercase().contains("user story") || Label::UserStories.is_written(name)
}

pub(super) fn relation_named(name: &str) -> Option<RelationKind> {
    Some(match name.trim().to_lowercase().as_str() {
        "realises" | "realizes" | "implements" | "satisfies" => RelationKind::Realises,
        "conflicts with" | "conflicts" | "contradicts" => RelationKind::ConflictsWith,
        "duplicates" | "duplicate of" | "is duplicate of" => RelationKind::Duplicates,
        _ => return None,
    })
}
