//! The table of error codes, each with its HTTP status. Clients depend on these names.

/// An error code that clients can distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    pub name: &'static str,
    pub status: u16,
    /// The message for the client if the place that reports the error has none of its own.
    pub sentence: &'static str,
}

macro_rules! codes {
    ($($(#[$meta:meta])* $constant:ident = $name:literal, $status:literal, $sentence:literal;)*) => {
        impl Code {
            $($(#[$meta])* pub const $constant: Self = Self { name: $name, status: $status, sentence: $sentence };)*
            /// The whole table, ordered by status.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];
        }
    };
}

codes! {
    BAD_REQUEST = "BadRequest", 400, "The request could not be read.";
    TRACKER_STATE_INVALID = "TrackerStateInvalid", 400, "This connection was not begun in this browser, was already completed, or has expired. Start again.";
    LOGIN_STATE_INVALID = "LoginStateInvalid", 400, "This sign-in was not started in this browser, or has expired. Start again.";
    UNAUTHORIZED = "Unauthorized", 401, "Sign in first: the access token is missing, invalid or expired.";
    INVALID_CREDENTIALS = "InvalidCredentials", 401, "The e-mail address or the password is wrong.";
    INVALID_REFRESH_TOKEN = "InvalidRefreshToken", 401, "The session has ended. Sign in again.";
    LOGIN_CODE_INVALID = "LoginCodeInvalid", 401, "This login code has expired or was already used. Sign in again.";
    LOGIN_REFUSED = "LoginRefused", 401, "The sign-in was not completed.";
    FORBIDDEN = "Forbidden", 403, "You are not allowed to do this.";
    TRACKER_DENIED = "TrackerDenied", 403, "The access to the issue tracker was not permitted.";
    ACCOUNT_NOT_CONFIRMED = "AccountNotConfirmed", 403, "Confirm your e-mail address first, with the code sent to you.";
    EMAIL_NOT_VERIFIED = "EmailNotVerified", 403, "The provider has not verified this e-mail address. Use another way to sign in.";
    RECENT_LOGIN_REQUIRED = "RecentLoginRequired", 403, "Sign in again and retry within ten minutes.";
    SERVICE_MAY_NOT_APPROVE = "ServiceMayNotApprove", 403, "A program with a service key may propose changes. Only a person may approve, edit or reject them.";
    NOT_FOUND = "NotFound", 404, "Resource not found.";
    MEETING_NOT_FOUND = "MeetingNotFound", 404, "Meeting not found.";
    METHOD_NOT_ALLOWED = "MethodNotAllowed", 405, "This method is not allowed here.";
    REQUEST_TIMEOUT = "RequestTimeout", 408, "The request body arrived too slowly.";
    INVALID_STATE = "InvalidState", 409, "This is not possible in the current state.";
    CONFLICT = "Conflict", 409, "It already exists.";
    REQUEST_IN_PROGRESS = "RequestInProgress", 409, "A request with this Idempotency-Key is in progress. Try again shortly.";
    SOURCE_NOT_READY = "SourceNotReady", 409, "A document is still being read, or could not be read.";
    RECORDING_NOT_READY = "RecordingNotReady", 409, "The meeting has no ready recording.";
    TRANSCRIPT_NOT_READY = "TranscriptNotReady", 409, "The recording has no transcript yet.";
    CONSENT_REQUIRED = "ConsentRequired", 409, "Everyone has to consent to be recorded first.";
    CONSENT_WITHDRAWN = "ConsentWithdrawn", 409, "Somebody who can be heard has withdrawn or refused their consent.";
    RECORDING_PAUSED = "RecordingPaused", 409, "The recording is paused until everyone consents to be recorded.";
    LAST_OWNER = "LastOwner", 409, "A project needs an owner: make another member its owner first.";
    MEETING_FULL = "MeetingFull", 409, "The meeting has reached its maximum number of participants.";
    LAST_HOST = "LastHost", 409, "The host can't be removed: end the meeting instead.";
    WORDING_CHANGED = "WordingChanged", 409, "The consent wording has changed. Read the meeting's consentWording and ask again.";
    PROJECT_ARCHIVED = "ProjectArchived", 409, "The project is archived: it can be read, not changed.";
    BASELINE_LIMIT_REACHED = "BaselineLimitReached", 409, "The project has as many baselines as it can have.";
    FEEDBACK_LIMIT_REACHED = "FeedbackLimitReached", 409, "You have left as much feedback as is allowed.";
    EXPORT_LIMIT_REACHED = "ExportLimitReached", 409, "The project keeps as many exports as it can.";
    IMPORT_LIMIT_REACHED = "ImportLimitReached", 409, "The project keeps as many imports as it can.";
    TRACKER_NOT_CONNECTED = "TrackerNotConnected", 409, "The project is not connected to an issue tracker.";
    TRACKER_REAUTH_REQUIRED = "TrackerReauthRequired", 409, "The issue tracker does not accept the project's connection any more. Connect the project again.";
    TRACKER_DESTINATION_REQUIRED = "TrackerDestinationRequired", 409, "Choose first where in the issue tracker the stories go.";
    NOTHING_TO_EXPORT = "NothingToExport", 409, "There is no user story to export.";
    EXPORT_NOT_READY = "ExportNotReady", 409, "The file is still being made. Try again shortly.";
    GONE = "Gone", 410, "It has expired or was revoked.";
    PRECONDITION_FAILED = "PreconditionFailed", 412, "The resource has changed since it was read. Read it again and retry.";
    PAYLOAD_TOO_LARGE = "PayloadTooLarge", 413, "The request body is too large.";
    URI_TOO_LONG = "UriTooLong", 414, "The URI is too long.";
    UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType", 415, "This media type is not supported.";
    RANGE_NOT_SATISFIABLE = "RangeNotSatisfiable", 416, "The file has no such range.";
    VALIDATION_ERROR = "ValidationError", 422, "The request is invalid.";
    DIGEST_MISMATCH = "DigestMismatch", 422, "The content has another hash than Content-Digest says. Nothing of it was kept.";
    TRACKER_CREDENTIALS_REJECTED = "TrackerCredentialsRejected", 422, "The issue tracker does not accept this token.";
    TRACKER_SITE_REQUIRED = "TrackerSiteRequired", 422, "The account may use several sites of the issue tracker: name one.";
    TRACKER_WITHOUT_SITE = "TrackerWithoutSite", 422, "The account may use no site of the issue tracker in which issues can be created.";
    NO_SOURCES = "NoSources", 422, "There are no sources: upload a document first.";
    NOT_A_PROJECT_MEMBER = "NotAProjectMember", 422, "Only project members can be invited this way; invite others as guests.";
    OTP_INVALID = "OtpInvalid", 422, "The code is wrong or has expired.";
    WRONG_PASSWORD = "WrongPassword", 422, "The password is wrong.";
    IDEMPOTENCY_KEY_REUSED = "IdempotencyKeyReused", 422, "This Idempotency-Key was already used with a different request body.";
    TOO_MANY_REQUESTS = "TooManyRequests", 429, "Too many requests. Try again later.";
    HEADERS_TOO_LARGE = "HeadersTooLarge", 431, "The request headers are too large.";
    INTERNAL_SERVER_ERROR = "InternalServerError", 500, "Internal error. It was logged under the request id.";
    LOGIN_PROVIDER_FAILED = "LoginProviderFailed", 502, "The OpenID provider gave an invalid response. Try again later.";
    TRACKER_UNAVAILABLE = "TrackerUnavailable", 502, "The issue tracker is unavailable. Try again shortly.";
    TRACKER_REFUSED = "TrackerRefused", 502, "The issue tracker refused this.";
    SERVICE_UNAVAILABLE = "ServiceUnavailable", 503, "The service is temporarily unavailable. Try again shortly.";
    PRINTER_MISSING = "PrinterMissing", 503, "The program that makes PDF files is not installed.";
    TRACKER_NOT_CONFIGURED = "TrackerNotConfigured", 503, "This server has no application at this issue tracker. Connect with a token, or ask its operator.";
    MEDIA_SERVER_NOT_CONFIGURED = "MediaServerNotConfigured", 503, "No media server is configured: set livekit.url, livekit.api_key and livekit.api_secret.";
    MEDIA_SERVER_UNAVAILABLE = "MediaServerUnavailable", 503, "The media server is unavailable. Try again shortly.";
    LOGIN_PROVIDER_NOT_CONFIGURED = "LoginProviderNotConfigured", 503, "This sign-in provider is not configured. Sign in with your password.";
    LOGIN_PROVIDER_UNAVAILABLE = "LoginProviderUnavailable", 503, "The OpenID provider is unavailable. Try again later.";
}

impl Code {
    /// Returns the first code of the table with this HTTP status. A status that is not in the table gets the name of
    /// `BadRequest` (below 500) or of `InternalServerError`.
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
