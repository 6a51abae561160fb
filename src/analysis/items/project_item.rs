//! An item of a project, whichever kind it is: what all kinds have in common, and how a decision of a person changes it.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use actors::wire_enum;
use chrono::NaiveDate;
use serde::Serialize;
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::model::{
    ActionItem, Decision, OpenQuestion, Requirement, RevisionSource, Risk, SourceReference, UserStory, WorkflowStatus,
};
use crate::projects::item_kind::ItemKind;

/// An item of a project, of any kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProjectItem {
    Requirement(Requirement),
    UserStory(UserStory),
    Risk(Risk),
    OpenQuestion(OpenQuestion),
    ActionItem(ActionItem),
    Decision(Decision),
}

impl PartialSchema for ProjectItem {
    /// Kinds are told apart by the beginnings of their codes, which is more than `oneOf` shows to programs.
    fn schema() -> RefOr<Schema> {
        let of = Ref::from_schema_name;
        let kinds = AnyOfBuilder::new().description(Some("An item of a project, of any kind."));
        kinds
            .item(of(Requirement::name()))
            .item(of(UserStory::name()))
            .item(of(Risk::name()))
            .item(of(OpenQuestion::name()))
            .item(of(ActionItem::name()))
            .item(of(Decision::name()))
            .into()
    }
}

impl ToSchema for ProjectItem {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        macro_rules! each {
            ($($kind:ident)*) => {
                $(
                    schemas.push(($kind::name().into_owned(), $kind::schema()));
                    $kind::schemas(schemas);
                )*
            };
        }
        each!(Requirement UserStory Risk OpenQuestion ActionItem Decision);
    }
}

/// Evaluates an expression for what an item is.
macro_rules! of_any {
    ($item:expr, |$one:ident| $value:expr) => {
        match $item {
            ProjectItem::Requirement($one) => $value,
            ProjectItem::UserStory($one) => $value,
            ProjectItem::Risk($one) => $value,
            ProjectItem::OpenQuestion($one) => $value,
            ProjectItem::ActionItem($one) => $value,
            ProjectItem::Decision($one) => $value,
        }
    };
}

impl ProjectItem {
    #[must_use]
    pub const fn kind(&self) -> ItemKind {
        match self {
            Self::Requirement(_) => ItemKind::Requirement,
            Self::UserStory(_) => ItemKind::UserStory,
            Self::Risk(_) => ItemKind::Risk,
            Self::OpenQuestion(_) => ItemKind::OpenQuestion,
            Self::ActionItem(_) => ItemKind::ActionItem,
            Self::Decision(_) => ItemKind::Decision,
        }
    }

    #[must_use]
    pub fn id(&self) -> Uuid {
        of_any!(self, |one| one.id)
    }

    #[must_use]
    pub fn run_id(&self) -> Id<Run> {
        of_any!(self, |one| one.run_id)
    }

    #[must_use]
    pub fn updated_at(&self) -> Time {
        of_any!(self, |one| one.updated_at)
    }

    #[must_use]
    pub fn version(&self) -> i64 {
        of_any!(self, |one| one.version)
    }

    #[must_use]
    pub fn workflow_status(&self) -> WorkflowStatus {
        of_any!(self, |one| one.workflow_status)
    }

    #[must_use]
    pub fn sources(&self) -> &[SourceReference] {
        of_any!(self, |one| &one.sources)
    }

    /// The words by which it is recognised: what is demanded, or what is told.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Requirement(one) => &one.statement,
            Self::UserStory(one) => &one.description,
            Self::Risk(one) => &one.description,
            Self::OpenQuestion(one) => &one.question,
            Self::ActionItem(one) => &one.text,
            Self::Decision(one) => &one.text,
        }
    }

    pub fn set_code(&mut self, code: String) {
        of_any!(self, |one| one.code = code);
    }

    /// This item as it is added to a project, still to be reviewed.
    #[must_use]
    pub fn added(mut self, code: String, now: Time) -> Self {
        self.set_code(code);
        of_any!(&mut self, |one| {
            (one.version, one.created_at, one.updated_at) = (1, now, now);
        });
        self
    }

    /// This item with the content of `found`, which is by `author`, still to be reviewed. `None` if they are not of one kind.
    #[must_use]
    pub fn with_content(&self, found: Self, author: RevisionSource, now: Time) -> Option<Self> {
        /// What the item keeps of itself; beside it stands what its kind keeps.
        macro_rules! content_of {
            ($kind:ident, $own:ident, $found:ident $(, $kept:ident: $value:expr)*) => {
                Self::$kind($kind {
                    id: $own.id,
                    code: $own.code.clone(),
                    version: $own.version + 1,
                    workflow_status: WorkflowStatus::NeedsReview,
                    revision_source: author,
                    suspect: false,
                    run_id: $own.run_id,
                    created_at: $own.created_at,
                    updated_at: now,
                    deferred_until: None,
                    $($kept: $value,)*
                    ..$found
                })
            };
        }
        Some(match (self, found) {
            (Self::Requirement(own), Self::Requirement(found)) => {
                content_of!(Requirement, own, found, original: Some(own.first_text()))
            }
            (Self::UserStory(own), Self::UserStory(found)) => {
                let issue = own.tracker_issue.clone();
                content_of!(UserStory, own, found, original: Some(own.first_text()), tracker_issue: issue)
            }
            (Self::Risk(own), Self::Risk(found)) => content_of!(Risk, own, found),
            (Self::OpenQuestion(own), Self::OpenQuestion(found)) => content_of!(OpenQuestion, own, found),
            (Self::ActionItem(own), Self::ActionItem(found)) => content_of!(ActionItem, own, found),
            (Self::Decision(own), Self::Decision(found)) => content_of!(Decision, own, found),
            _ => return None,
        })
    }

    /// This item with another status, which settles any doubt about it, and its deferral.
    #[must_use]
    pub fn judged(mut self, status: WorkflowStatus, now: Time) -> Self {
        of_any!(&mut self, |one| {
            (one.workflow_status, one.version, one.updated_at) = (status, one.version + 1, now);
            (one.suspect, one.deferred_until) = (false, None);
        });
        self
    }

    /// This item, whose review is put off until a date.
    #[must_use]
    pub fn deferred(self, until: NaiveDate, now: Time) -> Self {
        let mut deferred = self.judged(WorkflowStatus::NeedsReview, now);
        of_any!(&mut deferred, |one| one.deferred_until = Some(until));
        deferred
    }

    /// This item under a version.
    #[must_use]
    pub fn at_version(mut self, version: i64) -> Self {
        of_any!(&mut self, |one| one.version = version);
        self
    }

    #[must_use]
    pub fn code(&self) -> &str {
        of_any!(self, |one| &one.code)
    }

    #[must_use]
    pub fn is_suspect(&self) -> bool {
        of_any!(self, |one| one.suspect)
    }

    /// Whether its review was put off until some date, which may have passed.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        of_any!(self, |one| one.deferred_until.is_some())
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
            Self::Risk(_) | Self::OpenQuestion(_) | Self::ActionItem(_) | Self::Decision(_) => Vec::new(),
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
            Self::Risk(_) | Self::OpenQuestion(_) | Self::ActionItem(_) | Self::Decision(_) => {}
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
        of_any!(self, |one| one.version += 1);
    }

    /// Replaces the places that it rests on.
    pub fn set_sources(&mut self, sources: Vec<SourceReference>) {
        of_any!(self, |one| one.sources = sources);
    }

    /// Takes over from `former`, whose words it has, what makes it the same item: all that is not content.
    pub fn take_life(&mut self, former: &Self) {
        macro_rules! life_of {
            ($own:ident, $former:ident $(, $kept:ident)*) => {{
                ($own.id, $own.version, $own.run_id) = ($former.id, $former.version, $former.run_id);
                ($own.created_at, $own.suspect) = ($former.created_at, $former.suspect);
                ($own.workflow_status, $own.revision_source) = ($former.workflow_status, $former.revision_source);
                $own.deferred_until = $former.deferred_until;
                $own.code.clone_from(&$former.code);
                $($own.$kept.clone_from(&$former.$kept);)*
            }};
        }
        match (self, former) {
            (Self::Requirement(own), Self::Requirement(former)) => life_of!(own, former, original),
            (Self::UserStory(own), Self::UserStory(former)) => life_of!(own, former, original, tracker_issue),
            (Self::Risk(own), Self::Risk(former)) => life_of!(own, former),
            (Self::OpenQuestion(own), Self::OpenQuestion(former)) => life_of!(own, former),
            (Self::ActionItem(own), Self::ActionItem(former)) => life_of!(own, former),
            (Self::Decision(own), Self::Decision(former)) => life_of!(own, former),
            _ => {}
        }
    }

    /// Notes that something it refers to has changed.
    pub fn changed_at(&mut self, now: Time) {
        of_any!(self, |one| one.updated_at = now);
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
