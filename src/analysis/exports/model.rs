//! The types of exports.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use exports::ExportFormat;
use exports::specification::SelectionHead;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::analysis::dashboard::filter::DashboardFilter;
use crate::analysis::items::model::WorkflowStatus;
use crate::http::enumeration::wire_enum;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Query};

wire_enum! {
    /// The format of a file.
    pub enum DashboardFormat {
        /// A workbook with a sheet for each kind of items.
        Xlsx,
        /// A zip archive with a table for each kind of items.
        Csv,
        Json,
        Markdown,
        /// One page without anything outside it.
        Html,
        Docx,
        /// PDF/A-2a. It needs the program `colloquy-printer` beside the server.
        Pdf,
        /// ReqIF 1.2, compressed (`.reqifz`).
        Reqif,
    }
}

/// The formats that exports can have on this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportFormats {
    /// In the order of the enumeration.
    pub formats: Vec<DashboardFormat>,
}

wire_enum! {
    /// Which items a file has, by their workflow status.
    pub enum ExportSelection {
        All,
        Approved,
        /// APPROVED and NEEDS_REVIEW.
        NotRejected,
    }
}

impl ExportSelection {
    #[must_use]
    pub const fn keeps(self, status: WorkflowStatus) -> bool {
        match self {
            Self::All => true,
            Self::Approved => matches!(status, WorkflowStatus::Approved),
            Self::NotRejected => !matches!(status, WorkflowStatus::Rejected),
        }
    }
}

impl DashboardFormat {
    /// Whether it is for people to read. The others are for programs, or come back as imports.
    #[must_use]
    pub const fn is_document(self) -> bool {
        matches!(self, Self::Markdown | Self::Html | Self::Docx | Self::Pdf)
    }

    /// The writer of the format; `None` for PDF, which the printer sets.
    #[must_use]
    pub const fn writer(self) -> Option<ExportFormat> {
        Some(match self {
            Self::Xlsx => ExportFormat::Xlsx,
            Self::Csv => ExportFormat::Csv,
            Self::Json => ExportFormat::Json,
            Self::Markdown => ExportFormat::Markdown,
            Self::Html => ExportFormat::Html,
            Self::Docx => ExportFormat::Docx,
            Self::Reqif => ExportFormat::Reqif,
            Self::Pdf => return None,
        })
    }

    #[must_use]
    pub fn mime_type(self) -> &'static str {
        self.writer().map_or("application/pdf", ExportFormat::mime_type)
    }

    /// How the name of such a file ends, without the leading dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.writer().map_or("pdf", ExportFormat::extension)
    }
}

wire_enum! {
    /// `PREPARING --> READY | FAILED`
    pub enum DashboardExportStatus {
        Preparing,
        Ready,
        Failed,
    }
}

/// Which run's items are exported, and which of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportFilter {
    /// A run, for what it found; without it, the specification as it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run_id: Option<Id<Run>>,
    /// Which items the file has, by their status. Without it and without `status`, a document (DOCX, HTML, Markdown, PDF) has those that
    /// are APPROVED, or all but the rejected ones where none is; the other formats have all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub selection: Option<ExportSelection>,
    #[serde(flatten)]
    pub items: DashboardFilter,
}

impl ExportFilter {
    /// How the file says what it has.
    #[must_use]
    pub fn described(&self, selection: ExportSelection) -> SelectionHead {
        let DashboardFilter { kind, priority, status, source, speaker, search } = &self.items;
        let items = match (selection, status) {
            (ExportSelection::All, Some(status)) => status.to_string(),
            (selection, _) => selection.to_string(),
        };
        let is_filtered = kind.is_some()
            || priority.is_some()
            || source.is_some()
            || speaker.is_some()
            || search.is_some()
            || (status.is_some() && selection != ExportSelection::All);
        SelectionHead { items, is_filtered }
    }
}

/// By hand, because what it shares with the dashboard is read as that query is: null is the same as absent.
impl Body for ExportFilter {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let run_id = fields.optional("runId");
        let selection = fields.optional("selection");
        let items = DashboardFilter::read(fields);
        Ok(Self { run_id: run_id?, selection: selection?, items: items? })
    }
}

/// A file that a member exported from the dashboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DashboardExport {
    pub id: Id<DashboardExport>,
    /// A file that takes long to make is PREPARING in the answer; the event `dashboardExport.completed` tells when it has ended.
    pub status: DashboardExportStatus,
    pub format: DashboardFormat,
    pub filters: ExportFilter,
    /// The name that the download suggests.
    pub file_name: String,
    /// Null unless it is READY.
    #[schema(required)]
    pub size_bytes: Option<i64>,
    /// The path of its content.
    pub url: String,
    /// Why it FAILED.
    #[schema(required)]
    pub error_message: Option<String>,
    /// When the file is deleted.
    pub expires_at: Time,
    pub created_at: Time,
}

/// Returns the name of a file: that of its project, as far as file systems take it, and its day.
#[must_use]
pub fn file_name(project: &str, format: DashboardFormat, now: Time) -> String {
    let plain = |c: char| match c {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '-',
        c if c.is_control() => '-',
        // Marks that change the direction of what follows could hide how the name ends.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '-',
        c => c,
    };
    let name: String = project.chars().take(NAME_CHARACTERS).map(plain).collect();
    let name = name.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let name = if name.is_empty() { "requirements" } else { name };
    format!("{name} {}.{}", now.utc().format("%Y-%m-%d"), format.extension())
}

/// How much of a project's name is in the name of a file.
const NAME_CHARACTERS: usize = 80;

#[cfg(test)]
mod tests {
    use actors::time::Time;

    use super::{DashboardFormat, file_name};

    #[test]
    fn a_file_is_named_after_its_project_as_far_as_file_systems_take_it() {
        let now = Time::from_millis(1_795_000_000_000).unwrap();
        for (project, expected) in [
            ("Clinic portal", "Clinic portal 2026-11-18.xlsx"),
            ("../../etc/passwd", "-..-etc-passwd 2026-11-18.xlsx"),
            ("a\u{202e}xslx.exe", "a-xslx.exe 2026-11-18.xlsx"),
            ("بوابة العيادة", "بوابة العيادة 2026-11-18.xlsx"),
            (" . ", "requirements 2026-11-18.xlsx"),
        ] {
            assert_eq!(file_name(project, DashboardFormat::Xlsx, now), expected);
        }
    }
}
