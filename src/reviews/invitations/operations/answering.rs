//! The operations of the bearer of an invitation link: preview and accept.

use actors::time::Time;

use super::super::model::{
    ACCESS_PURPOSE, ProjectReviewAccess, ProjectReviewAccessStatus, ReviewInvitation, ReviewInvitationPreview,
};
use super::super::store::{self, ReviewTokenLookup};
use super::PURPOSE;
use crate::access::one_time::OneTimeToken;
use crate::accounts;
use crate::accounts::model::FullName;
use crate::db::Conn;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

/// Returns what an invitation is for. Changes nothing.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that can no longer be accepted.
pub async fn preview(state: &Reviews, token: &OneTimeToken) -> Result<ReviewInvitationPreview, ApiError> {
    let (hash, now) = (hash_of(state, token)?, state.now());
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let (invitation, project) = open(conn, &hash, now).await?;
            let inviter = accounts::store::account(conn, invitation.invited_by_id).await?;
            Ok::<_, ApiError>((invitation, project, inviter))
        })
    });
    let (invitation, project, inviter) = found.await?;
    Ok(ReviewInvitationPreview {
        project_name: project.name,
        inviter_name: inviter.map(|inviter| inviter.full_name).unwrap_or_default(),
        permission: invitation.permission,
        status: invitation.status(now),
        expires_at: invitation.expires_at,
    })
}

/// Gives the bearer of a link access to the project's results. Repeating it gives another review token and ends the
/// former one.
///
/// # Errors
/// 404 for an unknown token; 409 in an archived project; 410 for an invitation that can no longer be accepted.
pub async fn accept(
    state: &Reviews,
    token: &OneTimeToken,
    full_name: Option<FullName>,
) -> Result<ProjectReviewAccess, ApiError> {
    let (hash, now) = (hash_of(state, token)?, state.now());
    let review_token = OneTimeToken::generate()?;
    let access_hash = review_token.stored_hash(&state.secret, ACCESS_PURPOSE)?;
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let (invitation, project) = open(conn, &hash, now).await?;
            projects::must_be_active(&project)?;
            let full_name = full_name.map(|name| name.0);
            if !store::accept(conn, invitation.id, &hash, access_hash, full_name, now).await? {
                // It was revoked or sent again in the meantime.
                return Err(ApiError::of(Code::GONE));
            }
            Ok((invitation, project))
        })
    });
    let (invitation, project) = written.await?;
    Ok(ProjectReviewAccess {
        review_token: review_token.text().to_owned(),
        permission: invitation.permission,
        status: ProjectReviewAccessStatus::Active,
        project_name: project.name,
        expires_at: invitation.expires_at,
    })
}

/// Checks that a token leads to an invitation that can be accepted.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that has expired, was revoked or has a newer link.
pub async fn must_lead(state: &Reviews, token: &OneTimeToken) -> Result<(), ApiError> {
    let (hash, now) = (hash_of(state, token)?, state.now());
    state.db.read(move |conn| Box::pin(async move { open(conn, &hash, now).await.map(drop) })).await
}

fn hash_of(state: &Reviews, token: &OneTimeToken) -> Result<String, ApiError> {
    token.hash(&state.secret, PURPOSE).ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// Loads the invitation that a token leads to, with its project.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that has expired, was revoked or has a newer link, and for one to a
/// project that was deleted.
async fn open(conn: &mut Conn, hash: &str, now: Time) -> Result<(ReviewInvitation, Project), ApiError> {
    let invitation = match store::by_token(conn, hash).await? {
        ReviewTokenLookup::Found(invitation) => *invitation,
        ReviewTokenLookup::Superseded => {
            return Err(ApiError::with_message(Code::GONE, "This link was replaced by a newer one in a later e-mail."));
        }
        ReviewTokenLookup::Unknown => return Err(ApiError::of(Code::NOT_FOUND)),
    };
    let gone = || ApiError::of(Code::GONE);
    let project = projects::store::find(conn, invitation.project_id).await?.ok_or_else(gone)?;
    if invitation.can_be_accepted(now) { Ok((invitation, project)) } else { Err(gone()) }
}
