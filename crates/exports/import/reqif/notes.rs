//! What is not used of a file: each reason once, with its first place.

use std::collections::HashMap;

use crate::import::notes::{MAX_NOTES, NoteList};

#[derive(Default)]
pub(super) struct ImportNotes {
    /// The place and the reason, and how often it was given.
    notes: Vec<(String, String, usize)>,
    by_reason: HashMap<String, usize>,
    /// Those past the reasons that are kept.
    more: usize,
}

impl ImportNotes {
    /// A file with 10,000 values of an unknown attribute says so once.
    pub(super) fn add(&mut self, place: &str, reason: impl Into<String>) {
        let reason = reason.into();
        if let Some((_, _, count)) = self.by_reason.get(&reason).and_then(|index| self.notes.get_mut(*index)) {
            *count += 1;
            return;
        }
        if self.notes.len() >= MAX_NOTES {
            self.more += 1;
            return;
        }
        self.by_reason.insert(reason.clone(), self.notes.len());
        self.notes.push((place.to_owned(), reason, 1));
    }

    pub(super) fn into_list(self) -> NoteList {
        let mut list = NoteList::of(&[], self.more);
        for (place, reason, count) in self.notes {
            match count {
                1 => list.add(&place, &reason),
                _ => list.add(&place, &format!("{reason} ({count} times in the file)")),
            }
        }
        list
    }
}
