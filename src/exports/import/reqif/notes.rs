//! What is not used of a file: each reason once, with its first place.

use std::collections::HashMap;

use crate::import::NotUnderstood;

#[derive(Default)]
pub(super) struct ImportNotes {
    notes: Vec<(NotUnderstood, usize)>,
    by_reason: HashMap<String, usize>,
}

impl ImportNotes {
    /// A file with 10,000 values of an unknown attribute says so once.
    pub(super) fn add(&mut self, place: &str, reason: impl Into<String>) {
        let reason = reason.into();
        if let Some((_, count)) = self.by_reason.get(&reason).and_then(|index| self.notes.get_mut(*index)) {
            *count += 1;
            return;
        }
        self.by_reason.insert(reason.clone(), self.notes.len());
        self.notes.push((NotUnderstood { place: place.to_owned(), reason }, 1));
    }

    pub(super) fn into_list(self) -> Vec<NotUnderstood> {
        let list = self.notes.into_iter().map(|(note, count)| match count {
            1 => note,
            _ => NotUnderstood { reason: format!("{} ({count} times in the file)", note.reason), ..note },
        });
        list.collect()
    }
}
