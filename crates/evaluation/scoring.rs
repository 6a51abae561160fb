//! Compares the result of a run with the marks of its documents.
//!
//! An item meets a mark of its kind if one of its quotes shares at least half of the shorter one's characters with it.
//! An item of several quotes may meet several marks, as duplicates do that were merged.

use std::collections::{BTreeMap, BTreeSet};

use pipeline::engine::FindingKind;
use pipeline::result::{Citation, PipelineResult};

use super::corpus::MarkedProject;
use super::marked::{MarkLabel, SourceMark};
use super::reliability::ConfidenceClaim;
use super::tally::MatchTally;

/// The kinds of items that are counted.
pub const KINDS: [FindingKind; 5] = [
    FindingKind::Requirement,
    FindingKind::ActionItem,
    FindingKind::Decision,
    FindingKind::OpenQuestion,
    FindingKind::Risk,
];

/// The counts of one document.
#[derive(Debug, Clone, Default)]
pub struct DocumentScore {
    pub name: String,
    /// As the reader detected it.
    pub language: Option<String>,
    pub is_transcript: bool,
    pub items: BTreeMap<FindingKind, MatchTally>,
    /// What is claimed of the requirements that were found. Other items of a result claim nothing.
    pub claims: Vec<ConfidenceClaim>,
    /// Of the requirements that were found: whether the type, and of quality requirements the category, is right.
    pub types: MatchTally,
    pub categories: MatchTally,
    /// Of the action items that were found: whether assignee and date are right, where there is one.
    pub assignees: MatchTally,
    pub due_dates: MatchTally,
    /// Written stories: found at all, and with role, goal and benefit as written.
    pub stories: MatchTally,
    pub story_parts: MatchTally,
    pub orders: u32,
    /// Orders to a machine that became an item or a part of the summary.
    pub surfaced: u32,
    /// What was missed and what was wrong, for who improves the rules. Of sealed documents it is not shown.
    pub faults: Vec<String>,
}

/// The counts of one project.
#[derive(Debug, Clone, Default)]
pub struct ProjectScore {
    pub documents: Vec<DocumentScore>,
    pub duplicates: MatchTally,
    pub conflicts: MatchTally,
    pub faults: Vec<String>,
}

/// A mark with the document that it is in.
type MarkPlace = (usize, usize);

struct MetItem<'a> {
    text: &'a str,
    sources: &'a [Citation],
    /// The marks of the item's kind that it meets.
    met: Vec<MarkPlace>,
}

/// Compares a result with the marks. The source ids of the run are the positions of the documents in the project.
#[must_use]
pub fn score(project: &MarkedProject, result: &PipelineResult) -> ProjectScore {
    let mut score = ProjectScore::default();
    for document in &project.documents {
        score.documents.push(DocumentScore {
            name: document.name.clone(),
            language: document.text.source.language.clone(),
            is_transcript: document.is_transcript,
            ..DocumentScore::default()
        });
    }
    let mut requirements = Vec::new();
    for kind in KINDS {
        let found = found(project, result, kind);
        count_items(project, kind, &found, &mut score.documents);
        if kind == FindingKind::Requirement {
            requirements = found.into_iter().map(|item| item.met).collect();
        }
    }
    note_claims(result, &requirements, &mut score.documents);
    count_types(project, result, &requirements, &mut score.documents);
    count_actions(project, result, &mut score.documents);
    count_stories(project, result, &mut score.documents);
    count_orders(project, result, &mut score.documents);
    count_pairs(project, result, &requirements, &mut score);
    score
}

fn is_of(label: MarkLabel, kind: FindingKind) -> bool {
    match kind {
        FindingKind::Requirement => label.requirement().is_some(),
        FindingKind::ActionItem => label == MarkLabel::Action,
        FindingKind::Decision => label == MarkLabel::Decision,
        FindingKind::OpenQuestion => label == MarkLabel::Question,
        FindingKind::Risk => label == MarkLabel::Risk,
    }
}

fn found<'a>(project: &MarkedProject, result: &'a PipelineResult, kind: FindingKind) -> Vec<MetItem<'a>> {
    let items: Vec<(&str, &[Citation])> = match kind {
        FindingKind::Requirement => {
            result.requirements.iter().map(|item| (item.statement.as_str(), item.sources.as_slice())).collect()
        }
        FindingKind::ActionItem => {
            result.action_items.iter().map(|item| (item.text.as_str(), item.sources.as_slice())).collect()
        }
        FindingKind::Decision => {
            result.decisions.iter().map(|item| (item.text.as_str(), item.sources.as_slice())).collect()
        }
        FindingKind::OpenQuestion => {
            result.open_questions.iter().map(|item| (item.question.as_str(), item.sources.as_slice())).collect()
        }
        FindingKind::Risk => {
            result.risks.iter().map(|item| (item.description.as_str(), item.sources.as_slice())).collect()
        }
    };
    let met = |sources: &[Citation]| met(project, sources, |label| is_of(label, kind));
    items.into_iter().map(|(text, sources)| MetItem { text, sources, met: met(sources) }).collect()
}

/// Returns the marks that quotes meet, each once, in the order of the quotes.
fn met(project: &MarkedProject, sources: &[Citation], is_wanted: impl Fn(MarkLabel) -> bool) -> Vec<MarkPlace> {
    let mut places = Vec::new();
    for citation in sources {
        let Some((document, marks)) = marks_of(project, citation) else { continue };
        for (at, mark) in marks.iter().enumerate() {
            let is_met = is_wanted(mark.label) && mark.covers(citation.start_offset, citation.end_offset);
            if is_met && !places.contains(&(document, at)) {
                places.push((document, at));
            }
        }
    }
    places
}

fn marks_of<'a>(project: &'a MarkedProject, citation: &Citation) -> Option<(usize, &'a [SourceMark])> {
    let document = citation.source_id.parse().ok()?;
    Some((document, project.documents.get(document)?.text.marks.as_slice()))
}

fn mark_at(project: &MarkedProject, place: MarkPlace) -> Option<&SourceMark> {
    project.documents.get(place.0)?.text.marks.get(place.1)
}

fn words_of(project: &MarkedProject, place: MarkPlace) -> String {
    let words = mark_at(project, place).map(|mark| {
        let text = project.documents.get(place.0).map_or("", |document| document.text.source.text.as_str());
        let parts = mark.spans.iter().map(|span| text.chars().skip(span.0).take(span.1 - span.0).collect::<String>());
        parts.collect::<Vec<_>>().join(" ")
    });
    words.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn places(project: &MarkedProject) -> impl Iterator<Item = (MarkPlace, &SourceMark)> {
    let documents = project.documents.iter().enumerate();
    documents
        .flat_map(|(document, text)| text.text.marks.iter().enumerate().map(move |(at, mark)| ((document, at), mark)))
}

fn count_items(project: &MarkedProject, kind: FindingKind, found: &[MetItem], documents: &mut [DocumentScore]) {
    let met: BTreeSet<MarkPlace> = found.iter().flat_map(|item| item.met.iter().copied()).collect();
    for (place, mark) in places(project).filter(|(_, mark)| is_of(mark.label, kind)) {
        let Some(document) = documents.get_mut(place.0) else { continue };
        let tally = document.items.entry(kind).or_default();
        tally.expected += 1;
        if met.contains(&place) {
            tally.met += 1;
        } else {
            document.faults.push(format!("MISSED {kind:?} {:?}: {}", mark.label, words_of(project, place)));
        }
    }
    for item in found {
        let document = item.sources.first().and_then(|first| marks_of(project, first)).map(|(document, _)| document);
        let Some(document) = document.and_then(|document| documents.get_mut(document)) else { continue };
        let tally = document.items.entry(kind).or_default();
        tally.found += 1;
        if item.met.is_empty() {
            document.faults.push(format!("WRONG {kind:?}: {}", item.text));
        } else {
            tally.right += 1;
        }
    }
}

/// Notes what is claimed of each requirement in the document of its first quote, and whether it meets a mark.
fn note_claims(result: &PipelineResult, requirements: &[Vec<MarkPlace>], documents: &mut [DocumentScore]) {
    for (item, met) in result.requirements.iter().zip(requirements) {
        let document = item.sources.first().and_then(|first| first.source_id.parse().ok());
        if let Some(document) = document.and_then(|at: usize| documents.get_mut(at)) {
            document.claims.push(ConfidenceClaim { confidence: item.confidence, is_right: !met.is_empty() });
        }
    }
}

/// Counts one thing that a found item tells: whether it is told where it is expected, and as expected.
fn count_detail(tally: &mut MatchTally, expected: bool, found: bool, is_right: bool) {
    tally.expected += u32::from(expected);
    tally.found += u32::from(found);
    tally.met += u32::from(expected && found && is_right);
    tally.right += u32::from(expected && found && is_right);
}

fn count_types(
    project: &MarkedProject,
    result: &PipelineResult,
    requirements: &[Vec<MarkPlace>],
    documents: &mut [DocumentScore],
) {
    for (item, met) in result.requirements.iter().zip(requirements) {
        let Some(&place) = met.first() else { continue };
        let label = mark_at(project, place).map(|mark| mark.label);
        let (Some((kind, category)), Some(document)) =
            (label.and_then(MarkLabel::requirement), documents.get_mut(place.0))
        else {
            continue;
        };
        if label != Some(MarkLabel::Story) {
            count_detail(&mut document.types, true, true, item.kind == kind);
            count_detail(
                &mut document.categories,
                category.is_some(),
                item.category.is_some(),
                item.category == category,
            );
            if item.kind != kind || item.category != category {
                let (given, text) =
                    (item.category.map_or(item.kind.into_str(), |known| known.into_str()), &item.statement);
                document.faults.push(format!("TYPE {given} for {label:?}: {text}"));
            }
        }
    }
}

fn count_actions(project: &MarkedProject, result: &PipelineResult, documents: &mut [DocumentScore]) {
    for item in &result.action_items {
        let Some(&place) = met(project, &item.sources, |label| label == MarkLabel::Action).first() else { continue };
        let (Some(mark), Some(document)) = (mark_at(project, place), documents.get_mut(place.0)) else { continue };
        let (who, due) = (mark.attribute("who"), mark.attribute("due"));
        let same_person = |one: &str, other: &str| {
            let (one, other) = (one.to_lowercase(), other.to_lowercase());
            one.contains(&other) || other.contains(&one)
        };
        let is_assignee = who.zip(item.assignee.as_deref()).is_some_and(|(who, given)| same_person(who, given));
        count_detail(&mut document.assignees, who.is_some(), item.assignee.is_some(), is_assignee);
        if who.is_some() != item.assignee.is_some() || (who.is_some() && !is_assignee) {
            document.faults.push(format!("ASSIGNEE {:?} for {who:?}: {}", item.assignee, item.text));
        }
        count_detail(&mut document.due_dates, due.is_some(), item.due_date.is_some(), due == item.due_date.as_deref());
        if due != item.due_date.as_deref() {
            document.faults.push(format!("DUE {:?} for {due:?}: {}", item.due_date, item.text));
        }
    }
}

fn count_stories(project: &MarkedProject, result: &PipelineResult, documents: &mut [DocumentScore]) {
    let is_story = |label| label == MarkLabel::Story;
    let mut told: BTreeMap<MarkPlace, usize> = BTreeMap::new();
    for (at, story) in result.user_stories.iter().enumerate() {
        for place in met(project, &story.sources, is_story) {
            told.entry(place).or_insert(at);
        }
    }
    for (place, mark) in places(project).filter(|(_, mark)| is_story(mark.label)) {
        let Some(document) = documents.get_mut(place.0) else { continue };
        let story = told.get(&place).and_then(|&at| result.user_stories.get(at));
        count_detail(&mut document.stories, true, story.is_some(), true);
        let goal = story.map(|story| story.goal.as_str());
        let role = story.and_then(|story| story.role.as_deref());
        let benefit = story.and_then(|story| story.benefit.as_deref());
        for (name, given) in [("role", role), ("goal", goal), ("benefit", benefit)] {
            let wanted = mark.attribute(name).map(bare_part);
            let given = given.map(bare_part);
            count_detail(&mut document.story_parts, wanted.is_some(), given.is_some(), wanted == given);
            if wanted != given {
                let words = words_of(project, place);
                document.faults.push(format!("STORY {name} {given:?} for {wanted:?}: {words}"));
            }
        }
    }
}

/// Lower case, white space collapsed, without a stop at the end.
fn bare(words: &str) -> String {
    let words = words.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_end_matches(['.', ';', ',', '!']).to_owned()
}

/// The same without the “to” of an infinitive.
fn bare_part(words: &str) -> String {
    let words = bare(words);
    words.strip_prefix("to ").map(str::to_owned).unwrap_or(words)
}

fn count_orders(project: &MarkedProject, result: &PipelineResult, documents: &mut [DocumentScore]) {
    let items = KINDS.into_iter().flat_map(|kind| found(project, result, kind));
    let mut surfaced: BTreeSet<MarkPlace> = BTreeSet::new();
    for item in items {
        surfaced.extend(met(project, item.sources, |label| label == MarkLabel::Order));
    }
    let summary = &result.summary;
    let lists = [&summary.key_decisions, &summary.scope, &summary.out_of_scope, &summary.assumptions];
    let told: Vec<String> = lists.into_iter().flatten().chain([&summary.text]).map(|text| bare(text)).collect();
    for (place, _) in places(project).filter(|(_, mark)| mark.label == MarkLabel::Order) {
        let words = words_of(project, place);
        let is_told = told.iter().any(|text| text.contains(&bare(&words)) || bare(&words).contains(text.as_str()));
        let Some(document) = documents.get_mut(place.0) else { continue };
        document.orders += 1;
        if surfaced.contains(&place) || is_told {
            document.surfaced += 1;
            document.faults.push(format!("SURFACED: {words}"));
        }
    }
}

/// Counts pairs of requirements that say the same or that contradict each other.
fn count_pairs(project: &MarkedProject, result: &PipelineResult, met: &[Vec<MarkPlace>], score: &mut ProjectScore) {
    let by_id: BTreeMap<&str, MarkPlace> =
        places(project).filter_map(|(place, mark)| Some((mark.attribute("id")?, place))).collect();
    let expected = |name: &str| {
        let mut pairs = BTreeSet::new();
        for (place, mark) in places(project) {
            pairs.extend(mark.ids(name).filter_map(|id| by_id.get(id)).map(|&other| ordered(place, other)));
        }
        pairs
    };
    let at: BTreeMap<&str, usize> =
        result.requirements.iter().enumerate().map(|(at, item)| (item.key.as_str(), at)).collect();
    let empty = Vec::new();
    let places_of = |at: usize| met.get(at).unwrap_or(&empty);
    let (duplicates, conflicts) = (expected("dup"), expected("conf"));
    let (mut same, mut opposed) = (Vec::new(), Vec::new());
    for (one, item) in result.requirements.iter().enumerate() {
        let places = places_of(one);
        for (first, second) in places.iter().zip(places.iter().skip(1)) {
            same.push((item.statement.clone(), BTreeSet::from([ordered(*first, *second)])));
        }
        let linked = item.duplicate_of.iter().filter_map(|key| at.get(key.as_str()));
        for &other in linked {
            same.push(pair_of(result, one, other, places, places_of(other)));
        }
        for &other in item.conflicts_with.iter().filter_map(|key| at.get(key.as_str())).filter(|&&other| other > one) {
            opposed.push(pair_of(result, one, other, places, places_of(other)));
        }
    }
    score.duplicates = paired(project, &duplicates, &same, "DUPLICATE", &mut score.faults);
    score.conflicts = paired(project, &conflicts, &opposed, "CONFLICT", &mut score.faults);
}

type FoundPair = (String, BTreeSet<(MarkPlace, MarkPlace)>);

fn pair_of(result: &PipelineResult, one: usize, other: usize, first: &[MarkPlace], second: &[MarkPlace]) -> FoundPair {
    let words = |at: usize| result.requirements.get(at).map_or("", |item| item.statement.as_str());
    let pairs = first.iter().flat_map(|&first| second.iter().map(move |&second| ordered(first, second)));
    (format!("{} // {}", words(one), words(other)), pairs.collect())
}

fn paired(
    project: &MarkedProject,
    expected: &BTreeSet<(MarkPlace, MarkPlace)>,
    found: &[FoundPair],
    name: &str,
    faults: &mut Vec<String>,
) -> MatchTally {
    let mut tally = MatchTally::default();
    for pair in expected {
        tally.expected += 1;
        if found.iter().any(|(_, pairs)| pairs.contains(pair)) {
            tally.met += 1;
        } else {
            faults.push(format!("MISSED {name}: {} // {}", words_of(project, pair.0), words_of(project, pair.1)));
        }
    }
    for (words, pairs) in found {
        tally.found += 1;
        if pairs.is_disjoint(expected) {
            faults.push(format!("WRONG {name}: {words}"));
        } else {
            tally.right += 1;
        }
    }
    tally
}

fn ordered(one: MarkPlace, other: MarkPlace) -> (MarkPlace, MarkPlace) {
    (one.min(other), one.max(other))
}
