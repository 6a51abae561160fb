//! Prints the dashboard on a terminal: counts, and the most important items of each kind with their quotes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use api_client::answer::DocumentAnswer;
use colloquy::analysis::dashboard::model::ResultsDashboard;
use colloquy::analysis::items::model::{Requirement, SourceReference, UserStory};
use console::Style;
use pipeline::result::{Priority, Severity};

use super::page::{Screen, accent, bold, counted, dim, good, grouped, plain, shortened, time, warning};
use super::recorded::RecordedMeeting;

/// The column at which texts begin beside their codes.
const COLUMN: usize = 11;
/// How many items of each kind are shown.
const REQUIREMENTS: usize = 10;
const OTHERS: usize = 4;
/// The longest quote, in characters, that is shown in full.
const QUOTE: usize = 300;

/// Prints the results of a run; `documents` and the recorded meeting supply the names of the sources.
pub fn print(
    page: &Screen,
    found: &ResultsDashboard,
    documents: &[DocumentAnswer],
    recorded: Option<&RecordedMeeting>,
) {
    let recordings = recorded.map(|meeting| (meeting.recording_id.as_str(), meeting.title.as_str()));
    let documents = documents.iter().map(|document| (document.id.as_str(), document.file_name.as_str()));
    let names = documents.chain(recordings).collect();
    let shown = Shown { page, found, names };
    shown.counts();
    shown.requirements();
    shown.stories();
    shown.risks();
    shown.questions();
    shown.actions();
    shown.decisions();
    if recorded.is_some() {
        shown.said();
    }
}

struct Shown<'a> {
    page: &'a Screen,
    found: &'a ResultsDashboard,
    names: HashMap<&'a str, &'a str>,
}

impl Shown<'_> {
    fn counts(&self) {
        let (metrics, quality) = (&self.found.metrics, &self.found.quality);
        self.page.heading("Results", "");
        let rows = [
            (self.found.requirements.len(), ["requirement", "requirements"], counts_by(&metrics.by_type)),
            (0, ["", ""], format!("priority: {}", counts_by(&metrics.by_priority))),
            (
                self.found.user_stories.len(),
                ["user story", "user stories"],
                counted(metrics.acceptance_criteria as usize, "acceptance criterion", "acceptance criteria"),
            ),
            (self.found.risks.len(), ["risk", "risks"], String::new()),
            (self.found.open_questions.len(), ["open question", "open questions"], String::new()),
            (self.found.action_items.len(), ["action item", "action items"], String::new()),
            (self.found.decisions.len(), ["decision", "decisions"], String::new()),
        ];
        for (count, [one, many], aside) in rows {
            let what = if count == 1 { one } else { many };
            let count = if what.is_empty() { String::new() } else { grouped(count) };
            let aside = dim().apply_to(shortened(&aside, self.page.width.saturating_sub(27)));
            self.page.line(format!("  {}  {what:16} {aside}", bold().apply_to(format!("{count:>5}"))).trim_end());
        }
        let talk =
            if metrics.minutes > 0 { format!(" and {} minutes of speech", metrics.minutes) } else { String::new() };
        let text = format!(
            "{} words{talk} in {}, analysed in {:.1} s; {} of {} requirements have no quality issue, {} duplicates \
             were merged, {} pairs conflict.",
            grouped(usize::try_from(metrics.words).unwrap_or(usize::MAX)),
            counted(metrics.sources as usize, "source", "sources"),
            metrics.processing_ms as f64 / 1000.0,
            self.found.requirements.iter().filter(|one| one.quality_issues.is_empty()).count(),
            self.found.requirements.len(),
            quality.duplicates,
            quality.conflicts,
        );
        self.page.line("");
        self.page.text(2, &text, &dim());
    }

    fn requirements(&self) {
        let best = best_of_each_source(&self.found.requirements);
        self.list("Requirements", self.found.requirements.len(), "the most important of each source", &best, |one| {
            let category =
                one.category.map(|category| format!(", {}", readable(category.into_str()))).unwrap_or_default();
            let kind = format!("{}{category}", readable(one.kind.into_str()));
            self.item(&one.code, &one.statement, &one.sources);
            self.tags(&kind, one.priority);
        });
    }

    fn stories(&self) {
        let mut stories: Vec<&UserStory> = self.found.user_stories.iter().collect();
        stories.sort_by_key(|story| (weight(story.priority), story.benefit.is_none(), story.role.is_none()));
        stories.truncate(OTHERS);
        self.list("User stories", self.found.user_stories.len(), "the most important", &stories, |story| {
            self.item(&story.code, &story.description, &story.sources);
            let quote = story.sources.first().map_or("", |source| source.quote.as_str());
            for criterion in story.acceptance_criteria.iter().filter(|one| !is_same_text(&one.text, quote)).take(2) {
                let text = format!("{}  {}", criterion.code, criterion.text);
                self.page.text(COLUMN, &text, &plain());
            }
        });
    }

    fn risks(&self) {
        let mut risks: Vec<_> = self.found.risks.iter().collect();
        risks.sort_by_key(|risk| Reverse((severity(risk.severity), severity(risk.likelihood))));
        risks.truncate(OTHERS);
        self.list("Risks", self.found.risks.len(), "the most severe", &risks, |risk| {
            self.item(&risk.code, &risk.description, &risk.sources);
            let tags = format!("severity {}, likelihood {}", risk.severity.into_str(), risk.likelihood.into_str());
            self.page.text(COLUMN, &tags.to_lowercase(), &warning());
        });
    }

    fn questions(&self) {
        let questions: Vec<_> = self.found.open_questions.iter().take(OTHERS).collect();
        self.list("Open questions", self.found.open_questions.len(), "the first", &questions, |one| {
            self.item(&one.code, &one.question, &one.sources);
        });
    }

    fn actions(&self) {
        let actions: Vec<_> = self.found.action_items.iter().take(OTHERS).collect();
        self.list("Action items", self.found.action_items.len(), "the first", &actions, |one| {
            self.item(&one.code, &one.text, &one.sources);
            let who = one.assignee.as_deref().unwrap_or("no assignee");
            let when = one.due_date.as_deref().map(|date| format!(", by {date}")).unwrap_or_default();
            self.page.text(COLUMN, &format!("→ {who}{when}"), &good());
        });
    }

    fn decisions(&self) {
        let decisions: Vec<_> = self.found.decisions.iter().take(OTHERS).collect();
        self.list("Decisions", self.found.decisions.len(), "the first", &decisions, |one| {
            self.item(&one.code, &one.text, &one.sources);
        });
    }

    /// All items from the recorded meeting, in the order in which they were said; user stories repeat requirements.
    fn said(&self) {
        let found = self.found;
        let mut said: Vec<(&str, &str, &[SourceReference])> = Vec::new();
        macro_rules! take {
            ($($list:ident: $text:ident),*) => {$(
                said.extend(found.$list.iter().map(|one| (one.code.as_str(), one.$text.as_str(), one.sources.as_slice())));
            )*};
        }
        take!(requirements: statement, risks: description, open_questions: question, action_items: text, decisions: text);
        let spoken = |(code, text, sources): (_, _, &[SourceReference])| {
            Some((code, text, sources.iter().find(|source| source.recording_id.is_some())?.clone()))
        };
        let mut said: Vec<(&str, &str, SourceReference)> = said.into_iter().filter_map(spoken).collect();
        said.sort_by_key(|(_, _, source)| source.start_ms);
        self.list("Said in the recorded meeting", said.len(), "", &said, |(code, text, source)| {
            self.item(code, text, std::slice::from_ref(source));
        });
    }

    fn list<T>(&self, name: &str, all: usize, which: &str, shown: &[T], print: impl Fn(&T)) {
        let aside = match (all, shown.len()) {
            (0, _) => "none found".to_owned(),
            (all, shown) if all == shown => all.to_string(),
            (all, shown) => format!("{shown} of {}: {which}", grouped(all)),
        };
        self.page.heading(name, &aside);
        for one in shown {
            self.page.line("");
            print(one);
        }
    }

    /// Prints an item's code and text, then its quote, unless that is the same as the text, and the place of the quote.
    fn item(&self, code: &str, text: &str, sources: &[SourceReference]) {
        let Some(source) = sources.first() else {
            return self.page.labelled(code, &accent(), COLUMN, text, &bold());
        };
        let quoted = shortened(&source.quote, QUOTE);
        if is_same_text(text, &source.quote) {
            self.page.labelled(code, &accent(), COLUMN, &format!("“{quoted}”"), &bold());
        } else {
            self.page.labelled(code, &accent(), COLUMN, text, &bold());
            self.page.text(COLUMN, &format!("“{quoted}”"), &plain().italic());
        }
        let mut place = self.place(source);
        let others: Vec<_> = sources.iter().skip(1).map(|other| self.name_of(other)).collect();
        if !others.is_empty() {
            let mut distinct = others;
            distinct.dedup();
            place.push_str(&format!("; also in {}", distinct.join(", ")));
        }
        self.page.text(COLUMN, &place, &dim());
    }

    fn tags(&self, kind: &str, priority: Priority) {
        let style: Style = match priority {
            Priority::Critical | Priority::High => warning(),
            _ => plain(),
        };
        let priority = format!("{} priority", priority.into_str().to_lowercase());
        self.page.line(&format!("{:COLUMN$}{kind} · {}", "", style.apply_to(priority)));
    }

    fn name_of(&self, source: &SourceReference) -> String {
        let id = source.document_id.or(source.recording_id).map(|id| id.to_string()).unwrap_or_default();
        self.names.get(id.as_str()).map_or("a recording", |name| *name).to_owned()
    }

    /// Formats a source's place: document, page and section, then time and speaker.
    fn place(&self, source: &SourceReference) -> String {
        let mut place = self.name_of(source);
        if let Some(page) = source.page {
            place.push_str(&format!(", page {page}"));
        }
        if let Some(section) = &source.section {
            place.push_str(&format!(", {section}"));
        }
        if let Some(start_ms) = source.start_ms {
            place.push_str(&format!(", {}", time(start_ms)));
        }
        if let Some(speaker) = &source.speaker {
            place.push_str(&format!(", {speaker}"));
        }
        place
    }
}

/// Returns whether a text equals its quote apart from punctuation, case and a leading number.
fn is_same_text(text: &str, quote: &str) -> bool {
    let alphanumeric = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    let (text, quote) = (alphanumeric(text), alphanumeric(quote));
    quote.strip_suffix(&text).is_some_and(|before| before.chars().all(|c| c.is_ascii_digit()))
}

/// Formats counts, the largest first, such as `106 high · 19 unknown`.
fn counts_by<K: Copy + Into<&'static str>>(counts: &BTreeMap<K, u32>) -> String {
    let mut counts: Vec<_> = counts.iter().filter(|(_, count)| **count > 0).collect();
    counts.sort_by_key(|(_, count)| Reverse(**count));
    let one = |(&name, count): (&K, &u32)| format!("{count} {}", readable(name.into()));
    counts.into_iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// Returns the most important requirements, picked from the sources in turn, ordered by code.
fn best_of_each_source(requirements: &[Requirement]) -> Vec<&Requirement> {
    let mut by_source: Vec<(Option<String>, Vec<&Requirement>)> = Vec::new();
    for one in requirements.iter().filter(|one| one.duplicate_of.is_none()) {
        let source = one.sources.first().and_then(|source| source.document_id).map(|id| id.to_string());
        match by_source.iter_mut().find(|(known, _)| *known == source) {
            Some((_, its)) => its.push(one),
            None => by_source.push((source, vec![one])),
        }
    }
    for (_, its) in &mut by_source {
        its.sort_by(|a, b| weight(a.priority).cmp(&weight(b.priority)).then(b.confidence.total_cmp(&a.confidence)));
    }
    let longest = by_source.iter().map(|(_, its)| its.len()).max().unwrap_or_default();
    let in_turn = (0..longest).flat_map(|rank| by_source.iter().filter_map(move |(_, its)| its.get(rank).copied()));
    let mut best: Vec<_> = in_turn.take(REQUIREMENTS).collect();
    best.sort_by(|a, b| a.code.cmp(&b.code));
    best
}

/// Ranks priorities; the highest has the lowest rank.
fn weight(priority: Priority) -> u8 {
    match priority {
        Priority::Critical => 0,
        Priority::High => 1,
        Priority::Medium => 2,
        Priority::Low => 3,
        Priority::Unknown => 4,
    }
}

fn severity(severity: Severity) -> u8 {
    match severity {
        Severity::Low => 0,
        Severity::Medium => 1,
        Severity::High => 2,
        Severity::Critical => 3,
    }
}

/// Formats `NON_FUNCTIONAL` as `non-functional`.
fn readable(name: &str) -> String {
    name.to_lowercase().replace("non_", "non-").replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::is_same_text;

    #[test]
    fn a_text_that_is_its_quote_is_not_shown_twice() {
        assert!(is_same_text("Who pays?", "3. Who pays?"));
        assert!(is_same_text("The system must  hold.", "The system\nmust hold"));
        assert!(!is_same_text("Who pays?", "We ask: who pays?"));
        assert!(!is_same_text("As a nurse, I want rest.", "Nurses want rest."));
    }
}
