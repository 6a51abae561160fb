//! A specification as a document: sections of entries, each with a title, its text, facts, criteria and sources. Markdown and HTML files
//! show the same one; what is empty is left out here, so that no format has a section without content.

use std::borrow::Cow;

use crate::references::{RequirementCodes, anchor, citation, quality_line};
use crate::specification::{
    ActionItemEntry, CriterionEntry, DecisionEntry, OpenQuestionEntry, QualityNote, RequirementEntry, RiskEntry,
    SourceEntry, Specification, UserStoryEntry,
};
use crate::words::{Label, TermSet, Words};

pub(crate) struct OutlineSection<'a> {
    pub(crate) label: Label,
    pub(crate) anchor: &'static str,
    /// Made while they are written.
    pub(crate) entries: Box<dyn Iterator<Item = OutlineEntry<'a>> + 'a>,
}

pub(crate) struct OutlineEntry<'a> {
    pub(crate) anchor: String,
    pub(crate) code: &'a str,
    pub(crate) title: &'a str,
    pub(crate) text: Option<&'a str>,
    pub(crate) facts: Vec<(Label, OutlineFact<'a>)>,
    pub(crate) criteria: &'a [CriterionEntry],
    pub(crate) sources: &'a [SourceEntry],
}

pub(crate) enum OutlineFact<'a> {
    Text(Cow<'a, str>),
    Lines(Vec<String>),
    /// Codes, with the anchors of those requirements that are in the document.
    Codes(Vec<(&'a str, Option<String>)>),
}

/// The lists of the summary, without the empty ones.
pub(crate) fn summary_lists(specification: &Specification) -> impl Iterator<Item = (Label, &[String])> {
    let summary = &specification.summary;
    [
        (Label::KeyDecisions, summary.key_decisions.as_slice()),
        (Label::Scope, summary.scope.as_slice()),
        (Label::OutOfScope, summary.out_of_scope.as_slice()),
        (Label::Assumptions, summary.assumptions.as_slice()),
    ]
    .into_iter()
    .filter(|(_, texts)| !texts.is_empty())
}

/// What stands below the title.
pub(crate) fn head(specification: &Specification) -> impl Iterator<Item = (Label, &str)> {
    [
        (Label::AsOf, specification.as_of.as_str()),
        (Label::Run, specification.run_id.as_deref().unwrap_or_default()),
        (Label::ProjectId, specification.project.id.as_str()),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
}

/// The sections that have entries.
pub(crate) fn sections<'a>(
    specification: &'a Specification,
    words: Words,
    codes: &'a RequirementCodes<'a>,
) -> Vec<OutlineSection<'a>> {
    let view = EntryView { words, codes };
    let mut sections = Vec::new();
    let mut add = |label, anchor, entries: Box<dyn Iterator<Item = OutlineEntry<'a>> + 'a>, is_empty: bool| {
        if !is_empty {
            sections.push(OutlineSection { label, anchor, entries });
        }
    };
    let Specification { requirements, user_stories, risks, open_questions, action_items, decisions, .. } =
        specification;
    let entries = requirements.iter().map(move |entry| view.requirement(entry));
    add(Label::Requirements, "requirements", Box::new(entries), requirements.is_empty());
    let entries = user_stories.iter().map(move |entry| view.user_story(entry));
    add(Label::UserStories, "user-stories", Box::new(entries), user_stories.is_empty());
    let entries = risks.iter().map(move |entry| view.risk(entry));
    add(Label::Risks, "risks", Box::new(entries), risks.is_empty());
    let entries = open_questions.iter().map(move |entry| view.open_question(entry));
    add(Label::OpenQuestions, "open-questions", Box::new(entries), open_questions.is_empty());
    let entries = action_items.iter().map(move |entry| view.action_item(entry));
    add(Label::ActionItems, "action-items", Box::new(entries), action_items.is_empty());
    let entries = decisions.iter().map(move |entry| view.decision(entry));
    add(Label::Decisions, "decisions", Box::new(entries), decisions.is_empty());
    sections
}

/// `Interview.docx, Page 3`, with the kind of source before it.
pub(crate) fn source_line(words: Words, source: &SourceEntry) -> String {
    format!("{}: {}", words.term(TermSet::SourceKind, &source.kind), citation(words, source))
}

#[derive(Clone, Copy)]
struct EntryView<'a> {
    words: Words,
    codes: &'a RequirementCodes<'a>,
}

impl<'a> EntryView<'a> {
    fn requirement(self, entry: &'a RequirementEntry) -> OutlineEntry<'a> {
        let mut facts = FactList(self.words, Vec::new());
        facts.term(Label::Type, TermSet::RequirementType, &entry.kind);
        facts.term(Label::Category, TermSet::Category, entry.category.as_deref().unwrap_or_default());
        facts.term(Label::Priority, TermSet::Priority, &entry.priority);
        facts.term(Label::Status, TermSet::WorkflowStatus, &entry.workflow_status);
        facts.suspect(entry.suspect);
        facts.quality(&entry.quality_issues);
        facts.codes(Label::DuplicateOf, self.linked(entry.duplicate_of.as_slice()));
        facts.codes(Label::ConflictsWith, self.linked(&entry.conflicts_with));
        facts.share(Label::Confidence, entry.confidence);
        facts.revision(entry.version, &entry.revision_source);
        OutlineEntry {
            anchor: anchor(&entry.id),
            code: &entry.code,
            title: &entry.title,
            text: some_text(&entry.statement),
            facts: facts.1,
            criteria: &[],
            sources: &entry.sources,
        }
    }

    fn user_story(self, entry: &'a UserStoryEntry) -> OutlineEntry<'a> {
        let mut facts = FactList(self.words, Vec::new());
        facts.text(Label::Role, entry.role.as_deref());
        facts.text(Label::Goal, Some(&entry.goal));
        facts.text(Label::Benefit, entry.benefit.as_deref());
        facts.codes(Label::Requirements, self.linked(&entry.requirement_ids));
        facts.term(Label::Priority, TermSet::Priority, &entry.priority);
        facts.term(Label::Status, TermSet::WorkflowStatus, &entry.workflow_status);
        facts.suspect(entry.suspect);
        facts.share(Label::QualityScore, entry.quality_score);
        facts.quality(&entry.quality_issues);
        facts.text(Label::TrackerIssue, entry.tracker_key.as_deref());
        facts.text(Label::TrackerUrl, entry.tracker_url.as_deref());
        facts.revision(entry.version, &entry.revision_source);
        OutlineEntry {
            anchor: anchor(&entry.id),
            code: &entry.code,
            title: &entry.title,
            text: some_text(&entry.description),
            facts: facts.1,
            criteria: &entry.acceptance_criteria,
            sources: &entry.sources,
        }
    }

    fn risk(self, entry: &'a RiskEntry) -> OutlineEntry<'a> {
        let mut facts = FactList(self.words, Vec::new());
        facts.term(Label::Severity, TermSet::Severity, &entry.severity);
        facts.term(Label::Likelihood, TermSet::Severity, &entry.likelihood);
        facts.text(Label::Mitigation, entry.mitigation.as_deref());
        let text = some_text(&entry.description);
        plain((&entry.id, &entry.code, &entry.title), text, facts, &entry.sources)
    }

    fn open_question(self, entry: &'a OpenQuestionEntry) -> OutlineEntry<'a> {
        let mut facts = FactList(self.words, Vec::new());
        facts.text(Label::Why, Some(&entry.why));
        facts.text(Label::RaisedBy, entry.raised_by.as_deref());
        plain((&entry.id, &entry.code, &entry.question), None, facts, &entry.sources)
    }

    fn action_item(self, entry: &'a ActionItemEntry) -> OutlineEntry<'a> {
        let mut facts = FactList(self.words, Vec::new());
        facts.text(Label::Assignee, entry.assignee.as_deref());
        facts.text(Label::DueDate, entry.due_date.as_deref());
        plain((&entry.id, &entry.code, &entry.text), None, facts, &entry.sources)
    }

    fn decision(self, entry: &'a DecisionEntry) -> OutlineEntry<'a> {
        let facts = FactList(self.words, Vec::new());
        plain((&entry.id, &entry.code, &entry.text), None, facts, &entry.sources)
    }

    fn linked(self, ids: impl IntoIterator<Item = &'a String>) -> Vec<(&'a str, Option<String>)> {
        ids.into_iter().map(|id| (self.codes.code(id), self.codes.has(id).then(|| anchor(id)))).collect()
    }
}

fn plain<'a>(
    (id, code, title): (&str, &'a str, &'a str),
    text: Option<&'a str>,
    facts: FactList<'a>,
    sources: &'a [SourceEntry],
) -> OutlineEntry<'a> {
    OutlineEntry { anchor: anchor(id), code, title, text, facts: facts.1, criteria: &[], sources }
}

fn some_text(text: &str) -> Option<&str> {
    (!text.trim().is_empty()).then_some(text)
}

/// Collects the facts that have a value.
struct FactList<'a>(Words, Vec<(Label, OutlineFact<'a>)>);

impl<'a> FactList<'a> {
    fn text(&mut self, label: Label, text: Option<&'a str>) {
        if let Some(text) = text.and_then(some_text) {
            self.1.push((label, OutlineFact::Text(text.into())));
        }
    }

    fn term(&mut self, label: Label, set: TermSet, word: &'a str) {
        self.text(label, Some(self.0.term(set, word)));
    }

    fn share(&mut self, label: Label, share: f64) {
        if share.is_finite() {
            self.1.push((label, OutlineFact::Text(format!("{:.0} %", share * 100.0).into())));
        }
    }

    fn suspect(&mut self, suspect: bool) {
        if suspect {
            self.text(Label::Suspect, Some(self.0.label(Label::SuspectNote)));
        }
    }

    fn quality(&mut self, notes: &[QualityNote]) {
        if !notes.is_empty() {
            let lines = notes.iter().map(|note| quality_line(self.0, note)).collect();
            self.1.push((Label::QualityIssues, OutlineFact::Lines(lines)));
        }
    }

    fn codes(&mut self, label: Label, codes: Vec<(&'a str, Option<String>)>) {
        if !codes.is_empty() {
            self.1.push((label, OutlineFact::Codes(codes)));
        }
    }

    fn revision(&mut self, version: i64, source: &str) {
        let source = self.0.term(TermSet::RevisionSource, source);
        self.1.push((Label::Version, OutlineFact::Text(format!("{version} ({source})").into())));
    }
}
