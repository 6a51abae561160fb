//! What the file has, before a line of it is set: its sections and items with the anchors that contents and bookmarks lead to.

use exports::specification::Specification;
use exports::words::Label;

use crate::flow::AnchorIndex;

/// One item of a section.
pub(crate) struct PlannedItem<'a> {
    pub(crate) code: &'a str,
    pub(crate) title: &'a str,
    pub(crate) anchor: AnchorIndex,
}

pub(crate) struct PlannedSection<'a> {
    pub(crate) label: Label,
    pub(crate) anchor: AnchorIndex,
    pub(crate) items: Vec<PlannedItem<'a>>,
}

impl PlannedSection<'_> {
    /// The anchor of the item at this place of the section.
    pub(crate) fn item_anchor(&self, index: usize) -> AnchorIndex {
        self.items.get(index).map_or(self.anchor, |item| item.anchor)
    }
}

/// The sections of the file in their order.
pub(crate) struct FilePlan<'a> {
    pub(crate) summary: PlannedSection<'a>,
    pub(crate) requirements: PlannedSection<'a>,
    pub(crate) stories: PlannedSection<'a>,
    pub(crate) risks: PlannedSection<'a>,
    pub(crate) questions: PlannedSection<'a>,
    pub(crate) actions: PlannedSection<'a>,
    pub(crate) decisions: PlannedSection<'a>,
}

impl<'a> FilePlan<'a> {
    pub(crate) fn of(specification: &'a Specification) -> Self {
        let mut next = 0;
        let mut section = |label, items: Vec<(&'a str, &'a str)>| {
            let anchor = next;
            next += 1 + items.len();
            let items = items.into_iter().enumerate();
            let items = items.map(|(index, (code, title))| PlannedItem { code, title, anchor: anchor + 1 + index });
            PlannedSection { label, anchor, items: items.collect() }
        };
        let of = specification;
        Self {
            summary: section(Label::Summary, Vec::new()),
            requirements: section(
                Label::Requirements,
                of.requirements.iter().map(|item| (item.code.as_str(), item.title.as_str())).collect(),
            ),
            stories: section(
                Label::UserStories,
                of.user_stories.iter().map(|item| (item.code.as_str(), item.title.as_str())).collect(),
            ),
            risks: section(
                Label::Risks,
                of.risks.iter().map(|item| (item.code.as_str(), item.title.as_str())).collect(),
            ),
            questions: section(
                Label::OpenQuestions,
                of.open_questions.iter().map(|item| (item.code.as_str(), item.question.as_str())).collect(),
            ),
            actions: section(
                Label::ActionItems,
                of.action_items.iter().map(|item| (item.code.as_str(), item.text.as_str())).collect(),
            ),
            decisions: section(
                Label::Decisions,
                of.decisions.iter().map(|item| (item.code.as_str(), item.text.as_str())).collect(),
            ),
        }
    }

    pub(crate) fn sections(&self) -> [&PlannedSection<'a>; 7] {
        [&self.summary, &self.requirements, &self.stories, &self.risks, &self.questions, &self.actions, &self.decisions]
    }
}
