//! Risks, open questions, action items and decisions; and the notes on where any item comes from.

use std::ops::Range;

use exports::specification::{ActionItemEntry, DecisionEntry, OpenQuestionEntry, RiskEntry, SourceEntry};
use exports::text::minutes_and_seconds;
use exports::words::{FileLanguage, Label, TermSet};

use crate::compose::{Composer, SMALL, SMALL_MUTED, style};
use crate::plan::PlannedSection;
use crate::structure::{ElementIndex, ElementRole};
use crate::typeset::{SpanStyle, TextColor};

const NOTE_NUMBER: SpanStyle = style(8.0, false, TextColor::Accent);
const NOTE_WIDTH: f32 = 34.0;

impl Composer {
    pub(crate) fn risks(&mut self, planned: &PlannedSection<'_>, risks: &[RiskEntry]) {
        let section = self.section(planned.label, planned.anchor);
        if risks.is_empty() {
            self.nothing(section);
        }
        for (index, risk) in risks.iter().enumerate() {
            let item = self.item(section, 3, planned.item_anchor(index), (&risk.code, &risk.title));
            let notes = self.numbers(&risk.sources);
            self.text(item, &risk.description, notes.clone());
            let head = [Label::Severity, Label::Likelihood].map(|label| self.label(label).to_owned());
            let facts = [&risk.severity, &risk.likelihood].map(|word| self.term(TermSet::Severity, word));
            self.table(item, &[head.to_vec(), facts.to_vec()], false);
            let list = self.list(item);
            self.fact_text(list, Label::Mitigation, risk.mitigation.as_deref());
            self.sources(list, &risk.sources, notes);
        }
    }

    pub(crate) fn questions(&mut self, planned: &PlannedSection<'_>, questions: &[OpenQuestionEntry]) {
        let section = self.section(planned.label, planned.anchor);
        if questions.is_empty() {
            self.nothing(section);
        }
        for (index, question) in questions.iter().enumerate() {
            let item = self.item(section, 3, planned.item_anchor(index), (&question.code, ""));
            let notes = self.numbers(&question.sources);
            self.text(item, &question.question, notes.clone());
            let list = self.list(item);
            self.fact_text(list, Label::Why, Some(&question.why));
            self.fact_text(list, Label::RaisedBy, question.raised_by.as_deref());
            self.sources(list, &question.sources, notes);
        }
    }

    pub(crate) fn actions(&mut self, planned: &PlannedSection<'_>, actions: &[ActionItemEntry]) {
        let section = self.section(planned.label, planned.anchor);
        if actions.is_empty() {
            self.nothing(section);
        }
        for (index, action) in actions.iter().enumerate() {
            let item = self.item(section, 3, planned.item_anchor(index), (&action.code, ""));
            let notes = self.numbers(&action.sources);
            self.text(item, &action.text, notes.clone());
            let list = self.list(item);
            self.fact_text(list, Label::Assignee, action.assignee.as_deref());
            if let Some(due) =
                action.due_date.as_deref().map(|due| self.shortened(due, 40)).filter(|due| !due.is_empty())
            {
                self.fact(list, Label::DueDate, |composer, body| {
                    let mut date = composer.in_page();
                    date.push_code(&due, SMALL);
                    composer.body(body, &date);
                });
            }
            self.sources(list, &action.sources, notes);
        }
    }

    pub(crate) fn decisions(&mut self, planned: &PlannedSection<'_>, decisions: &[DecisionEntry]) {
        let section = self.section(planned.label, planned.anchor);
        if decisions.is_empty() {
            self.nothing(section);
        }
        for (index, decision) in decisions.iter().enumerate() {
            let item = self.item(section, 3, planned.item_anchor(index), (&decision.code, ""));
            let notes = self.numbers(&decision.sources);
            self.text(item, &decision.text, notes.clone());
            let list = self.list(item);
            self.sources(list, &decision.sources, notes);
        }
    }

    /// The numbers of the next notes, one for each source.
    pub(crate) fn numbers(&mut self, sources: &[SourceEntry]) -> Range<usize> {
        let first = self.notes + 1;
        self.notes += sources.len();
        first..first + sources.len()
    }

    /// The notes of an item: number, quote, and where the quote is found.
    pub(crate) fn sources(&mut self, list: ElementIndex, sources: &[SourceEntry], numbers: Range<usize>) {
        if sources.is_empty() {
            return;
        }
        self.fact(list, Label::Sources, |composer, body| {
            for (source, number) in sources.iter().zip(numbers) {
                composer.source(body, source, number);
            }
        });
    }

    fn source(&mut self, parent: ElementIndex, source: &SourceEntry, number: usize) {
        let note = self.flow.tree.add(parent, ElementRole::Note);
        let owner = self.flow.tree.add(note, ElementRole::ListLabel);
        let mut label = self.in_page();
        label.push_code(&format!("[{number}]"), NOTE_NUMBER);
        let (start, width) = Self::body_box();
        let inner = (start + NOTE_WIDTH, width - NOTE_WIDTH);
        self.beside(owner, &label, (start, NOTE_WIDTH), |composer| {
            let quote = composer.shown(source.quote.trim());
            if !quote.is_empty() {
                let (open, close) = composer.quotation_marks();
                composer.boxed_text(note, &format!("{open}{quote}{close}"), SMALL, inner);
            }
            composer.source_place(note, source, inner);
        });
        self.flow.gap(2.0);
    }

    /// The name of the source, then page, section, time and speaker, as far as they are known.
    fn source_place(&mut self, note: ElementIndex, source: &SourceEntry, inner: (f32, f32)) {
        let mut line = self.in_page();
        let name = self.shown_line(&source.name);
        let name = if name.is_empty() { self.term(TermSet::SourceKind, &source.kind) } else { name };
        line.push_isolated(&name, SMALL_MUTED);
        if let Some(page) = source.page {
            line.push(&format!(" · {} ", self.label(Label::Page)), SMALL_MUTED);
            line.push_code(&page.to_string(), SMALL_MUTED);
        }
        if let Some(section) =
            source.section.as_deref().map(|section| self.shown_line(section)).filter(|text| !text.is_empty())
        {
            line.push(" · ", SMALL_MUTED);
            line.push_isolated(&section, SMALL_MUTED);
        }
        if let Some(start) = source.start_ms {
            let mut time = minutes_and_seconds(start);
            if let Some(end) = source.end_ms {
                time = format!("{time}–{}", minutes_and_seconds(end));
            }
            line.push(" · ", SMALL_MUTED);
            line.push_code(&time, SMALL_MUTED);
        }
        if let Some(speaker) =
            source.speaker.as_deref().map(|speaker| self.shown_line(speaker)).filter(|text| !text.is_empty())
        {
            line.push(" · ", SMALL_MUTED);
            line.push_isolated(&speaker, SMALL_MUTED);
        }
        self.boxed(note, &line, inner);
    }

    fn quotation_marks(&self) -> (char, char) {
        match self.words.language() {
            FileLanguage::English => ('“', '”'),
            FileLanguage::Arabic => ('«', '»'),
            FileLanguage::German => ('„', '“'),
        }
    }

    pub(crate) fn comma(&self) -> &'static str {
        if self.words.language() == FileLanguage::Arabic { "، " } else { ", " }
    }
}
