//! What meetings own.

use std::ops::Deref;
use std::sync::Arc;

use actors::keeper::Keeper;
use actors::meeting::Meeting;

use super::consents::wording::Wordings;
use super::participants::attendance::Attendance;
use super::rooms::Rooms;
use crate::http::mounted::Mounted;
use crate::projects::state::Projects;

/// The state of this area, and what it rests on. Clones are the same one.
#[derive(Clone)]
pub struct Meetings(Arc<MeetingsParts>);

pub struct MeetingsParts {
    pub projects: Projects,
    pub registry: Keeper<Meeting>,
    /// Who listens to which of them.
    pub attendance: Attendance,
    pub wordings: Wordings,
    /// Where meetings are held.
    pub rooms: Rooms,
}

impl Meetings {
    #[must_use]
    pub fn new(parts: MeetingsParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Meetings {
    type Target = MeetingsParts;
    fn deref(&self) -> &MeetingsParts {
        &self.0
    }
}

impl Deref for MeetingsParts {
    type Target = Projects;
    fn deref(&self) -> &Projects {
        &self.projects
    }
}

impl Mounted for Meetings {}
