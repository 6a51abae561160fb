//! Builds invitation e-mails, sends invitations again, and revokes them.

use actors::ids::{self, Id};
use actors::language::Language;
use actors::live::RequestId;
use actors::meeting::{self, Command};
use actors::time::Time;

use super::super::model::{
    Delivery, Invitation, InvitationStatus, InviteeType, MeetingInvitation, PAUSE, SENDINGS, State, expiry,
};
use super::super::{calendar, calendar_updates, delivery, emails, store};
use super::{PURPOSE, must_go_on};
use crate::access::one_time::OneTimeToken;
use crate::access::principal::Caller;
use crate::accounts::model::Account;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::mail::QueuedEmail;
use crate::meetings::commands::ask;
use crate::meetings::model::join_url;
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, store as meetings};
use crate::projects::model::Project;
use crate::projects::people::operations as people;
use crate::{accounts, projects};

/// What the invitation e-mails of one request have in common.
pub struct Sender<'a> {
    pub state: &'a Meetings,
    pub meeting: &'a meeting::Meeting,
    pub project: &'a Project,
    pub inviter: Option<&'a Account>,
    pub now: Time,
}

impl Sender<'_> {
    /// Builds the e-mail of an invitation. `own` is the language of the invitee, if they have an account.
    pub fn email(&self, invitation: &Invitation, token: &OneTimeToken, own: Option<Language>) -> QueuedEmail {
        let Self { state, meeting, project, inviter, now } = *self;
        let locale = project.email_locale(own, inviter);
        let inviter = inviter.map(|inviter| inviter.full_name.as_str()).unwrap_or_default();
        let join_url = join_url(&state.url, meeting.id);
        let calendar = calendar::request(calendar_updates::entry(state, meeting, &join_url, invitation, inviter, now));
        let words = emails::InvitationEmail {
            to: &invitation.email,
            locale,
            meeting,
            project: &project.name,
            inviter,
            calendar,
        };
        let url = format!("{join_url}#invitation={}", token.text());
        let email = emails::invitation(words, invitation.message.as_deref(), url, invitation.expires_at);
        let mailing = QueuedEmail::from(email).until(invitation.expires_at).in_turn_of(self.project.id);
        mailing.reporting_to(delivery::KIND, delivery::reference(invitation))
    }
}

/// Sends a pending or expired invitation again, with a new link; the former link becomes invalid.
///
/// # Errors
/// 409 for an invitation that was answered, revoked or sent too often, for a meeting that has ended or was cancelled,
/// and in an archived project; 429 within a minute of the last sending, and beyond the rate limits of invitations.
pub async fn resend(
    state: &Meetings,
    caller: Caller,
    id: Id<ids::Invitation>,
    request: RequestId,
) -> Result<MeetingInvitation, ApiError> {
    let now = state.now();
    let token = OneTimeToken::generate()?;
    let (whole, again) = (state.clone(), Again { caller, id, token, now, request });
    let sent = state.db.write(move |conn| Box::pin(async move { send_again(&whole, conn, again).await })).await?;
    state.jobs.wake();
    Ok(MeetingInvitation::of(sent, now))
}

struct Again {
    caller: Caller,
    id: Id<ids::Invitation>,
    token: OneTimeToken,
    now: Time,
    request: RequestId,
}

async fn send_again(state: &Meetings, conn: &mut Conn, again: Again) -> Result<Invitation, ApiError> {
    let Again { caller, id, token, now, request } = again;
    let missing = || ApiError::of(Code::NOT_FOUND);
    let meeting_id = store::find(conn, id).await?.ok_or_else(missing)?.meeting_id;
    let meeting = meetings::locked(conn, meeting_id).await?.ok_or_else(missing)?;
    let former = store::find(conn, id).await?.ok_or_else(missing)?;
    let next_at = former.last_sent_at + PAUSE;
    if now < next_at {
        return Err(ApiError::too_many(next_at.since(now)));
    }
    let project = projects::store::find(conn, meeting.project_id).await?.ok_or_else(missing)?;
    projects::must_be_active(&project)?;
    must_go_on(&meeting)?;
    may_be_sent(conn, &former, &meeting, now).await?;
    people::invitations::count_emails(&state.projects, conn, caller.user_id, &[&former.email], now).await?;
    let is_expiry_chosen = former.is_expiry_chosen && former.expires_at > now;
    let expires_at = if is_expiry_chosen { former.expires_at } else { expiry(now, meeting.scheduled_at) };
    let invitation = Invitation {
        send_count: former.send_count + 1,
        last_sent_at: now,
        delivery: Delivery::Queued,
        sequence: i64::try_from(meeting.version).unwrap_or(i64::MAX),
        expires_at,
        is_expiry_chosen,
        ..former
    };
    let hash = token.stored_hash(&state.secret, PURPOSE)?;
    store::send_again(conn, &invitation, hash).await?;
    let inviter = accounts::store::account(conn, invitation.invited_by_id).await?;
    let own = calendar_updates::own_language(conn, &invitation).await?;
    let sender = Sender { state, meeting: &meeting, project: &project, inviter: inviter.as_ref(), now };
    state.outbox.send(conn, sender.email(&invitation, &token, own), now, &request).await?;
    Ok(invitation)
}

async fn may_be_sent(
    conn: &mut Conn,
    invitation: &Invitation,
    meeting: &meeting::Meeting,
    now: Time,
) -> Result<(), ApiError> {
    let refused = |sentence: &str| Err(ApiError::with_message(Code::INVALID_STATE, sentence));
    match invitation.status(now) {
        InvitationStatus::Pending | InvitationStatus::Expired => {}
        InvitationStatus::Accepted => return refused("The invitation was accepted."),
        InvitationStatus::Declined => return refused("The invitation was declined."),
        InvitationStatus::Revoked => return refused("The invitation was revoked."),
    }
    if invitation.send_count >= SENDINGS {
        return refused("The invitation was sent the maximum number of times. Revoke it and create a new one.");
    }
    if let (InviteeType::Participant, Some(user_id)) = (invitation.invitee_type, invitation.user_id)
        && projects::store::role(conn, meeting.project_id, user_id).await?.is_none()
    {
        return refused("The invited user is no longer a member of the project.");
    }
    Ok(())
}

/// Revokes an invitation and removes the participant whom it admitted. Changes nothing if it has already been revoked.
///
/// # Errors
/// 409 for an invitation that was declined or has expired.
pub async fn revoke(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    invitation: &Invitation,
    request: RequestId,
) -> Result<(), ApiError> {
    let (id, now) = (invitation.id, state.now());
    if invitation.status(now) == InvitationStatus::Expired {
        return Err(ApiError::with_message(Code::INVALID_STATE, "The invitation has expired."));
    }
    let was_open = state.db.write(move |conn| Box::pin(store::revoke_open(conn, id, now))).await;
    if was_open.map_err(|failed: DbError| ApiError::from(failed))? {
        return Ok(());
    }
    let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
    let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
    match found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?.state {
        State::Declined { .. } => Err(ApiError::with_message(Code::INVALID_STATE, "The invitation was declined.")),
        State::Revoked { .. } => Ok(()),
        State::Open | State::Accepted { .. } => put_out(state, meeting.state.id, id, request).await,
    }
}

/// Removes the participant whom an invitation admitted. The meeting's journal revokes the invitation in the same
/// transaction.
async fn put_out(
    state: &Meetings,
    meeting_id: Id<meeting::Meeting>,
    id: Id<ids::Invitation>,
    request: RequestId,
) -> Result<(), ApiError> {
    // Decided by the meeting itself: a snapshot may be older than the invitation's row.
    ask(state, meeting_id, Command::RemoveAdmitted { invitation: id }, request).await?;
    // The row is not revoked yet if no participant was left to remove: they were removed before, or the host accepted
    // the link.
    let now = state.now();
    let revoked = state.db.write(move |conn| Box::pin(store::revoke(conn, id, now))).await;
    revoked.map_err(|failed: DbError| ApiError::from(failed))
}
