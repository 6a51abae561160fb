//! The operations on review invitations, one function each; those of the bearer of a link are in `answering`.

pub mod answering;
mod sending;

pub use sending::resend;

use std::collections::HashSet;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::time::Time;
use uuid::Uuid;

use self::sending::ReviewMails;
use super::bodies::Filter;
use super::model::{
    InvitedReviewer, ProjectReviewInvitation, ProjectReviewInvitationStatus, ProjectReviewPermission, ReviewInvitation,
    State, USUAL,
};
use super::shown::ReviewShown;
use super::store;
use crate::access::one_time::OneTimeToken;
use crate::access::principal::Caller;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::{ApiError, FieldError};
use crate::http::list::Listing;
use crate::http::reason::Reason;
use crate::meetings::invitations::model::{MAX_VALIDITY, Message};
use crate::projects::people::operations as people;
use crate::quotas::model::CountedKind;
use crate::reviews::state::Reviews;
use crate::{accounts, projects};

/// Separates the tokens of links from other tokens.
const PURPOSE: &str = "review invitation";

/// The invitees of one request, and what their invitations have in common.
#[derive(Debug)]
pub struct ReviewInvitationRequest {
    pub invitees: Vec<InvitedReviewer>,
    pub permission: ProjectReviewPermission,
    pub shown: ReviewShown,
    pub message: Message,
    /// `None`: in 30 days.
    pub expires_at: Option<Time>,
    /// The id of the first invitation; the others get the ids that follow it.
    pub first: Id<ReviewInvitation>,
}

impl ReviewInvitationRequest {
    fn ids(&self) -> Vec<Id<ReviewInvitation>> {
        let first = self.first.uuid().as_u128();
        let ids = (0_u128..).map(|index| Id::from_uuid(Uuid::from_u128(first.wrapping_add(index))));
        ids.take(self.invitees.len()).collect()
    }

    /// Checks that nobody is named twice.
    ///
    /// # Errors
    /// 422 for each repetition.
    fn must_differ(&self) -> Result<(), ApiError> {
        let mut seen = HashSet::new();
        let repeated = self.invitees.iter().enumerate().filter(|(_, invitee)| !seen.insert(invitee.email.as_str()));
        let fault = |(index, _)| {
            let field = Some(format!("invitees[{index}].email"));
            FieldError::value(Reason::Repeated, field, Reason::Repeated.sentence())
        };
        let faults: Vec<FieldError> = repeated.map(fault).collect();
        if faults.is_empty() { Ok(()) } else { Err(ApiError::invalid(faults)) }
    }

    fn invitations(&self, project_id: Id<ids::Project>, caller: Caller, now: Time) -> Vec<ReviewInvitation> {
        let invitation = |(invitee, id): (&InvitedReviewer, Id<ReviewInvitation>)| ReviewInvitation {
            id,
            project_id,
            email: invitee.email.as_str().to_owned(),
            full_name: invitee.full_name.as_ref().map(|name| name.0.clone()),
            organisation: invitee.organisation.as_ref().and_then(|organisation| organisation.0.clone()),
            permission: self.permission,
            run_id: self.shown.run_id(),
            scope: self.shown.scope(),
            baseline_id: self.shown.baseline_id(),
            selected_count: self.shown.selected().and_then(|ids| i64::try_from(ids.len()).ok()),
            message: self.message.0.clone(),
            invited_by_id: caller.user_id,
            send_count: 1,
            last_sent_at: now,
            expires_at: self.expires_at.unwrap_or(now + USUAL),
            state: State::Open,
            last_seen_at: None,
            created_at: now,
        };
        self.invitees.iter().zip(self.ids()).map(invitation).collect()
    }
}

/// Invites people to review a project's results by e-mail: all of them or, if anything is wrong with one of them, none.
/// If invitations with these ids exist, because the request is repeated, returns those.
///
/// # Errors
/// 422 for an invitee who is named twice, for a run, a baseline or items of another project, for a run without a result, and for
/// an expiry that is not in the next 90 days; 409 for each invitee with a pending invitation, and in an archived project; 429 beyond the
/// rate limits of invitations.
pub async fn create(
    state: &Reviews,
    caller: Caller,
    project_id: Id<ids::Project>,
    input: ReviewInvitationRequest,
    request: RequestId,
) -> Result<Vec<ProjectReviewInvitation>, ApiError> {
    let now = state.now();
    if input.expires_at.is_some_and(|at| at <= now || at > now + MAX_VALIDITY) {
        let sentence = "This must be a time in the next 90 days.";
        return Err(ApiError::field("expiresAt", Reason::InvalidValue, sentence));
    }
    input.must_differ()?;
    let tokens: Vec<OneTimeToken> =
        input.invitees.iter().map(|_| OneTimeToken::generate()).collect::<Result<_, _>>()?;
    let links: Vec<String> = tokens.iter().map(|token| sending::link(state, token)).collect();
    let batch = ReviewInvitationBatch { state: state.clone(), caller, project_id, input, tokens, now, request };
    let (kind, more) = (CountedKind::InvitationsToReview, batch.input.invitees.len());
    let ids = batch.input.ids();
    let counted = state.quotas.count_unless_made(kind, project_id.uuid(), more, move |conn| {
        Box::pin(async move { Ok(store::find_many(conn, &ids).await?.pop()) })
    });
    let counted = counted.await?;
    let (made, is_new) = state.db.write(move |conn| Box::pin(batch.make(conn))).await?;
    drop(counted);
    state.jobs.wake();
    let shown = |(invitation, link): (ReviewInvitation, String)| ProjectReviewInvitation {
        link: is_new.then_some(link),
        ..ProjectReviewInvitation::of(invitation, now)
    };
    Ok(made.into_iter().zip(links).map(shown).collect())
}

/// The invitations of one request, before they are written.
struct ReviewInvitationBatch {
    state: Reviews,
    caller: Caller,
    project_id: Id<ids::Project>,
    input: ReviewInvitationRequest,
    /// One for each invitee.
    tokens: Vec<OneTimeToken>,
    now: Time,
    request: RequestId,
}

impl ReviewInvitationBatch {
    /// Returns the invitations, and whether they are new: those of an earlier request have other links.
    async fn make(self, conn: &mut Conn) -> Result<(Vec<ReviewInvitation>, bool), ApiError> {
        // Locked, so that concurrent requests do not invite anyone twice.
        let project = projects::store::find_to_change(conn, self.project_id).await?;
        let project = project.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        let made = store::find_many(conn, &self.input.ids()).await?;
        if !made.is_empty() {
            return Ok((made, false));
        }
        self.input.shown.must_be_of(conn, self.project_id).await?;
        projects::must_be_active(&project)?;
        let invitations = self.input.invitations(self.project_id, self.caller, self.now);
        let emails: Vec<&str> = invitations.iter().map(|one| one.email.as_str()).collect();
        must_be_new(&emails, &store::pending(conn, self.project_id, &emails, self.now).await?)?;
        people::invitations::count_emails(&self.state.projects, conn, self.caller.user_id, &emails, self.now).await?;
        let mut rows = Vec::with_capacity(invitations.len());
        for (invitation, token) in invitations.iter().zip(&self.tokens) {
            rows.push((invitation, token.stored_hash(&self.state.secret, PURPOSE)?));
        }
        store::insert(conn, rows, self.input.shown.selected()).await?;
        let languages = accounts::store::languages(conn, &emails).await?;
        let inviter = accounts::store::account(conn, self.caller.user_id).await?;
        // Read after rows refer to it: from then on the deletion of the account waits for this transaction.
        let inviter = inviter.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
        let mails = ReviewMails { state: &self.state, project: &project, inviter: Some(&inviter) };
        let mails = invitations
            .iter()
            .zip(&self.tokens)
            .map(|(invitation, token)| mails.invitation(invitation, token, languages.get(&invitation.email).copied()));
        self.state.outbox.send_all(conn, mails, self.now, &self.request).await?;
        Ok((invitations, true))
    }
}

fn must_be_new(emails: &[&str], pending: &[String]) -> Result<(), ApiError> {
    let sentence = "There is already a pending invitation: resend it, or revoke it first.";
    let fault = |(index, _)| FieldError::of(Code::CONFLICT, Some(format!("invitees[{index}].email")), sentence);
    let known = emails.iter().enumerate().filter(|(_, email)| pending.iter().any(|one| one == *email));
    let faults: Vec<FieldError> = known.map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(ApiError { faults, ..ApiError::of(Code::CONFLICT) }) }
}

/// Lists a project's review invitations, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Reviews,
    project_id: Id<ids::Project>,
    listing: Listing<Filter>,
) -> Result<List<ProjectReviewInvitation>, ApiError> {
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::list(conn, project_id, listing, now))).await;
    Ok(found.map_err(ApiError::from)?.map(|invitation| ProjectReviewInvitation::of(invitation, now)))
}

/// Revokes an invitation and ends the access that it gave. Changes nothing if it has already been revoked.
///
/// # Errors
/// 409 for an invitation that has expired, and in an archived project.
pub async fn revoke(state: &Reviews, invitation: &ReviewInvitation) -> Result<(), ApiError> {
    let (id, now) = (invitation.id, state.now());
    state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let missing = || ApiError::of(Code::NOT_FOUND);
                let invitation = store::find(conn, id).await?.ok_or_else(missing)?;
                let project = projects::store::find(conn, invitation.project_id).await?.ok_or_else(missing)?;
                projects::must_be_active(&project)?;
                if invitation.status(now) == ProjectReviewInvitationStatus::Expired {
                    return Err(ApiError::with_message(Code::INVALID_STATE, "The invitation has expired."));
                }
                store::revoke(conn, id, now).await.map(drop).map_err(|failed: DbError| ApiError::from(failed))
            })
        })
        .await
}
