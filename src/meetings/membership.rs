//! What becomes of meetings when somebody is no member of their project any longer: they lose their places in those that are
//! scheduled or live, and with them room credentials, sockets and the room at the media server.
//!
//! That is written in the transaction that ends the membership, by the meeting's own rules and its own save; its actor reads it
//! anew right after, and whatever it was about to save meanwhile is refused by its revision. More places than one transaction
//! should write, and one that was taken in the same moment, are left to a job, which comes after the commit.

use actors::ids::{self, Id, User};
use actors::keeper::Keeper;
use actors::live::{Decided, Group, Live, Told};
use actors::meeting::{Command, Meeting};
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::invitations::store as invitations;
use super::participants::store as participants;
use super::store::{self, NotSaved};
use crate::db::{Conn, Db, Failed};
use crate::jobs::{self, Fault, Handler, Job, Jobs, Patience};
use crate::meetings::state::Meetings;
use crate::projects;
use crate::projects::people::membership_end::{EndedMembership, MembershipHook};
use crate::tasks::Tasks;

/// Places that one transaction ends: each is some dozen statements. Nobody is in so many meetings at once.
const MOST: i64 = 20;
/// Meetings that are read anew where they are awake.
const AWAKE: i64 = 1000;
const KIND: &str = "exclude from meetings";
const LONGEST_PAUSE: std::time::Duration = std::time::Duration::from_secs(60);
/// Between two tries to have meetings read anew.
const AGAIN: std::time::Duration = std::time::Duration::from_secs(1);

/// Places in meetings, as what a membership gives.
pub struct Places {
    /// Links in what is told begin with it.
    pub app_url: String,
    /// Whether there is a media server, out of whose rooms they are to be put.
    pub has_rooms: bool,
    pub db: Db,
    pub jobs: Jobs,
    pub tasks: Tasks,
    pub registry: Keeper<Meeting>,
}

#[async_trait]
impl MembershipHook for Places {
    async fn end(&self, conn: &mut Conn, ended: &EndedMembership) -> Result<Vec<Told>, Failed> {
        let EndedMembership { project_id, user_id, at, request } = ended;
        invitations::revoke_open_of_member(conn, *project_id, *user_id, *at).await?;
        let mut told = Vec::new();
        for id in participants::open_places(conn, *project_id, *user_id, before(*at), MOST).await? {
            told.extend(self.exclude(conn, id, ended).await?);
        }
        let payload = Payload { project_id: *project_id, user_id: *user_id, at: *at };
        jobs::enqueue(conn, KIND, &payload, *at, request).await?;
        Ok(told)
    }

    async fn settle(&self, ended: &EndedMembership) {
        let EndedMembership { project_id, user_id, .. } = *ended;
        if let Err(away) = reload(&self.db, &self.registry, project_id, user_id).await {
            tracing::warn!(%away, "meetings that somebody was put out of are not read anew yet");
            // Whoever waits for an answer has it at once; saves of these meetings are refused until then.
            let (db, registry, stopping) = (self.db.clone(), self.registry.clone(), self.tasks.stopping());
            self.tasks.spawn(async move {
                tokio::select! {
                    () = reload_by_and_by(&db, &registry, project_id, user_id) => {}
                    () = stopping.cancelled() => {}
                }
            });
        }
        self.jobs.wake();
    }
}

impl Places {
    /// By the meeting's own rules, beside its actor.
    async fn exclude(&self, conn: &mut Conn, id: Id<Meeting>, ended: &EndedMembership) -> Result<Vec<Told>, Failed> {
        let EndedMembership { user_id, at, request, .. } = ended;
        let Some(before) = store::locked(conn, id).await? else { return Ok(Vec::new()) };
        let Ok(change) = before.decide(Command::Exclude { user: *user_id }, *at) else { return Ok(Vec::new()) };
        if change.events.is_empty() {
            return Ok(Vec::new());
        }
        let group = Group { before, changes: vec![Decided { change, request: request.clone(), at: *at }] };
        match store::write(conn, &group, &self.app_url, self.has_rooms).await {
            Ok((told, _)) => Ok(told),
            Err(NotSaved::Failed(failed)) => Err(failed),
            Err(NotSaved::Conflict) => Err(Failed::Unavailable(format!("the meeting {id} changed meanwhile"))),
        }
    }
}

/// Has the meetings that somebody has, or had, a place in read anew where they are awake.
async fn reload(
    db: &Db,
    registry: &Keeper<Meeting>,
    project_id: Id<ids::Project>,
    user_id: Id<User>,
) -> Result<(), Failed> {
    let touched = db.read(move |conn| Box::pin(participants::places(conn, project_id, user_id, AWAKE)));
    for id in touched.await? {
        registry.reload(id).await;
    }
    Ok(())
}

/// The same as soon as it is known what became of the removal, which may be written though nobody heard so.
async fn reload_by_and_by(db: &Db, registry: &Keeper<Meeting>, project_id: Id<ids::Project>, user_id: Id<User>) {
    loop {
        db.settle().await;
        let Err(away) = reload(db, registry, project_id, user_id).await else { return };
        tracing::warn!(%away, "meetings that somebody was put out of are not read anew yet; it is tried again");
        tokio::time::sleep(AGAIN).await;
    }
}

/// Ids sort by time: those that were made from then on are not smaller than this.
fn before(at: Time) -> Id<ids::Invitation> {
    let millis = u64::try_from(at.millis()).unwrap_or(0);
    Id::from_uuid(Uuid::from_u128((u128::from(millis) << 80) | (0x7 << 76)))
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    project_id: Id<ids::Project>,
    user_id: Id<User>,
    at: Time,
}

/// LATER: ends what places are left.
pub struct Excluding {
    pub state: Meetings,
}

#[async_trait]
impl Handler for Excluding {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// Who lost a project must not keep its meetings because something was away for long.
    fn patience(&self) -> Patience {
        Patience { longest_pause: LONGEST_PAUSE, ..Patience::UNTIL_DONE }
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| Fault::Never(error.to_string()))?;
        let Payload { project_id, user_id, at } = payload;
        let state = &self.state;
        reload(&state.db, &state.registry, project_id, user_id).await.map_err(|error| error.to_string())?;
        loop {
            let left = state.db.read(move |conn| {
                Box::pin(async move {
                    // Who is a member again keeps what they have by that.
                    if projects::store::role(conn, project_id, user_id).await?.is_some() {
                        return Ok(Vec::new());
                    }
                    participants::open_places(conn, project_id, user_id, before(at), MOST).await
                })
            });
            let left = left.await.map_err(|error: Failed| error.to_string())?;
            if left.is_empty() {
                return Ok(());
            }
            for id in left {
                match state.registry.ask(id, Command::Exclude { user: user_id }, job.request.clone()).await {
                    Ok(_) | Err(shell::Failure::Missing) => {}
                    Err(failure) => return Err(Fault::Again(format!("{failure:?}"))),
                }
            }
        }
    }
}
