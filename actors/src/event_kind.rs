//! The kinds of events: the one list of names that events have in the API and in the event table.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::live::TopicKind;
use crate::sql_text;

/// What an event reports. Its spelling is defined here alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum EventKind {
    #[strum(serialize = "project.updated")]
    ProjectUpdated,
    #[strum(serialize = "project.deleted")]
    ProjectDeleted,
    #[strum(serialize = "document.added")]
    DocumentAdded,
    #[strum(serialize = "document.updated")]
    DocumentUpdated,
    #[strum(serialize = "document.removed")]
    DocumentRemoved,
    #[strum(serialize = "member.changed")]
    MemberChanged,
    #[strum(serialize = "invitation.updated")]
    InvitationUpdated,
    #[strum(serialize = "invitation.accepted")]
    InvitationAccepted,
    #[strum(serialize = "invitation.declined")]
    InvitationDeclined,
    #[strum(serialize = "item.changed")]
    ItemChanged,
    #[strum(serialize = "pairs.changed")]
    PairsChanged,
    #[strum(serialize = "import.completed")]
    ImportCompleted,
    #[strum(serialize = "dashboardExport.completed")]
    DashboardExportCompleted,
    #[strum(serialize = "feedback.submitted")]
    FeedbackSubmitted,
    #[strum(serialize = "feedback.updated")]
    FeedbackUpdated,
    #[strum(serialize = "tracker.changed")]
    TrackerChanged,
    #[strum(serialize = "export.progressed")]
    ExportProgressed,
    #[strum(serialize = "export.completed")]
    ExportCompleted,
    #[strum(serialize = "run.queued")]
    RunQueued,
    #[strum(serialize = "run.retried")]
    RunRetried,
    #[strum(serialize = "run.progressed")]
    RunProgressed,
    #[strum(serialize = "run.completed")]
    RunCompleted,
    #[strum(serialize = "run.partial")]
    RunPartial,
    #[strum(serialize = "run.rejected")]
    RunRejected,
    #[strum(serialize = "run.failed")]
    RunFailed,
    #[strum(serialize = "run.cancelled")]
    RunCancelled,
    #[strum(serialize = "meeting.updated")]
    MeetingUpdated,
    #[strum(serialize = "meeting.started")]
    MeetingStarted,
    #[strum(serialize = "meeting.ended")]
    MeetingEnded,
    #[strum(serialize = "meeting.cancelled")]
    MeetingCancelled,
    #[strum(serialize = "participant.joined")]
    ParticipantJoined,
    #[strum(serialize = "participant.left")]
    ParticipantLeft,
    #[strum(serialize = "participant.removed")]
    ParticipantRemoved,
    #[strum(serialize = "participant.updated")]
    ParticipantUpdated,
    #[strum(serialize = "participant.consent")]
    ParticipantConsent,
    #[strum(serialize = "recording.started")]
    RecordingStarted,
    #[strum(serialize = "recording.chunk")]
    RecordingChunk,
    #[strum(serialize = "recording.stopped")]
    RecordingStopped,
    #[strum(serialize = "recording.ready")]
    RecordingReady,
    #[strum(serialize = "recording.failed")]
    RecordingFailed,
    #[strum(serialize = "recording.paused")]
    RecordingPaused,
    #[strum(serialize = "recording.updated")]
    RecordingUpdated,
    #[strum(serialize = "recording.resumed")]
    RecordingResumed,
    #[strum(serialize = "recording.transcript")]
    RecordingTranscript,
    #[strum(serialize = "recording.expired")]
    RecordingExpired,
    #[strum(serialize = "recording.deleted")]
    RecordingDeleted,
    #[strum(serialize = "transcript.changed")]
    TranscriptChanged,
    /// Replaces an event that a subscriber may not see, so that offsets rise by one for every subscriber. It keeps the
    /// offset and the time, but none of the content, and is never stored.
    #[strum(serialize = "withheld")]
    Withheld,
}

sql_text! { EventKind }

impl EventKind {
    /// Returns the name in the API and in the event table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// Returns the kinds of topics on which events of this kind are published. A run's events are published on the
    /// topic of its project too.
    #[must_use]
    pub const fn topics(self) -> &'static [TopicKind] {
        match self {
            Self::ProjectUpdated
            | Self::ProjectDeleted
            | Self::DocumentAdded
            | Self::DocumentUpdated
            | Self::DocumentRemoved
            | Self::MemberChanged
            | Self::InvitationUpdated
            | Self::InvitationAccepted
            | Self::InvitationDeclined
            | Self::ItemChanged
            | Self::PairsChanged
            | Self::ImportCompleted
            | Self::DashboardExportCompleted
            | Self::FeedbackSubmitted
            | Self::FeedbackUpdated
            | Self::TrackerChanged
            | Self::ExportProgressed
            | Self::ExportCompleted
            | Self::Withheld => &[TopicKind::Project],
            Self::RunQueued
            | Self::RunRetried
            | Self::RunProgressed
            | Self::RunCompleted
            | Self::RunPartial
            | Self::RunRejected
            | Self::RunFailed
            | Self::RunCancelled => &[TopicKind::Run, TopicKind::Project],
            Self::MeetingUpdated
            | Self::MeetingStarted
            | Self::MeetingEnded
            | Self::MeetingCancelled
            | Self::ParticipantJoined
            | Self::ParticipantLeft
            | Self::ParticipantRemoved
            | Self::ParticipantUpdated
            | Self::ParticipantConsent
            | Self::RecordingStarted
            | Self::RecordingChunk
            | Self::RecordingStopped
            | Self::RecordingReady
            | Self::RecordingFailed
            | Self::RecordingPaused
            | Self::RecordingUpdated
            | Self::RecordingResumed
            | Self::RecordingTranscript
            | Self::RecordingExpired
            | Self::RecordingDeleted
            | Self::TranscriptChanged => &[TopicKind::Meeting],
        }
    }
}
