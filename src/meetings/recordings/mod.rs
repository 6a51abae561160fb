//! Recordings of meetings: uploaded in chunks or as one file, assembled, kept and deleted.
//!
//! ```text
//! PUT chunk ──> temporary file, hashed ──> stored file ──> the meeting decides ──> row + event, one transaction ──> 200
//! all are there ──> job: chunks ──> one file, hashed, probed, stored ──> the meeting: READY ──> job: chunks deleted
//! ```
//! A chunk is acknowledged only when its file and its row are durable. Which files are needed is said by the rows alone:
//! what a killed server leaves over is deleted by jobs and by the daily sweep.

pub mod assembly;
pub mod bodies;
mod container;
pub mod excerpt;
pub mod files;
pub mod model;
pub mod operations;
pub mod routes;
pub mod sweep;
pub mod upload;

use actors::ids::{self, Id};
use actors::meeting::Recording;

use super::MeetingSnapshot;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::{Caller, Guest};
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as store;

/// A recording of a meeting, as the meeting was last saved: the resource that policies authorize access to.
pub struct MeetingRecording {
    pub meeting: MeetingSnapshot,
    pub id: Id<ids::Recording>,
}

impl MeetingRecording {
    /// Returns the recording as it was last saved.
    ///
    /// # Errors
    /// 404 if it was deleted.
    pub fn recording(&self) -> Result<&Recording, ApiError> {
        self.meeting.state.recordings.get(&self.id).ok_or_else(|| ApiError::of(Code::NOT_FOUND))
    }

    async fn meeting_of(state: &Meetings, id: Id<ids::Recording>) -> Result<Id<actors::meeting::Meeting>, ApiError> {
        let found = state.db.read(move |conn| Box::pin(store::meeting_of(conn, id))).await;
        found.map_err(|failed: DbError| ApiError::from(failed))?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
    }

    fn loaded(id: Id<ids::Recording>, loaded: Loaded<MeetingSnapshot>) -> Loaded<Self> {
        let resource = loaded.resource.and_then(|meeting| {
            let resource = Self { meeting, id };
            resource.recording()?;
            Ok(resource)
        });
        Loaded { relation: loaded.relation, resource }
    }
}

impl Resource for MeetingRecording {
    type State = Meetings;
    type Ids = Id<ids::Recording>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        path.id("recordingId")
    }

    async fn find(state: &Meetings, id: Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let meeting_id = Self::meeting_of(state, id).await?;
        Ok(Self::loaded(id, MeetingSnapshot::find(state, meeting_id, caller).await?))
    }

    async fn find_for_guest(state: &Meetings, id: Self::Ids, guest: Guest) -> Result<Loaded<Self>, ApiError> {
        let meeting_id = Self::meeting_of(state, id).await?;
        Ok(Self::loaded(id, MeetingSnapshot::find_for_guest(state, meeting_id, guest).await?))
    }
}
