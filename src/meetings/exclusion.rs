//! The job that removes a former member from a project's meetings, and when it is enqueued: with the end of the membership, and
//! with a join that was allowed before that end and saved after it.

use actors::ids::{self, Id, User};
use actors::live::RequestId;
use actors::meeting::Meeting;
use actors::time::Time;
use serde::{Deserialize, Serialize};

use crate::db::{Conn, DbError};
use crate::jobs::{self, JobPayload, Turns};
use crate::projects;

/// Removes a user from the meetings of a project that no transaction has removed them from.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveFromMeetings {
    pub project_id: Id<ids::Project>,
    pub user_id: Id<User>,
    /// When the membership ended; invitations that were made since count.
    pub at: Time,
}

impl JobPayload for RemoveFromMeetings {
    const KIND: &'static str = "exclude from meetings";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the job. Projects take turns.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(conn: &mut Conn, job: RemoveFromMeetings, request: &RequestId) -> Result<(), DbError> {
    jobs::enqueue_in_turn(conn, &job.project_id.to_string(), &job, job.at, request).await.map(drop)
}

/// Enqueues the removal of a participant who has just joined as a member of the project, if they are none any more. Returns
/// whether it was enqueued.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_unless_member(
    conn: &mut Conn,
    meeting: &Meeting,
    participant: Id<ids::Participant>,
    at: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    let joined = meeting.participants.get(&participant).filter(|one| one.invitation.is_none());
    let Some(user_id) = joined.and_then(|one| one.user_id) else { return Ok(false) };
    let project_id = meeting.project_id;
    if projects::store::role(conn, project_id, user_id).await?.is_some() {
        return Ok(false);
    }
    enqueue(conn, RemoveFromMeetings { project_id, user_id, at }, request).await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;
    use actors::meeting::Meeting;
    use actors::time::Time;
    use diesel::QueryDsl;

    use super::enqueue_unless_member;
    use crate::db::schema::meetings;
    use crate::db::tests::{GROUND, on_both, rows_in, run};
    use crate::db::{Db, DbError, RunQueryDsl};
    use crate::meetings::store;

    /// Saves that the meeting's only participant has joined; returns whether their removal was enqueued.
    async fn joined(db: &Db) -> bool {
        let written = db.write(|conn| {
            Box::pin(async move {
                let id: Id<Meeting> = meetings::table.select(meetings::id).first(conn).await?;
                let meeting = store::find(conn, id).await?.ok_or(DbError::Busy)?;
                let participant = meeting.participants.values().next().map(|one| one.id).ok_or(DbError::Busy)?;
                let now = Time::from_millis(1_800_000_000_000).ok_or(DbError::Busy)?;
                enqueue_unless_member(conn, &meeting, participant, now, &"test".into()).await
            })
        });
        written.await.unwrap()
    }

    #[tokio::test]
    async fn who_joins_after_their_membership_ended_is_to_be_removed_and_a_member_is_not() {
        on_both(async |db| {
            run(&db, GROUND).await;
            let participant = "INSERT INTO participants (id, meeting_id, user_id, display_name, role, status, \
                 first_joined_at, joined_at, link) \
                 SELECT {id}, meetings.id, users.id, 'A', 'PARTICIPANT', 'JOINED', {old}, {old}, 'AWAITED' FROM meetings, users";
            run(&db, participant).await;
            assert!(joined(&db).await);
            assert_eq!(rows_in(&db, "jobs").await, 1);
            let member = "INSERT INTO members (id, project_id, user_id, role, joined_at) \
                 SELECT {id}, projects.id, users.id, 'ANALYST', {old} FROM projects, users";
            run(&db, member).await;
            assert!(!joined(&db).await);
            assert_eq!(rows_in(&db, "jobs").await, 1);
        })
        .await;
    }
}
