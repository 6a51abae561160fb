//! Which item of the project an item of the file is.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{ComparisonEntry, requirement_entry, user_story_entry};
use crate::import::imported::{Imported, ImportedRequirement, ImportedUserStory};
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
    conflicts: ConflictPairs,
    conflicts_in_file: ConflictPairs,
}

impl<'a> ProjectIndex<'a> {
    pub(super) fn new(current: &'a Specification, imported: &Imported) -> Self {
        let requirements = ItemsByKey::new(&current.requirements, |item| (&item.id, &item.code));
        let user_stories = ItemsByKey::new(&current.user_stories, |item| (&item.id, &item.code));
        let mut new_requirements = HashMap::new();
        for found in &imported.requirements {
            let Some(name) = found.id.as_ref().or(found.code.as_ref()) else { continue };
            if requirements.find(found.id.as_deref(), found.code.as_deref()).is_none() {
                for given in [&found.id, &found.code].into_iter().flatten() {
                    new_requirements.entry(key(given)).or_insert_with(|| name.clone());
                }
            }
        }
        let mut index = Self {
            requirements,
            user_stories,
            new_requirements,
            conflicts: ConflictPairs::default(),
            conflicts_in_file: ConflictPairs::default(),
        };
        for item in &current.requirements {
            item.conflicts_with.iter().for_each(|other| index.conflicts.add(item.id.clone(), other.clone()));
        }
        for found in &imported.requirements {
            let here = index.requirements.find(found.id.as_deref(), found.code.as_deref());
            let here = here.and_then(|(position, _)| index.requirements.items.get(position));
            let Some(id) = here.map(|item| &item.id).or(found.id.as_ref()).or(found.code.as_ref()) else { continue };
            for link in found.conflicts_with.iter().flatten() {
                let other = index.requirement_id(link).unwrap_or_else(|| link.clone());
                index.conflicts_in_file.add(id.clone(), other);
            }
        }
        index
    }

    /// Whether the file says that the requirement of this id conflicts with others than it does here.
    pub(super) fn has_other_conflicts(&self, id: &str) -> bool {
        self.conflicts.of(id) != self.conflicts_in_file.of(id)
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

/// What conflicts with what, by ids. A conflict holds for both, whichever of them names it.
#[derive(Default)]
struct ConflictPairs(HashMap<String, BTreeSet<String>>);

impl ConflictPairs {
    fn add(&mut self, one: String, other: String) {
        self.0.entry(one.clone()).or_default().insert(other.clone());
        self.0.entry(other).or_default().insert(one);
    }

    /// `None` where it conflicts with nothing.
    fn of(&self, id: &str) -> Option<&BTreeSet<String>> {
        self.0.get(id)
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
