//! The bodies and queries of requests about meetings and their lifecycle.

use actors::meeting::{ConsentPolicy, MeetingStatus};
use actors::time::LocalTime;
use utoipa::ToSchema;

use crate::http::input::{Body, Query};
use crate::http::list::Search;
use crate::meetings::model::{ClosingNote, Title};
use crate::projects::model::Description;

/// A meeting to schedule.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct CreateMeeting {
    pub title: Title,
    /// Default: none.
    pub description: Option<Description>,
    /// When the meeting is to take place; it may lie in the past. RFC 3339, with any offset.
    pub scheduled_at: LocalTime,
    /// Default: ALL.
    pub consent_policy: Option<ConsentPolicy>,
}

/// Which meetings of a project are listed.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only meetings with this status.
    pub status: Option<MeetingStatus>,
    /// Return only meetings whose title contains this text.
    pub search: Option<Search>,
}

/// The changes to a meeting: at least one of the three. Absent keys stay as they are.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct UpdateMeeting {
    /// The new title; absent: unchanged. It can't be null.
    #[schema(nullable = false)]
    pub title: Option<Title>,
    /// The new description; absent: unchanged; null: none.
    #[body(or_empty)]
    pub description: Option<Description>,
    /// When the meeting is to take place; it may lie in the past. RFC 3339, with any offset. Invitations expire with
    /// it.
    #[schema(nullable = false)]
    pub scheduled_at: Option<LocalTime>,
}

/// The reason for which a meeting is cancelled or ended.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct Why {
    pub reason: Option<ClosingNote>,
}
