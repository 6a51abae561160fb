//! How all that changes a meeting reaches it: whether its project accepts changes, and a command to its actor.

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{self, Command};

use super::MeetingSnapshot;
use super::refusals::refused;
use super::state::Meetings;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// Checks that the project of a meeting accepts changes. Ending a meeting, leaving it and withdrawing a consent are
/// possible in any project.
///
/// # Errors
/// 409 for an archived project; 404 when the project does not exist.
pub async fn active(state: &Meetings, meeting: &MeetingSnapshot) -> Result<(), ApiError> {
    let status = state.projects.roles.status(&state.db, meeting.state.project_id).await?;
    status.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?.must_be_active()
}

/// Sends a command to a meeting's actor and returns the saved snapshot.
///
/// # Errors
/// The meeting's refusal as an HTTP error; otherwise as [`ApiError::of_command`].
pub async fn ask(
    state: &Meetings,
    id: Id<meeting::Meeting>,
    command: Command,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    let done = state.registry.ask(id, command, request).await;
    done.map_err(|failure| ApiError::of_command(failure, Code::MEETING_NOT_FOUND, refused))
}
