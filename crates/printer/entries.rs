//! The summary and the chapters with their entries.

use exports::outline::{
    EntryView, OutlineChapter, OutlineCriterion, OutlineEntry, OutlineFact, OutlineSource, has_summary, summary_lists,
};
use exports::specification::Specification;
use exports::words::Label;

use crate::compose::{
    BELOW_HEADING, BODY, Composer, MAX_TITLE_LENGTH, SMALL, SMALL_LABEL, SMALL_MUTED, STRONG, heading, style,
};
use crate::flow::{AnchorIndex, TEXT_WIDTH};
use crate::plan::PlannedChapter;
use crate::structure::{ElementIndex, ElementRole};
use crate::typeset::{SpanStyle, TextColor};

const ENTRY_CODE: SpanStyle = style(10.0, true, TextColor::Accent);
/// What is in the column of labels but is no label: codes of criteria.
const CODE: SpanStyle = style(8.5, true, TextColor::Accent);

/// Of the column of codes beside texts.
const CODE_WIDTH: f32 = 62.0;
const CODE_GAP: f32 = 8.0;
const NESTED_LABEL: f32 = 46.0;
const BULLET_WIDTH: f32 = 14.0;
/// Of characters of a code.
const MAX_CODE_LENGTH: usize = 24;
/// The box of all that stands beside a code.
const BESIDE: (f32, f32) = (CODE_WIDTH + CODE_GAP, TEXT_WIDTH - CODE_WIDTH - CODE_GAP);

impl Composer {
    pub(crate) fn summary(&mut self, anchor: AnchorIndex, specification: &Specification) {
        if !has_summary(specification) {
            return;
        }
        let chapter = self.chapter(Label::Summary, anchor);
        self.text(chapter, &specification.summary.text);
        for (label, texts) in summary_lists(specification) {
            self.group(chapter, self.label(label), 3, None);
            self.bullets(chapter, texts);
        }
    }

    pub(crate) fn entries<'a>(
        &mut self,
        chapter: &OutlineChapter<'a>,
        planned: &PlannedChapter,
        view: &mut EntryView<'a>,
    ) {
        let own = self.chapter(chapter.label, planned.title.anchor);
        let mut planned = planned.groups.iter();
        for group in &chapter.groups {
            let mut level = 3;
            if let Some(title) = group.title {
                self.group(own, title, level, planned.next().map(|group| group.anchor));
                level += 1;
            }
            for section in &group.sections {
                let is_titled = section.title.is_some();
                if let Some(title) = section.title {
                    self.place(own, title, level);
                }
                for item in &section.items {
                    let entry = view.entry(*item);
                    let level = if is_titled { level + 1 } else { level };
                    self.kept_together(own, |composer| composer.entry(own, level, &entry));
                }
            }
        }
    }

    /// The headings above the sources of what follows.
    fn place(&mut self, parent: ElementIndex, title: &str, level: u16) {
        self.flow.gap(8.0);
        self.flow.reserve(BELOW_HEADING);
        let shown = self.shown_line(title);
        let mut paragraph = self.in_page();
        paragraph.push_isolated(&shown, SMALL_LABEL);
        let element = self.flow.tree.add(parent, heading(level, &self.shortened(title, MAX_TITLE_LENGTH)));
        self.flow.paragraph(element, &paragraph, 0.0, TEXT_WIDTH);
    }

    fn entry(&mut self, parent: ElementIndex, level: u16, entry: &OutlineEntry<'_>) {
        self.flow.gap(8.0);
        let section = self.flow.tree.add(parent, ElementRole::Section);
        let code = self.shortened(entry.code, MAX_CODE_LENGTH);
        let owner = self.flow.tree.add(section, heading(level, &code));
        let mut label = self.in_page();
        label.push_code(&code, ENTRY_CODE);
        self.beside(owner, &label, (0.0, CODE_WIDTH), |composer| {
            if let Some(title) = entry.title {
                let title = composer.shown_line(title);
                composer.boxed_text(section, &title, STRONG, BESIDE);
            }
            if let Some(text) = entry.text {
                let text = composer.shown(text.trim());
                composer.boxed_text(section, &text, BODY, BESIDE);
            }
            composer.flow.gap(1.5);
            composer.facts(section, &entry.facts);
            for (label, remark) in &entry.remarks {
                for line in remark.lines() {
                    composer.remark(section, *label, line);
                }
            }
            composer.criteria(section, &entry.criteria);
            composer.sources(section, &entry.sources);
        });
    }

    /// In one line, as far as they fit.
    fn facts(&mut self, parent: ElementIndex, facts: &[(Label, OutlineFact<'_>)]) {
        if facts.is_empty() {
            return;
        }
        let mut line = self.in_page();
        for (index, (label, fact)) in facts.iter().enumerate() {
            if index > 0 {
                line.push(" · ", SMALL_MUTED);
            }
            line.push(self.label(*label), SMALL_LABEL);
            line.push(": ", SMALL_LABEL);
            match fact {
                OutlineFact::Text(text) => line.push_isolated(&self.shown_line(text), SMALL_MUTED),
                OutlineFact::Codes(codes) => {
                    for (index, (code, _)) in codes.iter().enumerate() {
                        if index > 0 {
                            line.push(self.words.comma(), SMALL_MUTED);
                        }
                        line.push_code(&self.shortened(code, MAX_CODE_LENGTH), SMALL_MUTED);
                    }
                }
            }
        }
        self.boxed(parent, &line, BESIDE);
    }

    fn remark(&mut self, parent: ElementIndex, label: Label, text: &str) {
        let mut line = self.in_page();
        line.push(self.label(label), SMALL_LABEL);
        line.push(": ", SMALL_LABEL);
        line.push_isolated(&self.shown_line(text), SMALL_MUTED);
        self.boxed(parent, &line, BESIDE);
    }

    /// The notes on where an item comes from.
    fn sources(&mut self, parent: ElementIndex, sources: &[OutlineSource<'_>]) {
        if sources.is_empty() {
            return;
        }
        let (open, close) = self.words.quotation_marks();
        let mut line = self.in_page();
        line.push(self.label(Label::Sources), SMALL_LABEL);
        line.push(": ", SMALL_LABEL);
        for (index, source) in sources.iter().enumerate() {
            if index > 0 {
                line.push("; ", SMALL_MUTED);
            }
            for (index, part) in source.place.iter().enumerate() {
                if index > 0 {
                    line.push(self.words.comma(), SMALL_MUTED);
                }
                line.push_isolated(&self.shown_line(part), SMALL_MUTED);
            }
            if let Some(quote) = source.quote {
                line.push(": ", SMALL_MUTED);
                line.push_isolated(&format!("{open}{}{close}", self.shown_line(quote)), SMALL_MUTED);
            }
        }
        self.boxed(parent, &line, BESIDE);
    }

    fn criteria(&mut self, parent: ElementIndex, criteria: &[OutlineCriterion<'_>]) {
        if criteria.is_empty() {
            return;
        }
        let mut title = self.in_page();
        title.push(self.label(Label::AcceptanceCriteria), SMALL_LABEL);
        self.boxed(parent, &title, BESIDE);
        let list = self.list(parent);
        criteria.iter().for_each(|criterion| self.criterion(list, criterion));
    }

    fn criterion(&mut self, list: ElementIndex, criterion: &OutlineCriterion<'_>) {
        let mut code = self.in_page();
        code.push_code(&self.shortened(criterion.code, MAX_CODE_LENGTH), CODE);
        let (start, width) = BESIDE;
        self.labelled(list, &code, (start, NESTED_LABEL), |composer, body| {
            let inner = (start + NESTED_LABEL, width - NESTED_LABEL);
            let text = composer.shown(criterion.text.trim());
            composer.boxed_text(body, &text, SMALL, inner);
            for (label, step) in &criterion.steps {
                let shown = composer.shown(step.trim());
                let mut paragraph = composer.in_page();
                paragraph.push(composer.label(*label), SpanStyle { bold: true, ..SMALL });
                paragraph.push("  ", SMALL);
                paragraph.push_isolated(&shown, SMALL);
                composer.boxed(body, &paragraph, inner);
            }
        });
    }

    fn bullets(&mut self, parent: ElementIndex, texts: &[String]) {
        let list = self.list(parent);
        let mut bullet = self.in_page();
        bullet.push("•", BODY);
        for text in texts {
            let shown = self.shown(text.trim());
            if shown.is_empty() {
                continue;
            }
            let inner = (BULLET_WIDTH, TEXT_WIDTH - BULLET_WIDTH);
            self.labelled(list, &bullet, (0.0, BULLET_WIDTH), |composer, body| {
                composer.boxed_text(body, &shown, BODY, inner);
            });
        }
    }
}
