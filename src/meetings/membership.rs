//! Ends a user's participation in a project's meetings when their membership ends: they are removed from the meetings
//! that are scheduled or live, and so lose room credentials, sockets and their connection to the media room.
//!
//! The removal is written in the transaction that ends the membership, using the meeting's own `decide` and its own
//! save. The meeting's actor re-reads its state right after, and whatever it was about to save in the meantime is
//! refused because of its revision. A job that runs after the commit handles what is left: more participants than one
//! transaction should write, and one that was added concurrently; a join that is saved later still enqueues it again
//! (`exclusion`).

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::{Batch, Decided, EventRecord, Live};
use actors::meeting::{Command, Meeting};
use actors::registry::Registry;
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use uuid::Uuid;

use super::exclusion::{self, RemoveFromMeetings};
use super::invitations::store as invitations;
use super::journal::MeetingTables;
use super::store::{self, participants};
use crate::db::journal::{self, NotSaved, Tables};
use crate::db::{Conn, Db, DbError};
use crate::jobs::{Handler, Job, JobError, RetryPolicy};
use crate::meetings::state::Meetings;
use crate::projects;
use crate::projects::membership_end::{EndedMembership, MembershipHook};
use crate::tasks::Tasks;

/// Participants that one transaction removes: each takes some dozen statements. No user is in so many meetings at once.
const PAGE: i64 = 20;
/// Limit of meetings whose loaded actors re-read their state.
const AWAKE: i64 = 1000;
const MAX_PAUSE: std::time::Duration = std::time::Duration::from_secs(60);
/// Pause between attempts to make the actors re-read their state.
const RETRY_INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);

/// The membership hook of meetings: removes the user from the meetings of the project.
pub struct MeetingParticipantsHook {
    pub tables: MeetingTables,
    pub db: Db,
    pub tasks: Tasks,
    pub registry: Registry<Meeting>,
}

#[async_trait]
impl MembershipHook for MeetingParticipantsHook {
    async fn end(&self, conn: &mut Conn, ended: &EndedMembership) -> Result<Vec<EventRecord>, DbError> {
        let EndedMembership { project_id, user_id, at, request } = ended;
        invitations::revoke_open_of_member(conn, *project_id, *user_id, *at).await?;
        let mut records = Vec::new();
        for id in participants::meetings_to_leave(conn, *project_id, *user_id, before(*at), PAGE).await? {
            records.extend(self.exclude(conn, id, ended).await?);
        }
        let payload = RemoveFromMeetings { project_id: *project_id, user_id: *user_id, at: *at };
        exclusion::enqueue(conn, payload, request).await?;
        Ok(records)
    }

    async fn after_end(&self, ended: &EndedMembership) {
        let EndedMembership { project_id, user_id, .. } = *ended;
        if let Err(away) = reload(&self.db, &self.registry, project_id, user_id).await {
            tracing::warn!(%away, "the meetings of a removed member could not be reloaded yet");
            // The request is answered without waiting for this; until it is done, saves of these meetings are refused.
            let (db, registry, stopping) = (self.db.clone(), self.registry.clone(), self.tasks.stopping());
            self.tasks.spawn(async move {
                tokio::select! {
                    () = reload_by_and_by(&db, &registry, project_id, user_id) => {}
                    () = stopping.cancelled() => {}
                }
            });
        }
        self.tables.wake_jobs();
    }
}

impl MeetingParticipantsHook {
    /// Removes the user from a meeting with the meeting's own `decide` and save, in the caller's transaction, without
    /// its actor. Returns the events to publish.
    async fn exclude(
        &self,
        conn: &mut Conn,
        id: Id<Meeting>,
        ended: &EndedMembership,
    ) -> Result<Vec<EventRecord>, DbError> {
        let EndedMembership { user_id, at, request, .. } = ended;
        let Some(before) = store::locked(conn, id).await? else { return Ok(Vec::new()) };
        let Ok(change) = before.decide(Command::Exclude { user: *user_id }, *at) else { return Ok(Vec::new()) };
        if change.events.is_empty() {
            return Ok(Vec::new());
        }
        let group = Batch { before, changes: vec![Decided { change, request: request.clone(), at: *at }] };
        match journal::write(&self.tables, conn, &[group]).await {
            Ok(saved) => Ok(saved.into_iter().flat_map(|saved| saved.records).collect()),
            Err(NotSaved::Failed(failed)) => Err(failed),
            Err(NotSaved::Conflict) => Err(DbError::Unavailable(format!("the meeting {id} changed in the meantime"))),
        }
    }
}

/// Makes the loaded actors of the meetings in which the user has, or had, a participant re-read their state.
async fn reload(
    db: &Db,
    registry: &Registry<Meeting>,
    project_id: Id<ids::Project>,
    user_id: Id<User>,
) -> Result<(), DbError> {
    let touched = db.read(move |conn| Box::pin(participants::open_meetings(conn, project_id, user_id, AWAKE)));
    for id in touched.await? {
        registry.reload(id).await;
    }
    Ok(())
}

/// As [`reload`], after the outcome of the removal is known: it may have been committed although no confirmation
/// arrived. Retries until it succeeds.
async fn reload_by_and_by(db: &Db, registry: &Registry<Meeting>, project_id: Id<ids::Project>, user_id: Id<User>) {
    loop {
        db.wait_for_outcomes().await;
        let Err(away) = reload(db, registry, project_id, user_id).await else { return };
        tracing::warn!(%away, "the meetings of a removed member could not be reloaded; retrying");
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// Returns a lower bound for ids that were generated at or after `at`: ids sort by time.
fn before(at: Time) -> Id<ids::Invitation> {
    let millis = u64::try_from(at.millis()).unwrap_or(0);
    Id::from_uuid(Uuid::from_u128((u128::from(millis) << 80) | (0x7 << 76)))
}

/// Runs [`RemoveFromMeetings`]. Idempotent.
pub struct RemoveFromMeetingsHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for RemoveFromMeetingsHandler {
    type Payload = RemoveFromMeetings;

    /// Retries without limit, with short pauses: a user who lost a project must not keep access to its meetings because
    /// a dependency was unavailable for long.
    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy { longest_pause: MAX_PAUSE, ..RetryPolicy::UNTIL_DONE }
    }

    /// Each participant that is removed stays removed: the next attempt goes on with the others.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, job: &Job, payload: RemoveFromMeetings) -> Result<(), JobError> {
        let RemoveFromMeetings { project_id, user_id, at } = payload;
        let state = &self.state;
        reload(&state.db, &state.registry, project_id, user_id).await?;
        loop {
            let left = state.db.read(move |conn| {
                Box::pin(async move {
                    // A user who has become a member again stays in the meetings.
                    if projects::store::role(conn, project_id, user_id).await?.is_some() {
                        return Ok(Vec::new());
                    }
                    participants::meetings_to_leave(conn, project_id, user_id, before(at), PAGE).await
                })
            });
            let left = left.await?;
            if left.is_empty() {
                return Ok(());
            }
            for id in left {
                match state.registry.ask(id, Command::Exclude { user: user_id }, job.request.clone()).await {
                    Ok(_) | Err(shell::CommandError::Missing) => {}
                    Err(failure) => return Err(JobError::Again(format!("{failure:?}"))),
                }
            }
        }
    }
}
