//! Lines flow over pages: from the top of a page to its bottom, in the direction of the project.
//!
//! Places are counted from the side where reading begins; only here they become coordinates of the paper, so that pages of Arabic
//! projects mirror as a whole. Lines are in points from the upper left corner.

use std::rc::Rc;

use exports::words::Direction;

use crate::structure::{ElementIndex, StructureTree};
use crate::typeset::{LineSide, PageSide, SetText, StyledText, Typesetter};

/// A4, in points.
pub(crate) const PAGE_WIDTH: f32 = 595.28;
pub(crate) const PAGE_HEIGHT: f32 = 841.89;
const SIDE_MARGIN: f32 = 56.0;
const TOP: f32 = 76.0;
const BOTTOM: f32 = PAGE_HEIGHT - 66.0;
pub(crate) const TEXT_WIDTH: f32 = PAGE_WIDTH - 2.0 * SIDE_MARGIN;

/// A place that contents and bookmarks lead to, by its place among them.
pub(crate) type AnchorIndex = usize;

/// Which part of the structure a line belongs to; headers and footers belong to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineOwner {
    Element(ElementIndex),
    Header,
    Footer,
}

/// A line of a set text on a page; `y` is its baseline, `x` the left end of the width in which it was set.
#[derive(Debug)]
pub(crate) struct PlacedLine {
    pub(crate) text: Rc<SetText>,
    pub(crate) line: usize,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) owner: LineOwner,
}

/// The colours of areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AreaColor {
    Rule,
    Accent,
}

/// A filled rectangle: a rule.
#[derive(Debug)]
pub(crate) struct FilledArea {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) color: AreaColor,
}

/// Where a click leads to another place of the same file.
#[derive(Debug)]
pub(crate) struct LinkArea {
    pub(crate) y: f32,
    pub(crate) height: f32,
    pub(crate) element: ElementIndex,
    pub(crate) target: AnchorIndex,
    pub(crate) title: String,
}

#[derive(Debug, Default)]
pub(crate) struct PageSheet {
    pub(crate) areas: Vec<FilledArea>,
    pub(crate) lines: Vec<PlacedLine>,
    pub(crate) links: Vec<LinkArea>,
}

/// A place on a page, from the top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PagePlace {
    pub(crate) page: usize,
    pub(crate) y: f32,
}

/// How far the flow had come; all that follows is below one element.
pub(crate) struct FlowMark {
    place: PagePlace,
    areas: usize,
    lines: usize,
    links: usize,
    parent: ElementIndex,
    elements: usize,
}

/// Where a label ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelPlace {
    page: usize,
    bottom: f32,
}

/// A text that is set to stand beside others.
pub(crate) struct SetLabel {
    pub(crate) owner: ElementIndex,
    pub(crate) text: Rc<SetText>,
    pub(crate) start: f32,
    pub(crate) width: f32,
}

pub(crate) struct PageFlow {
    pub(crate) typesetter: Typesetter,
    pub(crate) direction: Direction,
    pub(crate) tree: StructureTree,
    pub(crate) pages: Vec<PageSheet>,
    pub(crate) anchors: Vec<PagePlace>,
    y: f32,
}

impl PageFlow {
    pub(crate) fn new(typesetter: Typesetter, direction: Direction) -> Self {
        let pages = vec![PageSheet::default()];
        Self { typesetter, direction, tree: StructureTree::new(), pages, anchors: Vec::new(), y: TOP }
    }

    pub(crate) fn here(&self) -> PagePlace {
        PagePlace { page: self.pages.len().saturating_sub(1), y: self.y }
    }

    pub(crate) fn break_page(&mut self) {
        self.pages.push(PageSheet::default());
        self.y = TOP;
    }

    /// The present place, with what is on its page.
    pub(crate) fn mark(&self, parent: ElementIndex) -> FlowMark {
        let (areas, lines, links) =
            self.pages.last().map_or((0, 0, 0), |page| (page.areas.len(), page.lines.len(), page.links.len()));
        FlowMark { place: self.here(), areas, lines, links, parent, elements: self.tree.len() }
    }

    /// Whether what was written since begins on one page, ends on the next, and would fit on one.
    pub(crate) fn is_torn(&self, mark: &FlowMark) -> bool {
        let here = self.here();
        let height = (BOTTOM - mark.place.y) + (here.y - TOP);
        mark.place.y > TOP && here.page == mark.place.page + 1 && height < BOTTOM - TOP
    }

    /// Forgets what was written since.
    pub(crate) fn take_back(&mut self, mark: &FlowMark) {
        self.pages.truncate(mark.place.page + 1);
        if let Some(page) = self.pages.last_mut() {
            page.areas.truncate(mark.areas);
            page.lines.truncate(mark.lines);
            page.links.truncate(mark.links);
        }
        self.tree.take_back(mark.elements, mark.parent);
        self.y = mark.place.y;
    }

    /// White space; none at the top of a page.
    pub(crate) fn gap(&mut self, height: f32) {
        if self.y > TOP {
            self.y += height;
        }
    }

    /// Begins a new page where less than this is left of the present one.
    pub(crate) fn reserve(&mut self, height: f32) {
        if self.y > TOP && self.y + height > BOTTOM {
            self.break_page();
        }
    }

    /// Gives the anchor the present place.
    pub(crate) fn anchor(&mut self, anchor: AnchorIndex) {
        let here = self.here();
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, PagePlace { page: 0, y: 0.0 });
        }
        if let Some(place) = self.anchors.get_mut(anchor) {
            *place = here;
        }
    }

    /// The left end of a box that begins so far from the side where reading begins.
    pub(crate) fn left(&self, start: f32, width: f32) -> f32 {
        match self.direction {
            Direction::LeftToRight => SIDE_MARGIN + start,
            Direction::RightToLeft => PAGE_WIDTH - SIDE_MARGIN - start - width,
        }
    }

    /// The side of the paper where reading begins.
    pub(crate) fn page_start(&self) -> LineSide {
        LineSide::Page(if self.direction.is_rtl() { PageSide::Right } else { PageSide::Left })
    }

    /// The side of the paper where reading ends.
    pub(crate) fn page_end(&self) -> LineSide {
        LineSide::Page(if self.direction.is_rtl() { PageSide::Left } else { PageSide::Right })
    }

    /// A paragraph that may go on over pages.
    pub(crate) fn paragraph(&mut self, owner: ElementIndex, paragraph: &StyledText, start: f32, width: f32) {
        let set = self.typesetter.set(paragraph, width);
        self.lines(owner, &set, start, width);
    }

    pub(crate) fn lines(&mut self, owner: ElementIndex, set: &Rc<SetText>, start: f32, width: f32) {
        let x = self.left(start, width);
        let heights: Vec<f32> = set.lines.iter().map(|line| line.height).collect();
        for (index, line) in set.lines.iter().enumerate() {
            // No line of a paragraph is left alone at the bottom of a page, nor its last one at the top of the next.
            let left = heights.len() - index;
            let wanted: usize = if index == 0 || left == 2 { 2 } else { 1 };
            self.reserve(heights.iter().skip(index).take(wanted).sum());
            let placed = PlacedLine {
                text: Rc::clone(set),
                line: index,
                x,
                y: self.y + line.baseline,
                owner: LineOwner::Element(owner),
            };
            self.put(placed);
            self.y += line.height;
        }
    }

    fn put(&mut self, line: PlacedLine) {
        if let Some(page) = self.pages.last_mut() {
            page.lines.push(line);
        }
    }

    /// Puts a label down without moving on: what flows next stands beside it, until [`PageFlow::end_beside`]. Their first baselines are
    /// the same where both begin with text of one size.
    pub(crate) fn begin_beside(&mut self, label: &SetLabel) -> LabelPlace {
        let height = label.text.height();
        // Two lines of text at least stand beside a label.
        self.reserve(height.max(2.0 * SHORTEST_LINE));
        let x = self.left(label.start, label.width);
        let begun = LabelPlace { page: self.here().page, bottom: self.y + height };
        let mut y = self.y;
        for (index, line) in label.text.lines.iter().enumerate() {
            let text = Rc::clone(&label.text);
            self.put(PlacedLine { text, line: index, x, y: y + line.baseline, owner: LineOwner::Element(label.owner) });
            y += line.height;
        }
        begun
    }

    /// Goes on below both the label and what stands beside it.
    pub(crate) fn end_beside(&mut self, begun: LabelPlace) {
        if self.here().page == begun.page {
            self.y = self.y.max(begun.bottom);
        }
    }

    /// A filled area from the present place downwards.
    pub(crate) fn area(&mut self, start: f32, width: f32, height: f32, color: AreaColor) {
        let (x, y) = (self.left(start, width), self.y);
        if let Some(page) = self.pages.last_mut() {
            page.areas.push(FilledArea { x, y, width, height, color });
        }
    }

    /// Makes what stands between `from` and the present place lead to the target; only for what stands on one page.
    pub(crate) fn link(&mut self, from: PagePlace, element: ElementIndex, target: AnchorIndex, title: String) {
        let height = self.y - from.y;
        if let Some(page) = self.pages.last_mut() {
            page.links.push(LinkArea { y: from.y, height, element, target, title });
        }
    }

    /// Puts a line beside or beyond the flow: page numbers, headers and footers.
    pub(crate) fn stamp(
        &mut self,
        page: usize,
        owner: LineOwner,
        paragraph: &StyledText,
        (start, width): (f32, f32),
        y: f32,
    ) {
        let set = self.typesetter.set(paragraph, width);
        let x = self.left(start, width);
        let baseline = set.first_baseline();
        if let Some(page) = self.pages.get_mut(page).filter(|_| !set.lines.is_empty()) {
            page.lines.push(PlacedLine { text: set, line: 0, x, y: y + baseline, owner });
        }
    }
}

/// The height of a line of the smallest text.
const SHORTEST_LINE: f32 = 12.0;

/// The left and right ends of the text on a page.
pub(crate) fn text_edges() -> (f32, f32) {
    (SIDE_MARGIN, PAGE_WIDTH - SIDE_MARGIN)
}
