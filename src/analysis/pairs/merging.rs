//! What a merge moves from the requirement that is rejected to the one that stays: the places that it rests on, and the stories
//! that cover it. What the one that stays says is not touched, so that its version and its approval stay.

use actors::ids::{self, Id};

use super::model::MovedParts;
use super::store::stories_naming;
use crate::analysis::changes::{ItemChanges, MAX_FOLLOWERS};
use crate::analysis::items::model::SourceReference;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::change::find_to_change;
use crate::db::{Conn, DbError};

/// The most places that an item rests on.
const MAX_PLACES: usize = 200;

/// Moves the places and the stories of `other` to `kept`. Returns what was moved.
///
/// # Errors
/// Only database errors.
pub async fn merge(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    changes: &mut ItemChanges,
    kept: &ProjectItem,
    other: &ProjectItem,
) -> Result<MovedParts, DbError> {
    let new = other.sources().iter().filter(|source| !kept.sources().contains(source));
    let sources: Vec<SourceReference> = new.take(MAX_PLACES.saturating_sub(kept.sources().len())).cloned().collect();
    let mut moved = MovedParts { kept_id: kept.id(), sources, ..MovedParts::default() };
    if !moved.sources.is_empty() {
        let mut richer = kept.clone();
        richer.set_sources(kept.sources().iter().chain(&moved.sources).cloned().collect());
        changes.follow(conn, richer).await?;
    }
    let covering = stories_naming(conn, project_id, Id::from_uuid(other.id()), MAX_FOLLOWERS).await?;
    for id in covering {
        let Some(ProjectItem::UserStory(mut story)) = find_to_change(conn, project_id, id).await? else { continue };
        let Some(place) = story.requirement_ids.iter().position(|id| *id == other.id()) else { continue };
        moved.stories.push(story.id);
        if story.requirement_ids.contains(&kept.id()) {
            story.requirement_ids.remove(place);
        } else {
            moved.newly_covering.push(story.id);
            story.requirement_ids.iter_mut().skip(place).take(1).for_each(|id| *id = kept.id());
        }
        changes.follow(conn, ProjectItem::UserStory(story)).await?;
    }
    Ok(moved)
}

/// Moves back what a merge has moved, as far as it is still there.
///
/// # Errors
/// Only database errors.
pub async fn take_back(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    changes: &mut ItemChanges,
    moved: &MovedParts,
    other: Id<()>,
) -> Result<(), DbError> {
    if let Some(mut kept) = find_to_change(conn, project_id, Id::from_uuid(moved.kept_id)).await? {
        let own: Vec<SourceReference> =
            kept.sources().iter().filter(|source| !moved.sources.contains(source)).cloned().collect();
        // What it rests on alone by now stays.
        if own.len() < kept.sources().len() && !own.is_empty() {
            kept.set_sources(own);
            changes.follow(conn, kept).await?;
        }
    }
    for id in &moved.stories {
        let found = find_to_change(conn, project_id, Id::from_uuid(*id)).await?;
        let Some(ProjectItem::UserStory(mut story)) = found else { continue };
        if story.requirement_ids.contains(&other.uuid()) {
            continue;
        }
        let place = story.requirement_ids.iter().position(|id| *id == moved.kept_id);
        match place.filter(|_| moved.newly_covering.contains(id)) {
            Some(place) => story.requirement_ids.iter_mut().skip(place).take(1).for_each(|id| *id = other.uuid()),
            None => story.requirement_ids.push(other.uuid()),
        }
        changes.follow(conn, ProjectItem::UserStory(story)).await?;
    }
    Ok(())
}
