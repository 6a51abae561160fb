//! The rows of each table. The cells stand in the order of `columns.rs`.

use std::borrow::Cow;

use super::{CellContent, TABLE_FORMAT};
use crate::outline::selection_line;
use crate::references::{RequirementCodes, citation, quality_line};
use crate::specification::{QualityNote, SourceEntry, Specification};
use crate::text::{clean, minutes_and_seconds};
use crate::words::{Label, TermSet, Words};

type Row<'a> = Vec<CellContent<'a>>;

pub(super) fn overview<'a>(specification: &'a Specification, words: Words) -> impl Iterator<Item = Row<'a>> {
    let Specification { project, summary, .. } = specification;
    let line = move |label, content| vec![fixed(words.label(label)), content];
    let counts = [
        (Label::Requirements, specification.requirements.len()),
        (Label::UserStories, specification.user_stories.len()),
        (Label::Risks, specification.risks.len()),
        (Label::OpenQuestions, specification.open_questions.len()),
        (Label::ActionItems, specification.action_items.len()),
        (Label::Decisions, specification.decisions.len()),
    ];
    let head = [
        line(Label::Project, text(&project.name)),
        line(Label::Description, text(&project.description)),
        line(Label::AsOf, time(&specification.as_of)),
        line(Label::ExportedBy, text(&specification.exported_by)),
        line(Label::Contains, owned(selection_line(specification, words))),
    ];
    let for_programs = [
        line(Label::Run, optional(specification.run_id.as_deref())),
        line(Label::Language, text(&project.language)),
        line(Label::ProjectId, text(&project.id)),
        line(Label::FormatVersion, fixed(TABLE_FORMAT)),
    ];
    let texts = [
        (Label::KeyDecisions, &summary.key_decisions),
        (Label::Scope, &summary.scope),
        (Label::OutOfScope, &summary.out_of_scope),
        (Label::Assumptions, &summary.assumptions),
    ];
    head.into_iter()
        .chain(counts.into_iter().map(move |(label, count)| line(label, number(count))))
        .chain(std::iter::once(line(Label::Summary, text(&summary.text))))
        .chain(texts.into_iter().flat_map(move |(label, texts)| texts.iter().map(move |each| line(label, text(each)))))
        .chain(for_programs)
}

pub(super) fn requirements<'a>(
    specification: &'a Specification,
    words: Words,
    codes: &'a RequirementCodes<'a>,
) -> impl Iterator<Item = Row<'a>> {
    specification.requirements.iter().map(move |entry| {
        vec![
            text(&entry.code),
            text(&entry.title),
            text(&entry.statement),
            term(words, TermSet::RequirementType, &entry.kind),
            entry.category.as_deref().map_or(CellContent::Empty, |word| term(words, TermSet::Category, word)),
            term(words, TermSet::Priority, &entry.priority),
            term(words, TermSet::WorkflowStatus, &entry.workflow_status),
            citations(words, &entry.sources),
            owned(codes.list(&entry.conflicts_with)),
            entry.duplicate_of.as_deref().map_or(CellContent::Empty, |id| text(codes.code(id))),
            fixed(words.yes_or_no(entry.suspect)),
            quality(words, &entry.quality_issues),
            ratio(entry.confidence),
            version(entry.version),
            term(words, TermSet::RevisionSource, &entry.revision_source),
            time(&entry.created_at),
            time(&entry.updated_at),
            text(&entry.id),
        ]
    })
}

pub(super) fn user_stories<'a>(
    specification: &'a Specification,
    words: Words,
    codes: &'a RequirementCodes<'a>,
) -> impl Iterator<Item = Row<'a>> {
    specification.user_stories.iter().map(move |entry| {
        vec![
            text(&entry.code),
            text(&entry.title),
            optional(entry.role.as_deref()),
            text(&entry.goal),
            optional(entry.benefit.as_deref()),
            text(&entry.description),
            owned(codes.list(&entry.requirement_ids)),
            term(words, TermSet::Priority, &entry.priority),
            term(words, TermSet::WorkflowStatus, &entry.workflow_status),
            citations(words, &entry.sources),
            fixed(words.yes_or_no(entry.suspect)),
            quality(words, &entry.quality_issues),
            optional(entry.tracker_key.as_deref()),
            optional(entry.tracker_url.as_deref()),
            ratio(entry.quality_score),
            version(entry.version),
            term(words, TermSet::RevisionSource, &entry.revision_source),
            time(&entry.created_at),
            time(&entry.updated_at),
            text(&entry.id),
        ]
    })
}

pub(super) fn criteria(specification: &Specification) -> impl Iterator<Item = Row<'_>> {
    specification.user_stories.iter().flat_map(|story| {
        story.acceptance_criteria.iter().map(|criterion| {
            vec![
                text(&story.code),
                text(&criterion.code),
                text(&criterion.text),
                optional(criterion.given.as_deref()),
                optional(criterion.when.as_deref()),
                optional(criterion.then.as_deref()),
                text(&criterion.id),
            ]
        })
    })
}

pub(super) fn risks<'a>(specification: &'a Specification, words: Words) -> impl Iterator<Item = Row<'a>> {
    specification.risks.iter().map(move |entry| {
        vec![
            text(&entry.code),
            text(&entry.title),
            text(&entry.description),
            term(words, TermSet::Severity, &entry.severity),
            term(words, TermSet::Severity, &entry.likelihood),
            optional(entry.mitigation.as_deref()),
            citations(words, &entry.sources),
            text(&entry.id),
        ]
    })
}

pub(super) fn open_questions<'a>(specification: &'a Specification, words: Words) -> impl Iterator<Item = Row<'a>> {
    specification.open_questions.iter().map(move |entry| {
        vec![
            text(&entry.code),
            text(&entry.question),
            text(&entry.why),
            optional(entry.raised_by.as_deref()),
            citations(words, &entry.sources),
            text(&entry.id),
        ]
    })
}

pub(super) fn action_items<'a>(specification: &'a Specification, words: Words) -> impl Iterator<Item = Row<'a>> {
    specification.action_items.iter().map(move |entry| {
        vec![
            text(&entry.code),
            text(&entry.text),
            optional(entry.assignee.as_deref()),
            entry.due_date.as_deref().map_or(CellContent::Empty, time),
            citations(words, &entry.sources),
            text(&entry.id),
        ]
    })
}

pub(super) fn decisions<'a>(specification: &'a Specification, words: Words) -> impl Iterator<Item = Row<'a>> {
    specification
        .decisions
        .iter()
        .map(move |entry| vec![text(&entry.code), text(&entry.text), citations(words, &entry.sources), text(&entry.id)])
}

pub(super) fn sources<'a>(specification: &'a Specification, words: Words) -> impl Iterator<Item = Row<'a>> {
    let requirements = specification.requirements.iter().map(|entry| (&entry.code, &entry.sources));
    let stories = specification.user_stories.iter().map(|entry| (&entry.code, &entry.sources));
    let risks = specification.risks.iter().map(|entry| (&entry.code, &entry.sources));
    let questions = specification.open_questions.iter().map(|entry| (&entry.code, &entry.sources));
    let actions = specification.action_items.iter().map(|entry| (&entry.code, &entry.sources));
    let decisions = specification.decisions.iter().map(|entry| (&entry.code, &entry.sources));
    requirements.chain(stories).chain(risks).chain(questions).chain(actions).chain(decisions).flat_map(
        move |(code, sources)| {
            sources.iter().map(move |source| {
                let moment = |at: Option<u64>| at.map_or(CellContent::Empty, |at| owned(minutes_and_seconds(at)));
                vec![
                    text(code),
                    term(words, TermSet::SourceKind, &source.kind),
                    text(&source.name),
                    text(&source.quote),
                    source.page.map_or(CellContent::Empty, |page| CellContent::Number(f64::from(page))),
                    optional(source.section.as_deref()),
                    moment(source.start_ms),
                    moment(source.end_ms),
                    optional(source.speaker.as_deref()),
                    number(source.start_offset),
                    number(source.end_offset),
                    text(&source.id),
                ]
            })
        },
    )
}

fn text(text: &str) -> CellContent<'_> {
    if text.is_empty() { CellContent::Empty } else { CellContent::Text(clean(text)) }
}

fn fixed<'a>(text: &'static str) -> CellContent<'a> {
    CellContent::Text(Cow::Borrowed(text))
}

fn owned<'a>(text: String) -> CellContent<'a> {
    if text.is_empty() { CellContent::Empty } else { CellContent::Text(Cow::Owned(clean(&text).into_owned())) }
}

fn optional(value: Option<&str>) -> CellContent<'_> {
    value.map_or(CellContent::Empty, text)
}

fn time(time: &str) -> CellContent<'_> {
    if time.is_empty() { CellContent::Empty } else { CellContent::Time(clean(time)) }
}

fn term<'a>(words: Words, set: TermSet, word: &'a str) -> CellContent<'a> {
    text(words.term(set, word))
}

/// A number of a spreadsheet loses digits above 2⁵³: what is larger than any real count stays text.
fn number<'a>(count: usize) -> CellContent<'a> {
    u32::try_from(count).map_or_else(|_| owned(count.to_string()), |count| CellContent::Number(f64::from(count)))
}

fn ratio<'a>(ratio: f64) -> CellContent<'a> {
    if ratio.is_finite() { CellContent::Number(ratio) } else { owned(ratio.to_string()) }
}

fn version<'a>(version: i64) -> CellContent<'a> {
    i32::try_from(version)
        .map_or_else(|_| owned(version.to_string()), |version| CellContent::Number(f64::from(version)))
}

fn quality<'a>(words: Words, notes: &[QualityNote]) -> CellContent<'a> {
    owned(notes.iter().map(|note| quality_line(words, note)).collect::<Vec<_>>().join("\n"))
}

fn citations<'a>(words: Words, sources: &[SourceEntry]) -> CellContent<'a> {
    owned(sources.iter().map(|source| citation(words, source)).collect::<Vec<_>>().join("\n"))
}
