//! The recordings of a meeting.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Recording;
use crate::ids::{self, Id};

/// All recordings of a meeting, by id. Clones share what does not change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recordings(Arc<BTreeMap<Id<ids::Recording>, Arc<Recording>>>);

impl Recordings {
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn get(&self, id: &Id<ids::Recording>) -> Option<&Recording> {
        self.0.get(id).map(Arc::as_ref)
    }

    /// Returns the recordings in the order in which they were started.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Recording> {
        self.0.values().map(Arc::as_ref)
    }

    /// Returns the recordings that are new or differ from `before`.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Recording> {
        let is_same_map = Arc::ptr_eq(&self.0, &before.0);
        let all = self.0.iter().filter(move |_| !is_same_map);
        all.filter(|(id, one)| before.0.get(id).is_none_or(|was| !Arc::ptr_eq(was, one) && was != *one))
            .map(|(_, one)| one.as_ref())
    }

    pub(in super::super) fn put(&mut self, recording: Recording) {
        Arc::make_mut(&mut self.0).insert(recording.id, Arc::new(recording));
    }

    pub(in super::super) fn remove(&mut self, id: Id<ids::Recording>) {
        Arc::make_mut(&mut self.0).remove(&id);
    }
}

impl FromIterator<Recording> for Recordings {
    fn from_iter<T: IntoIterator<Item = Recording>>(all: T) -> Self {
        Self(Arc::new(all.into_iter().map(|one| (one.id, Arc::new(one))).collect()))
    }
}
