//! The operations on meetings and their lifecycle, one function each.

use actors::ids::{self, Id};
use actors::live::{Live, RequestId, Unsaved};
use actors::meeting::{self, Command, EndReason, FieldChange, MeetingDraft, Refusal, Status};
use actors::registry::Registry;
use actors::shell;
use actors::time::Time;

use super::Meeting;
use super::model::{self, ClosingNote, ConsentPolicy, MeetingListItem, Title};
use super::store::{self, Filter};
use crate::access::principal::Caller;
use crate::accounts;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::meetings::state::Meetings;
use crate::projects::model::{Description, Project};

/// The input of [`create`].
#[derive(Debug)]
pub struct NewMeeting {
    pub id: Id<meeting::Meeting>,
    pub title: Title,
    pub description: Description,
    pub scheduled_at: Time,
    pub consent_policy: ConsentPolicy,
}

/// Schedules a meeting whose host is the caller. If a meeting with this id exists, because the request is repeated,
/// returns that meeting.
///
/// # Errors
/// 409 in an archived project.
pub async fn create(
    state: &Meetings,
    caller: Caller,
    project: &Project,
    new: NewMeeting,
) -> Result<meeting::Meeting, ApiError> {
    crate::projects::must_be_active(project)?;
    let now = state.now();
    let (id, project_id) = (new.id, project.id);
    state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let account = accounts::store::account(conn, caller.user_id).await?;
                let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
                let draft = MeetingDraft {
                    id,
                    project_id,
                    title: new.title.0,
                    description: new.description.0,
                    scheduled_at: new.scheduled_at,
                    consent_policy: match new.consent_policy {
                        ConsentPolicy::All => meeting::ConsentPolicy::All,
                        ConsentPolicy::Notice => meeting::ConsentPolicy::Notice,
                    },
                    created_by: caller.user_id,
                    host: Id::generate(),
                    host_name: account.full_name,
                    host_email: Some(account.email),
                };
                let meeting = meeting::Meeting::schedule(draft, now);
                if store::insert(conn, &meeting).await? {
                    return Ok(meeting);
                }
                store::find(conn, id).await?.ok_or_else(|| ApiError::of(Code::CONFLICT))
            })
        })
        .await
}

/// Lists the meetings of a project, newest first.
///
/// # Errors
/// Any database error.
pub async fn list(
    state: &Meetings,
    project_id: Id<ids::Project>,
    filter: Filter,
    page: PageQuery,
) -> Result<List<MeetingListItem>, ApiError> {
    let (found, total_count) = state
        .db
        .read(move |conn| Box::pin(async move { store::list(conn, project_id, &filter, &page).await }))
        .await
        .map_err(ApiError::from)?;
    let (found, next_cursor) = page.cut(found, |(meeting, _)| meeting.id.uuid());
    let item = |(meeting, participant_count): (meeting::Meeting, i64)| MeetingListItem {
        participant_count,
        meeting: model::Meeting::of(&meeting, &state.url),
        recording_status: None,
    };
    Ok(List { items: found.into_iter().map(item).collect(), next_cursor, total_count })
}

/// The fields that [`update`] changes; `None` leaves a field as it is.
#[derive(Debug)]
pub struct Update {
    pub title: Option<Title>,
    pub description: Option<Description>,
    pub scheduled_at: Option<Time>,
    /// The version from the `If-Match` header.
    pub version: Option<i64>,
}

/// Changes title, description or time of a meeting that is `SCHEDULED` or `LIVE`.
///
/// # Errors
/// 412 for a stale version; 409 for a meeting that has ended or was cancelled, and in an archived project.
pub async fn update(
    state: &Meetings,
    meeting: &Meeting,
    update: Update,
    request: RequestId,
) -> Result<Meeting, ApiError> {
    active(state, meeting).await?;
    // Versions are never negative, so a negative If-Match is stale.
    let if_match = update.version.map(|version| u64::try_from(version).unwrap_or(0));
    let command = Command::Update {
        title: update.title.map_or(FieldChange::Keep, |title| FieldChange::Set(title.0)),
        description: update.description.map_or(FieldChange::Keep, |description| FieldChange::Set(description.0)),
        scheduled_at: update.scheduled_at.map_or(FieldChange::Keep, FieldChange::Set),
        if_match,
    };
    ask(state, meeting.state.id, command, request).await
}

/// Starts the meeting. Changes nothing if it is already `LIVE`.
///
/// # Errors
/// 409 for a meeting that has ended or was cancelled, and in an archived project.
pub async fn start(
    state: &Meetings,
    meeting: &Meeting,
    caller: Caller,
    request: RequestId,
) -> Result<Meeting, ApiError> {
    active(state, meeting).await?;
    ask(state, meeting.state.id, Command::Start { by: caller.user_id }, request).await
}

/// Ends the meeting for all participants. Changes nothing if it has already ended.
///
/// # Errors
/// 409 for a meeting that has not started or was cancelled.
pub async fn end(
    state: &Meetings,
    meeting: &Meeting,
    caller: Caller,
    reason: Option<ClosingNote>,
    request: RequestId,
) -> Result<Meeting, ApiError> {
    let note = reason.map(|reason| reason.0);
    let command = Command::End { by: Some(caller.user_id), reason: EndReason::HostEnded, note };
    ask(state, meeting.state.id, command, request).await
}

/// Cancels a meeting that has not started. Changes nothing if it is already cancelled.
///
/// # Errors
/// 409 for a meeting that has started, and in an archived project.
pub async fn cancel(
    state: &Meetings,
    meeting: &Meeting,
    caller: Caller,
    reason: Option<ClosingNote>,
    request: RequestId,
) -> Result<Meeting, ApiError> {
    active(state, meeting).await?;
    let command = Command::Cancel { by: caller.user_id, reason: reason.map(|reason| reason.0) };
    ask(state, meeting.state.id, command, request).await
}

/// Checks that the project of a meeting accepts changes. Ending a meeting, leaving it and withdrawing a consent are
/// possible in any project.
///
/// # Errors
/// 409 for an archived project; 404 when the project does not exist.
pub async fn active(state: &Meetings, meeting: &Meeting) -> Result<(), ApiError> {
    let id = meeting.state.project_id;
    let project = state.db.read(move |conn| Box::pin(crate::projects::store::find(conn, id))).await;
    let project = project.map_err(|failed: DbError| ApiError::from(failed))?;
    crate::projects::must_be_active(&project.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?)
}

/// Sends a command to a meeting's actor and returns the saved snapshot.
///
/// # Errors
/// The meeting's refusal as an HTTP error; otherwise as [`answered`].
pub async fn ask(
    state: &Meetings,
    id: Id<meeting::Meeting>,
    command: Command,
    request: RequestId,
) -> Result<Meeting, ApiError> {
    answered(&state.registry, id, command, request, Code::MEETING_NOT_FOUND, |refusal| match refusal {
        Refusal::Stale { .. } => ApiError::of(Code::PRECONDITION_FAILED),
        Refusal::InvalidState { status } => ApiError::saying(
            Code::INVALID_STATE,
            match status {
                Status::Scheduled => "The meeting has not begun.",
                Status::Live => "The meeting is under way.",
                Status::Ended => "The meeting has ended.",
                Status::Cancelled => "The meeting was cancelled.",
            },
        ),
        Refusal::NoSuchParticipant => ApiError::of(Code::NOT_FOUND),
        Refusal::Removed => {
            ApiError::saying(Code::FORBIDDEN, "You were removed from this meeting. Ask to be invited again.")
        }
        Refusal::NeverJoined => ApiError::saying(Code::FORBIDDEN, "Join the meeting first."),
        Refusal::Full => ApiError::of(Code::MEETING_FULL),
        Refusal::LastHost => ApiError::of(Code::LAST_HOST),
    })
    .await
}

/// Sends a command to an actor, returns the saved snapshot, and maps failures to HTTP errors.
///
/// # Errors
/// A refusal as `refused` maps it; `missing` for an unknown key; 503 where a retry may succeed; 500 for a defect of the
/// server.
pub async fn answered<L: Live>(
    registry: &Registry<L>,
    key: L::Key,
    command: L::Command,
    request: RequestId,
    missing: Code,
    refused: impl FnOnce(L::Refusal) -> ApiError,
) -> Result<std::sync::Arc<shell::Snapshot<L>>, ApiError> {
    registry.ask(key, command, request).await.map_err(|failure| match failure {
        shell::CommandError::Refused(refusal) => refused(refusal),
        shell::CommandError::Missing => ApiError::of(missing),
        shell::CommandError::Busy => ApiError::unavailable("too many commands wait for it"),
        shell::CommandError::Unsaved(Unsaved::Conflict) => ApiError::unavailable("another writer was first"),
        shell::CommandError::Unsaved(Unsaved::Failed(why) | Unsaved::Unknown(why)) => ApiError::unavailable(why),
        shell::CommandError::Broken => ApiError::internal("deciding panicked"),
    })
}
