//! The table of events, which the hub reads to fill gaps.

use actors::hub::EventLog;
use actors::live::{EventRecord, StoreUnavailable, Topic};
use async_trait::async_trait;

use crate::db::{Db, events};

/// The event log in the database.
pub struct Rows(pub Db);

#[async_trait]
impl EventLog for Rows {
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<EventRecord>, StoreUnavailable> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Ok(self.0.read(move |conn| Box::pin(events::read_after(conn, topic, after, limit))).await?)
    }
}
