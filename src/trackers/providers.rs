//! The trackers that projects can be connected to, and what their errors mean for a request.

use std::sync::Arc;
use std::time::Duration;

use crate::clients::trackers::{Tracker, TrackerError, TrackerProvider};
use crate::http::code::Code;
use crate::http::enumeration::Enumeration;
use crate::http::error::ApiError;

impl Enumeration for TrackerProvider {}

/// The clients of all trackers.
#[derive(Clone)]
pub struct Providers(Arc<[(TrackerProvider, Arc<dyn Tracker>)]>);

impl Providers {
    #[must_use]
    pub fn new(all: Vec<(TrackerProvider, Arc<dyn Tracker>)>) -> Self {
        Self(all.into())
    }

    /// # Errors
    /// 500 if the tracker is not built in.
    pub fn of(&self, provider: TrackerProvider) -> Result<Arc<dyn Tracker>, ApiError> {
        let found = self.0.iter().find(|(own, _)| *own == provider).map(|(_, tracker)| Arc::clone(tracker));
        found.ok_or_else(|| ApiError::internal(format!("there is no client of {provider}")))
    }
}

/// The response to a request that a tracker did not do.
#[must_use]
pub fn refused(error: TrackerError) -> ApiError {
    let (code, message, cause, retry_after) = match error {
        TrackerError::Away(why) | TrackerError::InDoubt(why) | TrackerError::Invalid(why) => {
            (Code::TRACKER_UNAVAILABLE, None, why, Some(Duration::from_secs(10)))
        }
        TrackerError::Limited { pause, reason, .. } => (
            Code::TRACKER_UNAVAILABLE,
            Some("The issue tracker limits this server's calls at present. Try again later.".to_owned()),
            reason,
            Some(pause),
        ),
        TrackerError::Unauthorized(why) => (Code::TRACKER_REAUTH_REQUIRED, None, why, None),
        TrackerError::Forbidden(said) | TrackerError::Missing(said) | TrackerError::Refused(said) => {
            (Code::TRACKER_REFUSED, Some(own_words(&said)), said, None)
        }
    };
    let message = message.unwrap_or_else(|| code.sentence.to_owned());
    ApiError { cause: Some(cause.into()), retry_after, ..ApiError::with_message(code, message) }
}

fn own_words(said: &str) -> String {
    format!("The issue tracker refused this: {said}")
}
