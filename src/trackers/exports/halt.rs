//! Why an export does not go on, and what that means of errors of the database, of the access to the tracker, and of its calls.

use std::time::Duration;

use crate::clients::trackers::TrackerError;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::trackers::connections::access::CallError;

/// The pause after which an unavailable tracker is asked again.
const AWAY: Duration = Duration::from_secs(15);

/// Why an export does not go on at present.
#[derive(Debug)]
pub enum Halt {
    /// The job is to be tried again: the database, or this server's stop.
    Again(String),
    /// It goes on after a pause, whose reason is shown.
    Wait(Duration, String),
    /// It can't go on; the reason is shown.
    Fail(String),
    /// It is not RUNNING any more.
    Ended,
}

impl From<DbError> for Halt {
    fn from(error: DbError) -> Self {
        Self::Again(error.to_string())
    }
}

/// Of access to the tracker.
impl From<ApiError> for Halt {
    fn from(error: ApiError) -> Self {
        const FINAL: [Code; 5] = [
            Code::TRACKER_NOT_CONNECTED,
            Code::TRACKER_REAUTH_REQUIRED,
            Code::TRACKER_SITE_REQUIRED,
            Code::TRACKER_NOT_CONFIGURED,
            Code::TRACKER_REFUSED,
        ];
        match error.code {
            code if FINAL.contains(&code) => Self::Fail(error.message),
            Code::TRACKER_UNAVAILABLE => Self::Wait(error.retry_after.unwrap_or(AWAY), error.message),
            _ => Self::Again(error.cause.map_or(error.message, String::from)),
        }
    }
}

/// Of a call that is safe to repeat.
impl From<TrackerError> for Halt {
    fn from(error: TrackerError) -> Self {
        match error {
            TrackerError::Away(why) | TrackerError::InDoubt(why) | TrackerError::Invalid(why) => {
                tracing::info!(why, "a tracker is unavailable to an export");
                Self::Wait(AWAY, "The issue tracker is unavailable.".to_owned())
            }
            TrackerError::Limited { pause, reason, .. } => Self::Wait(pause, limited(&reason)),
            TrackerError::Unauthorized(_) => {
                Self::Fail("The issue tracker does not accept the connection any more.".to_owned())
            }
            TrackerError::Forbidden(said) | TrackerError::Missing(said) | TrackerError::Refused(said) => {
                Self::Fail(format!("The issue tracker refused this: {said}"))
            }
        }
    }
}

impl From<CallError> for Halt {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Tracker(error) => error.into(),
            CallError::Access(error) => error.into(),
        }
    }
}

/// Says that a tracker limits calls, in its own words where it has any.
#[must_use]
pub fn limited(reason: &str) -> String {
    match reason {
        "" => "The issue tracker limits calls.".to_owned(),
        reason => format!("The issue tracker limits calls ({reason})."),
    }
}
