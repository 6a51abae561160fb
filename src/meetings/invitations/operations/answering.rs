//! What the bearer of a link does: look, accept, decline.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::meeting::{self, Command, Newcomer};

use super::super::kept;
use super::super::model::{
    AcceptedInvitation, Invitation, InvitationChanged, InvitationPreview, InvitationStatus, InviteeType, may_be,
};
use super::super::store::{self, Led};
use super::{PURPOSE, must_go_on};
use crate::access::caller::{Caller, Guest, Visitor};
use crate::access::one_time::OneTimeToken;
use crate::access::role::Standing;
use crate::accounts;
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::meetings::model as meetings;
use crate::meetings::operations::{active, ask};
use crate::meetings::participants::model::{DisplayName, SeenParticipant, Viewer};
use crate::meetings::state::Meetings;
use crate::meetings::{Meeting, place_of};
use crate::projects;
use crate::projects::people::model::masked;

/// How long a guest's token is good.
const GUEST: Duration = Duration::from_secs(12 * 3600);

/// What an invitation is to; nothing changes by looking.
///
/// # Errors
/// 404 for a token of nothing, 410 for an invitation that can't be accepted any longer.
pub async fn preview(state: &Meetings, token: &OneTimeToken) -> Result<InvitationPreview, Failure> {
    let Open { invitation, meeting, status } = open(state, token).await?;
    let (project_id, inviter_id) = (meeting.state.project_id, invitation.invited_by_id);
    let read = async move |conn: &mut Conn| {
        let project = projects::store::find(conn, project_id).await?;
        Ok::<_, Failed>((project, accounts::store::account(conn, inviter_id).await?))
    };
    let (project, inviter) =
        state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(Failure::from)?;
    Ok(InvitationPreview {
        meeting_title: meeting.state.title.clone(),
        project_name: project.ok_or_else(|| Failure::of(Code::NOT_FOUND))?.name,
        inviter_name: inviter.map(|inviter| inviter.full_name).unwrap_or_default(),
        scheduled_at: meeting.state.scheduled_at,
        invitee_email: masked(&invitation.email),
        role: invitation.role.into(),
        status,
        expires_at: invitation.expires_at,
    })
}

/// Gives the bearer of a link a place in the meeting; again changes nothing, and gives a guest a new token.
///
/// # Errors
/// 401 and 403 where it is another's, or they were removed since; 404 for a token of nothing; 409 for an invitation that was
/// declined, for a meeting that is over or full; 410 for one that can't be accepted any longer.
pub async fn accept(
    state: &Meetings,
    token: &OneTimeToken,
    caller: Option<Caller>,
    display_name: Option<DisplayName>,
    request: RequestId,
) -> Result<AcceptedInvitation, Failure> {
    let Open { invitation, meeting, status } = open(state, token).await?;
    bearer(&invitation, &meeting.state, caller)?;
    if status == InvitationStatus::Declined {
        return Err(Failure::saying(Code::INVALID_STATE, "The invitation was declined."));
    }
    must_go_on(&meeting.state)?;
    active(state, &meeting).await?;
    let newcomer = newcomer(state, &invitation, &meeting.state, caller, display_name).await?;
    let most = state.config.meetings.people;
    let command = Command::Admit { newcomer, role: invitation.role, invitation: invitation.id, most };
    let admitted = match ask(state, meeting.state.id, command, request).await {
        Ok(admitted) => admitted,
        // What the meeting could not save may have been answered or taken back meanwhile, or taken by another.
        Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => {
            let Open { invitation, meeting, .. } = open(state, token).await?;
            bearer(&invitation, &meeting.state, caller)?;
            return Err(failure);
        }
        Err(failure) => return Err(failure),
    };
    accepted(state, &invitation, &admitted, caller)
}

fn accepted(
    state: &Meetings,
    invitation: &Invitation,
    meeting: &Meeting,
    caller: Option<Caller>,
) -> Result<AcceptedInvitation, Failure> {
    let guest =
        Guest { meeting_id: meeting.state.id, participant_id: invitation.participant_id, invitation_id: invitation.id };
    let visitor = caller.map_or(Visitor::Guest(guest), Visitor::Account);
    let refused = || refusal(caller);
    let place = place_of(&meeting.state, visitor).ok_or_else(refused)?;
    let viewer = Viewer { visitor, standing: Standing::default() };
    let guest_token = match caller {
        Some(_) => None,
        None => {
            let token = state.tokens.issue_to_guest(guest, state.now(), GUEST);
            Some(token.ok_or_else(|| Failure::internal("there is no key to sign with"))?)
        }
    };
    Ok(AcceptedInvitation {
        participant: Some(SeenParticipant::of(meeting.state.id, place, viewer)),
        meeting: meetings::Meeting::of(&meeting.state, &state.url),
        expires_in: guest_token.as_ref().map(|_| GUEST.as_secs()),
        guest_token,
    })
}

/// The bearer as the meeting is to know them.
async fn newcomer(
    state: &Meetings,
    invitation: &Invitation,
    meeting: &meeting::Meeting,
    caller: Option<Caller>,
    display_name: Option<DisplayName>,
) -> Result<Newcomer, Failure> {
    let id = invitation.participant_id;
    let said = display_name.map(|name| name.0);
    let Some(caller) = caller else {
        let known = || invitation.email.split('@').next().unwrap_or_default().to_owned();
        let display_name = said.or_else(|| invitation.display_name.clone()).unwrap_or_else(known);
        return Ok(Newcomer { id, user_id: None, display_name, email: Some(invitation.email.clone()) });
    };
    let (user_id, project_id) = (caller.user_id, meeting.project_id);
    let read = async move |conn: &mut Conn| {
        let role = projects::store::role(conn, project_id, user_id).await?;
        Ok::<_, Failed>((role, accounts::store::account(conn, user_id).await?))
    };
    let (role, account) = state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(Failure::from)?;
    if invitation.invitee_type == InviteeType::Participant && (role.is_none() || may_be(invitation.role, role).is_err())
    {
        return Err(Failure::saying(Code::FORBIDDEN, "You are no longer in the project what this invitation needs."));
    }
    let account = account.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
    let display_name = said.unwrap_or(account.full_name);
    Ok(Newcomer { id, user_id: Some(user_id), display_name, email: Some(account.email) })
}

/// Says no to an invitation.
///
/// # Errors
/// As [`accept`].
pub async fn decline(
    state: &Meetings,
    token: &OneTimeToken,
    caller: Option<Caller>,
    request: RequestId,
) -> Result<(), Failure> {
    let Open { invitation, meeting, status } = open(state, token).await?;
    bearer(&invitation, &meeting.state, caller)?;
    let answered = || Failure::saying(Code::INVALID_STATE, "The invitation was answered already.");
    if status != InvitationStatus::Pending {
        return Err(answered());
    }
    must_go_on(&meeting.state)?;
    let now = state.now();
    let told = state.db.write(move |conn| {
        Box::pin(async move {
            if !store::decline(conn, invitation.id, now).await? {
                return Ok::<_, Failed>(None);
            }
            let changed = InvitationChanged { id: invitation.id, meeting_id: meeting.state.id };
            kept::tell(conn, &meeting.state, "invitation.declined", changed, now, &request).await.map(Some)
        })
    });
    let told = told.await.map_err(Failure::from)?.ok_or_else(answered)?;
    state.hub.tell(vec![told]);
    Ok(())
}

/// # Errors
/// 404 for a token of nothing, 410 for one that is over.
pub async fn must_lead(state: &Meetings, token: &OneTimeToken) -> Result<(), Failure> {
    open(state, token).await.map(drop)
}

/// An invitation that a link leads to, and that can be read.
struct Open {
    invitation: Invitation,
    meeting: Meeting,
    status: InvitationStatus,
}

/// # Errors
/// 404 for a token of nothing, 410 for one that is over.
async fn open(state: &Meetings, token: &OneTimeToken) -> Result<Open, Failure> {
    let unknown = || Failure::of(Code::NOT_FOUND);
    let hash = token.hash(&state.secret, PURPOSE).ok_or_else(unknown)?;
    let led = state.db.read(move |conn| Box::pin(async move { store::by_token(conn, &hash).await })).await;
    let invitation = match led.map_err(|failed: Failed| Failure::from(failed))? {
        Led::Here(invitation) => *invitation,
        Led::Superseded => return Err(Failure::saying(Code::GONE, "There is a newer link, in a later mail.")),
        Led::Nowhere => return Err(unknown()),
    };
    let found = state.registry.snapshot(invitation.meeting_id).await.map_err(|away| Failure::unavailable(away.0))?;
    let meeting = found.ok_or_else(unknown)?;
    match invitation.status(state.now()) {
        InvitationStatus::Expired | InvitationStatus::Revoked => Err(Failure::of(Code::GONE)),
        status => Ok(Open { invitation, meeting, status }),
    }
}

/// Whether a link is the bearer's to answer: a member's is theirs; a guest's is whoever's has it, until one signs in.
fn bearer(invitation: &Invitation, meeting: &meeting::Meeting, caller: Option<Caller>) -> Result<(), Failure> {
    let place = meeting.participants.get(&invitation.participant_id);
    let owner: Option<Id<User>> = invitation.user_id.or_else(|| place.and_then(|place| place.user_id));
    match (owner, caller) {
        (None, _) => Ok(()),
        (Some(owner), Some(caller)) if caller.user_id == owner => Ok(()),
        (Some(_), caller) => Err(refusal(caller)),
    }
}

fn refusal(caller: Option<Caller>) -> Failure {
    match caller {
        Some(_) => Failure::saying(Code::FORBIDDEN, "This invitation is another's."),
        None => Failure::saying(Code::UNAUTHORIZED, "Sign in first: this invitation is an account's."),
    }
}
