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

/// A text of the file within a message: in one line, and not longer than a line.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let line = crate::text::clean_line(text);
    let shown: String = line.chars().take(SHOWN).collect();
    let ellipsis = if shown.len() < line.len() { "…" } else { "" };
    format!("“{shown}{ellipsis}”")
}
