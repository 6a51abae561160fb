//! The response types: for each resource the fields that this client needs.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredAnswer {
    pub registration_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAnswer {
    pub access_token: String,
    /// Lifetime in seconds.
    pub expires_in: u64,
}

#[derive(Deserialize)]
pub struct ProjectAnswer {
    pub id: String,
    pub name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentAnswer {
    pub id: String,
    pub file_name: String,
    /// PENDING, PROCESSING, READY or FAILED.
    pub status: String,
    pub page_count: Option<u64>,
    pub character_count: Option<u64>,
    pub error_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MeetingAnswer {
    pub id: String,
    pub title: String,
    pub scheduled_at: chrono::DateTime<chrono::Utc>,
    /// The version of the meeting's details; `updateMeeting` returns it as ETag.
    pub version: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingAnswer {
    pub id: String,
    /// NONE, QUEUED, WAITING_FOR_MODEL, PROCESSING, READY or FAILED.
    pub transcript_status: String,
    pub error_message: Option<String>,
}

#[derive(Deserialize)]
pub struct TranscriptAnswer {
    pub model: String,
    pub segments: Vec<SegmentAnswer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SegmentAnswer {
    pub start_ms: u64,
    pub end_ms: u64,
    pub speaker: SpeakerAnswer,
    pub text: String,
}

#[derive(Deserialize)]
pub struct SpeakerAnswer {
    pub name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAnswer {
    pub id: String,
    pub status: String,
    /// 0–100.
    pub progress: u64,
    pub current_node_label: String,
    pub message: String,
    pub error_message: Option<String>,
    pub warnings: Vec<WarningAnswer>,
    pub events_url: String,
}

#[derive(Deserialize)]
pub struct WarningAnswer {
    pub message: String,
}

impl RunAnswer {
    pub fn is_over(&self) -> bool {
        !matches!(self.status.as_str(), "QUEUED" | "PROCESSING")
    }

    /// Returns whether the run has results.
    pub fn has_results(&self) -> bool {
        matches!(self.status.as_str(), "COMPLETED" | "PARTIAL")
    }
}
