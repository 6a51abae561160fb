//! Meetings and Lifecycle, one function an operation.

use actors::ids::{self, Id};
use actors::keeper::Keeper;
use actors::live::{Live, RequestId, Unsaved};
use actors::meeting::{self, Command, Draft, Edit, EndReason, Refusal, Status};
use actors::shell;
use actors::time::Time;

use super::Meeting;
use super::model::{self, ConsentPolicy, MeetingListItem, Reason, Title};
use super::store::{self, Filter};
use crate::access::caller::Caller;
use crate::accounts;
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::meetings::state::Meetings;
use crate::projects::model::{Description, Project};

/// What a new meeting is made of.
#[derive(Debug)]
pub struct NewMeeting {
    pub id: Id<meeting::Meeting>,
    pub title: Title,
    pub description: Description,
    pub scheduled_at: Time,
    pub consent_policy: ConsentPolicy,
}

/// Schedules a meeting whose host is the caller. Under an id that was made before, gives that meeting.
///
/// # Errors
/// 409 in an archived project.
pub async fn create(
    state: &Meetings,
    caller: Caller,
    project: &Project,
    new: NewMeeting,
) -> Result<meeting::Meeting, Failure> {
    crate::projects::must_be_active(project)?;
    let now = state.now();
    let (id, project_id) = (new.id, project.id);
    state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let account = accounts::store::account(conn, caller.user_id).await?;
                let account = account.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
                let draft = Draft {
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
                    host: Id::draw(),
                    host_name: account.full_name,
                    host_email: Some(account.email),
                };
                let meeting = meeting::Meeting::schedule(draft, now);
                if store::insert(conn, &meeting).await? {
                    return Ok(meeting);
                }
                store::find(conn, id).await?.ok_or_else(|| Failure::of(Code::CONFLICT))
            })
        })
        .await
}

/// A project's meetings, newest first.
///
/// # Errors
/// The database's own.
pub async fn list(
    state: &Meetings,
    project_id: Id<ids::Project>,
    filter: Filter,
    page: Page,
) -> Result<List<MeetingListItem>, Failure> {
    let (found, total_count) = state
        .db
        .read(move |conn| Box::pin(async move { store::list(conn, project_id, &filter, &page).await }))
        .await
        .map_err(Failure::from)?;
    let (found, next_cursor) = page.cut(found, |(meeting, _)| meeting.id.uuid());
    let item = |(meeting, participant_count): (meeting::Meeting, i64)| MeetingListItem {
        participant_count,
        meeting: model::Meeting::of(&meeting, &state.url),
        recording_status: None,
    };
    Ok(List { items: found.into_iter().map(item).collect(), next_cursor, total_count })
}

/// What an update changes.
#[derive(Debug)]
pub struct Update {
    pub title: Option<Title>,
    pub description: Option<Description>,
    pub scheduled_at: Option<Time>,
    /// If-Match.
    pub version: Option<i64>,
}

/// Changes title, description or time of a meeting that is SCHEDULED or LIVE.
///
/// # Errors
/// 412 for a stale version, 409 for a meeting that is over.
pub async fn update(
    state: &Meetings,
    meeting: &Meeting,
    update: Update,
    request: RequestId,
) -> Result<Meeting, Failure> {
    active(state, meeting).await?;
    // No version is below zero, so such an If-Match is stale.
    let if_match = update.version.map(|version| u64::try_from(version).unwrap_or(0));
    let command = Command::Update {
        title: update.title.map_or(Edit::Keep, |title| Edit::Set(title.0)),
        description: update.description.map_or(Edit::Keep, |description| Edit::Set(description.0)),
        scheduled_at: update.scheduled_at.map_or(Edit::Keep, Edit::Set),
        if_match,
    };
    ask(state, meeting.state.id, command, request).await
}

/// Opens the meeting; again while it is LIVE changes nothing.
///
/// # Errors
/// 409 for a meeting that is over.
pub async fn start(
    state: &Meetings,
    meeting: &Meeting,
    caller: Caller,
    request: RequestId,
) -> Result<Meeting, Failure> {
    active(state, meeting).await?;
    ask(state, meeting.state.id, Command::Start { by: caller.user_id }, request).await
}

/// Ends the meeting for everybody; again changes nothing.
///
/// # Errors
/// 409 for a meeting that has not begun or was cancelled.
pub async fn end(
    state: &Meetings,
    meeting: &Meeting,
    caller: Caller,
    reason: Option<Reason>,
    request: RequestId,
) -> Result<Meeting, Failure> {
    let note = reason.map(|reason| reason.0);
    let command = Command::End { by: Some(caller.user_id), reason: EndReason::HostEnded, note };
    ask(state, meeting.state.id, command, request).await
}

/// Calls off a meeting that has not begun; again changes nothing.
///
/// # Errors
/// 409 for a meeting that has begun.
pub async fn cancel(
    state: &Meetings,
    meeting: &Meeting,
    caller: Caller,
    reason: Option<Reason>,
    request: RequestId,
) -> Result<Meeting, Failure> {
    active(state, meeting).await?;
    let command = Command::Cancel { by: caller.user_id, reason: reason.map(|reason| reason.0) };
    ask(state, meeting.state.id, command, request).await
}

/// The project of a meeting must take changes; to end a meeting, to leave it or to take back a consent is always possible.
///
/// # Errors
/// 409: it is archived.
pub async fn active(state: &Meetings, meeting: &Meeting) -> Result<(), Failure> {
    let id = meeting.state.project_id;
    let project = state.db.read(move |conn| Box::pin(crate::projects::store::find(conn, id))).await;
    let project = project.map_err(|failed: Failed| Failure::from(failed))?;
    crate::projects::must_be_active(&project.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?)
}

/// Has a meeting decide.
///
/// # Errors
/// Why it refused; else as [`answered`].
pub async fn ask(
    state: &Meetings,
    id: Id<meeting::Meeting>,
    command: Command,
    request: RequestId,
) -> Result<Meeting, Failure> {
    answered(&state.registry, id, command, request, Code::MEETING_NOT_FOUND, |refusal| match refusal {
        Refusal::Stale { .. } => Failure::of(Code::PRECONDITION_FAILED),
        Refusal::InvalidState { status } => Failure::saying(
            Code::INVALID_STATE,
            match status {
                Status::Scheduled => "The meeting has not begun.",
                Status::Live => "The meeting is under way.",
                Status::Ended => "The meeting has ended.",
                Status::Cancelled => "The meeting was cancelled.",
            },
        ),
        Refusal::NoSuchParticipant => Failure::of(Code::NOT_FOUND),
        Refusal::Removed => {
            Failure::saying(Code::FORBIDDEN, "You were removed from this meeting. Ask to be invited again.")
        }
        Refusal::NeverJoined => Failure::saying(Code::FORBIDDEN, "Join the meeting first."),
        Refusal::Full => Failure::of(Code::MEETING_FULL),
        Refusal::LastHost => Failure::of(Code::LAST_HOST),
    })
    .await
}

/// Has a live thing decide, and says what became of it as clients know it.
///
/// # Errors
/// What was refused; 503 where it may work later; 500 for our own mistakes.
pub async fn answered<L: Live>(
    keeper: &Keeper<L>,
    key: L::Key,
    command: L::Command,
    request: RequestId,
    missing: Code,
    refused: impl FnOnce(L::Refusal) -> Failure,
) -> Result<std::sync::Arc<shell::Snapshot<L>>, Failure> {
    keeper.ask(key, command, request).await.map_err(|failure| match failure {
        shell::Failure::Refused(refusal) => refused(refusal),
        shell::Failure::Missing => Failure::of(missing),
        shell::Failure::Busy => Failure::unavailable("too many commands wait for it"),
        shell::Failure::Unsaved(Unsaved::Conflict) => Failure::unavailable("another writer was first"),
        shell::Failure::Unsaved(Unsaved::Failed(why) | Unsaved::Unknown(why)) => Failure::unavailable(why),
        shell::Failure::Broken => Failure::internal("deciding panicked"),
    })
}
