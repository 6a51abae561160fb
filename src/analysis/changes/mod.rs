//! Changes of items by decisions of people. All of them go through here, so that what has to be recorded with each change is
//! recorded in its transaction: each is an event of the project's approval trail.
//!
//! A requirement that is rejected, or demands something else now, makes the approved stories that cover it suspect. Each
//! changed item is announced by an event `item.changed` on the topic of its project, which says what to read again.

pub mod tracker_issues;

use std::collections::HashSet;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::comparing;
use crate::analysis::items::edits::must_fit;
use crate::analysis::items::model::{UserStory, WorkflowStatus};
use crate::analysis::items::project_item::{ProjectItem, ReferenceKind};
use crate::analysis::items::store::FoundKeys;
use crate::analysis::items::store::change as store;
use crate::analysis::trail::difference::{change_the_demand, differences};
use crate::analysis::trail::model::{ApprovalAction, Decider, ItemDecision};
use crate::analysis::trail::store::{self as trail, NewEvent};
use crate::db::{Conn, DbError, events};
use crate::http::error::ApiError;
use crate::projects::events::topic;
use crate::projects::item_kind::ItemKind;

/// The most items that follow a change of another one.
pub const MAX_FOLLOWERS: i64 = 500;

/// The items that a transaction has changed, so far.
pub struct ItemChanges {
    project_id: Id<ids::Project>,
    decider: Decider,
    now: Time,
    changed: Vec<(ItemKind, Uuid)>,
    /// Requirements whose change makes stories suspect.
    unsettling: Vec<Uuid>,
    /// Whether a requirement came, stands again or stands no more, or says something else.
    is_to_compare: bool,
    events: Vec<NewEvent>,
}

/// The data of an event `item.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemChanged {
    project_id: Id<ids::Project>,
    /// Such as REQUIREMENT or USER_STORY.
    target_type: &'static str,
    id: Uuid,
}

impl ItemChanges {
    #[must_use]
    pub const fn new(project_id: Id<ids::Project>, decider: Decider, now: Time) -> Self {
        Self {
            project_id,
            decider,
            now,
            changed: Vec::new(),
            unsettling: Vec::new(),
            is_to_compare: false,
            events: Vec::new(),
        }
    }

    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Adds an item to the project, with the next code. Returns it as it is then, or `None` if it is there already.
    ///
    /// # Errors
    /// 422 for more text than an item may have; database errors.
    pub async fn add(
        &mut self,
        conn: &mut Conn,
        item: ProjectItem,
        keys: FoundKeys,
    ) -> Result<Option<ProjectItem>, ApiError> {
        must_fit(None, &item)?;
        let kind = item.kind();
        let number = store::next_number(conn, self.project_id, kind).await?;
        let item = item.added(kind.code(number), self.now);
        if !store::insert(conn, self.project_id, &item, number, keys, self.now).await? {
            return Ok(None);
        }
        self.changed.push((kind, item.id()));
        self.is_to_compare |= kind == ItemKind::Requirement;
        self.note(None, &item, ItemDecision::of(ApprovalAction::AcceptProposal));
        Ok(Some(item))
    }

    /// Changes an item: its text, and with `keys` how the analysis found it; or its status.
    ///
    /// # Errors
    /// 422 for more text than an item may have; database errors.
    pub async fn change(
        &mut self,
        conn: &mut Conn,
        before: &ProjectItem,
        after: &ProjectItem,
        keys: Option<FoundKeys>,
        decision: ItemDecision,
    ) -> Result<(), ApiError> {
        must_fit(Some(before), after)?;
        store::update(conn, after, keys, self.now).await?;
        self.changed.push((after.kind(), after.id()));
        let is_rejected =
            after.workflow_status() == WorkflowStatus::Rejected && before.workflow_status() != WorkflowStatus::Rejected;
        let is_another = self.note(Some(before), after, decision);
        self.is_to_compare |= is_to_compare(before, after);
        if matches!(after, ProjectItem::Requirement(_)) && (is_rejected || is_another) {
            self.unsettling.push(after.id());
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

    /// Notes the event of a change. Returns whether a requirement demands something else now.
    fn note(&mut self, before: Option<&ProjectItem>, after: &ProjectItem, decision: ItemDecision) -> bool {
        let diff = before.map(|before| differences(before, after)).unwrap_or_default();
        let is_another = change_the_demand(&diff);
        let state = |item: &ProjectItem| (item.workflow_status(), item.version());
        self.events.push(NewEvent {
            target_type: after.kind(),
            target_id: after.id(),
            target_code: after.code().to_owned(),
            from: before.map(state),
            to: state(after),
            diff,
            decision,
        });
        is_another
    }

    async fn make_stories_suspect(&mut self, conn: &mut Conn) -> Result<(), DbError> {
        let requirements = std::mem::take(&mut self.unsettling);
        for id in store::approved_stories_naming(conn, self.project_id, &requirements, MAX_FOLLOWERS).await? {
            let found = store::find_to_change(conn, self.project_id, id).await?;
            let Some(ProjectItem::UserStory(story)) = found else { continue };
            let cause = story.requirement_ids.iter().find(|id| requirements.contains(id)).copied();
            // It may have been decided in this transaction too.
            if story.suspect || cause.is_none() || story.workflow_status != WorkflowStatus::Approved {
                continue;
            }
            let before = ProjectItem::UserStory(story.clone());
            let after = ProjectItem::UserStory(UserStory { suspect: true, ..story });
            let decision = ItemDecision { caused_by: cause, ..ItemDecision::of(ApprovalAction::BecomeSuspect) };
            self.note(Some(&before), &after, decision);
            self.follow(conn, after).await?;
        }
        Ok(())
    }

    /// Stores an item that rests on, or refers to, something else now. Its version stays: nobody edited it.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn follow(&mut self, conn: &mut Conn, mut item: ProjectItem) -> Result<(), DbError> {
        item.changed_at(self.now);
        store::follow(conn, &item, self.now).await?;
        self.changed.push((item.kind(), item.id()));
        Ok(())
    }

    /// Stores a requirement that says something else of its pairs now: nobody touched it.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn relink(&mut self, conn: &mut Conn, item: &ProjectItem) -> Result<(), DbError> {
        store::relink(conn, item).await?;
        self.changed.push((item.kind(), item.id()));
        Ok(())
    }

    /// Appends what was decided to the trail, and what changed to the events, as the last statements of the transaction.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn finish(mut self, conn: &mut Conn, request: &RequestId) -> Result<Vec<EventRecord>, DbError> {
        if !self.unsettling.is_empty() {
            self.make_stories_suspect(conn).await?;
        }
        if self.is_to_compare {
            comparing::enqueue(conn, self.project_id, self.now, request).await?;
        }
        trail::append(conn, self.project_id, &self.decider, self.now, self.events).await?;
        let mut seen = HashSet::new();
        self.changed.retain(|(_, id)| seen.insert(*id));
        let mut records = Vec::with_capacity(self.changed.len());
        for (kind, id) in self.changed {
            records.push(item_changed(conn, self.project_id, kind, id, self.now, request).await?);
        }
        Ok(records)
    }
}

/// Whether a requirement is to be compared with others again: it has other words, was rejected, or stands again.
fn is_to_compare(before: &ProjectItem, after: &ProjectItem) -> bool {
    let (ProjectItem::Requirement(before), ProjectItem::Requirement(after)) = (before, after) else { return false };
    let is_rejected = |status: WorkflowStatus| status == WorkflowStatus::Rejected;
    is_rejected(before.workflow_status) != is_rejected(after.workflow_status)
        || (&before.statement, &before.title) != (&after.statement, &after.title)
}

/// Appends the event that says to read an item again.
///
/// # Errors
/// Only database errors.
pub async fn item_changed(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    id: Uuid,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let changed = ItemChanged { project_id, target_type: kind.into_str(), id };
    let data = serde_json::to_string(&changed).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(project_id), EventKind::ItemChanged, &data, now, request).await
}
