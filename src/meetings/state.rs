//! The application state of meetings.

use std::ops::Deref;
use std::sync::Arc;

use actors::meeting::Meeting;
use actors::registry::Registry;
use speech::SoundCutter;

use super::attendance::Attendance;
use super::rooms::Rooms;
use super::wordings::Wordings;
use crate::clients::files::Folders;
use crate::http::mounted::Mounted;
use crate::projects::state::Projects;

/// The state of the meetings area; dereferences to the state of projects, which it builds on. Clones share the same
/// state.
#[derive(Clone)]
pub struct Meetings(Arc<MeetingsParts>);

pub struct MeetingsParts {
    pub projects: Projects,
    pub registry: Registry<Meeting>,
    /// Which sockets are subscribed to which meetings.
    pub attendance: Attendance,
    pub wordings: Wordings,
    /// The files of recordings.
    pub recordings: Folders,
    /// Cuts excerpts out of recordings.
    pub excerpts: SoundCutter,
    /// The media server, in whose rooms meetings are held.
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
