//! Which items of a dashboard are wanted.

use std::collections::HashSet;

use actors::ids::Id;
use pipeline::result::{Priority, RequirementType};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use super::model::ResultsDashboard;
use crate::analysis::results::model::{Requirement, SourceReference, UserStory, WorkflowStatus};
use crate::http::fields::{Field, Fields, InvalidValue, Rejected, text};

/// Which items of a dashboard are wanted: those that satisfy every filter. A filter on what a kind of items does not have, such
/// as the status of a risk, leaves that kind as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DashboardFilter {
    /// Requirements of this type, and the stories that cover one of them.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub kind: Option<RequirementType>,
    /// Requirements and stories with this priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub priority: Option<Priority>,
    /// Requirements and stories with this workflow status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<WorkflowStatus>,
    /// Items from this document or recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<Uuid>,
    /// Items that this speaker said, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub speaker: Option<String>,
    /// Items whose text contains this text, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub search: Option<String>,
}

/// A name or words: 1–200 characters.
struct FilterText(String);

impl Field for FilterText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 200).map(Self)
    }
}

impl DashboardFilter {
    pub const KEYS: [&str; 6] = ["type", "priority", "status", "source", "speaker", "search"];

    /// # Errors
    /// An error was recorded in `fields`.
    pub fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let kind = fields.optional("type");
        let priority = fields.optional("priority");
        let status = fields.optional("status");
        let source = fields.optional::<Id<()>>("source");
        let speaker = fields.optional::<FilterText>("speaker");
        let search = fields.optional::<FilterText>("search");
        Ok(Self {
            kind: kind?,
            priority: priority?,
            status: status?,
            source: source?.map(Id::uuid),
            speaker: speaker?.map(|speaker| speaker.0),
            search: search?.map(|words| words.0),
        })
    }

    /// Whether it keeps everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns 16 hex digits that differ between two filters.
    #[must_use]
    pub fn hash(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        hex::encode(Sha256::digest(text)).chars().take(16).collect()
    }

    /// Removes what is not wanted from a dashboard, and counts the rest.
    pub fn apply(&self, dashboard: &mut ResultsDashboard) {
        let wanted = Wanted::of(self);
        dashboard.requirements.retain(|one| self.keeps_requirement(&wanted, one));
        let covered: HashSet<Uuid> = dashboard.requirements.iter().map(|one| one.id).collect();
        dashboard.user_stories.retain(|one| self.keeps_story(&wanted, one, &covered));
        dashboard.risks.retain(|one| {
            wanted.keeps(&one.sources, &[&one.title, &one.description, one.mitigation.as_deref().unwrap_or_default()])
        });
        dashboard.open_questions.retain(|one| wanted.keeps(&one.sources, &[&one.question, &one.why]));
        dashboard
            .action_items
            .retain(|one| wanted.keeps(&one.sources, &[&one.text, one.assignee.as_deref().unwrap_or_default()]));
        dashboard.decisions.retain(|one| wanted.keeps(&one.sources, &[&one.text]));
        dashboard.count_items();
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        dashboard.metrics.risks = count(dashboard.risks.len());
        dashboard.metrics.open_questions = count(dashboard.open_questions.len());
        dashboard.metrics.action_items = count(dashboard.action_items.len());
        dashboard.metrics.decisions = count(dashboard.decisions.len());
    }

    fn keeps_requirement(&self, wanted: &Wanted, one: &Requirement) -> bool {
        self.kind.is_none_or(|kind| kind == one.kind)
            && self.priority.is_none_or(|priority| priority == one.priority)
            && self.status.is_none_or(|status| status == one.workflow_status)
            && wanted.keeps(&one.sources, &[&one.code, &one.title, &one.statement])
    }

    fn keeps_story(&self, wanted: &Wanted, one: &UserStory, covered: &HashSet<Uuid>) -> bool {
        let mut texts = vec![one.code.as_str(), &one.title, &one.description];
        texts.extend(one.acceptance_criteria.iter().map(|criterion| criterion.text.as_str()));
        (self.kind.is_none() || one.requirement_ids.iter().any(|id| covered.contains(id)))
            && self.priority.is_none_or(|priority| priority == one.priority)
            && self.status.is_none_or(|status| status == one.workflow_status)
            && wanted.keeps(&one.sources, &texts)
    }
}

/// The filters that all kinds of items have, made ready for comparison.
struct Wanted {
    source: Option<Uuid>,
    speaker: Option<String>,
    search: Option<String>,
}

impl Wanted {
    fn of(filter: &DashboardFilter) -> Self {
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        Self { source: filter.source, speaker: lower(&filter.speaker), search: lower(&filter.search) }
    }

    fn keeps(&self, sources: &[SourceReference], texts: &[&str]) -> bool {
        let is_of = |source: &SourceReference, id: Uuid| source.document_id.or(source.recording_id) == Some(id);
        let said_by = |source: &SourceReference, speaker: &String| {
            source.speaker.as_ref().is_some_and(|own| own.to_lowercase() == *speaker)
        };
        self.source.is_none_or(|id| sources.iter().any(|source| is_of(source, id)))
            && self.speaker.as_ref().is_none_or(|speaker| sources.iter().any(|source| said_by(source, speaker)))
            && self.search.as_ref().is_none_or(|words| texts.iter().any(|text| text.to_lowercase().contains(words)))
    }
}
