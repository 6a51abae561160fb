//! The operations on meetings and their lifecycle, one function each.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{self, Command, ConsentPolicy, EndReason, MeetingDraft, MeetingEdit};

use super::bodies::{CreateMeeting, Filter, UpdateMeeting};
use super::store as listed;
use crate::access::principal::Caller;
use crate::accounts;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::meetings::commands::{active, ask};
use crate::meetings::model::{ClosingNote, MeetingListItem};
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, store};
use crate::projects::model::Project;
use crate::quotas::model::CountedKind;

/// Schedules a meeting whose host is the caller. If a meeting with this id exists, because the request is repeated,
/// returns that meeting.
///
/// # Errors
/// 409 in an archived project, and in one that has as many meetings as it may have.
pub async fn create(
    state: &Meetings,
    caller: Caller,
    project: &Project,
    id: Id<meeting::Meeting>,
    body: CreateMeeting,
) -> Result<meeting::Meeting, ApiError> {
    crate::projects::must_be_active(project)?;
    let now = state.now();
    let project_id = project.id;
    let (kind, owner) = (CountedKind::MeetingsOfProject, project_id.uuid());
    let _counted = state.quotas.count_unless_made(kind, owner, 1, move |conn| Box::pin(store::find(conn, id))).await?;
    state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let account = accounts::store::account(conn, caller.user_id).await?;
                let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
                let draft = MeetingDraft {
                    id,
                    project_id,
                    title: body.title.0,
                    description: body.description.unwrap_or_default().0,
                    scheduled_at: body.scheduled_at,
                    consent_policy: body.consent_policy.unwrap_or(ConsentPolicy::All),
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
    listing: Listing<Filter>,
) -> Result<List<MeetingListItem>, ApiError> {
    let url = state.url.clone();
    let found = state.db.read(move |conn| Box::pin(async move { listed::list(conn, project_id, listing, &url).await }));
    found.await.map_err(ApiError::from)
}

/// Changes title, description or time of a meeting that is `SCHEDULED` or `LIVE`. `version` is that of `If-Match`.
///
/// # Errors
/// 412 for a stale version; 409 for a meeting that has ended or was cancelled, and in an archived project.
pub async fn update(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    body: UpdateMeeting,
    version: Option<i64>,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    active(state, meeting).await?;
    let UpdateMeeting { title, description, scheduled_at } = body;
    let edit = MeetingEdit {
        title: title.map(|title| title.0),
        description: description.map(|description| description.0),
        scheduled_at,
    };
    let command = Command::Update {
        edit,
        // Never negative: the header has digits only.
        if_match: version.map(i64::unsigned_abs),
    };
    ask(state, meeting.state.id, command, request).await
}

/// Starts the meeting. Changes nothing if it is already `LIVE`.
///
/// # Errors
/// 409 for a meeting that has ended or was cancelled, and in an archived project.
pub async fn start(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    caller: Caller,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    active(state, meeting).await?;
    ask(state, meeting.state.id, Command::Start { by: caller.user_id }, request).await
}

/// Ends the meeting for all participants. Changes nothing if it has already ended.
///
/// # Errors
/// 409 for a meeting that has not started or was cancelled.
pub async fn end(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    caller: Caller,
    reason: Option<ClosingNote>,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
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
    meeting: &MeetingSnapshot,
    caller: Caller,
    reason: Option<ClosingNote>,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    active(state, meeting).await?;
    let command = Command::Cancel { by: caller.user_id, reason: reason.map(|reason| reason.0) };
    ask(state, meeting.state.id, command, request).await
}
