//! Mail as jobs: written with the transaction that causes it, sent afterwards.

use std::sync::Arc;

use actors::live::RequestId;
use actors::time::{Clock, Time};
use async_trait::async_trait;

use super::{Handler, Job, enqueue};
use crate::db::{Conn, Failed};
use crate::outside::mail::Mail;
pub use crate::outside::mail::{Block, Calendar, Letter, Tongue};

const KIND: &str = "mail";

/// Sends a letter once the transaction stands.
///
/// # Errors
/// The database's own.
pub async fn send(conn: &mut Conn, letter: &Letter, now: Time, request: &RequestId) -> Result<(), Failed> {
    enqueue(conn, KIND, letter, now, request).await.map(|_| ())
}

/// Sends letters.
pub struct Postman {
    pub mail: Arc<dyn Mail>,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Handler for Postman {
    fn kind(&self) -> &'static str {
        KIND
    }
    async fn run(&self, job: &Job) -> Result<(), String> {
        let letter: Letter = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        self.mail.send(&letter, self.clock.now()).await
    }
}
