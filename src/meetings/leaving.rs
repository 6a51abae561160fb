//! What becomes of meetings when an account is deleted: who it was has no name there any longer, and what asked the person
//! to a meeting is gone.

use actors::ids::{self, Id, User};
use actors::live::RequestId;
use actors::meeting::{Command, Meeting};
use actors::shell;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::invitations::store::leaving as invitations;
use super::participants::store;
use crate::accounts::model::NOBODY;
use crate::accounts::profile::leaving::{Afterwards, Holder, Leaving, Stop};
use crate::app::App;
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job, Patience};

/// How many places are looked up in one go.
const PAGE: i64 = 100;
const FORGET: &str = "forget-guest";
/// As for all that a person is owed.
const LONGEST_PAUSE: std::time::Duration = std::time::Duration::from_secs(15 * 60);

/// Meetings, as what accounts have part in.
pub struct OfMeetings;

#[async_trait]
impl Holder for OfMeetings {
    /// Where they were asked under another address, and came with the account.
    async fn addresses(&self, conn: &mut Conn, user_id: Id<User>) -> Result<Vec<String>, Failed> {
        invitations::addresses(conn, user_id).await
    }

    /// Invitations to the address, or that gave the account a place, go. Who came to the address's as a guest is forgotten by
    /// jobs: those know the place alone.
    async fn release(&self, conn: &mut Conn, leaving: &Leaving) -> Result<Option<Afterwards>, Stop> {
        let Leaving { account, now, request } = leaving;
        for (meeting_id, participant_id) in invitations::guests(conn, &account.email).await? {
            jobs::enqueue(conn, FORGET, &Payload { meeting_id, participant_id }, *now, request).await?;
        }
        invitations::forget_address(conn, &account.email).await?;
        invitations::forget_account(conn, account.id).await?;
        Ok(None)
    }

    /// By each meeting itself, as all its writes: it may be live.
    async fn erase(&self, app: &App, user_id: Id<User>, request: &RequestId) -> Result<(), String> {
        // One that was accepted while the account ended.
        let gone = app.db.write(move |conn| Box::pin(invitations::forget_account(conn, user_id))).await;
        gone.map_err(|error: Failed| error.to_string())?;
        loop {
            let named = app.db.read(move |conn| Box::pin(store::naming(conn, user_id, NOBODY, PAGE))).await;
            let named = named.map_err(|error: Failed| error.to_string())?;
            if named.is_empty() {
                return Ok(());
            }
            for (meeting_id, participant_id) in named {
                forget(app, Payload { meeting_id, participant_id }, request).await?;
            }
        }
    }
}

/// Somebody's place in a meeting.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    meeting_id: Id<Meeting>,
    participant_id: Id<ids::Participant>,
}

async fn forget(app: &App, place: Payload, request: &RequestId) -> Result<(), String> {
    let Payload { meeting_id, participant_id } = place;
    let command = Command::Forget { participant: participant_id, name: NOBODY.to_owned() };
    match app.meetings.ask(meeting_id, command, request.clone()).await {
        // Deleted meanwhile: nothing is left to forget.
        Ok(_) | Err(shell::Failure::Missing) => Ok(()),
        Err(failure) => Err(format!("the meeting {meeting_id} could not forget: {failure:?}")),
    }
}

/// LATER: takes the name of a guest out of a meeting, whose account was deleted.
pub struct Forgetting {
    pub app: App,
}

#[async_trait]
impl Handler for Forgetting {
    fn kind(&self) -> &'static str {
        FORGET
    }

    /// What a person is owed is not given up.
    fn patience(&self) -> Patience {
        Patience { attempts: i64::MAX, longest_pause: LONGEST_PAUSE }
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let place: Payload = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        Ok(forget(&self.app, place, &job.request).await?)
    }
}
