//! Tells accounts whom projects have invited, for servers that admit only them.

use async_trait::async_trait;

use super::model::InvitationStatus;
use super::operations::invitations::PURPOSE;
use super::store::invitations;
use crate::access::one_time::OneTimeToken;
use crate::accounts::registration::Invitees;
use crate::core::Core;
use crate::db::{Conn, DbError};
use crate::projects::store as projects;

/// The people with an invitation to a project.
pub struct ProjectInvitees(pub Core);

#[async_trait]
impl Invitees for ProjectInvitees {
    async fn is_invited(&self, conn: &mut Conn, email: &str, token: Option<&OneTimeToken>) -> Result<bool, DbError> {
        let now = self.0.now();
        let found = match token {
            Some(token) => match token.hash(&self.0.secret, PURPOSE) {
                Some(hash) => Vec::from_iter(invitations::by_token(conn, &hash).await?),
                None => Vec::new(),
            },
            None => invitations::open_of_address(conn, email, now).await?,
        };
        for invitation in found.into_iter().filter(|invitation| invitation.email == email) {
            let inviter = projects::role(conn, invitation.project_id, invitation.invited_by_id).await?;
            if invitation.status(inviter, now) == InvitationStatus::Pending {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
