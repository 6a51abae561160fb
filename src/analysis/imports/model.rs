//! The types of imports.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::enumeration::wire_enum;
use crate::projects::item_kind::ItemKind;

wire_enum! {
    /// The format of a file that is imported.
    pub enum ImportFormat {
        /// A workbook that was exported from here.
        Xlsx,
        /// ReqIF 1.0 to 1.2 of any program, compressed or not.
        Reqif,
    }
}

wire_enum! {
    /// `READING --> READY | FAILED`
    pub enum ImportStatus {
        Reading,
        /// What the file would change is proposed.
        Ready,
        Failed,
    }
}

/// How many items of a file are what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportCounts {
    /// Proposed as NEW.
    pub new: u32,
    /// Proposed as CHANGED.
    pub changed: u32,
    /// Items that are the same in the file.
    pub unchanged: u32,
    /// On the dashboard of the run, and not in the file. They stay as they are.
    pub missing: u32,
    /// What the import could not use.
    pub notes: u32,
}

/// An item that a file lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingItem {
    pub target_type: ItemKind,
    pub id: Uuid,
    #[schema(example = "REQ-001")]
    pub code: String,
    pub title: String,
}

/// Something of a file that is not taken over, or to be looked at before it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportNote {
    /// Where it stands in the file, or the code of the item.
    #[schema(example = "Requirements, row 7")]
    pub place: String,
    /// What could not be used, in a sentence for people.
    pub message: String,
}

/// What was found in a file, beside what is proposed. A list has its first 1,000 entries; the counts are of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    pub counts: ImportCounts,
    /// Items of the project that the file does not have. They stay as they are.
    pub missing: Vec<MissingItem>,
    /// What the import could not use, and where.
    pub notes: Vec<ImportNote>,
}

/// A file of items that came back. What it would change is in the proposals with its id as `importId`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemImport {
    pub id: Id<ItemImport>,
    pub project_id: Id<ids::Project>,
    /// The newest run with a result when the file was uploaded; new items name it.
    pub run_id: Id<Run>,
    /// A file that takes long to read is READING in the answer; the event `import.completed` tells when it has ended.
    pub status: ImportStatus,
    pub format: ImportFormat,
    /// The name that the file was uploaded with.
    pub file_name: String,
    /// Null unless it is READY.
    #[schema(required)]
    pub report: Option<ImportReport>,
    /// Why it FAILED.
    #[schema(required)]
    pub error_message: Option<String>,
    pub created_at: Time,
}

/// The event `import.completed`: an import without the lists of its report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportCompleted {
    pub id: Id<ItemImport>,
    pub project_id: Id<ids::Project>,
    pub status: ImportStatus,
    /// Null if the file could not be read.
    #[schema(required)]
    pub counts: Option<ImportCounts>,
    #[schema(required)]
    pub error_message: Option<String>,
}

impl From<&ItemImport> for ImportCompleted {
    fn from(import: &ItemImport) -> Self {
        Self {
            id: import.id,
            project_id: import.project_id,
            status: import.status,
            counts: import.report.as_ref().map(|report| report.counts),
            error_message: import.error_message.clone(),
        }
    }
}
