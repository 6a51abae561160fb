//! What a file has and is not used, as a list that a file cannot make long.

use super::fault::{MAX_PLACE_LENGTH, MAX_REASON_LENGTH, cut};
use super::imported::NotUnderstood;

/// How many notes are listed; the others are counted.
pub const MAX_NOTES: usize = 1_000;

#[derive(Default)]
pub(super) struct NoteList {
    listed: Vec<NotUnderstood>,
    more: usize,
}

impl NoteList {
    /// Those that a reader left.
    pub(super) fn of(listed: &[NotUnderstood], more: usize) -> Self {
        Self { listed: listed.to_vec(), more }
    }

    pub(super) fn add(&mut self, place: &str, reason: &str) {
        if self.listed.len() >= MAX_NOTES {
            self.more += 1;
            return;
        }
        let (place, reason) = (cut(place, MAX_PLACE_LENGTH).into_owned(), cut(reason, MAX_REASON_LENGTH).into_owned());
        self.listed.push(NotUnderstood { place, reason });
    }

    /// The notes, and how many there are beyond those.
    pub(super) fn into_parts(self) -> (Vec<NotUnderstood>, usize) {
        (self.listed, self.more)
    }
}
