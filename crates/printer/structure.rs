//! The logical structure of the file: what a screen reader walks through, beside the marks on the pages.

use std::num::NonZeroU16;

use krilla::tagging::{Identifier, ListNumbering, Tag, TagGroup, TagKind, TagTree};

/// An element of the structure, by its place among them.
pub(crate) type ElementIndex = usize;

/// The element that all others are in.
pub(crate) const ROOT: ElementIndex = 0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElementRole {
    Root,
    Section,
    /// Level and text.
    Heading(NonZeroU16, String),
    Paragraph,
    List,
    ListItem,
    ListLabel,
    ListBody,
    Contents,
    ContentsItem,
    Link,
}

impl ElementRole {
    fn tag(self) -> TagKind {
        match self {
            Self::Root => Tag::Part.into(),
            Self::Section => Tag::Section.into(),
            Self::Heading(level, title) => Tag::Hn(level, Some(title)).into(),
            Self::Paragraph => Tag::P.into(),
            Self::List => Tag::L(ListNumbering::None).into(),
            Self::ListItem => Tag::LI.into(),
            Self::ListLabel => Tag::Lbl.into(),
            Self::ListBody => Tag::LBody.into(),
            Self::Contents => Tag::TOC.into(),
            Self::ContentsItem => Tag::TOCI.into(),
            Self::Link => Tag::Link.into(),
        }
    }
}

/// Either has elements in it, or marks on pages.
#[derive(Debug)]
struct Element {
    role: ElementRole,
    children: Vec<ElementIndex>,
    marks: Vec<Identifier>,
}

#[derive(Debug)]
pub(crate) struct StructureTree {
    elements: Vec<Element>,
}

impl StructureTree {
    pub(crate) fn new() -> Self {
        Self { elements: vec![Element { role: ElementRole::Root, children: Vec::new(), marks: Vec::new() }] }
    }

    /// A new last child.
    pub(crate) fn add(&mut self, parent: ElementIndex, role: ElementRole) -> ElementIndex {
        let index = self.elements.len();
        self.elements.push(Element { role, children: Vec::new(), marks: Vec::new() });
        if let Some(parent) = self.elements.get_mut(parent) {
            parent.children.push(index);
        }
        index
    }

    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// Removes all elements after so many, all of which are below the parent.
    pub(crate) fn take_back(&mut self, kept: usize, parent: ElementIndex) {
        self.elements.truncate(kept);
        if let Some(parent) = self.elements.get_mut(parent) {
            parent.children.retain(|child| *child < kept);
        }
    }

    pub(crate) fn mark(&mut self, element: ElementIndex, identifier: Identifier) {
        if let Some(element) = self.elements.get_mut(element) {
            element.marks.push(identifier);
        }
    }

    /// The tree as the file has it.
    pub(crate) fn finish(self, language: &str) -> TagTree {
        let mut groups: Vec<Option<TagGroup>> = Vec::with_capacity(self.elements.len());
        let mut children: Vec<Vec<ElementIndex>> = Vec::with_capacity(self.elements.len());
        for element in self.elements {
            groups.push(Some(TagGroup::with_children(
                element.role.tag(),
                element.marks.into_iter().map(Into::into).collect(),
            )));
            children.push(element.children);
        }
        // A child stands after its parent: from the last on, each is whole when its parent takes it.
        for (parent, children) in children.into_iter().enumerate().rev() {
            for child in children {
                let taken = groups.get_mut(child).and_then(Option::take);
                if let (Some(child), Some(Some(parent))) = (taken, groups.get_mut(parent)) {
                    parent.push(child);
                }
            }
        }
        let mut tree = TagTree::new().with_lang(Some(language.to_owned()));
        if let Some(root) = groups.into_iter().next().flatten() {
            tree.push(root);
        }
        tree
    }
}
