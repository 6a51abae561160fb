//! Relations as links of requirements and stories.

use std::collections::HashMap;

use super::content::{RawRelation, ReqifContent};
use super::fields::relation_named;
use super::items::plain_id;
use crate::import::fault::quoted;
use crate::import::imported::Imported;
use crate::reqif::RelationKind;

/// Where an object went, by its identifier.
#[derive(Clone, Copy)]
pub(super) enum ItemPosition {
    Requirement(usize),
    UserStory(usize),
}

/// Adds the links of all relations. A kind of relation that the file defines has a place in it, so that items without one have none.
pub(super) fn link(content: &mut ReqifContent, imported: &mut Imported, positions: &HashMap<String, ItemPosition>) {
    let kinds: HashMap<&str, Option<RelationKind>> =
        content.relation_types.iter().map(|(id, name)| (id.as_str(), relation_named(name))).collect();
    let is_defined = |kind| kinds.values().any(|defined| *defined == Some(kind));
    let (has_conflicts, has_duplicates) =
        (is_defined(RelationKind::ConflictsWith), is_defined(RelationKind::Duplicates));
    for requirement in &mut imported.requirements {
        if has_conflicts {
            requirement.conflicts_with.get_or_insert_default();
        }
        if has_duplicates {
            requirement.duplicate_of.get_or_insert_default();
        }
    }
    if is_defined(RelationKind::Realises) {
        for story in &mut imported.user_stories {
            story.requirement_ids.get_or_insert_default();
        }
    }
    for relation in &content.relations {
        let name = content.relation_types.get(&relation.relation_type).filter(|name| !name.trim().is_empty());
        let name = quoted(name.unwrap_or(&relation.relation_type));
        let Some(kind) = kinds.get(relation.relation_type.as_str()).copied().flatten() else {
            content.notes.add(&relation.place, format!("Relations of type {name} are not used."));
            continue;
        };
        if !add(kind, relation, imported, positions) {
            let reason = format!("A relation of type {name} links objects that it cannot link here.");
            content.notes.add(&relation.place, reason);
        }
    }
}

/// Whether the relation has a meaning here. One end may lie outside the file.
fn add(
    kind: RelationKind,
    relation: &RawRelation,
    imported: &mut Imported,
    positions: &HashMap<String, ItemPosition>,
) -> bool {
    use ItemPosition::{Requirement, UserStory};
    let ends = (positions.get(&relation.source), positions.get(&relation.target));
    let (source, target) = (plain_id(&relation.source), plain_id(&relation.target));
    match (kind, ends) {
        (RelationKind::Realises, (Some(UserStory(story)), Some(Requirement(_)) | None)) => {
            imported.user_stories.get_mut(*story).map(|story| push(&mut story.requirement_ids, target)).is_some()
        }
        // Some programs draw the relation from the requirement.
        (RelationKind::Realises, (Some(Requirement(_)) | None, Some(UserStory(story)))) => {
            imported.user_stories.get_mut(*story).map(|story| push(&mut story.requirement_ids, source)).is_some()
        }
        (RelationKind::ConflictsWith, (first, second)) => {
            if matches!(first, Some(UserStory(_))) || matches!(second, Some(UserStory(_))) {
                return false;
            }
            let mut is_used = false;
            for (end, other) in [(first, target), (second, source)] {
                let Some(Requirement(position)) = end else { continue };
                let Some(requirement) = imported.requirements.get_mut(*position) else { continue };
                push(&mut requirement.conflicts_with, other);
                is_used = true;
            }
            is_used
        }
        (RelationKind::Duplicates, (Some(Requirement(copy)), Some(Requirement(_)) | None)) => {
            let Some(requirement) = imported.requirements.get_mut(*copy) else { return false };
            let is_first = requirement.duplicate_of.as_deref().unwrap_or_default().is_empty();
            if is_first {
                requirement.duplicate_of = Some(target);
            }
            is_first
        }
        _ => false,
    }
}

fn push(links: &mut Option<Vec<String>>, id: String) {
    links.get_or_insert_default().push(id);
}
