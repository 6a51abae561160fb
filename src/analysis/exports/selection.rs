//! Which items of a dashboard a file has, by their status.

use pipeline::result::Summary;

use super::model::{DashboardFormat, ExportFilter, ExportSelection};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::items::model::WorkflowStatus;

/// The selection of a file, where nobody has chosen too: a document has what is approved, or all but the rejected where nothing is.
/// What programs read, and what comes back as an import, has all: what it lacked would be taken for missing.
#[must_use]
pub fn selection(filter: &ExportFilter, format: DashboardFormat, dashboard: &ResultsDashboard) -> ExportSelection {
    if let Some(chosen) = filter.selection {
        return chosen;
    }
    if filter.items.status.is_some() || !format.is_document() {
        return ExportSelection::All;
    }
    let requirements = dashboard.requirements.iter().map(|one| one.workflow_status);
    let mut statuses = requirements.chain(dashboard.user_stories.iter().map(|one| one.workflow_status));
    if statuses.any(|status| status == WorkflowStatus::Approved) {
        ExportSelection::Approved
    } else {
        ExportSelection::NotRejected
    }
}

/// Leaves of a dashboard what is selected, of every kind of items. The summary tells of all that is not rejected: a file of approved
/// items has none.
pub fn select(dashboard: &mut ResultsDashboard, selection: ExportSelection) {
    if selection == ExportSelection::Approved {
        dashboard.summary = Summary::default();
    }
    dashboard.requirements.retain(|one| selection.keeps(one.workflow_status));
    dashboard.user_stories.retain(|one| selection.keeps(one.workflow_status));
    dashboard.risks.retain(|one| selection.keeps(one.workflow_status));
    dashboard.open_questions.retain(|one| selection.keeps(one.workflow_status));
    dashboard.action_items.retain(|one| selection.keeps(one.workflow_status));
    dashboard.decisions.retain(|one| selection.keeps(one.workflow_status));
}
