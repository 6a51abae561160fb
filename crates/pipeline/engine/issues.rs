//! Quality checks: issues that make a requirement hard to build or test, conflicts between requirements, and the
//! scores.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use super::super::glossary::ProjectTerms;
use super::super::loop_control::{Halted, LoopControl};
use super::super::result::{
    CheckedItems, IssueCode, IssueCount, Quality, QualityIssue, RequirementDraft, RequirementType, UserStoryDraft,
};
use super::corpus::plain;
use super::lexicon::pattern;
use super::sameness::{fingerprints, relations};
use super::wording::clipped;
use super::{Embedded, ears};

/// Words above which a requirement is reported as too long.
const LONG: usize = 45;
/// Maximum characters that a message quotes from a sentence.
const MAX_CITED_LENGTH: usize = 60;

static VAGUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(appropriate\w*|adequate\w*|sufficient\w*|user-friendly|easy|easily|simple|simply|intuitive\w*|",
        r"fast|quick|quickly|modern|flexible|robust|",
        r"efficient\w*|good|nice|reasonable|reasonably|as possible|state of the art|seamless\w*|some|several|many|often|usually|normally|",
        r"if necessary|where necessary|as needed|if possible|where possible|suitable|timely)\b"
    ))
});
static OPEN_ENDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(etc|and so on|and so forth|among others|including but not limited to|or similar|such as)\b")
});
static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(tbd|tbc|tba|to be (defined|determined|decided|clarified)|xxx|n/a)\b|\?\?"));
static PASSIVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(shall|must|should|will|has to|have to|can|is|are) (not |also |only |never )?(be )?(\w+ed|sent|",
        r"kept|shown|given|taken|made|held|done|set|put|read|told|found|written)\b"
    ))
});
static BY_SOMEBODY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bby (the|a|an|each|every|any) \w+"));
static SEVERAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(shall|must|should|has to|have to)\b[^.]*\b(and|as well as)\b[^.]*\b(shall|must|should|has to|have to)\b",
    )
});
static PRONOUN_FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(and |but |so |then )*(it|they|this|that|these|those|he|she)\b"));
/// Means rather than ends, in a demand for a function.
static SOLUTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(drop-?down|combo ?box|radio buttons?|check ?box(es)?|modal|pop-?up|scroll ?bar|(sql|",
        r"database) table|stored procedure|microservices?|rest endpoint|cron job|hash ?map|css class|",
        r"javascript|red button|blue button|html table)\b"
    ))
});
static MEASURE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\d|\b(one|two|three|four|five|ten|half|hour|all|every|no|never|none|level aa)\b"));

/// Returns the issues of every item, the conflicts between requirements and the scores. The `quality_checks` node fills
/// in the number of duplicates and the coverage.
pub fn check(
    engine: &Embedded,
    requirements: &[RequirementDraft],
    stories: &[UserStoryDraft],
    control: &LoopControl,
) -> Result<CheckedItems, Halted> {
    let mut requirements = requirements.to_vec();
    let mut counts: BTreeMap<IssueCode, u32> = BTreeMap::new();
    let total = requirements.len();
    for (at, requirement) in requirements.iter_mut().enumerate() {
        control.report(at, 2 * total)?;
        requirement.quality_issues = issues_of(&engine.terms, requirement);
        requirement.pattern = ears::pattern_of(&requirement.statement);
        for issue in &requirement.quality_issues {
            *counts.entry(issue.code).or_default() += 1;
        }
    }
    let clean = requirements.iter().filter(|requirement| requirement.quality_issues.is_empty()).count();
    let pairs = note_relations(engine, &mut requirements, control)?;
    let in_conflict = requirements.iter().filter(|requirement| !requirement.conflicts_with.is_empty()).count();
    if in_conflict > 0 {
        counts.insert(IssueCode::Conflict, u32::try_from(in_conflict).unwrap_or(u32::MAX));
    }
    let by_key: HashMap<&str, &RequirementDraft> =
        requirements.iter().rev().map(|requirement| (requirement.key.as_str(), requirement)).collect();
    let mut user_stories = Vec::with_capacity(stories.len());
    for (at, story) in stories.iter().enumerate() {
        control.report(stories.len() + at, 2 * stories.len())?;
        user_stories.push(checked_story(story, &by_key));
    }
    let quality = Quality {
        score: quality_score(clean, requirements.len(), pairs),
        issues: counts.into_iter().map(|(code, count)| IssueCount { code, count }).collect(),
        conflicts: u32::try_from(pairs).unwrap_or(u32::MAX),
        ..Quality::default()
    };
    Ok(CheckedItems { requirements, user_stories, quality })
}

/// Notes which requirements are alike and which contradict each other, with the reason as an issue; returns how many pairs
/// do.
fn note_relations(
    engine: &Embedded,
    requirements: &mut [RequirementDraft],
    control: &LoopControl,
) -> Result<usize, Halted> {
    let statements = requirements.iter().map(|requirement| requirement.statement.as_str());
    let fingerprints = fingerprints(&engine.terms, statements, control)?;
    let source = |requirement: &RequirementDraft| requirement.sources.first().map(|source| source.source_id.clone());
    let sources: Vec<String> = requirements.iter().map(|requirement| source(requirement).unwrap_or_default()).collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let relations = relations(engine.heads, &fingerprints, &sources, control)?;
    let keys: Vec<String> = requirements.iter().map(|requirement| requirement.key.clone()).collect();
    for (requirement, alike) in requirements.iter_mut().zip(&relations.alike) {
        requirement.duplicate_of = alike.and_then(|at| keys.get(at)).cloned();
    }
    for found in &relations.contradictions {
        for (at, with) in [(found.one, found.other), (found.other, found.one)] {
            let title = requirements.get(with).map(|requirement| requirement.title.clone()).unwrap_or_default();
            if let (Some(requirement), Some(key)) = (requirements.get_mut(at), keys.get(with)) {
                requirement.conflicts_with.push(key.clone());
                let message = conflict_message(&title, &found.reason);
                requirement.quality_issues.push(QualityIssue::new(IssueCode::Conflict, message));
            }
        }
    }
    Ok(relations.contradictions.len())
}

/// Returns the message of an issue [`IssueCode::Conflict`]: the title of the other requirement, and why.
#[must_use]
pub fn conflict_message(title: &str, reason: &str) -> String {
    format!("It may contradict “{title}”. {reason}")
}

pub fn issues_of(terms: &ProjectTerms, requirement: &RequirementDraft) -> Vec<QualityIssue> {
    let lower = plain(&requirement.statement);
    // What the project has a term for is not vague: “the fast lane”.
    let named = terms.places(&lower);
    let is_named =
        |word: &regex::Match<'_>| named.iter().any(|place| place.start <= word.start() && word.end() <= place.end);
    let mut issues = Vec::new();
    let mut note = |code: IssueCode, message: String| issues.push(QualityIssue::new(code, message));
    if let Some(word) = VAGUE.find_iter(&lower).find(|word| !is_named(word)) {
        note(IssueCode::VagueWord, format!("\"{}\" can be read in more than one way.", quoted(word)));
    }
    if PASSIVE.is_match(&lower) && !BY_SOMEBODY.is_match(&lower) && !lower.contains("system") {
        note(IssueCode::PassiveWithoutActor, "It does not say who or what does it.".to_owned());
    }
    if SEVERAL.is_match(&lower) {
        note(IssueCode::SeveralInOne, "It makes more than one demand.".to_owned());
    }
    if requirement.kind == RequirementType::NonFunctional && !MEASURE.is_match(&lower) {
        note(IssueCode::Unmeasurable, "It gives no figure to test it by.".to_owned());
    }
    if let Some(word) = PRONOUN_FIRST.find(&lower) {
        note(IssueCode::UnclearPronoun, format!("What \"{}\" stands for is in another sentence.", quoted(word)));
    }
    if let Some(word) = OPEN_ENDED.find(&lower) {
        note(IssueCode::OpenEnded, format!("\"{}\" leaves open what else is meant.", quoted(word)));
    }
    if let Some(word) = PLACEHOLDER.find(&lower) {
        note(IssueCode::Placeholder, format!("\"{}\" is still to be filled in.", quoted(word)));
    }
    if requirement.kind == RequirementType::Functional
        && let Some(word) = SOLUTION.find(&lower)
    {
        note(IssueCode::Solution, format!("\"{}\" says how rather than what.", quoted(word)));
    }
    if requirement.statement.split_whitespace().count() > LONG {
        note(IssueCode::TooLong, format!("It has more than {LONG} words."));
    }
    issues
}

/// Returns the quote for a message, clipped, as a pattern may match much of the sentence.
fn quoted(found: regex::Match<'_>) -> String {
    clipped(found.as_str(), MAX_CITED_LENGTH).into_owned()
}

fn checked_story(story: &UserStoryDraft, requirements: &HashMap<&str, &RequirementDraft>) -> UserStoryDraft {
    let mut story = story.clone();
    let inherited = story.requirement_keys.iter().filter_map(|key| requirements.get(key.as_str()));
    // What a requirement may contradict is no issue of the story.
    let inherited = inherited.flat_map(|requirement| requirement.quality_issues.clone());
    let inherited: Vec<QualityIssue> = inherited.filter(|issue| issue.code != IssueCode::Conflict).collect();
    let is_testable = story.acceptance_criteria.iter().any(|criterion| criterion.then.is_some());
    let parts = (story.role.is_some(), story.benefit.is_some(), is_testable);
    (story.quality_score, story.quality_issues) = story_quality(inherited, parts);
    story
}

/// Returns the score and the issues of a story, from those of its requirements and from whether it has a role, a benefit, and a
/// criterion with an outcome.
pub fn story_quality(
    inherited: Vec<QualityIssue>,
    (has_role, has_benefit, is_testable): (bool, bool, bool),
) -> (f64, Vec<QualityIssue>) {
    let mut issues = inherited;
    if !has_role {
        let message = "The source does not say for whom.".to_owned();
        issues.push(QualityIssue::new(IssueCode::MissingRole, message));
    }
    if !has_benefit {
        let message = "The source does not say what for.".to_owned();
        issues.push(QualityIssue::new(IssueCode::MissingBenefit, message));
    }
    if !is_testable {
        let message = "The source names no condition and outcome to test.".to_owned();
        issues.push(QualityIssue::new(IssueCode::MissingCriteria, message));
    }
    let lost = f64::from(u32::try_from(issues.len()).unwrap_or(u32::MAX)) * 0.15;
    (two_decimals((1.0 - lost).max(0.0)), issues)
}

/// Returns the share of requirements without an issue, reduced by conflicts: 0–1, two decimals.
#[must_use]
pub fn quality_score(clean: usize, all: usize, conflicts: usize) -> f64 {
    let count = |length: usize| f64::from(u32::try_from(length).unwrap_or(u32::MAX));
    if all == 0 {
        0.0
    } else {
        two_decimals((count(clean) / count(all) - count(conflicts) / count(all)).clamp(0.0, 1.0))
    }
}

fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
