//! What becomes of meetings when an account is deleted: who it was has no name there any longer, and what asked the person
//! to a meeting is gone.

use actors::ids::{self, Id, User};
use actors::live::RequestId;
use actors::meeting::{Command, Meeting};
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::invitations::store::leaving::{self as invitations, OF_ACCOUNT};
use super::participants::store;
use crate::accounts::model::NOBODY;
use crate::accounts::profile::leaving::{Afterwards, Holder, Leaving, Stop};
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, Failed};
use crate::http::failure::Failure;
use crate::jobs::{self, Fault, Handler, Job, Patience};
use crate::meetings::state::Meetings;

/// How many places are looked up in one go.
const PLACES: i64 = 100;
const FORGET: &str = "forget-guest";

/// Meetings, as what accounts have part in.
pub struct OfMeetings {
    pub state: Meetings,
}

#[async_trait]
impl Holder for OfMeetings {
    /// Where they were asked under another address, and came with the account.
    async fn addresses(&self, conn: &mut Conn, user_id: Id<User>) -> Result<Vec<String>, Failed> {
        invitations::addresses(conn, user_id).await
    }

    /// Of an address that was asked to more than a page of meetings, page by page, so that one page at most is left for the
    /// transaction.
    async fn prepare(&self, leaving: &Leaving) -> Result<(), Failure> {
        let (email, now, request) = (leaving.account.email.clone(), leaving.now, leaving.request.clone());
        let stopping = self.state.tasks.stopping();
        let gone = in_pages(&self.state.db, &stopping, move |conn| {
            let (email, request) = (email.clone(), request.clone());
            Box::pin(async move {
                match invitations::has_more_than(conn, &email, PAGE).await? {
                    true => forget_address(conn, &email, PAGE, now, &request).await,
                    false => Ok(0),
                }
            })
        });
        gone.await.map_err(|failed: Failed| Failure::from(failed)).map(|_| ())
    }

    /// Invitations to the address go. Who came to the address's as a guest is forgotten by jobs: those know the place alone.
    async fn release(&self, conn: &mut Conn, leaving: &Leaving) -> Result<Option<Afterwards>, Stop> {
        forget_address(conn, &leaving.account.email, i64::MAX, leaving.now, &leaving.request).await?;
        Ok(None)
    }

    /// By each meeting itself, as all its writes: it may be live.
    async fn erase(&self, user_id: Id<User>, request: &RequestId) -> Result<(), String> {
        // What gave the account a place, and what was accepted while it ended.
        let state = &self.state;
        let stopping = state.tasks.stopping();
        let gone = in_pages(&state.db, &stopping, move |conn| Box::pin(OF_ACCOUNT.page(conn, user_id, PAGE)));
        gone.await.map_err(|error: Failed| error.to_string())?;
        loop {
            let named = state.db.read(move |conn| Box::pin(store::naming(conn, user_id, NOBODY, PLACES))).await;
            let named = named.map_err(|error: Failed| error.to_string())?;
            if named.is_empty() {
                return Ok(());
            }
            for (meeting_id, participant_id) in named {
                forget(state, Payload { meeting_id, participant_id }, request).await?;
            }
        }
    }
}

/// Drops invitations to an address, at most so many; gives how many.
async fn forget_address(
    conn: &mut Conn,
    email: &str,
    most: i64,
    now: Time,
    request: &RequestId,
) -> Result<usize, Failed> {
    let (gone, guests) = invitations::forget_address(conn, email, most).await?;
    for (meeting_id, participant_id) in guests {
        jobs::enqueue(conn, FORGET, &Payload { meeting_id, participant_id }, now, request).await?;
    }
    Ok(gone)
}

/// Somebody's place in a meeting.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    meeting_id: Id<Meeting>,
    participant_id: Id<ids::Participant>,
}

async fn forget(state: &Meetings, place: Payload, request: &RequestId) -> Result<(), String> {
    let Payload { meeting_id, participant_id } = place;
    let command = Command::Forget { participant: participant_id, name: NOBODY.to_owned() };
    match state.registry.ask(meeting_id, command, request.clone()).await {
        // Deleted meanwhile: nothing is left to forget.
        Ok(_) | Err(shell::Failure::Missing) => Ok(()),
        Err(failure) => Err(format!("the meeting {meeting_id} could not forget: {failure:?}")),
    }
}

/// LATER: takes the name of a guest out of a meeting, whose account was deleted.
pub struct Forgetting {
    pub state: Meetings,
}

#[async_trait]
impl Handler for Forgetting {
    fn kind(&self) -> &'static str {
        FORGET
    }

    fn patience(&self) -> Patience {
        Patience::UNTIL_DONE
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let place: Payload = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        Ok(forget(&self.state, place, &job.request).await?)
    }
}
