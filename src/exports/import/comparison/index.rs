//! Which item of the project an item of the file is.

use std::collections::{HashMap, HashSet};

use super::{ComparisonEntry, requirement_entry, user_story_entry};
use crate::import::{Imported, ImportedRequirement, ImportedUserStory};
use crate::specification::{RequirementEntry, Specification, UserStoryEntry};

pub(super) enum Match<Item> {
    Item {
        item: Item,
        by_id: bool,
    },
    /// The item of this code was already found in the file.
    Repeated(String),
    Unknown,
}

pub(super) struct ProjectIndex<'a> {
    requirements: ItemsByKey<'a, RequirementEntry>,
    user_stories: ItemsByKey<'a, UserStoryEntry>,
    /// From ids and codes of requirements that only the file has, to the name that the file links them by.
    new_requirements: HashMap<String, String>,
}

impl<'a> ProjectIndex<'a> {
    pub(super) fn new(current: &'a Specification, imported: &Imported) -> Self {
        let requirements = ItemsByKey::new(&current.requirements, |item| (&item.id, &item.code));
        let user_stories = ItemsByKey::new(&current.user_stories, |item| (&item.id, &item.code));
        let mut new_requirements = HashMap::new();
        for found in &imported.requirements {
            let keys = [&found.id, &found.code].into_iter().flatten();
            let Some(name) = found.id.as_ref().or(found.code.as_ref()) else { continue };
            if requirements.find(found.id.as_deref(), found.code.as_deref()).is_none() {
                keys.for_each(|given| drop(new_requirements.entry(key(given)).or_insert_with(|| name.clone())));
            }
        }
        Self { requirements, user_stories, new_requirements }
    }

    pub(super) fn requirement(&mut self, found: &ImportedRequirement) -> Match<&'a RequirementEntry> {
        self.requirements.take(found.id.as_deref(), found.code.as_deref())
    }

    pub(super) fn user_story(&mut self, found: &ImportedUserStory) -> Match<&'a UserStoryEntry> {
        self.user_stories.take(found.id.as_deref(), found.code.as_deref())
    }

    /// The id of the requirement that a link names by its id or its code.
    pub(super) fn requirement_id(&self, link: &str) -> Option<String> {
        let here = self.requirements.find(Some(link), None).or_else(|| self.requirements.find(None, Some(link)));
        here.map(|(position, _)| position)
            .and_then(|position| self.requirements.items.get(position))
            .map(|item| item.id.clone())
            .or_else(|| self.new_requirements.get(&key(link)).cloned())
    }

    pub(super) fn unseen(&self) -> Vec<ComparisonEntry> {
        let requirements = self.requirements.unseen().map(requirement_entry);
        requirements.chain(self.user_stories.unseen().map(user_story_entry)).collect()
    }
}

struct ItemsByKey<'a, Item> {
    items: &'a [Item],
    codes: Vec<&'a str>,
    by_id: HashMap<String, usize>,
    by_code: HashMap<String, usize>,
    seen: HashSet<usize>,
}

impl<'a, Item> ItemsByKey<'a, Item> {
    fn new(items: &'a [Item], keys: impl Fn(&'a Item) -> (&'a String, &'a String)) -> Self {
        let mut this =
            Self { items, codes: Vec::new(), by_id: HashMap::new(), by_code: HashMap::new(), seen: HashSet::new() };
        for (position, item) in items.iter().enumerate() {
            let (id, code) = keys(item);
            this.codes.push(code);
            this.by_id.insert(key(id), position);
            this.by_code.insert(key(code), position);
        }
        this
    }

    /// The position, and whether the id led to it.
    fn find(&self, id: Option<&str>, code: Option<&str>) -> Option<(usize, bool)> {
        let by_id = id.and_then(|id| self.by_id.get(&key(id))).map(|position| (*position, true));
        by_id.or_else(|| code.and_then(|code| self.by_code.get(&key(code))).map(|position| (*position, false)))
    }

    fn take(&mut self, id: Option<&str>, code: Option<&str>) -> Match<&'a Item> {
        let Some((position, by_id)) = self.find(id, code) else { return Match::Unknown };
        if !self.seen.insert(position) {
            return Match::Repeated(self.codes.get(position).copied().unwrap_or_default().to_owned());
        }
        match self.items.get(position) {
            Some(item) => Match::Item { item, by_id },
            None => Match::Unknown,
        }
    }

    fn unseen(&self) -> impl Iterator<Item = &'a Item> {
        self.items.iter().enumerate().filter(|(position, _)| !self.seen.contains(position)).map(|(_, item)| item)
    }
}

/// Ids and codes are written in any case.
fn key(given: &str) -> String {
    given.trim().to_lowercase()
}
