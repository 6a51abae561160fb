//! Participants, one function an operation.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, Newcomer};

use super::model::{DisplayName, ParticipantStatus, SeenParticipant, Viewer};
use crate::access::caller::{Caller, Visitor};
use crate::accounts;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::meetings::operations::{active, ask};
use crate::meetings::state::Meetings;
use crate::meetings::{Meeting, place_of};

/// What somebody brings who joins.
#[derive(Debug)]
pub struct Joining {
    /// Of the place they get if they have none.
    pub place: Id<ids::Participant>,
    pub display_name: Option<DisplayName>,
}

/// Lets the caller come in; again changes nothing but the name.
///
/// # Errors
/// 403: they were removed. 409: the meeting has not begun, is over, or is full.
pub async fn join(
    state: &Meetings,
    meeting: &Meeting,
    caller: Visitor,
    joining: Joining,
    request: RequestId,
) -> Result<Meeting, Failure> {
    active(state, meeting).await?;
    let newcomer = newcomer(state, meeting, caller, joining.place).await?;
    let display_name = joining.display_name.map(|name| name.0);
    let command = Command::Join { newcomer, display_name, most: state.config.meetings.people };
    let joined = ask(state, meeting.state.id, command, request).await?;
    // They may listen already, from before they came in.
    state.attendance.look_again(state, joined.state.id);
    Ok(joined)
}

/// The caller as the meeting knows them, or as their account does.
async fn newcomer(
    state: &Meetings,
    meeting: &Meeting,
    caller: Visitor,
    place: Id<ids::Participant>,
) -> Result<Newcomer, Failure> {
    if let Some(known) = place_of(&meeting.state, caller) {
        let (user_id, display_name, email) = (known.user_id, known.display_name.clone(), known.email.clone());
        return Ok(Newcomer { id: known.id, user_id, display_name, email });
    }
    let caller = caller.account()?;
    let user_id = Some(caller.user_id);
    let account = state.db.read(move |conn| Box::pin(accounts::store::account(conn, caller.user_id))).await?;
    let account = account.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
    Ok(Newcomer { id: place, user_id, display_name: account.full_name, email: Some(account.email) })
}

/// Lets the caller go; again changes nothing.
///
/// # Errors
/// 403: they never came, or were removed.
pub async fn leave(
    state: &Meetings,
    meeting: &Meeting,
    who: Id<ids::Participant>,
    request: RequestId,
) -> Result<Meeting, Failure> {
    ask(state, meeting.state.id, Command::Leave { participant: who }, request).await
}

/// Puts somebody out until they are invited again; again changes nothing.
///
/// # Errors
/// 409: it is the host.
pub async fn remove(
    state: &Meetings,
    meeting: &Meeting,
    who: Id<ids::Participant>,
    caller: Caller,
    request: RequestId,
) -> Result<(), Failure> {
    let command = Command::Remove { participant: who, by: Some(caller.user_id) };
    ask(state, meeting.state.id, command, request).await.map(drop)
}

/// Which of a meeting's people are listed.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub status: Option<ParticipantStatus>,
    /// In their names.
    pub search: Option<String>,
}

/// A meeting's people, those first who came last.
#[must_use]
pub fn list(meeting: &Meeting, viewer: Viewer, filter: &Filter, page: Page) -> List<SeenParticipant> {
    let search = filter.search.as_ref().map(|search| search.to_lowercase());
    let matching = meeting.state.participants.values().filter(|one| {
        let has_status = filter.status.is_none_or(|status| status == one.status().into());
        has_status && search.as_ref().is_none_or(|search| one.display_name.to_lowercase().contains(search))
    });
    let mut found: Vec<_> = matching.collect();
    let total_count = i64::try_from(found.len()).unwrap_or(i64::MAX);
    found.reverse();
    found.retain(|one| one.id.uuid() < page.before());
    let (found, next_cursor) = page.cut(found, |one| one.id.uuid());
    let items = found.into_iter().map(|one| SeenParticipant::of(meeting.state.id, one, viewer)).collect();
    List { items, next_cursor, total_count }
}

/// One of a meeting's people, as the viewer may see them.
///
/// # Errors
/// 404: there is nobody by that id.
pub fn seen(meeting: &Meeting, who: Id<ids::Participant>, viewer: Viewer) -> Result<SeenParticipant, Failure> {
    let participant = meeting.state.participants.get(&who).ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
    Ok(SeenParticipant::of(meeting.state.id, participant, viewer))
}
