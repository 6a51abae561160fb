//! The pipeline's nodes: their names, their labels for users, and the progress at their start.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::sql_text;

/// A step of the pipeline, in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive, const_into_str)]
pub enum Node {
    Queued,
    PrepareSources,
    TranscribeRecordings,
    BuildSourceIndex,
    ExtractRequirements,
    ClassifyRequirements,
    EvidenceGrounding,
    GenerateUserStories,
    QualityChecks,
    Summarize,
    Finalize,
    Done,
}

sql_text! { Node }

impl Node {
    /// Returns the label shown to users.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::PrepareSources => "Preparing sources",
            Self::TranscribeRecordings => "Transcribing recordings",
            Self::BuildSourceIndex => "Building the source index",
            Self::ExtractRequirements => "Extracting requirements",
            Self::ClassifyRequirements => "Classifying requirements",
            Self::EvidenceGrounding => "Grounding evidence",
            Self::GenerateUserStories => "Generating user stories",
            Self::QualityChecks => "Checking quality",
            Self::Summarize => "Summarizing",
            Self::Finalize => "Finalizing",
            Self::Done => "Done",
        }
    }

    /// Returns the progress when the node starts, in percent, as the API specifies it.
    #[must_use]
    pub const fn progress(self) -> u8 {
        match self {
            Self::Queued => 0,
            Self::PrepareSources => 5,
            Self::TranscribeRecordings => 10,
            Self::BuildSourceIndex => 25,
            Self::ExtractRequirements => 35,
            Self::ClassifyRequirements => 50,
            Self::EvidenceGrounding => 60,
            Self::GenerateUserStories => 70,
            Self::QualityChecks => 85,
            Self::Summarize => 92,
            Self::Finalize => 97,
            Self::Done => 100,
        }
    }

    /// Returns the progress in percent when `permille` of the node's work is done; it stays below the next node's
    /// start.
    #[must_use]
    pub fn progress_within(self, permille: u32) -> u8 {
        let start = u32::from(self.progress());
        let next = Self::VARIANTS.iter().map(|node| u32::from(node.progress())).find(|&at| at > start).unwrap_or(start);
        let last = next.saturating_sub(1).max(start);
        let now = start + (next - start) * permille.min(1000) / 1000;
        u8::try_from(now.min(last)).unwrap_or(99)
    }
}
