//! The table of error codes: each with its status, in one place. Clients rely on these names.

/// What went wrong, as a client tells it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    pub name: &'static str,
    pub status: u16,
    /// What the client is told when the place of the error has nothing better to say.
    pub sentence: &'static str,
}

macro_rules! codes {
    ($($(#[$meta:meta])* $constant:ident = $name:literal, $status:literal, $sentence:literal;)*) => {
        impl Code {
            $($(#[$meta])* pub const $constant: Self = Self { name: $name, status: $status, sentence: $sentence };)*
            /// The whole table, in the order of the statuses.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];
        }
    };
}

codes! {
    BAD_REQUEST = "BadRequest", 400, "The request could not be read.";
    LOGIN_STATE_INVALID = "LoginStateInvalid", 400, "This log-in was not begun in this browser, or too long ago. Begin anew.";
    UNAUTHORIZED = "Unauthorized", 401, "Sign in first: the access token is missing, invalid or expired.";
    INVALID_CREDENTIALS = "InvalidCredentials", 401, "The e-mail address or the password is wrong.";
    INVALID_REFRESH_TOKEN = "InvalidRefreshToken", 401, "The session has ended. Sign in again.";
    LOGIN_CODE_INVALID = "LoginCodeInvalid", 401, "This log-in has expired or was used. Log in again.";
    LOGIN_REFUSED = "LoginRefused", 401, "The log-in was not completed.";
    FORBIDDEN = "Forbidden", 403, "You are not allowed to do this.";
    ACCOUNT_NOT_CONFIRMED = "AccountNotConfirmed", 403, "Confirm your e-mail address first, with the code that was mailed to you.";
    EMAIL_NOT_VERIFIED = "EmailNotVerified", 403, "The provider has not verified this e-mail address. Log in another way.";
    RECENT_LOGIN_REQUIRED = "RecentLoginRequired", 403, "Log in once more, and do this within ten minutes.";
    NOT_FOUND = "NotFound", 404, "There is no such thing.";
    MEETING_NOT_FOUND = "MeetingNotFound", 404, "There is no such meeting.";
    METHOD_NOT_ALLOWED = "MethodNotAllowed", 405, "This address does not take that method.";
    INVALID_STATE = "InvalidState", 409, "That is not possible in the present state.";
    CONFLICT = "Conflict", 409, "That exists already.";
    REQUEST_IN_PROGRESS = "RequestInProgress", 409, "A request with this Idempotency-Key is under way. Try again shortly.";
    SOURCE_NOT_READY = "SourceNotReady", 409, "A document is still being read, or could not be read.";
    RECORDING_NOT_READY = "RecordingNotReady", 409, "The meeting has no recording that is ready.";
    LAST_OWNER = "LastOwner", 409, "A project needs an owner: make another member its owner first.";
    MEETING_FULL = "MeetingFull", 409, "The meeting has as many people as one may have.";
    LAST_HOST = "LastHost", 409, "The host can't be removed: end the meeting instead.";
    WORDING_CHANGED = "WordingChanged", 409, "The words changed meanwhile. Read the meeting's consentWording and ask again.";
    PROJECT_ARCHIVED = "ProjectArchived", 409, "The project is archived: it can be read, not changed.";
    GONE = "Gone", 410, "That has expired or was revoked.";
    PRECONDITION_FAILED = "PreconditionFailed", 412, "It was changed meanwhile. Read it again and decide anew.";
    PAYLOAD_TOO_LARGE = "PayloadTooLarge", 413, "The body is too large.";
    UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType", 415, "A file of this type is not taken.";
    VALIDATION_ERROR = "ValidationError", 422, "The request is not acceptable.";
    NO_SOURCES = "NoSources", 422, "There is nothing to read: upload a document first.";
    NOT_A_PROJECT_MEMBER = "NotAProjectMember", 422, "Only members of the project are asked like this; others come as guests.";
    OTP_INVALID = "OtpInvalid", 422, "The code is wrong or has expired.";
    WRONG_PASSWORD = "WrongPassword", 422, "This is not your password.";
    IDEMPOTENCY_KEY_REUSED = "IdempotencyKeyReused", 422, "This Idempotency-Key was used with another body.";
    TOO_MANY_REQUESTS = "TooManyRequests", 429, "Too many requests. Try again later.";
    INTERNAL_SERVER_ERROR = "InternalServerError", 500, "Something went wrong here. It was noted under the request id.";
    LOGIN_PROVIDER_FAILED = "LoginProviderFailed", 502, "The log-in provider did not answer as it should. Try again later.";
    SERVICE_UNAVAILABLE = "ServiceUnavailable", 503, "This can't be served at the moment. Try again shortly.";
    MEDIA_SERVER_NOT_CONFIGURED = "MediaServerNotConfigured", 503, "There is no media server: set livekit.url, livekit.api_key and livekit.api_secret.";
    MEDIA_SERVER_UNAVAILABLE = "MediaServerUnavailable", 503, "The media server can't be reached. Try again shortly.";
    LOGIN_PROVIDER_NOT_CONFIGURED = "LoginProviderNotConfigured", 503, "This server has no such log-in. Log in with your password.";
    LOGIN_PROVIDER_UNAVAILABLE = "LoginProviderUnavailable", 503, "The log-in provider can't be reached. Try again later.";
}

impl Code {
    /// The code that stands for a bare HTTP status.
    #[must_use]
    pub fn of_status(status: u16) -> Self {
        Self::ALL.iter().copied().find(|code| code.status == status).unwrap_or(if status < 500 {
            Self { status, ..Self::BAD_REQUEST }
        } else {
            Self { status, ..Self::INTERNAL_SERVER_ERROR }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn names_are_unique_and_in_pascal_case() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(
            names.iter().all(|name| name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric))
        );
    }
}
