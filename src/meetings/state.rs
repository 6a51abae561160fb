//! The application state of meetings.

use actors::meeting::Meeting;
use actors::registry::Registry;
use readers::Reader;
use speech::SoundCutter;

use super::attendance::Attendance;
use super::rooms::Rooms;
use super::wordings::Wordings;
use crate::clients::files::Folders;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::projects::state::Projects;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Meetings(MeetingsParts) and core: Core
}

pub struct MeetingsParts {
    pub core: Core,
    pub projects: Projects,
    pub registry: Registry<Meeting>,
    /// Which sockets are subscribed to which meetings.
    pub attendance: Attendance,
    pub wordings: Wordings,
    /// The files of recordings.
    pub recordings: Folders,
    /// Cuts excerpts out of recordings.
    pub excerpts: SoundCutter,
    /// Reads transcripts that are attached as files.
    pub transcript_reader: Reader,
    /// The media server, in whose rooms meetings are held.
    pub rooms: Rooms,
}

impl Mounted for Meetings {}
