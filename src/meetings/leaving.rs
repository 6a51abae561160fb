//! What becomes of meetings when an account is deleted: who it was has no name there any longer.

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::meeting::Command;
use actors::shell::Failure;
use async_trait::async_trait;

use super::participants::store;
use crate::accounts::model::NOBODY;
use crate::accounts::profile::leaving::Holder;
use crate::app::App;
use crate::db::Failed;

/// How many meetings are looked up in one go.
const PAGE: i64 = 100;

/// Meetings, as what accounts have part in.
pub struct OfMeetings;

#[async_trait]
impl Holder for OfMeetings {
    /// By each meeting itself, as all its writes: it may be live.
    async fn erase(&self, app: &App, user_id: Id<User>, request: &RequestId) -> Result<(), String> {
        loop {
            let named = app.db.read(move |conn| Box::pin(store::naming(conn, user_id, NOBODY, PAGE))).await;
            let named = named.map_err(|error: Failed| error.to_string())?;
            if named.is_empty() {
                return Ok(());
            }
            for id in named {
                let command = Command::Forget { user_id, name: NOBODY.to_owned() };
                match app.meetings.ask(id, command, request.clone()).await {
                    // Deleted meanwhile: nothing is left to forget.
                    Ok(_) | Err(Failure::Missing) => {}
                    Err(failure) => return Err(format!("the meeting {id} could not forget: {failure:?}")),
                }
            }
        }
    }
}
