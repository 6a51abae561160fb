//! The refusals of commands to a meeting, as errors of the interface.

use actors::meeting::{MeetingStatus, RecordingRefusal, RecordingStatus, Refusal, UploadMode};

use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;

/// The headers that say when a chunk was recorded.
pub const STARTED_HEADER: &str = "X-Chunk-Started-Ms";
pub const ENDED_HEADER: &str = "X-Chunk-Ended-Ms";

/// Returns the error for a refused command.
#[must_use]
pub fn refused(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::Stale { .. } => ApiError::of(Code::PRECONDITION_FAILED),
        Refusal::InvalidState { status } => ApiError::with_message(
            Code::INVALID_STATE,
            match status {
                MeetingStatus::Scheduled => "The meeting has not started.",
                MeetingStatus::Live => "The meeting is in progress.",
                MeetingStatus::Ended => "The meeting has ended.",
                MeetingStatus::Cancelled => "The meeting was cancelled.",
            },
        ),
        Refusal::NoSuchParticipant => ApiError::of(Code::NOT_FOUND),
        Refusal::Removed => {
            ApiError::with_message(Code::FORBIDDEN, "You were removed from this meeting. Ask to be invited again.")
        }
        Refusal::NeverJoined => ApiError::with_message(Code::FORBIDDEN, "Join the meeting first."),
        Refusal::Full => ApiError::of(Code::MEETING_FULL),
        Refusal::LastHost => ApiError::of(Code::LAST_HOST),
        Refusal::Recording(refusal) => refused_recording(refusal),
    }
}

/// Returns the error for a refused command about a recording.
#[must_use]
pub fn refused_recording(refusal: RecordingRefusal) -> ApiError {
    let conflict = |message: String| ApiError::with_message(Code::CONFLICT, message);
    let invalid_state = |message: String| ApiError::with_message(Code::INVALID_STATE, message);
    match refusal {
        RecordingRefusal::NoSuchRecording => ApiError::of(Code::NOT_FOUND),
        RecordingRefusal::InvalidState { status } => ApiError::with_message(
            Code::INVALID_STATE,
            match status {
                RecordingStatus::Active => "The recording is in progress.",
                RecordingStatus::Stopped => "The recording was stopped.",
                RecordingStatus::Finalizing => "The recording is being assembled.",
                RecordingStatus::Ready => "The recording is complete.",
                RecordingStatus::Failed => "The recording has failed.",
                RecordingStatus::Expired => "The recording has expired.",
            },
        ),
        RecordingRefusal::Unfinished => conflict("Another recording of the same kind has not ended.".to_owned()),
        RecordingRefusal::TooMany => conflict("The meeting has as many recordings as it may have.".to_owned()),
        RecordingRefusal::ConsentRequired => ApiError::of(Code::CONSENT_REQUIRED),
        RecordingRefusal::AttestationRequired => {
            let sentence = "Nobody joined this meeting: declare here that everyone who can be heard has consented.";
            ApiError::field("consentAttestation", Reason::Required, sentence)
        }
        RecordingRefusal::NotTheHost => ApiError::with_message(
            Code::FORBIDDEN,
            "Only the host or a co-host of the meeting can declare that everyone who can be heard has consented.",
        ),
        RecordingRefusal::NoSuchTrack => {
            let sentence = "This must be a participant who has joined the meeting.";
            ApiError::field("trackParticipantId", Reason::InvalidValue, sentence)
        }
        RecordingRefusal::OtherMode { mode } => invalid_state(match mode {
            UploadMode::Chunked => "The recording is uploaded in chunks.".to_owned(),
            UploadMode::SingleFile => "The recording is uploaded as one file.".to_owned(),
        }),
        RecordingRefusal::ChunkTaken => conflict("Other bytes are stored under this index.".to_owned()),
        RecordingRefusal::BehindTheLast { last } => {
            invalid_state(format!("Chunk {last} can't be the last one and have another one after it."))
        }
        RecordingRefusal::Paused => ApiError::of(Code::RECORDING_PAUSED),
        RecordingRefusal::SpanRequired => {
            ApiError::field(STARTED_HEADER, Reason::Required, format!("Send {STARTED_HEADER} and {ENDED_HEADER}."))
        }
        RecordingRefusal::SpanInvalid => {
            let sentence = "A chunk ends after it begins, and not in the future.";
            ApiError::field(ENDED_HEADER, Reason::InvalidValue, sentence)
        }
        RecordingRefusal::TooLarge => {
            ApiError::with_message(Code::PAYLOAD_TOO_LARGE, "The recording would be larger than it may be.")
        }
        RecordingRefusal::TooLong => {
            ApiError::with_message(Code::PAYLOAD_TOO_LARGE, "The recording would last longer than it may.")
        }
        RecordingRefusal::OtherOffset { bytes } => {
            invalid_state(format!("{bytes} bytes are stored: go on there, or begin at 0."))
        }
        RecordingRefusal::Superseded => invalid_state("Another upload of this file has begun.".to_owned()),
        RecordingRefusal::Incomplete { bytes, of } => {
            invalid_state(format!("{bytes} of {of} bytes are stored: upload the rest first."))
        }
    }
}
