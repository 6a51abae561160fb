//! The table of error codes, each with its HTTP status. Clients depend on these names.

use std::borrow::Cow;

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// An error code that clients can distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    pub name: &'static str,
    pub status: u16,
    /// The message for the client if the place that reports the error has none of its own.
    pub sentence: &'static str,
}

macro_rules! codes {
    ($($(#[$meta:meta])* $constant:ident = $name:literal, $status:literal, $sentence:literal, $advice:literal;)*) => {
        impl Code {
            $($(#[$meta])* pub const $constant: Self = Self { name: $name, status: $status, sentence: $sentence };)*
            /// The whole table, ordered by status.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];

            /// What a client does about it. No field, because errors are passed by value.
            #[must_use]
            pub fn advice(&self) -> &'static str {
                match self.name {
                    $($name => $advice,)*
                    _ => "",
                }
            }
        }
    };
}

codes! {
    BAD_REQUEST = "BadRequest", 400, "The request could not be read.",
        "Correct the request; it can't succeed as it is.";
    TRACKER_STATE_INVALID = "TrackerStateInvalid", 400,
        "This connection was not begun in this browser, was already completed, or has expired. Start again.",
        "Start the connection again in this browser.";
    LOGIN_STATE_INVALID = "LoginStateInvalid", 400, "This sign-in was not started in this browser, or has expired. Start again.",
        "Start the sign-in again in this browser.";
    UNAUTHORIZED = "Unauthorized", 401, "Sign in first: the access token is missing, invalid or expired.",
        "Refresh the session, or sign in, and repeat the request with the new access token.";
    INVALID_CREDENTIALS = "InvalidCredentials", 401, "The e-mail address or the password is wrong.",
        "Ask for address and password again, and offer to reset the password.";
    INVALID_REFRESH_TOKEN = "InvalidRefreshToken", 401, "The session has ended. Sign in again.",
        "Drop the tokens and ask the person to sign in.";
    LOGIN_CODE_INVALID = "LoginCodeInvalid", 401, "This login code has expired or was already used. Sign in again.",
        "Start the sign-in again.";
    LOGIN_REFUSED = "LoginRefused", 401, "The sign-in was not completed.",
        "Tell the person, and offer the other ways to sign in.";
    FORBIDDEN = "Forbidden", 403, "You are not allowed to do this.",
        "Don't repeat it. Ask somebody with the permission.";
    TRACKER_DENIED = "TrackerDenied", 403, "The access to the issue tracker was not permitted.",
        "Ask the person to permit the access, and start again.";
    ACCOUNT_NOT_CONFIRMED = "AccountNotConfirmed", 403, "Confirm your e-mail address first, with the code sent to you.",
        "Ask for the code, or have it sent again with `resendOtp`.";
    EMAIL_NOT_VERIFIED = "EmailNotVerified", 403, "The provider has not verified this e-mail address. Use another way to sign in.",
        "Verify the address at the provider, or sign in with a password.";
    REGISTRATION_BY_INVITATION = "RegistrationByInvitation", 403,
        "This server opens accounts by invitation only. Use the link of your invitation.",
        "Ask the person for the link of an invitation, and send its token with the registration.";
    REGISTRATION_CLOSED = "RegistrationClosed", 403, "This server opens no accounts by itself. Ask its operator for one.",
        "Offer only the ways to sign in.";
    RECENT_LOGIN_REQUIRED = "RecentLoginRequired", 403, "Sign in again and retry within ten minutes.",
        "Ask the person to sign in, and repeat the request within ten minutes.";
    SERVICE_MAY_NOT_APPROVE = "ServiceMayNotApprove", 403,
        "A program with a service key may propose changes. Only a person may approve, edit or reject them.",
        "Propose the change, and let a person decide.";
    NOT_FOUND = "NotFound", 404, "Resource not found.",
        "Check the id. What was deleted stays so.";
    MEETING_NOT_FOUND = "MeetingNotFound", 404, "Meeting not found.",
        "Check the id. What was deleted stays so.";
    METHOD_NOT_ALLOWED = "MethodNotAllowed", 405, "This method is not allowed here.",
        "Use a method that this document names for the path.";
    REQUEST_TIMEOUT = "RequestTimeout", 408, "The request body arrived too slowly.",
        "Repeat the request over a faster connection, or with a smaller body.";
    INVALID_STATE = "InvalidState", 409, "This is not possible in the current state.",
        "Read the resource again, and offer what its state allows.";
    CONFLICT = "Conflict", 409, "It already exists.",
        "Read what is there already, and use it or change the request.";
    REQUEST_IN_PROGRESS = "RequestInProgress", 409, "A request with this Idempotency-Key is in progress. Try again shortly.",
        "Repeat the request with the same key after `Retry-After`.";
    SOURCE_NOT_READY = "SourceNotReady", 409, "A document is still being read, or could not be read.",
        "Wait until the document is READY, or leave it out.";
    RECORDING_NOT_READY = "RecordingNotReady", 409, "The meeting has no ready recording.",
        "Wait until the recording is READY.";
    TRANSCRIPT_NOT_READY = "TranscriptNotReady", 409, "The recording has no transcript yet.",
        "Wait for the transcript, or start one with `transcribeRecording`.";
    CONSENT_REQUIRED = "ConsentRequired", 409, "Everyone has to consent to be recorded first.",
        "Ask the people that `errors` names for their consent.";
    CONSENT_WITHDRAWN = "ConsentWithdrawn", 409, "Somebody who can be heard has withdrawn or refused their consent.",
        "Wait until their speech is cut, or delete the recording.";
    RECORDING_PAUSED = "RecordingPaused", 409, "The recording is paused until everyone consents to be recorded.",
        "Stop sending, and go on when the recording does.";
    LAST_OWNER = "LastOwner", 409, "A project needs an owner: make another member its owner first.",
        "Make another member OWNER first, with `changeProjectMemberRole`.";
    MEETING_FULL = "MeetingFull", 409, "The meeting has reached its maximum number of participants.",
        "Remove somebody from the meeting, or hold another one.";
    LAST_HOST = "LastHost", 409, "The host can't be removed: end the meeting instead.",
        "End the meeting instead, with `endMeeting`.";
    WORDING_CHANGED = "WordingChanged", 409, "The consent wording has changed. Read the meeting's consentWording and ask again.",
        "Read the meeting again, show its `consentWording`, and ask again.";
    PROJECT_ARCHIVED = "ProjectArchived", 409, "The project is archived: it can be read, not changed.",
        "Make the project ACTIVE again with `editProject`, if that is meant.";
    BASELINE_LIMIT_REACHED = "BaselineLimitReached", 409, "The project has as many baselines as it can have.",
        "Go on with the baselines that there are.";
    FEEDBACK_LIMIT_REACHED = "FeedbackLimitReached", 409, "You have left as much feedback as is allowed.",
        "Speak to the people who invited you.";
    RESULTS_TOO_LARGE = "ResultsTooLarge", 409, "The items are too large to be read all at once.",
        "Read them page by page or with filters, and shorten the largest ones.";
    EXPORT_LIMIT_REACHED = "ExportLimitReached", 409, "The project keeps as many exports as it can.",
        "Use an export that is there, or wait until one expires.";
    IMPORT_LIMIT_REACHED = "ImportLimitReached", 409, "The project keeps as many imports as it can.",
        "Wait until an import expires.";
    LIMIT_REACHED = "LimitReached", 409, "There are as many as there may be.",
        "Delete some that are no longer needed, or ask the operator for more.";
    TRACKER_NOT_CONNECTED = "TrackerNotConnected", 409, "The project is not connected to an issue tracker.",
        "Connect the project with `startTrackerConnection`.";
    TRACKER_REAUTH_REQUIRED = "TrackerReauthRequired", 409,
        "The issue tracker does not accept the project's connection any more. Connect the project again.",
        "Connect the project again with `startTrackerConnection`.";
    TRACKER_DESTINATION_REQUIRED = "TrackerDestinationRequired", 409, "Choose first where in the issue tracker the stories go.",
        "Choose a destination with `saveTrackerDestination`.";
    NOTHING_TO_EXPORT = "NothingToExport", 409, "There is no user story to export.",
        "Approve user stories first.";
    EXPORT_NOT_READY = "ExportNotReady", 409, "The file is still being made. Try again shortly.",
        "Wait for `dashboardExport.completed`, or try again after a few seconds.";
    GONE = "Gone", 410, "It has expired or was revoked.",
        "Ask for a new link, invitation or export.";
    PRECONDITION_FAILED = "PreconditionFailed", 412, "The resource has changed since it was read. Read it again and retry.",
        "Read the resource again, apply the change to what it is now, and send the new ETag.";
    PAYLOAD_TOO_LARGE = "PayloadTooLarge", 413, "The request body is too large.",
        "Send less, or in parts.";
    URI_TOO_LONG = "UriTooLong", 414, "The URI is too long.",
        "Shorten the query.";
    UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType", 415, "This media type is not supported.",
        "Convert the file to a type that the operation takes.";
    RANGE_NOT_SATISFIABLE = "RangeNotSatisfiable", 416, "The file has no such range.",
        "Ask for a range within the size in `Content-Range`.";
    VALIDATION_ERROR = "ValidationError", 422, "The request is invalid.",
        "Correct the values that `errors` names.";
    DIGEST_MISMATCH = "DigestMismatch", 422, "The content has another hash than Content-Digest says. Nothing of it was kept.",
        "Send the bytes again.";
    TRACKER_CREDENTIALS_REJECTED = "TrackerCredentialsRejected", 422, "The issue tracker does not accept this token.",
        "Make a new token at the tracker.";
    TRACKER_SITE_REQUIRED = "TrackerSiteRequired", 422, "The account may use several sites of the issue tracker: name one.",
        "Repeat the request with one of the connection's sites.";
    TRACKER_WITHOUT_SITE = "TrackerWithoutSite", 422, "The account may use no site of the issue tracker in which issues can be created.",
        "Ask the tracker's administrator for permission to create issues.";
    NO_SOURCES = "NoSources", 422, "There are no sources: upload a document first.",
        "Upload a document, or record a meeting.";
    NOT_A_PROJECT_MEMBER = "NotAProjectMember", 422, "Only project members can be invited this way; invite others as guests.",
        "Invite the person as a guest, or to the project first.";
    OTP_INVALID = "OtpInvalid", 422, "The code is wrong or has expired.",
        "Ask for the code again, or have a new one sent.";
    WRONG_PASSWORD = "WrongPassword", 422, "The password is wrong.",
        "Ask for the password again.";
    IDEMPOTENCY_KEY_REUSED = "IdempotencyKeyReused", 422, "This Idempotency-Key was already used with a different request body.",
        "Use a new key for each new request.";
    TOO_MANY_REQUESTS = "TooManyRequests", 429, "Too many requests. Try again later.",
        "Wait for the time in `Retry-After`.";
    HEADERS_TOO_LARGE = "HeadersTooLarge", 431, "The request headers are too large.",
        "Send fewer or smaller headers and cookies.";
    INTERNAL_SERVER_ERROR = "InternalServerError", 500, "Internal error. It was logged under the request id.",
        "Try again later. If it stays, tell the operator the request id.";
    LOGIN_PROVIDER_FAILED = "LoginProviderFailed", 502, "The OpenID provider gave an invalid response. Try again later.",
        "Try again later. If it stays, tell the operator.";
    TRACKER_UNAVAILABLE = "TrackerUnavailable", 502, "The issue tracker is unavailable. Try again shortly.",
        "Try again shortly.";
    TRACKER_REFUSED = "TrackerRefused", 502, "The issue tracker refused this.",
        "Read the message: it says what the tracker refused.";
    SERVICE_UNAVAILABLE = "ServiceUnavailable", 503, "The service is temporarily unavailable. Try again shortly.",
        "Wait for the time in `Retry-After`.";
    PRINTER_MISSING = "PrinterMissing", 503, "The program that makes PDF files is not installed.",
        "Export as HTML and print that, or ask the operator to install the program.";
    TRACKER_NOT_CONFIGURED = "TrackerNotConfigured", 503,
        "This server has no application at this issue tracker. Connect with a token, or ask its operator.",
        "Connect with a token, or ask the operator.";
    MEDIA_SERVER_NOT_CONFIGURED = "MediaServerNotConfigured", 503,
        "No media server is configured: set livekit.url, livekit.api_key and livekit.api_secret.",
        "Ask the operator.";
    MEDIA_SERVER_UNAVAILABLE = "MediaServerUnavailable", 503, "The media server is unavailable. Try again shortly.",
        "Wait for the time in `Retry-After`.";
    LOGIN_PROVIDER_NOT_CONFIGURED = "LoginProviderNotConfigured", 503,
        "This sign-in provider is not configured. Sign in with your password.",
        "Sign in with a password.";
    LOGIN_PROVIDER_UNAVAILABLE = "LoginProviderUnavailable", 503, "The OpenID provider is unavailable. Try again later.",
        "Wait for the time in `Retry-After`, or sign in with a password.";
    STORAGE_FULL = "StorageFull", 507, "The server is short of storage, so that nothing can be uploaded.",
        "Try again later. If it stays, tell the operator.";
    QUOTA_EXCEEDED = "QuotaExceeded", 507, "There is no room for this upload.",
        "Delete documents or recordings that are no longer needed, or ask the operator for more room.";
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

/// The names of the table, as an enumeration.
impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::ALL.iter().map(|code| code.name)))
            .description(Some(
                "The code of an error. Codes may be added: go by the status when you meet an unknown one.",
            ))
            .into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        "ErrorCode".into()
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
