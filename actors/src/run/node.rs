//! The pipeline's nodes: their names, their labels for users, and the progress at their start.

use crate::words::words;

words! {
    /// A step of the pipeline, in the order of execution.
    Node {
        Queued = "queued",
        PrepareSources = "prepare_sources",
        TranscribeRecordings = "transcribe_recordings",
        BuildSourceIndex = "build_source_index",
        ExtractRequirements = "extract_requirements",
        ClassifyRequirements = "classify_requirements",
        EvidenceGrounding = "evidence_grounding",
        GenerateUserStories = "generate_user_stories",
        QualityChecks = "quality_checks",
        Summarize = "summarize",
        Finalize = "finalize",
        Done = "done",
    }
}

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
}
