//! The issues that user stories became in an issue tracker, as the stories show them.

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use uuid::Uuid;

use super::item_changed;
use crate::analysis::items::model::TrackerIssue;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::change;
use crate::db::{Conn, DbError};
use crate::projects::item_kind::ItemKind;

/// Says which issue a story became. Nobody edited the story: its version stays. Returns the event, unless the story is gone or
/// said so before.
///
/// # Errors
/// Only database errors.
pub async fn set(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    story_id: Uuid,
    issue: &TrackerIssue,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    let found = change::find_to_change(conn, project_id, Id::from_uuid(story_id)).await?;
    let Some(ProjectItem::UserStory(mut story)) = found else { return Ok(None) };
    if story.tracker_issue.as_ref() == Some(issue) {
        return Ok(None);
    }
    story.tracker_issue = Some(issue.clone());
    let mut item = ProjectItem::UserStory(story);
    item.changed_at(now);
    change::follow(conn, &item, now).await?;
    item_changed(conn, project_id, ItemKind::UserStory, story_id, now, request).await.map(Some)
}
