//! The table of events, as the hub reads it to fill a gap.

use actors::hub::EventLog;
use actors::live::{Told, Topic, Unavailable};
use async_trait::async_trait;

use crate::db::{Db, events};

/// Events as rows.
pub struct Rows(pub Db);

#[async_trait]
impl EventLog for Rows {
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<Told>, Unavailable> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Ok(self.0.read(move |conn| Box::pin(events::read_after(conn, topic, after, limit))).await?)
    }
}
