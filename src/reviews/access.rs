//! The policy of reviewers: who bears the review token of an accepted invitation, in the header `X-Review-Token`.

use std::time::Duration;

use actix_web::HttpRequest;
use actors::ids::Id;
use actors::time::Time;
use serde_json::Value;

use super::invitations::model::{ACCESS_PURPOSE, ProjectReviewAccessStatus, ReviewInvitation};
use super::invitations::store::{self, ReviewTokenLookup};
use super::state::Reviews;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{CountedFor, Policy, Who};
use crate::access::principal::KeyOwner;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::fields::Field;
use crate::projects;
use crate::projects::model::Project;

/// The name of the header, in lower case.
pub const HEADER: &str = "x-review-token";
/// How exactly it is known when a reviewer was last seen.
const SEEN: Duration = Duration::from_secs(5 * 60);

/// A reviewer with a valid access: to one project, as its invitation says.
pub struct Reviewer {
    pub invitation: ReviewInvitation,
    pub project: Project,
}

/// A review token as it was presented.
pub struct PresentedToken {
    hash: String,
    /// The access, if the token was valid lately.
    known: Option<Id<ReviewInvitation>>,
}

impl Policy for Reviewer {
    const WHO: Who = Who::Reviewer;
    type Guard = Reviews;
    type Claim = PresentedToken;

    fn claim(request: &HttpRequest, state: &Reviews) -> Result<PresentedToken, ApiError> {
        let mut headers = request.headers().get_all(HEADER);
        let header = headers.next().filter(|_| headers.next().is_none()).and_then(|header| header.to_str().ok());
        let token = header.and_then(|text| OneTimeToken::parse(&Value::from(text)).ok());
        let hash = token.and_then(|token| token.hash(&state.secret, ACCESS_PURPOSE)).ok_or_else(unauthorized)?;
        let known = state.known_reviewers.get(&hash).map(Id::from_uuid);
        Ok(PresentedToken { hash, known })
    }

    /// A token that was not found valid lately may be a guess, which counts as any other call of that client.
    fn counted_for(claim: &PresentedToken) -> CountedFor {
        claim.known.map_or(CountedFor::Client, |id| CountedFor::Principal(id.uuid()))
    }

    async fn check(claim: PresentedToken, _: &HttpRequest, state: &Reviews) -> Result<Self, ApiError> {
        let (hash, now) = (claim.hash.clone(), state.now());
        let found = state.db.read(move |conn| Box::pin(async move { find(conn, &hash).await })).await;
        let found = found.map_err(ApiError::from)?.ok_or_else(unauthorized);
        let reviewer = found.and_then(|found| found.must_be_active(now));
        match &reviewer {
            Ok(reviewer) => {
                state.known_reviewers.remember(claim.hash, reviewer.invitation.id.uuid());
                note_seen(state, &reviewer.invitation, now).await;
            }
            Err(_) => state.known_reviewers.forget(&claim.hash),
        }
        reviewer
    }

    fn key_owner(&self) -> Option<KeyOwner> {
        Some(KeyOwner { id: self.invitation.id.uuid(), user_id: None })
    }
}

fn unauthorized() -> ApiError {
    let sentence = "This needs the review token that accepting the invitation gave, in the header X-Review-Token.";
    ApiError::with_message(Code::UNAUTHORIZED, sentence)
}

/// What a known review token leads to.
enum FoundAccess {
    Of(Box<(ReviewInvitation, Option<Project>)>),
    Superseded,
}

async fn find(conn: &mut Conn, hash: &str) -> Result<Option<FoundAccess>, DbError> {
    match store::by_access(conn, hash).await? {
        ReviewTokenLookup::Found(invitation) => {
            let project = projects::store::find(conn, invitation.project_id).await?;
            Ok(Some(FoundAccess::Of(Box::new((*invitation, project)))))
        }
        ReviewTokenLookup::Superseded => Ok(Some(FoundAccess::Superseded)),
        ReviewTokenLookup::Unknown => Ok(None),
    }
}

impl FoundAccess {
    /// # Errors
    /// 401 for a token that was replaced; 410 for an access that has expired or was revoked, or whose project was
    /// deleted.
    fn must_be_active(self, now: Time) -> Result<Reviewer, ApiError> {
        let gone = |sentence: &str| Err(ApiError::with_message(Code::GONE, sentence));
        let Self::Of(found) = self else {
            let sentence = "This review token was replaced by a newer one: the invitation was accepted again.";
            return Err(ApiError::with_message(Code::UNAUTHORIZED, sentence));
        };
        match (found.0.access_status(now), *found) {
            (Some(ProjectReviewAccessStatus::Active), (invitation, Some(project))) => {
                Ok(Reviewer { invitation, project })
            }
            (Some(ProjectReviewAccessStatus::Expired), (_, Some(_))) => gone("The access to this review has expired."),
            _ => gone("The access to this review was revoked."),
        }
    }
}

/// Stores that a reviewer was seen, if that was not known. The call does not fail with it.
async fn note_seen(state: &Reviews, invitation: &ReviewInvitation, now: Time) {
    if invitation.last_seen_at.is_some_and(|seen_at| now < seen_at + SEEN) {
        return;
    }
    let id = invitation.id;
    let noted = state.db.write(move |conn| Box::pin(store::set_seen(conn, id, now))).await;
    if let Err(error) = noted {
        let error: DbError = error;
        tracing::debug!(%error, "it could not be stored when a reviewer was seen");
    }
}

/// Checks, in the transaction of a change, that the access of a reviewer goes on.
///
/// # Errors
/// 410 if it has ended since the call began.
pub async fn must_still_be_active(conn: &mut Conn, id: Id<ReviewInvitation>, now: Time) -> Result<(), ApiError> {
    let invitation = store::find(conn, id).await?;
    match invitation.and_then(|invitation| invitation.access_status(now)) {
        Some(ProjectReviewAccessStatus::Active) => Ok(()),
        _ => Err(ApiError::of(Code::GONE)),
    }
}

/// Whether an invitation exists and was not revoked.
///
/// # Errors
/// Only database errors.
pub async fn is_not_revoked(conn: &mut Conn, id: Id<ReviewInvitation>) -> Result<bool, DbError> {
    let invitation = store::find(conn, id).await?;
    Ok(invitation.is_some_and(|invitation| invitation.revoked_at().is_none()))
}
