//! The table of all topics and events with the data that they carry, as `routes` is the table of all operations. The
//! AsyncAPI document is generated from it.

use actors::event_kind::EventKind;
use actors::live::TopicKind;
use serde_json::Value;
use strum::VariantArray;
use utoipa::ToSchema;

use crate::analysis::changes::ItemChanged;
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::imports::model::ImportCompleted;
use crate::analysis::model::AiAnalysisRun;
use crate::analysis::pairs::model::PairsChanged;
use crate::live::asyncapi::{self, DataSchema, EventDescription, TopicDescription};
use crate::meetings::MeetingTopicSnapshot;
use crate::meetings::invitations::model::InvitationChanged;
use crate::meetings::model::MeetingView;
use crate::meetings::participants::model::ParticipantView;
use crate::meetings::recordings::model::{DeletedRecording, RecordingView};
use crate::meetings::transcripts::model::ChangedTranscript;
use crate::projects::documents::model::Document;
use crate::projects::model::Project;
use crate::projects::people::model::MemberChanged;
use crate::reviews::feedback::model::FeedbackChanged;
use crate::trackers::audience::ProjectTopicSnapshot;
use crate::trackers::connections::model::TrackerConnection;
use crate::trackers::exports::model::TrackerExport;

/// Returns the AsyncAPI document of the socket, which shares its schemas with the OpenAPI document `of_operations`.
#[must_use]
pub fn document(of_operations: &Value) -> Value {
    let events: Vec<EventDescription> = EventKind::VARIANTS.iter().copied().map(described).collect();
    let schemas = of_operations.pointer("/components/schemas").unwrap_or(&Value::Null);
    asyncapi::document(&topics(), &events, schemas)
}

fn topics() -> [TopicDescription; 3] {
    [
        TopicDescription {
            kind: TopicKind::Project,
            audience: "members of the project",
            snapshot: DataSchema::of::<ProjectTopicSnapshot>(),
        },
        TopicDescription {
            kind: TopicKind::Meeting,
            audience: "members of the meeting's project, persons who accepted an invitation to it, and its guests",
            snapshot: DataSchema::of::<MeetingTopicSnapshot>(),
        },
        TopicDescription {
            kind: TopicKind::Run,
            audience: "members of the run's project",
            snapshot: DataSchema::of::<AiAnalysisRun>(),
        },
    ]
}

fn described(kind: EventKind) -> EventDescription {
    let with = |data: DataSchema, summary| EventDescription { kind, summary, data: Some(data) };
    match kind {
        EventKind::ProjectUpdated => with(of::<Project>(), "The project was changed."),
        EventKind::ProjectDeleted => with(of::<Project>(), "The project was deleted; the subscription ends."),
        EventKind::DocumentAdded => with(of::<Document>(), "A document was uploaded."),
        EventKind::DocumentUpdated => with(of::<Document>(), "The text of a document was read, or could not be read."),
        EventKind::DocumentRemoved => with(of::<Document>(), "A document was deleted."),
        EventKind::MemberChanged => with(of::<MemberChanged>(), "A membership began, ended, or has another role."),
        EventKind::InvitationUpdated => {
            with(of::<InvitationChanged>(), "An invitation was delivered or not. Only hosts receive it.")
        }
        EventKind::InvitationAccepted => {
            with(of::<InvitationChanged>(), "An invitation was accepted. Only hosts receive it.")
        }
        EventKind::InvitationDeclined => {
            with(of::<InvitationChanged>(), "An invitation was declined. Only hosts receive it.")
        }
        EventKind::ItemChanged => with(of::<ItemChanged>(), "A requirement or user story changed: read it again."),
        EventKind::PairsChanged => {
            with(of::<PairsChanged>(), "The pairs of the project's requirements changed: read them again.")
        }
        EventKind::ImportCompleted => with(of::<ImportCompleted>(), "An imported file was read, or could not be read."),
        EventKind::DashboardExportCompleted => {
            with(of::<DashboardExport>(), "The file of an export is ready, or failed.")
        }
        EventKind::FeedbackSubmitted => {
            with(of::<FeedbackChanged>(), "Feedback was submitted. Only analysts receive it.")
        }
        EventKind::FeedbackUpdated => with(of::<FeedbackChanged>(), "Feedback was updated. Only analysts receive it."),
        EventKind::TrackerChanged => with(of::<TrackerConnection>(), "The connection to the issue tracker changed."),
        EventKind::ExportProgressed => with(of::<TrackerExport>(), "An export to the issue tracker progressed."),
        EventKind::ExportCompleted => with(of::<TrackerExport>(), "An export to the issue tracker ended."),
        EventKind::RunQueued => with(of::<AiAnalysisRun>(), "An analysis run was started."),
        EventKind::RunRetried => with(of::<AiAnalysisRun>(), "An analysis run was started again."),
        EventKind::RunProgressed => with(of::<AiAnalysisRun>(), "An analysis run progressed."),
        EventKind::RunCompleted => with(of::<AiAnalysisRun>(), "An analysis run completed. Final."),
        EventKind::RunPartial => with(of::<AiAnalysisRun>(), "An analysis run completed without some sources. Final."),
        EventKind::RunRejected => with(of::<AiAnalysisRun>(), "An analysis run was rejected. Final."),
        EventKind::RunFailed => with(of::<AiAnalysisRun>(), "An analysis run failed. Final, unless it is retried."),
        EventKind::RunCancelled => {
            with(of::<AiAnalysisRun>(), "An analysis run was cancelled. Final, unless it is retried.")
        }
        EventKind::MeetingUpdated => {
            with(of::<MeetingView>(), "The title, description or time of the meeting changed.")
        }
        EventKind::MeetingStarted => with(of::<MeetingView>(), "The meeting started."),
        EventKind::MeetingEnded => with(of::<MeetingView>(), "The meeting ended."),
        EventKind::MeetingCancelled => with(of::<MeetingView>(), "The meeting was cancelled."),
        EventKind::ParticipantJoined => with(of::<ParticipantView>(), "A participant joined the meeting."),
        EventKind::ParticipantLeft => with(of::<ParticipantView>(), "A participant left the meeting."),
        EventKind::ParticipantRemoved => with(of::<ParticipantView>(), "A participant was removed from the meeting."),
        EventKind::ParticipantUpdated => {
            with(of::<ParticipantView>(), "A participant connected, disconnected, or has another name or role.")
        }
        EventKind::ParticipantConsent => {
            with(of::<ParticipantView>(), "A participant gave or refused recording consent.")
        }
        EventKind::RecordingStarted => with(of::<RecordingView>(), "A recording started."),
        EventKind::RecordingChunk => with(of::<RecordingView>(), "A part of a recording was stored."),
        EventKind::RecordingStopped => with(of::<RecordingView>(), "A recording was stopped, or is being finalized."),
        EventKind::RecordingReady => with(of::<RecordingView>(), "A recording can be played and transcribed."),
        EventKind::RecordingFailed => with(of::<RecordingView>(), "A recording failed."),
        EventKind::RecordingPaused => with(of::<RecordingView>(), "A recording is paused until everyone consents."),
        EventKind::RecordingUpdated => with(of::<RecordingView>(), "A paused recording waits for others than before."),
        EventKind::RecordingResumed => with(of::<RecordingView>(), "A recording continues."),
        EventKind::RecordingTranscript => with(of::<RecordingView>(), "The state of a recording's transcript changed."),
        EventKind::RecordingExpired => {
            with(of::<RecordingView>(), "The content of a recording was deleted after its time.")
        }
        EventKind::RecordingDeleted => with(of::<DeletedRecording>(), "A recording was deleted."),
        EventKind::TranscriptChanged => {
            with(of::<ChangedTranscript>(), "A transcript says something else: read it again.")
        }
        EventKind::Withheld => EventDescription {
            kind,
            summary: "An event that this subscriber may not see: only its offset and time.",
            data: None,
        },
    }
}

fn of<T: ToSchema>() -> DataSchema {
    DataSchema::of::<T>()
}
