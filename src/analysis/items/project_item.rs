//! An item of a project, whichever kind it is: what both kinds have in common, and how a decision of a person changes it.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use actors::wire_enum;
use chrono::NaiveDate;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::model::{Requirement, RevisionSource, SourceReference, UserStory, WorkflowStatus};
use crate::projects::item_kind::ItemKind;

/// An item of a project, of either kind.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ProjectItem {
    Requirement(Requirement),
    UserStory(UserStory),
}

/// Evaluates an expression for the requirement or the story that an item is.
macro_rules! of_either {
    ($item:expr, |$one:ident| $value:expr) => {
        match $item {
            ProjectItem::Requirement($one) => $value,
            ProjectItem::UserStory($one) => $value,
        }
    };
}

impl ProjectItem {
    #[must_use]
    pub const fn kind(&self) -> ItemKind {
        match self {
            Self::Requirement(_) => ItemKind::Requirement,
            Self::UserStory(_) => ItemKind::UserStory,
        }
    }

    #[must_use]
    pub fn id(&self) -> Uuid {
        of_either!(self, |one| one.id)
    }

    #[must_use]
    pub fn run_id(&self) -> Id<Run> {
        of_either!(self, |one| one.run_id)
    }

    #[must_use]
    pub fn version(&self) -> i64 {
        of_either!(self, |one| one.version)
    }

    #[must_use]
    pub fn workflow_status(&self) -> WorkflowStatus {
        of_either!(self, |one| one.workflow_status)
    }

    #[must_use]
    pub fn sources(&self) -> &[SourceReference] {
        of_either!(self, |one| &one.sources)
    }

    /// The words by which it is recognised: what is demanded, or what is told.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Requirement(one) => &one.statement,
            Self::UserStory(one) => &one.description,
        }
    }

    pub fn set_code(&mut self, code: String) {
        of_either!(self, |one| one.code = code);
    }

    /// This item as it is added to a project, still to be reviewed.
    #[must_use]
    pub fn added(mut self, code: String, now: Time) -> Self {
        self.set_code(code);
        of_either!(&mut self, |one| {
            (one.version, one.created_at, one.updated_at) = (1, now, now);
        });
        self
    }

    /// This item with the content of `found`, which is by `author`, still to be reviewed. `None` if they are not of one kind.
    #[must_use]
    pub fn with_content(&self, found: Self, author: RevisionSource, now: Time) -> Option<Self> {
        Some(match (self, found) {
            (Self::Requirement(own), Self::Requirement(found)) => Self::Requirement(Requirement {
                id: own.id,
                code: own.code.clone(),
                version: own.version + 1,
                workflow_status: WorkflowStatus::NeedsReview,
                revision_source: author,
                suspect: false,
                run_id: own.run_id,
                created_at: own.created_at,
                updated_at: now,
                original: Some(own.first_text()),
                deferred_until: None,
                ..found
            }),
            (Self::UserStory(own), Self::UserStory(found)) => Self::UserStory(UserStory {
                id: own.id,
                code: own.code.clone(),
                version: own.version + 1,
                workflow_status: WorkflowStatus::NeedsReview,
                revision_source: author,
                suspect: false,
                tracker_issue: own.tracker_issue.clone(),
                run_id: own.run_id,
                created_at: own.created_at,
                updated_at: now,
                original: Some(own.first_text()),
                deferred_until: None,
                ..found
            }),
            _ => return None,
        })
    }

    /// This item with another status, which settles any doubt about it, and its deferral.
    #[must_use]
    pub fn judged(mut self, status: WorkflowStatus, now: Time) -> Self {
        of_either!(&mut self, |one| {
            (one.workflow_status, one.version, one.updated_at) = (status, one.version + 1, now);
            (one.suspect, one.deferred_until) = (false, None);
        });
        self
    }

    /// This item, whose review is put off until a date.
    #[must_use]
    pub fn deferred(self, until: NaiveDate, now: Time) -> Self {
        let mut deferred = self.judged(WorkflowStatus::NeedsReview, now);
        of_either!(&mut deferred, |one| one.deferred_until = Some(until));
        deferred
    }

    /// This item under a version.
    #[must_use]
    pub fn at_version(mut self, version: i64) -> Self {
        of_either!(&mut self, |one| one.version = version);
        self
    }

    #[must_use]
    pub fn code(&self) -> &str {
        of_either!(self, |one| &one.code)
    }

    #[must_use]
    pub fn is_suspect(&self) -> bool {
        of_either!(self, |one| one.suspect)
    }

    /// Whether its review was put off until some date, which may have passed.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        of_either!(self, |one| one.deferred_until.is_some())
    }

    /// The requirements that it refers to, and how.
    #[must_use]
    pub fn references(&self) -> Vec<(ReferenceKind, Uuid)> {
        match self {
            Self::Requirement(one) => {
                let duplicate = one.duplicate_of.map(|id| (ReferenceKind::DuplicateOf, id));
                let conflicts = one.conflicts_with.iter().map(|id| (ReferenceKind::ConflictsWith, *id));
                duplicate.into_iter().chain(conflicts).collect()
            }
            Self::UserStory(one) => one.requirement_ids.iter().map(|id| (ReferenceKind::Requirement, *id)).collect(),
        }
    }

    /// Removes the references that `is_kept` does not hold for.
    pub fn retain_references(&mut self, is_kept: impl Fn(&Uuid) -> bool) {
        match self {
            Self::Requirement(one) => {
                one.duplicate_of = one.duplicate_of.filter(&is_kept);
                one.conflicts_with.retain(is_kept);
            }
            Self::UserStory(one) => one.requirement_ids.retain(is_kept),
        }
    }

    /// Adds a reference. Returns whether it was missing and fits the item.
    pub fn refer(&mut self, reference: ReferenceKind, id: Uuid) -> bool {
        let missing = |ids: &mut Vec<Uuid>| {
            let is_missing = !ids.contains(&id);
            if is_missing {
                ids.push(id);
            }
            is_missing
        };
        match (self, reference) {
            (Self::Requirement(one), ReferenceKind::DuplicateOf) if one.duplicate_of.is_none() => {
                one.duplicate_of = Some(id);
                true
            }
            (Self::Requirement(one), ReferenceKind::ConflictsWith) => missing(&mut one.conflicts_with),
            (Self::UserStory(one), ReferenceKind::Requirement) => missing(&mut one.requirement_ids),
            _ => false,
        }
    }

    /// Raises the version: its content is another one.
    pub fn edited(&mut self) {
        of_either!(self, |one| one.version += 1);
    }

    /// Keeps the first of its sources.
    pub fn keep_sources(&mut self, count: usize) {
        of_either!(self, |one| one.sources.truncate(count));
    }

    /// Notes that something it refers to has changed.
    pub fn changed_at(&mut self, now: Time) {
        of_either!(self, |one| one.updated_at = now);
    }
}

wire_enum! {
    /// How an item refers to a requirement.
    pub enum ReferenceKind {
        /// A story covers it.
        Requirement,
        DuplicateOf,
        ConflictsWith,
    }
}
