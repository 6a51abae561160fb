//! The operations on participants, one function each.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, Newcomer};

use super::bodies::Filter;
use super::model::{DisplayName, ParticipantViewer, SeenParticipant};
use crate::access::principal::{Caller, Principal};
use crate::accounts;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::meetings::commands::{active, ask};
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, participant_of};

/// Lets the caller join the meeting. If they have already joined, changes only their name. `participant_id` is the id
/// of the participant that is created if the caller has none yet.
///
/// # Errors
/// 403 for a participant who was removed; 409 when the meeting has not started, has ended or is full, and in an
/// archived project.
pub async fn join(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    caller: Principal,
    participant_id: Id<ids::Participant>,
    display_name: Option<DisplayName>,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    active(state, meeting).await?;
    let newcomer = newcomer(state, meeting, caller, participant_id).await?;
    let display_name = display_name.map(|name| name.0);
    let command = Command::Join { newcomer, display_name, most: state.config.meetings.people };
    let joined = ask(state, meeting.state.id, command, request).await?;
    // A socket of theirs may have subscribed before they joined.
    state.attendance.start_report(joined.state.id);
    Ok(joined)
}

/// Returns the caller as the meeting knows them, else as their account does.
async fn newcomer(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    caller: Principal,
    participant_id: Id<ids::Participant>,
) -> Result<Newcomer, ApiError> {
    if let Some(known) = participant_of(&meeting.state, caller) {
        let (user_id, display_name, email) = (known.user_id, known.display_name.clone(), known.email.clone());
        return Ok(Newcomer { id: known.id, user_id, display_name, email });
    }
    let caller = caller.account()?;
    let user_id = Some(caller.user_id);
    let account = state.db.read(move |conn| Box::pin(accounts::store::account(conn, caller.user_id))).await?;
    let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    Ok(Newcomer { id: participant_id, user_id, display_name: account.full_name, email: Some(account.email) })
}

/// Lets the caller leave the meeting. Changes nothing if they have already left.
///
/// # Errors
/// 403 for a participant who never joined or was removed.
pub async fn leave(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    who: Id<ids::Participant>,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    ask(state, meeting.state.id, Command::Leave { participant: who }, request).await
}

/// Removes a participant until they are invited again. Changes nothing if they have already been removed.
///
/// # Errors
/// 409 for the host.
pub async fn remove(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    who: Id<ids::Participant>,
    caller: Caller,
    request: RequestId,
) -> Result<(), ApiError> {
    let command = Command::Remove { participant: who, by: Some(caller.user_id) };
    ask(state, meeting.state.id, command, request).await.map(drop)
}

/// Lists the participants of a meeting, newest first.
#[must_use]
pub fn list(meeting: &MeetingSnapshot, viewer: ParticipantViewer, listing: &Listing<Filter>) -> List<SeenParticipant> {
    let Listing { filter, page } = listing;
    let search = filter.search.as_ref().map(|search| search.0.to_lowercase());
    let matching = meeting.state.participants.values().filter(|one| {
        let has_status = filter.status.is_none_or(|status| status == one.status());
        has_status && search.as_ref().is_none_or(|search| one.display_name.to_lowercase().contains(search))
    });
    let mut found: Vec<_> = matching.collect();
    let total_count = i64::try_from(found.len()).unwrap_or(i64::MAX);
    found.reverse();
    found.retain(|one| one.id.uuid() < page.before());
    let found = page.list(found, total_count, |one| one.id.uuid());
    found.map(|one| SeenParticipant::of(meeting.state.id, one, viewer))
}

/// Returns one participant, with the fields that the viewer may see.
///
/// # Errors
/// 404 for an unknown participant.
pub fn seen(
    meeting: &MeetingSnapshot,
    who: Id<ids::Participant>,
    viewer: ParticipantViewer,
) -> Result<SeenParticipant, ApiError> {
    let participant = meeting.state.participants.get(&who).ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    Ok(SeenParticipant::of(meeting.state.id, participant, viewer))
}
