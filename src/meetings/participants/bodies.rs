//! The bodies and queries of requests about participants.

use actors::meeting::ParticipantStatus;
use utoipa::ToSchema;

use super::model::DisplayName;
use crate::http::input::{Body, Query};
use crate::http::list::Search;

/// The name to use in the meeting. Without it, the caller's former name in the meeting is used, else that of their
/// account.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct JoinMeeting {
    pub display_name: Option<DisplayName>,
}

/// Which participants of a meeting are listed.
#[derive(Debug, Clone, Default, Query)]
pub struct Filter {
    /// Return only participants with this status.
    pub status: Option<ParticipantStatus>,
    /// Return only participants whose name contains this text.
    pub search: Option<Search>,
}
