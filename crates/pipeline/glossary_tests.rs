//! What an analysis makes of a project's glossary.

use std::sync::Arc;

use readers::Format;

use super::engine::Embedded;
use super::glossary::{GlossaryEntry, ProjectTerms};
use super::request::{CancelToken, Source};
use super::result::{IssueCode, PipelineResult};
use super::tests::{request, result, text};
use super::{NoCheckpoints, NoProgressSink, Workers, run_with};

const WISHES: &str = "# Requirements\n\nThe depot shall show every tour on one page.\n\nThe depot shall show every \
round on one page.\n\nThe quayside must be able to print the list of parcels of a tour.\n\n\
The depot shall offer each customer the fast lane.\n";

fn entry(term: &str, definition: &str, spellings: &[&str]) -> GlossaryEntry {
    let spellings = spellings.iter().map(|spelling| (*spelling).to_owned()).collect();
    GlossaryEntry { term: term.to_owned(), definition: Some(definition.to_owned()), spellings }
}

async fn analysed(entries: Vec<GlossaryEntry>) -> PipelineResult {
    let engine = Arc::new(Embedded::for_project(Arc::new(ProjectTerms::new(entries))));
    let wishes = request(vec![Source::document("d", "x.md", text(Format::Markdown, WISHES))]);
    let ran = run_with(engine, wishes, &NoCheckpoints, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await;
    result(ran)
}

fn is_vague(result: &PipelineResult) -> bool {
    let issues = result.requirements.iter().flat_map(|requirement| &requirement.quality_issues);
    issues.into_iter().any(|issue| issue.code == IssueCode::VagueWord)
}

#[tokio::test]
async fn an_analysis_knows_what_the_project_calls_things() {
    let (without, with) = (
        analysed(Vec::new()).await,
        analysed(vec![
            entry("tour", "What one van does in a day.", &["round"]),
            entry("quayside", "Whoever works at the water's edge.", &[]),
            entry("fast lane", "The belt for parcels of the same day.", &[]),
        ])
        .await,
    );
    // A spelling is its term: both say the same, and each is quoted in its own words.
    assert_eq!((without.requirements.len(), with.requirements.len()), (4, 3));
    let quotes: Vec<&str> = with.requirements[0].sources.iter().map(|source| source.quote.as_str()).collect();
    assert_eq!(
        quotes,
        ["The depot shall show every tour on one page.", "The depot shall show every round on one page."]
    );
    // A term is not vague, and a role may be one.
    assert!(is_vague(&without) && !is_vague(&with));
    let has_role =
        |result: &PipelineResult| result.user_stories.iter().any(|story| story.role.as_deref() == Some("quayside"));
    assert!(!has_role(&without) && has_role(&with));
}

#[tokio::test]
async fn what_a_glossary_respells_in_part_keeps_one_key_for_the_same_words() {
    let words = "# Requirements\n\nThe depot shall offer the quick line.\n\nThe depot shall offer the quick-line.\n\nThe depot shall offer \
                 the fast lane.\n";
    let terms = ProjectTerms::new(vec![entry("fast lane", "A belt.", &["quick line"])]);
    let engine = Arc::new(Embedded::for_project(Arc::new(terms)));
    let wishes = request(vec![Source::document("d", "x.md", text(Format::Markdown, words))]);
    let ran = run_with(engine, wishes, &NoCheckpoints, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await;
    let found = result(ran);
    assert_eq!((found.requirements.len(), found.requirements[0].sources.len()), (1, 3), "{found:?}");
}
