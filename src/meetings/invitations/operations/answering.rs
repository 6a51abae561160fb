//! The operations of the bearer of an invitation link: preview, accept, decline.

use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::meeting::{self, Command, Newcomer};

use super::super::model::{
    AcceptedInvitation, Invitation, InvitationChanged, InvitationPreview, InvitationStatus, InviteeType, may_be,
};
use super::super::projection;
use super::super::store::{self, InvitationLookup};
use super::{PURPOSE, must_go_on};
use crate::access::one_time::OneTimeToken;
use crate::access::principal::{Caller, Guest, Principal};
use crate::access::role::Relation;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::commands::{active, ask};
use crate::meetings::model as meetings;
use crate::meetings::participants::model::{DisplayName, ParticipantViewer, SeenParticipant};
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, participant_of};
use crate::projects::people::model::masked;
use crate::{accounts, projects};

/// Lifetime of a guest token.
const GUEST: Duration = Duration::from_secs(12 * 3600);

/// Returns what an invitation is for. Changes nothing.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that can no longer be accepted.
pub async fn preview(state: &Meetings, token: &OneTimeToken) -> Result<InvitationPreview, ApiError> {
    let OpenInvitation { invitation, meeting, status } = open(state, token).await?;
    let (project_id, inviter_id) = (meeting.state.project_id, invitation.invited_by_id);
    let read = async move |conn: &mut Conn| {
        let project = projects::store::find(conn, project_id).await?;
        Ok::<_, DbError>((project, accounts::store::account(conn, inviter_id).await?))
    };
    let (project, inviter) =
        state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)?;
    Ok(InvitationPreview {
        meeting_title: meeting.state.title.clone(),
        project_name: project.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?.name,
        inviter_name: inviter.map(|inviter| inviter.full_name).unwrap_or_default(),
        scheduled_at: meeting.state.scheduled_at,
        invitee_email: masked(&invitation.email),
        display_name: invitation.display_name,
        role: invitation.role,
        status,
        expires_at: invitation.expires_at,
    })
}

/// Admits the bearer of a link to the meeting. Repeating it changes nothing, but gives a guest a new token.
///
/// # Errors
/// 401 or 403 when the invitation belongs to another account, and 403 when the participant was removed since; 404 for
/// an unknown token; 409 for an invitation that was declined, and for a meeting that has ended or is full; 410 for an
/// invitation that can no longer be accepted.
pub async fn accept(
    state: &Meetings,
    token: &OneTimeToken,
    caller: Option<Caller>,
    display_name: Option<DisplayName>,
    request: RequestId,
) -> Result<AcceptedInvitation, ApiError> {
    let OpenInvitation { invitation, meeting, status } = open(state, token).await?;
    bearer(&invitation, &meeting.state, caller)?;
    if status == InvitationStatus::Declined {
        return Err(ApiError::with_message(Code::INVALID_STATE, "The invitation was declined."));
    }
    must_go_on(&meeting.state)?;
    active(state, &meeting).await?;
    let newcomer = newcomer(state, &invitation, &meeting.state, caller, display_name).await?;
    let most = state.config.meetings.people;
    let command = Command::Admit { newcomer, role: invitation.role, invitation: invitation.id, most };
    let admitted = match ask(state, meeting.state.id, command, request).await {
        Ok(admitted) => admitted,
        // The save may have failed because the invitation was answered, revoked or accepted by another account in the
        // meantime: then the error of that is returned instead.
        Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => {
            let OpenInvitation { invitation, meeting, .. } = open(state, token).await?;
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
    meeting: &MeetingSnapshot,
    caller: Option<Caller>,
) -> Result<AcceptedInvitation, ApiError> {
    let guest =
        Guest { meeting_id: meeting.state.id, participant_id: invitation.participant_id, invitation_id: invitation.id };
    let principal = caller.map_or(Principal::Guest(guest), Principal::Account);
    let refused = || refusal(caller);
    let participant = participant_of(&meeting.state, principal).ok_or_else(refused)?;
    let viewer = ParticipantViewer { principal, relation: Relation::default() };
    let guest_token = match caller {
        Some(_) => None,
        None => {
            let token = state.projects.accounts.gate.tokens.issue_to_guest(guest, state.now(), GUEST);
            Some(token.ok_or_else(|| ApiError::internal("no signing key is available"))?)
        }
    };
    Ok(AcceptedInvitation {
        participant: Some(SeenParticipant::of(meeting.state.id, participant, viewer)),
        meeting: meetings::MeetingView::of(&meeting.state, &state.url),
        expires_in: guest_token.as_ref().map(|_| GUEST.as_secs()),
        guest_token,
    })
}

/// Returns the bearer with the data under which the meeting is to know them.
async fn newcomer(
    state: &Meetings,
    invitation: &Invitation,
    meeting: &meeting::Meeting,
    caller: Option<Caller>,
    display_name: Option<DisplayName>,
) -> Result<Newcomer, ApiError> {
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
        Ok::<_, DbError>((role, accounts::store::account(conn, user_id).await?))
    };
    let (role, account) = state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)?;
    if invitation.invitee_type == InviteeType::Participant && (role.is_none() || may_be(invitation.role, role).is_err())
    {
        return Err(ApiError::with_message(
            Code::FORBIDDEN,
            "You no longer have the project role that this invitation requires.",
        ));
    }
    let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    let display_name = said.unwrap_or(account.full_name);
    Ok(Newcomer { id, user_id: Some(user_id), display_name, email: Some(account.email) })
}

/// Declines an invitation.
///
/// # Errors
/// As [`accept`].
pub async fn decline(
    state: &Meetings,
    token: &OneTimeToken,
    caller: Option<Caller>,
    request: RequestId,
) -> Result<(), ApiError> {
    let OpenInvitation { invitation, meeting, status } = open(state, token).await?;
    bearer(&invitation, &meeting.state, caller)?;
    let answered = || ApiError::with_message(Code::INVALID_STATE, "The invitation was already answered.");
    if status != InvitationStatus::Pending {
        return Err(answered());
    }
    must_go_on(&meeting.state)?;
    let now = state.now();
    let record = state.db.write(move |conn| {
        Box::pin(async move {
            if !store::decline(conn, invitation.id, now).await? {
                return Ok::<_, DbError>(None);
            }
            let changed = InvitationChanged { id: invitation.id, meeting_id: meeting.state.id };
            projection::append_event(conn, &meeting.state, EventKind::InvitationDeclined, changed, now, &request)
                .await
                .map(Some)
        })
    });
    let record = record.await.map_err(ApiError::from)?.ok_or_else(answered)?;
    state.hub.publish(vec![record]);
    Ok(())
}

/// Checks that a token leads to an invitation that is neither expired nor revoked.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that has expired, was revoked or has a newer link.
pub async fn must_lead(state: &Meetings, token: &OneTimeToken) -> Result<(), ApiError> {
    open(state, token).await.map(drop)
}

/// The invitation that a token leads to; neither expired nor revoked.
struct OpenInvitation {
    invitation: Invitation,
    meeting: MeetingSnapshot,
    status: InvitationStatus,
}

/// Loads the invitation that a token leads to.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that has expired, was revoked or has a newer link.
async fn open(state: &Meetings, token: &OneTimeToken) -> Result<OpenInvitation, ApiError> {
    let unknown = || ApiError::of(Code::NOT_FOUND);
    let hash = token.hash(&state.secret, PURPOSE).ok_or_else(unknown)?;
    let led = state.db.read(move |conn| Box::pin(async move { store::by_token(conn, &hash).await })).await;
    let invitation = match led.map_err(|failed: DbError| ApiError::from(failed))? {
        InvitationLookup::Found(invitation) => *invitation,
        InvitationLookup::Superseded => {
            return Err(ApiError::with_message(Code::GONE, "This link was replaced by a newer one in a later e-mail."));
        }
        InvitationLookup::Unknown => return Err(unknown()),
    };
    let found = state.registry.snapshot(invitation.meeting_id).await.map_err(|away| ApiError::unavailable(away.0))?;
    let meeting = found.ok_or_else(unknown)?;
    match invitation.status(state.now()) {
        InvitationStatus::Expired | InvitationStatus::Revoked => Err(ApiError::of(Code::GONE)),
        status => Ok(OpenInvitation { invitation, meeting, status }),
    }
}

/// Checks whether the caller may answer an invitation: that of a member, only the member; that of a guest, anyone who
/// has the link, until an account has accepted it.
fn bearer(invitation: &Invitation, meeting: &meeting::Meeting, caller: Option<Caller>) -> Result<(), ApiError> {
    let participant = meeting.participants.get(&invitation.participant_id);
    let owner: Option<Id<User>> =
        invitation.user_id.or_else(|| participant.and_then(|participant| participant.user_id));
    match (owner, caller) {
        (None, _) => Ok(()),
        (Some(owner), Some(caller)) if caller.user_id == owner => Ok(()),
        (Some(_), caller) => Err(refusal(caller)),
    }
}

fn refusal(caller: Option<Caller>) -> ApiError {
    match caller {
        Some(_) => ApiError::with_message(Code::FORBIDDEN, "This invitation is for another user."),
        None => ApiError::with_message(Code::UNAUTHORIZED, "Sign in first: this invitation is for a registered user."),
    }
}
