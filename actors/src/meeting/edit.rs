//! What a host changes of a meeting by hand.

use super::state::Meeting;
use crate::time::LocalTime;

/// The fields of a meeting that can be changed by hand. One that is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeetingEdit {
    pub title: Option<String>,
    pub description: Option<String>,
    pub scheduled_at: Option<LocalTime>,
}

impl MeetingEdit {
    /// Writes the edit into a meeting and returns whether that changed it. Setting the same values again is no change.
    ///
    /// The pattern names every field, so that one that is added and not compared here does not compile: without that, an edit
    /// of it alone would be answered as a success and be lost.
    pub(super) fn apply(self, meeting: &mut Meeting) -> bool {
        let Self { title, description, scheduled_at } = self;
        let changed = [
            replace(&mut meeting.title, title),
            replace(&mut meeting.description, description),
            replace(&mut meeting.scheduled_at, scheduled_at.map(|time| time.at)),
        ];
        // The offset is no part of the meeting's content: it appears in e-mails alone.
        meeting.scheduled_offset = scheduled_at.map_or(meeting.scheduled_offset, |time| time.offset);
        changed.contains(&true)
    }
}

/// Sets a value where there is a new one, and returns whether it is another one.
fn replace<T: PartialEq>(value: &mut T, new: Option<T>) -> bool {
    match new {
        Some(new) if new != *value => {
            *value = new;
            true
        }
        _ => false,
    }
}
