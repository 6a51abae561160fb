//! Consent, one function an operation.

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Answer, Command};

use super::model::{ConsentRecord, Scopes, WordingVersion};
use super::store;
use crate::db::Failed;
use crate::http::agent::Agent;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::meetings::operations::ask;
use crate::meetings::state::Meetings;
use crate::meetings::store::find;
use crate::meetings::{Meeting, participants::Oneself};

/// What somebody says when asked.
#[derive(Debug)]
pub enum Said {
    Yes { scopes: Scopes, version: WordingVersion },
    No,
}

/// Writes down what the caller says to the words of today; the same again changes nothing.
///
/// # Errors
/// 409: the words were others than today's, or the meeting has not begun or was cancelled.
pub async fn save(
    state: &Meetings,
    oneself: &Oneself,
    said: Said,
    agent: Agent,
    request: RequestId,
) -> Result<Meeting, Failure> {
    let (answer, wording) = match said {
        Said::Yes { scopes, version } => {
            let wording = state.wordings.of_version(&version.0);
            (Answer::Grant(scopes.0), wording.ok_or_else(|| Failure::of(Code::WORDING_CHANGED))?)
        }
        Said::No => (Answer::Decline, state.wordings.asked_in(&agent.languages)),
    };
    let command = Command::Consent { participant: oneself.id, answer, wording, user_agent: agent.name };
    ask(state, oneself.meeting.state.id, command, request).await
}

/// The ledger of a meeting, with its proof.
///
/// # Errors
/// 500: it was edited behind our back.
pub async fn export(state: &Meetings, id: Id<actors::meeting::Meeting>) -> Result<ConsentRecord, Failure> {
    let read = state.db.read(move |conn| {
        Box::pin(conn.transaction(async move |conn| {
            let meeting = find(conn, id).await?;
            Ok::<_, Failed>((meeting, store::of_meeting(conn, id).await?))
        }))
    });
    let (meeting, entries) = read.await?;
    let meeting = meeting.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?;
    let record = ConsentRecord::of(&meeting, &entries);
    record.ok_or_else(|| Failure::internal(format!("the ledger of the meeting {id} was edited: it proves nothing")))
}
