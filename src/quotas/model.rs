//! What is limited, and how a refusal says it.

use actors::ids::{Id, Project, User};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError};

/// Whose quotas an upload uses up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    /// The project, and the account that owns it.
    Project { id: Id<Project>, owner_id: Id<User> },
    /// Nobody: what is stored is bounded without a quota, and only the disk counts.
    Installation,
}

/// What is uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadPurpose {
    /// It can be uploaded later just as well.
    Usual,
    /// A recording that is made while its meeting is live: it can't be made again, so it may go beyond the limits as far as the
    /// settings allow. An import of one is [`UploadPurpose::Usual`].
    Live,
}

/// What there may be a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountedKind {
    ProjectsOfAccount,
    DocumentsOfProject,
    MeetingsOfProject,
    MembersOfProject,
    InvitationsToProject,
    InvitationsToReview,
    RunsOfProject,
    FeedbackOfProject,
    InvitationsToMeeting,
}

impl CountedKind {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::ProjectsOfAccount => ("account", "projects of its own"),
            Self::DocumentsOfProject => ("project", "documents"),
            Self::MeetingsOfProject => ("project", "meetings"),
            Self::MembersOfProject => ("project", "members"),
            Self::InvitationsToProject => ("project", "pending invitations"),
            Self::InvitationsToReview => ("project", "review invitations"),
            Self::RunsOfProject => ("project", "analysis runs"),
            Self::FeedbackOfProject => ("project", "pieces of feedback"),
            Self::InvitationsToMeeting => ("meeting", "invitations"),
        }
    }
}

/// What has a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuotaKey {
    ProjectBytes(Id<Project>),
    AccountBytes(Id<User>),
    InstallationBytes,
    Count(CountedKind, Uuid),
}

/// How much is used of what, and how much may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaRefusal {
    pub key: QuotaKey,
    /// What is stored.
    pub used: u64,
    /// What others are storing, if it would fit without that.
    pub under_way: u64,
    pub limit: u64,
}

impl From<QuotaRefusal> for ApiError {
    fn from(QuotaRefusal { key, used, under_way, limit }: QuotaRefusal) -> Self {
        let more = match under_way {
            0 => String::new(),
            more => format!(" and {more} more are being added"),
        };
        let room = "Delete documents or recordings that are no longer needed, or ask the operator for more room.";
        let (field, message) = match key {
            QuotaKey::Count(kind, _) => {
                let (whose, what) = kind.words();
                let message = format!("The {whose} has {used} {what}{more}; {limit} is the maximum.");
                return Self::with_message(Code::LIMIT_REACHED, message);
            }
            QuotaKey::ProjectBytes(_) => {
                ("project.storage", format!("The project has stored {used} of at most {limit} bytes{more}. {room}"))
            }
            QuotaKey::AccountBytes(_) => (
                "account.storage",
                format!(
                    "All projects of the account that owns this one have stored {used} of at most {limit} bytes{more}. {room}"
                ),
            ),
            QuotaKey::InstallationBytes => {
                let message =
                    format!("The installation has stored {used} of at most {limit} bytes{more}. Ask its operator.");
                ("installation.storage", message)
            }
        };
        let why = field.split('.').next().unwrap_or_default();
        metrics::counter!("colloquy_storage_refused_total", "why" => why).increment(1);
        let faults = vec![FieldError::of(Code::QUOTA_EXCEEDED, Some(field.to_owned()), message.clone())];
        Self { message, faults, ..Self::of(Code::QUOTA_EXCEEDED) }
    }
}

/// How much a project has stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectStorage {
    /// Bytes of its documents with their texts, recordings, exports, and imports that are not read yet.
    #[schema(minimum = 0)]
    pub used_bytes: i64,
    /// How many there may be; null without a limit. What the account that owns the project may store in all its projects is
    /// limited too.
    #[schema(required)]
    pub limit_bytes: Option<i64>,
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;

    use super::{CountedKind, QuotaKey, QuotaRefusal};
    use crate::http::error::ApiError;

    #[test]
    fn a_refusal_says_which_limit_how_much_is_used_and_how_much_is_allowed() {
        let said = |key| {
            let error = ApiError::from(QuotaRefusal { key, used: 12, under_way: 0, limit: 10 });
            (error.code.name, error.code.status, error.message)
        };
        let (code, status, message) = said(QuotaKey::ProjectBytes(Id::generate()));
        assert_eq!((code, status), ("QuotaExceeded", 507));
        assert!(message.starts_with("The project has stored 12 of at most 10 bytes."), "{message}");
        let (code, status, message) = said(QuotaKey::Count(CountedKind::ProjectsOfAccount, uuid::Uuid::nil()));
        assert_eq!((code, status), ("LimitReached", 409));
        assert_eq!(message, "The account has 12 projects of its own; 10 is the maximum.");
        let key = QuotaKey::Count(CountedKind::ProjectsOfAccount, uuid::Uuid::nil());
        let error = ApiError::from(QuotaRefusal { key, used: 8, under_way: 2, limit: 10 });
        assert_eq!(
            error.message,
            "The account has 8 projects of its own and 2 more are being added; 10 is the maximum."
        );
    }
}
