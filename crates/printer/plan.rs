//! What the contents and the bookmarks of the file lead to, before a line of it is set.

use exports::outline::{OutlineChapter, has_summary};
use exports::specification::Specification;
use exports::words::{Label, Words};

use crate::flow::AnchorIndex;

/// A heading with the anchor that leads to it.
pub(crate) struct PlannedTitle {
    pub(crate) title: &'static str,
    pub(crate) anchor: AnchorIndex,
}

pub(crate) struct PlannedChapter {
    pub(crate) title: PlannedTitle,
    /// Those that have titles.
    pub(crate) groups: Vec<PlannedTitle>,
}

/// The chapters of the file in their order, the summary first where there is one.
pub(crate) struct FilePlan {
    pub(crate) chapters: Vec<PlannedChapter>,
}

impl FilePlan {
    pub(crate) fn of(specification: &Specification, chapters: &[OutlineChapter<'_>], words: Words) -> Self {
        let mut anchors = 0..;
        let mut planned = |title| PlannedTitle { title, anchor: anchors.next().unwrap_or_default() };
        let mut plan = Vec::with_capacity(chapters.len() + 1);
        if has_summary(specification) {
            plan.push(PlannedChapter { title: planned(words.label(Label::Summary)), groups: Vec::new() });
        }
        for chapter in chapters {
            let title = planned(words.label(chapter.label));
            let groups = chapter.groups.iter().filter_map(|group| group.title);
            plan.push(PlannedChapter { title, groups: groups.map(&mut planned).collect() });
        }
        Self { chapters: plan }
    }
}
