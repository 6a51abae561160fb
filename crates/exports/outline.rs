//! A specification as a document: chapters of groups of sections of entries. Word processors, pages, Markdown and PDF show the same one.
//!
//! Each statement stands in it once: a title that was only made of the statement is left out, and a quote is shown where its words are
//! not said anywhere else. What is empty, says nothing, or is for machines (ids, versions, confidence) is left out too.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::references::{RequirementCodes, anchor, quality_line, time_span};
use crate::said::{is_made_of, is_said_by, said};
use crate::specification::{
    ActionItemEntry, CriterionEntry, DecisionEntry, OpenQuestionEntry, QualityNote, RequirementEntry, RiskEntry,
    SourceEntry, Specification, UserStoryEntry,
};
use crate::text::clean_line;
use crate::words::{Label, TermSet, Words};

/// All items of a kind.
#[derive(Debug)]
pub struct OutlineChapter<'a> {
    pub label: Label,
    pub anchor: &'static str,
    /// One without a title where the kind is not grouped.
    pub groups: Vec<OutlineGroup<'a>>,
}

/// The items of a chapter that are of one type or category.
#[derive(Debug)]
pub struct OutlineGroup<'a> {
    pub title: Option<&'static str>,
    pub anchor: String,
    pub sections: Vec<OutlineSection<'a>>,
}

/// The items of a group whose first sources stand below the same headings.
#[derive(Debug)]
pub struct OutlineSection<'a> {
    pub title: Option<&'a str>,
    pub items: Vec<OutlineItem<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub enum OutlineItem<'a> {
    Requirement(&'a RequirementEntry),
    UserStory(&'a UserStoryEntry),
    Risk(&'a RiskEntry),
    OpenQuestion(&'a OpenQuestionEntry),
    ActionItem(&'a ActionItemEntry),
    Decision(&'a DecisionEntry),
}

/// An item as it is shown.
#[derive(Debug)]
pub struct OutlineEntry<'a> {
    pub anchor: String,
    pub code: &'a str,
    /// None where it would only repeat the text.
    pub title: Option<&'a str>,
    pub text: Option<&'a str>,
    /// Short ones, which fit into one line together.
    pub facts: Vec<(Label, OutlineFact<'a>)>,
    /// Texts of their own.
    pub remarks: Vec<(Label, Cow<'a, str>)>,
    pub criteria: Vec<OutlineCriterion<'a>>,
    pub sources: Vec<OutlineSource<'a>>,
}

#[derive(Debug)]
pub enum OutlineFact<'a> {
    Text(Cow<'a, str>),
    /// Codes of requirements that are in the document, with their anchors.
    Codes(Vec<(&'a str, String)>),
}

#[derive(Debug)]
pub struct OutlineCriterion<'a> {
    pub code: &'a str,
    pub text: &'a str,
    /// Given, when, then; none of them where the text says them all.
    pub steps: Vec<(Label, &'a str)>,
}

/// Where an item comes from, as a short note.
#[derive(Debug)]
pub struct OutlineSource<'a> {
    /// `Interview.docx`, `Page 3` or `Kick-off`, `7:05–7:40`, `Ada`: each in one line.
    pub place: Vec<String>,
    /// Where its words are said nowhere else.
    pub quote: Option<&'a str>,
}

impl OutlineEntry<'_> {
    /// Whether it is no more than its title and its text.
    pub fn is_bare(&self) -> bool {
        self.facts.is_empty() && self.remarks.is_empty() && self.criteria.is_empty() && self.sources.is_empty()
    }
}

/// The lists of the summary, without the empty ones.
pub fn summary_lists(specification: &Specification) -> impl Iterator<Item = (Label, &[String])> {
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

pub fn has_summary(specification: &Specification) -> bool {
    !specification.summary.text.trim().is_empty() || summary_lists(specification).next().is_some()
}

/// What stands below the title: the day, who exported it, and which items it has. For people: no ids and no times.
pub fn cover(specification: &Specification, words: Words) -> Vec<(Label, String)> {
    let day = words.day(&specification.as_of).unwrap_or_default();
    let lines = [
        (Label::AsOf, day),
        (Label::ExportedBy, clean_line(&specification.exported_by)),
        (Label::Contains, selection_line(specification, words)),
    ];
    lines.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// `Approved items`, with a note where filters left more of them out.
pub(crate) fn selection_line(specification: &Specification, words: Words) -> String {
    let selection = &specification.selection;
    let items = clean_line(words.term(TermSet::Selection, &selection.items));
    match (items.is_empty(), selection.is_filtered) {
        (_, false) => items,
        (true, true) => words.label(Label::Filtered).to_owned(),
        (false, true) => format!("{items} ({})", words.label(Label::Filtered)),
    }
}

/// The chapters that have items, in the order in which they are shown.
pub fn chapters(specification: &Specification, words: Words) -> Vec<OutlineChapter<'_>> {
    let Specification { user_stories, risks, open_questions, action_items, decisions, .. } = specification;
    let chapters = [
        OutlineChapter {
            label: Label::Requirements,
            anchor: "requirements",
            groups: requirement_groups(&specification.requirements, words),
        },
        OutlineChapter::plain(Label::UserStories, "user-stories", user_stories.iter().map(OutlineItem::UserStory)),
        OutlineChapter::plain(Label::Risks, "risks", risks.iter().map(OutlineItem::Risk)),
        OutlineChapter::plain(
            Label::OpenQuestions,
            "open-questions",
            open_questions.iter().map(OutlineItem::OpenQuestion),
        ),
        OutlineChapter::plain(Label::ActionItems, "action-items", action_items.iter().map(OutlineItem::ActionItem)),
        OutlineChapter::plain(Label::Decisions, "decisions", decisions.iter().map(OutlineItem::Decision)),
    ];
    chapters.into_iter().filter(|chapter| chapter.has_items()).collect()
}

impl<'a> OutlineChapter<'a> {
    /// A chapter of one group.
    fn plain(label: Label, anchor: &'static str, items: impl Iterator<Item = OutlineItem<'a>>) -> Self {
        let sections = vec![OutlineSection { title: None, items: items.collect() }];
        Self { label, anchor, groups: vec![OutlineGroup { title: None, anchor: format!("{anchor}-all"), sections }] }
    }

    fn has_items(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.sections).any(|section| !section.items.is_empty())
    }
}

/// Functional ones first, then each quality, then the other types.
fn requirement_groups(requirements: &[RequirementEntry], words: Words) -> Vec<OutlineGroup<'_>> {
    let qualities = TermSet::Category.rows().iter().map(|(word, _)| RequirementGroup::Quality(word));
    let order = [RequirementGroup::Type("FUNCTIONAL", Label::FunctionalRequirements)]
        .into_iter()
        .chain(qualities)
        .chain(LATER_GROUPS);
    let mut groups: Vec<(RequirementGroup, Vec<&RequirementEntry>)> = order.map(|group| (group, Vec::new())).collect();
    for entry in requirements {
        let own = RequirementGroup::of(entry);
        if let Some((_, entries)) = groups.iter_mut().find(|(group, _)| *group == own) {
            entries.push(entry);
        }
    }
    let found = groups.into_iter().filter(|(_, entries)| !entries.is_empty());
    let found = found.zip(1..).map(|((group, entries), number)| OutlineGroup {
        title: Some(group.title(words)),
        anchor: format!("requirements-{number}"),
        sections: by_section(entries),
    });
    found.collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequirementGroup {
    /// A type, and how its requirements are called together.
    Type(&'static str, Label),
    /// A category of the non-functional ones.
    Quality(&'static str),
    Other,
}

const LATER_GROUPS: [RequirementGroup; 4] = [
    RequirementGroup::Type("NON_FUNCTIONAL", Label::QualityRequirements),
    RequirementGroup::Type("BUSINESS", Label::BusinessRequirements),
    RequirementGroup::Type("CONSTRAINT", Label::Constraints),
    RequirementGroup::Other,
];

impl RequirementGroup {
    fn of(entry: &RequirementEntry) -> Self {
        let category = entry.category.as_deref().and_then(|category| TermSet::Category.known(category));
        match (entry.kind.as_str(), category) {
            ("FUNCTIONAL", _) => Self::Type("FUNCTIONAL", Label::FunctionalRequirements),
            ("NON_FUNCTIONAL", Some(category)) => Self::Quality(category),
            (kind, _) => LATER_GROUPS
                .into_iter()
                .find(|group| matches!(group, Self::Type(known, _) if *known == kind))
                .unwrap_or(Self::Other),
        }
    }

    fn title(self, words: Words) -> &'static str {
        match self {
            Self::Type(_, label) => words.label(label),
            Self::Quality(category) => words.fixed_term(TermSet::Category, category),
            Self::Other => words.label(Label::OtherRequirements),
        }
    }
}

/// In the order in which the sections are met; those without one come first.
fn by_section(entries: Vec<&RequirementEntry>) -> Vec<OutlineSection<'_>> {
    let mut sections = vec![OutlineSection { title: None, items: Vec::new() }];
    let mut places = std::collections::HashMap::from([(None, 0)]);
    for entry in entries {
        let section = entry.sources.first().and_then(|source| source.section.as_deref()).and_then(some_text);
        let place = *places.entry(section).or_insert_with(|| {
            sections.push(OutlineSection { title: section, items: Vec::new() });
            sections.len() - 1
        });
        if let Some(section) = sections.get_mut(place) {
            section.items.push(OutlineItem::Requirement(entry));
        }
    }
    sections.retain(|section| !section.items.is_empty());
    sections
}

/// Turns items into entries, in the order in which they are shown: what was said already is not said again.
#[derive(Debug)]
pub struct EntryView<'a> {
    words: Words,
    codes: &'a RequirementCodes<'a>,
    /// Whether items differ in their status, so that each has to say its own.
    shows_status: bool,
    /// The texts of all items, and the quotes that were shown.
    said: HashSet<String>,
}

impl<'a> EntryView<'a> {
    pub fn new(specification: &'a Specification, words: Words, codes: &'a RequirementCodes<'a>) -> Self {
        let Specification { requirements, user_stories, risks, open_questions, action_items, decisions, .. } =
            specification;
        let statuses: HashSet<&str> = requirements
            .iter()
            .map(|entry| entry.workflow_status.as_str())
            .chain(user_stories.iter().map(|entry| entry.workflow_status.as_str()))
            .collect();
        let texts = requirements
            .iter()
            .map(|entry| entry.statement.as_str())
            .chain(user_stories.iter().map(|entry| entry.description.as_str()))
            .chain(risks.iter().map(|entry| entry.description.as_str()))
            .chain(open_questions.iter().map(|entry| entry.question.as_str()))
            .chain(action_items.iter().map(|entry| entry.text.as_str()))
            .chain(decisions.iter().map(|entry| entry.text.as_str()));
        Self { words, codes, shows_status: statuses.len() > 1, said: texts.map(said).collect() }
    }

    pub fn entry(&mut self, item: OutlineItem<'a>) -> OutlineEntry<'a> {
        match item {
            OutlineItem::Requirement(entry) => self.requirement(entry),
            OutlineItem::UserStory(entry) => self.user_story(entry),
            OutlineItem::Risk(entry) => self.risk(entry),
            OutlineItem::OpenQuestion(entry) => self.open_question(entry),
            OutlineItem::ActionItem(entry) => self.action_item(entry),
            OutlineItem::Decision(entry) => self.decision(entry),
        }
    }

    fn requirement(&mut self, entry: &'a RequirementEntry) -> OutlineEntry<'a> {
        let mut shown = ShownEntry::of((&entry.id, &entry.code), &entry.title, &entry.statement);
        // The group says the category of the others.
        let category = entry.category.as_deref().filter(|_| entry.kind != "NON_FUNCTIONAL");
        let category = category.filter(|category| *category != "FUNCTIONAL_SUITABILITY");
        shown.fact(Label::Category, self.words.term(TermSet::Category, category.unwrap_or_default()));
        self.priority(&mut shown, &entry.priority);
        self.status(&mut shown, &entry.workflow_status);
        self.links(&mut shown, Label::DuplicateOf, entry.duplicate_of.as_slice());
        self.links(&mut shown, Label::ConflictsWith, &entry.conflicts_with);
        self.suspect(&mut shown, entry.suspect);
        self.quality(&mut shown, &entry.workflow_status, &entry.quality_issues);
        self.finished(shown, &entry.sources)
    }

    fn user_story(&mut self, entry: &'a UserStoryEntry) -> OutlineEntry<'a> {
        let mut shown = ShownEntry::of((&entry.id, &entry.code), &entry.title, &entry.description);
        self.links(&mut shown, Label::Requirements, &entry.requirement_ids);
        self.priority(&mut shown, &entry.priority);
        self.status(&mut shown, &entry.workflow_status);
        let issue =
            [&entry.tracker_key, &entry.tracker_url].into_iter().find_map(|one| one.as_deref().and_then(some_text));
        shown.fact(Label::TrackerIssue, issue.unwrap_or_default());
        shown.remark(Label::Role, entry.role.as_deref());
        shown.remark(Label::Goal, Some(&entry.goal));
        shown.remark(Label::Benefit, entry.benefit.as_deref());
        self.suspect(&mut shown, entry.suspect);
        self.quality(&mut shown, &entry.workflow_status, &entry.quality_issues);
        shown.entry.criteria = entry.acceptance_criteria.iter().map(criterion).collect();
        self.finished(shown, &entry.sources)
    }

    fn risk(&mut self, entry: &'a RiskEntry) -> OutlineEntry<'a> {
        let mut shown = ShownEntry::of((&entry.id, &entry.code), &entry.title, &entry.description);
        shown.fact(Label::Severity, self.words.term(TermSet::Severity, &entry.severity));
        shown.fact(Label::Likelihood, self.words.term(TermSet::Severity, &entry.likelihood));
        shown.remark(Label::Mitigation, entry.mitigation.as_deref());
        self.finished(shown, &entry.sources)
    }

    fn open_question(&mut self, entry: &'a OpenQuestionEntry) -> OutlineEntry<'a> {
        let mut shown = ShownEntry::of((&entry.id, &entry.code), "", &entry.question);
        shown.fact(Label::RaisedBy, entry.raised_by.as_deref().unwrap_or_default());
        shown.remark(Label::Why, Some(&entry.why));
        self.finished(shown, &entry.sources)
    }

    fn action_item(&mut self, entry: &'a ActionItemEntry) -> OutlineEntry<'a> {
        let mut shown = ShownEntry::of((&entry.id, &entry.code), "", &entry.text);
        shown.fact(Label::Assignee, entry.assignee.as_deref().unwrap_or_default());
        let due = entry.due_date.as_deref().unwrap_or_default();
        shown.fact(Label::DueDate, self.words.day(due).map_or(Cow::Borrowed(due), Cow::Owned));
        self.finished(shown, &entry.sources)
    }

    fn decision(&mut self, entry: &'a DecisionEntry) -> OutlineEntry<'a> {
        let shown = ShownEntry::of((&entry.id, &entry.code), "", &entry.text);
        self.finished(shown, &entry.sources)
    }

    fn priority(&self, shown: &mut ShownEntry<'a>, priority: &'a str) {
        if priority != "UNKNOWN" {
            shown.fact(Label::Priority, self.words.term(TermSet::Priority, priority));
        }
    }

    fn status(&self, shown: &mut ShownEntry<'a>, status: &'a str) {
        if self.shows_status {
            shown.fact(Label::Status, self.words.term(TermSet::WorkflowStatus, status));
        }
    }

    /// Those that the document has: the others have no code here.
    fn links(&self, shown: &mut ShownEntry<'a>, label: Label, ids: &'a [String]) {
        let known = ids.iter().filter(|id| self.codes.has(id));
        let codes: Vec<(&str, String)> = known.map(|id| (self.codes.code(id), anchor(id))).collect();
        if !codes.is_empty() {
            shown.entry.facts.push((label, OutlineFact::Codes(codes)));
        }
    }

    fn suspect(&self, shown: &mut ShownEntry<'a>, suspect: bool) {
        if suspect {
            shown.entry.remarks.push((Label::Suspect, self.words.label(Label::SuspectNote).into()));
        }
    }

    /// For those who review it: who approved it has seen them.
    fn quality(&self, shown: &mut ShownEntry<'a>, status: &str, notes: &[QualityNote]) {
        if status != "APPROVED" && !notes.is_empty() {
            let lines: Vec<String> = notes.iter().map(|note| quality_line(self.words, note)).collect();
            shown.entry.remarks.push((Label::QualityIssues, lines.join("\n").into()));
        }
    }

    fn finished(&mut self, shown: ShownEntry<'a>, sources: &'a [SourceEntry]) -> OutlineEntry<'a> {
        let ShownEntry { own, mut entry } = shown;
        let mut notes: HashSet<Vec<String>> = HashSet::new();
        for source in sources {
            let place = place(self.words, source);
            let quote = some_text(&source.quote).filter(|quote| {
                let quote = said(quote);
                !is_said_by(&quote, &own) && self.said.insert(quote)
            });
            // Two places in the same line of a document need one note.
            if notes.insert(place.clone()) || quote.is_some() {
                entry.sources.push(OutlineSource { place, quote });
            }
        }
        entry
    }
}

/// An entry that is being made.
struct ShownEntry<'a> {
    /// Its text, as [`said`].
    own: String,
    entry: OutlineEntry<'a>,
}

impl<'a> ShownEntry<'a> {
    fn of((id, code): (&str, &'a str), title: &'a str, text: &'a str) -> Self {
        let (own_title, own_text) = (some_text(title), some_text(text));
        let entry = OutlineEntry {
            anchor: anchor(id),
            code,
            title: own_title.filter(|title| own_text.is_none_or(|text| !is_made_of(title, text))),
            text: own_text,
            facts: Vec::new(),
            remarks: Vec::new(),
            criteria: Vec::new(),
            sources: Vec::new(),
        };
        Self { own: said(own_text.or(own_title).unwrap_or_default()), entry }
    }

    fn fact(&mut self, label: Label, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.entry.facts.push((label, OutlineFact::Text(text)));
        }
    }

    /// Nothing where the text of the item says it.
    fn remark(&mut self, label: Label, text: Option<&'a str>) {
        if let Some(text) = text.and_then(some_text).filter(|text| !self.own.contains(&said(text))) {
            self.entry.remarks.push((label, text.into()));
        }
    }
}

fn criterion(entry: &CriterionEntry) -> OutlineCriterion<'_> {
    let steps = [(Label::Given, &entry.given), (Label::When, &entry.when), (Label::Then, &entry.then)];
    let mut steps: Vec<(Label, &str)> =
        steps.into_iter().filter_map(|(label, step)| Some((label, some_text(step.as_deref()?)?))).collect();
    let text = said(&entry.text);
    if steps.iter().all(|(_, step)| text.contains(&said(step))) {
        steps.clear();
    }
    OutlineCriterion { code: &entry.code, text: &entry.text, steps }
}

/// The name of the source, its page or section, and when who said it.
fn place(words: Words, source: &SourceEntry) -> Vec<String> {
    let name = match clean_line(&source.name) {
        name if name.is_empty() => words.term(TermSet::SourceKind, &source.kind).to_owned(),
        name => name,
    };
    let section = || source.section.as_deref().map(clean_line);
    let page = source.page.map(|page| format!("{} {page}", words.label(Label::Page)));
    let parts = [Some(name), page.or_else(section), time_span(source), source.speaker.as_deref().map(clean_line)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
}

fn some_text(text: &str) -> Option<&str> {
    (!text.trim().is_empty()).then_some(text)
}
