//! Changes of items by decisions of people. All of them go through here, so that what has to be recorded with each change is
//! recorded in its transaction.
//!
//! An edited or rejected requirement makes the approved stories that cover it suspect. Each changed item is announced by an
//! event `item.changed` on the topic of its project, which says what to read again.

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use serde::Serialize;
use uuid::Uuid;

use super::project_item::{ProjectItem, ReferenceKind};
use super::store::change as store;
use super::store::{FoundKeys, Kind};
use crate::db::{Conn, DbError, events};
use crate::projects::events::topic;

/// The most items that follow a change of another one.
pub const MOST_FOLLOWERS: i64 = 500;

/// The items that a transaction has changed, so far.
pub struct ItemChanges {
    project_id: Id<ids::Project>,
    now: Time,
    changed: Vec<(Kind, Uuid)>,
}

/// The data of an event `item.changed`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemChanged {
    project_id: Id<ids::Project>,
    target_type: &'static str,
    id: Uuid,
}

impl ItemChanges {
    #[must_use]
    pub fn new(project_id: Id<ids::Project>, now: Time) -> Self {
        Self { project_id, now, changed: Vec::new() }
    }

    /// Adds an item to the project, with the next code. Returns it as it is then, or `None` if it is there already.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn add(
        &mut self,
        conn: &mut Conn,
        item: ProjectItem,
        keys: FoundKeys,
    ) -> Result<Option<ProjectItem>, DbError> {
        let kind = Kind::of_item(&item);
        let number = store::next_number(conn, self.project_id, kind).await?;
        let item = item.added(kind.code(number), self.now);
        if !store::insert(conn, self.project_id, &item, number, keys, self.now).await? {
            return Ok(None);
        }
        self.changed.push((kind, item.id()));
        Ok(Some(item))
    }

    /// Changes an item: its text, and with `keys` how the analysis found it; or its status.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn change(
        &mut self,
        conn: &mut Conn,
        item: &ProjectItem,
        keys: Option<FoundKeys>,
    ) -> Result<(), DbError> {
        store::update(conn, item, keys, self.now).await?;
        self.changed.push((Kind::of_item(item), item.id()));
        if matches!(item, ProjectItem::Requirement(_)) {
            self.make_stories_suspect(conn, item.id()).await?;
        }
        Ok(())
    }

    /// Adds a reference to an item, unless it has it or does not exist. Its version stays: nobody edits its references.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn refer(
        &mut self,
        conn: &mut Conn,
        from: Id<()>,
        reference: ReferenceKind,
        to: Uuid,
    ) -> Result<(), DbError> {
        let Some(mut item) = store::find_to_change(conn, self.project_id, from).await? else { return Ok(()) };
        if item.refer(reference, to) {
            self.follow(conn, item).await?;
        }
        Ok(())
    }

    async fn make_stories_suspect(&mut self, conn: &mut Conn, requirement_id: Uuid) -> Result<(), DbError> {
        let stories = store::approved_stories_naming(conn, self.project_id, requirement_id, MOST_FOLLOWERS).await?;
        for id in stories {
            let Some(ProjectItem::UserStory(mut story)) = store::find_to_change(conn, self.project_id, id).await?
            else {
                continue;
            };
            if story.requirement_ids.contains(&requirement_id) && !story.suspect {
                story.suspect = true;
                self.follow(conn, ProjectItem::UserStory(story)).await?;
            }
        }
        Ok(())
    }

    async fn follow(&mut self, conn: &mut Conn, mut item: ProjectItem) -> Result<(), DbError> {
        item.changed_at(self.now);
        store::follow(conn, &item, self.now).await?;
        self.changed.push((Kind::of_item(&item), item.id()));
        Ok(())
    }

    /// Appends the events, as the last statements of the transaction.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn announce(mut self, conn: &mut Conn, request: &RequestId) -> Result<Vec<EventRecord>, DbError> {
        let mut seen = Vec::new();
        self.changed.retain(|(_, id)| {
            let is_first = !seen.contains(id);
            seen.push(*id);
            is_first
        });
        let mut records = Vec::with_capacity(self.changed.len());
        for (kind, id) in self.changed {
            let changed = ItemChanged { project_id: self.project_id, target_type: kind.as_str(), id };
            let data = serde_json::to_string(&changed).map_err(|error| DbError::Broken(error.to_string()))?;
            records.push(events::append(conn, topic(self.project_id), "item.changed", &data, self.now, request).await?);
        }
        Ok(records)
    }
}
