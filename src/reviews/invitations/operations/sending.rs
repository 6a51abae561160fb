//! Builds the e-mails of review invitations, and sends invitations again.

use actors::ids::Id;
use actors::language::Language;
use actors::live::RequestId;
use actors::time::Time;

use super::super::model::{
    ProjectReviewInvitation, ProjectReviewInvitationStatus, ReviewInvitation, SENDINGS, State, USUAL,
};
use super::super::{emails, store};
use super::PURPOSE;
use crate::access::one_time::OneTimeToken;
use crate::access::principal::Caller;
use crate::accounts::model::Account;
use crate::db::Conn;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::mail::QueuedEmail;
use crate::meetings::invitations::model::PAUSE;
use crate::projects::model::Project;
use crate::projects::people::operations as people;
use crate::reviews::state::Reviews;
use crate::{accounts, projects};

/// What the invitation e-mails of one request have in common.
pub struct ReviewMails<'a> {
    pub state: &'a Reviews,
    pub project: &'a Project,
    pub inviter: Option<&'a Account>,
}

impl ReviewMails<'_> {
    /// Builds the e-mail of an invitation. `own` is the language of the invitee, if they have an account.
    pub fn invitation(
        &self,
        invitation: &ReviewInvitation,
        token: &OneTimeToken,
        own: Option<Language>,
    ) -> QueuedEmail {
        let Self { state, project, inviter } = *self;
        let locale = project.email_locale(own, inviter);
        let inviter = inviter.map(|inviter| inviter.full_name.as_str()).unwrap_or_default();
        let url = link(state, token);
        let email = emails::invitation(invitation, locale, &project.name, inviter, url);
        QueuedEmail::from(email).until(invitation.expires_at).in_turn_of(self.project.id)
    }
}

/// The address that opens the review page with a token.
pub fn link(state: &Reviews, token: &OneTimeToken) -> String {
    format!("{}/review#token={}", state.url, token.text())
}

/// Sends an invitation again, with a new link; the former link becomes invalid. An access that it gave goes on, unless
/// it has expired: then it needs to be accepted again.
///
/// # Errors
/// 409 for an invitation that was revoked or sent too often, and in an archived project; 429 within a minute of the last
/// sending, and beyond the rate limits of invitations.
pub async fn resend(
    state: &Reviews,
    caller: Caller,
    id: Id<ReviewInvitation>,
    request: RequestId,
) -> Result<ProjectReviewInvitation, ApiError> {
    let now = state.now();
    let token = OneTimeToken::generate()?;
    let link = Some(link(state, &token));
    let whole = state.clone();
    let sent = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let invitation = renew(&whole, conn, caller, id, &token, now).await?;
                let missing = || ApiError::of(Code::NOT_FOUND);
                let project = projects::store::find(conn, invitation.project_id).await?.ok_or_else(missing)?;
                let inviter = accounts::store::account(conn, invitation.invited_by_id).await?;
                let own = accounts::store::account_of(conn, &invitation.email).await?.map(|account| account.language);
                let mails = ReviewMails { state: &whole, project: &project, inviter: inviter.as_ref() };
                whole.outbox.send(conn, mails.invitation(&invitation, &token, own), now, &request).await?;
                Ok::<_, ApiError>(invitation)
            })
        })
        .await?;
    state.jobs.wake();
    Ok(ProjectReviewInvitation { link, ..ProjectReviewInvitation::of(sent, now) })
}

/// Gives an invitation a new token, and a new term if its own is over.
async fn renew(
    state: &Reviews,
    conn: &mut Conn,
    caller: Caller,
    id: Id<ReviewInvitation>,
    token: &OneTimeToken,
    now: Time,
) -> Result<ReviewInvitation, ApiError> {
    let missing = || ApiError::of(Code::NOT_FOUND);
    let project_id = store::find(conn, id).await?.ok_or_else(missing)?.project_id;
    // Locked, so that of two requests at once the second one sees that the first one sent it.
    let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(missing)?;
    let former = store::find(conn, id).await?.ok_or_else(missing)?;
    let next_at = former.last_sent_at + PAUSE;
    if now < next_at {
        return Err(ApiError::too_many(next_at.since(now)));
    }
    projects::must_be_active(&project)?;
    if former.status(now) == ProjectReviewInvitationStatus::Revoked {
        return Err(ApiError::with_message(Code::INVALID_STATE, "The invitation was revoked."));
    }
    if former.send_count >= SENDINGS {
        let often = "The invitation was sent the maximum number of times. Revoke it and create a new one.";
        return Err(ApiError::with_message(Code::INVALID_STATE, often));
    }
    let is_over = former.expires_at <= now;
    if matches!(former.state, State::Open) && is_over {
        // Pending again, so that it must be the only one.
        if !store::pending(conn, project_id, &[&former.email], now).await?.is_empty() {
            return Err(ApiError::with_message(
                Code::CONFLICT,
                "There is a newer pending invitation: resend that one.",
            ));
        }
    }
    people::invitations::count_emails(&state.projects, conn, caller.user_id, &[&former.email], now).await?;
    let expires_at = if is_over { now + USUAL } else { former.expires_at };
    let invitation = ReviewInvitation { send_count: former.send_count + 1, last_sent_at: now, expires_at, ..former };
    let hash = token.stored_hash(&state.secret, PURPOSE)?;
    store::send_again(conn, &invitation, hash, is_over).await?;
    Ok(invitation)
}
