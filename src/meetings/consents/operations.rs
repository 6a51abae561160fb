//! The operations on consents, one function each.

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Command, ConsentAnswer};

use super::model::{ConsentRecord, Scopes, WordingVersion};
use super::store;
use crate::db::DbError;
use crate::http::agent::Agent;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::commands::ask;
use crate::meetings::state::Meetings;
use crate::meetings::store::find;
use crate::meetings::{MeetingSnapshot, participants::Oneself};

/// The answer of a participant to the consent question.
#[derive(Debug)]
pub enum ConsentRequest {
    Yes { scopes: Scopes, version: WordingVersion },
    No,
}

/// Records the caller's answer to the current wording. Repeating the same answer changes nothing.
///
/// # Errors
/// 409 when the answer names a wording that is not current, or the meeting has not started or was cancelled.
pub async fn save(
    state: &Meetings,
    oneself: &Oneself,
    answer: ConsentRequest,
    agent: Agent,
    request: RequestId,
) -> Result<MeetingSnapshot, ApiError> {
    let (answer, wording) = match answer {
        ConsentRequest::Yes { scopes, version } => {
            let wording = state.wordings.of_version(&version.0);
            (ConsentAnswer::Grant(scopes.0), wording.ok_or_else(|| ApiError::of(Code::WORDING_CHANGED))?)
        }
        ConsentRequest::No => (ConsentAnswer::Decline, state.wordings.in_language(&agent.languages)),
    };
    let command = Command::Consent { participant: oneself.id, answer, wording, user_agent: agent.name };
    ask(state, oneself.meeting.state.id, command, request).await
}

/// Returns the consent ledger of a meeting, with the hashes that prove it.
///
/// # Errors
/// 404 for an unknown meeting; 500 when the stored ledger does not match its hashes, so that it was edited outside of
/// the application.
pub async fn export(state: &Meetings, id: Id<actors::meeting::Meeting>) -> Result<ConsentRecord, ApiError> {
    let read = state.db.read(move |conn| {
        Box::pin(conn.transaction(async move |conn| {
            let meeting = find(conn, id).await?;
            Ok::<_, DbError>((meeting, store::of_meeting(conn, id).await?))
        }))
    });
    let (meeting, entries) = read.await?;
    let meeting = meeting.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?;
    let record = ConsentRecord::of(&meeting, &entries);
    record.ok_or_else(|| {
        ApiError::internal(format!("the consent ledger of the meeting {id} was modified and is not valid evidence"))
    })
}
