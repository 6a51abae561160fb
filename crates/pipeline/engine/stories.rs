//! User stories and acceptance criteria, derived only from the requirement's text: if it names no role, benefit or
//! condition, the story has none.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::glossary::ProjectTerms;
use super::super::loop_control::{Halted, LoopControl};
use super::super::result::{CriterionDraft, RequirementDraft, RequirementType, UserStoryDraft};
use super::corpus::plain;
use super::fingerprint::Fingerprint;
use super::lexicon::pattern;
use super::persons::is_person_here;
use super::wording::capitalised;
use super::written::{WrittenStory, written};

static ROLE_ABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?:and|so|but|then|also),? )*((?:an?|the|each|every|all|any|both|only) [a-z -]{2,50}?|",
        r"[a-z -]{3,40}?s) (?:shall|must|should|can|may|will|has to|have to|needs? to|is to|are to|want|",
        r"wants)(?: also)?(?: be able)?(?: to)? ([a-z].+?)[.]?$"
    ))
});
static SYSTEM_LETS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:lets?|allows?|enables?|permits?) ((?:an?|the|each|every|all|",
        r"any) [a-z-]+(?: (?:of the [a-z-]+(?: [a-z-]+)?))?|[a-z-]+s) (?:to )?([a-z].+?)[.]?$"
    ))
});
static SYSTEM_DOES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?:and|so|but|then|also),? )*((?:the|this|our|a) (?:new )?(?:[a-z]+ ){0,2}?(?:system|",
        r"application|app|solution|software|product|platform|tool|portal|it)|it) (?:shall|must|should|will|",
        r"has to|needs to|is to|can)(?: also)?(?: be able to)? ([a-z].+?)[.]?$"
    ))
});
static BENEFIT: LazyLock<Regex> = LazyLock::new(|| pattern(r",? (?:so that|in order to|so as to) ([a-z].+?)[.]?$"));
/// The phrase that introduces a wish: "it would be good if".
static WISHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:and|so|but|then|also),? )*(?:it would be|it'd be) (?:\w+ )?(?:good|great|nice|helpful|lovely|fine|useful) if ",
    )
});
static SYSTEM_NOUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(systems?|applications?|apps?|solutions?|software|products?|platforms?|tools?|portals?|pages?|",
        r"screens?|servers?|interfaces?|modules?|databases?|searches|search|reports?|lists?|reminders?|",
        r"sessions?|accounts?|appointments?|records?|entries|entry|data|changes|slots?|dates?|letters?|",
        r"images|cases?|results|referrals|visits|calendars?|times?|passwords?|messages?|buttons?|links?|",
        r"time|list|name|number|address|fields?)$"
    ))
});
static CONDITION_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((?:when|whenever|if|once|after|as soon as|before|during|in case|in an emergency|unless) ?[^,]*), (.+?)[.]?$",
    )
});
static CONDITION_LAST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(.+?),? ((?:when|whenever|if|once|as soon as|provided that|unless|until) .+?)[.]?$"));
static STATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:during|before|in case|in an emergency|provided that|unless|while)\b"));

/// Returns one story for each requirement that is written as a story, and for each other one that is functional or
/// untyped and names a person who wants it, in their order.
pub fn stories(
    terms: &ProjectTerms,
    requirements: &[RequirementDraft],
    control: &LoopControl,
) -> Result<Vec<UserStoryDraft>, Halted> {
    let mut stories = Vec::new();
    for (at, requirement) in requirements.iter().enumerate() {
        control.report(at, requirements.len())?;
        let is_functional = matches!(requirement.kind, RequirementType::Functional | RequirementType::Unknown);
        let parts = parts(&requirement.statement);
        if parts.is_written || (is_functional && parts.role.as_deref().is_some_and(|role| is_person_here(role, terms)))
        {
            stories.push(story(requirement, parts));
        }
    }
    Ok(stories)
}

fn story(requirement: &RequirementDraft, parts: StoryParts) -> UserStoryDraft {
    let StoryParts { role, goal, benefit, is_written } = parts;
    let description = match is_written {
        true => requirement.statement.clone(),
        false => describe(role.as_deref(), &goal, benefit.as_deref()),
    };
    let fingerprint = Fingerprint::of(&requirement.statement);
    UserStoryDraft {
        key: fingerprint.key("story"),
        requirement_keys: vec![requirement.key.clone()],
        title: requirement.title.clone(),
        role,
        goal,
        benefit,
        description,
        priority: requirement.priority,
        acceptance_criteria: if is_written { None } else { criterion(&requirement.statement) }.into_iter().collect(),
        quality_score: 1.0,
        quality_issues: Vec::new(),
        sources: requirement.sources.clone(),
    }
}

pub(super) struct StoryParts {
    pub role: Option<String>,
    pub goal: String,
    pub benefit: Option<String>,
    /// The source has it as a story, in its own words.
    pub is_written: bool,
}

/// Returns what a sentence says of who wants what, and why.
pub(super) fn parts(statement: &str) -> StoryParts {
    let lower = plain(statement);
    let same_length = lower.chars().count() == statement.chars().count();
    // Patterns match the lower-case text, but the result is taken from the statement. This works only if lower case
    // leaves the positions of the characters unchanged.
    let original = |found: Range<usize>| -> String {
        let words = lower.get(found.clone()).unwrap_or_default();
        let start = lower.get(..found.start).map_or(0, |head| head.chars().count());
        if same_length { statement.chars().skip(start).take(words.chars().count()).collect() } else { words.to_owned() }
    };
    if let Some(WrittenStory { role, goal, benefit, is_negative, .. }) = written(&lower) {
        let goal = if is_negative { format!("not {}", original(goal)) } else { original(goal) };
        return StoryParts { role: Some(original(role)), goal, benefit: benefit.map(original), is_written: true };
    }
    let is_written = false;
    let benefit = BENEFIT.captures(&lower).and_then(|found| found.get(1)).map(|found| original(found.range()));
    let cut = BENEFIT.find(&lower).map_or(lower.len(), |found| found.start());
    let body = lower.get(..cut).unwrap_or(&lower);
    let body = WISHED.find(body).and_then(|wish| body.get(wish.end()..)).unwrap_or(body);
    let body = condition(body).map_or(body, |split| split.consequence);
    let offset = |inner: &str| inner.as_ptr().addr().saturating_sub(lower.as_ptr().addr());
    let at = offset(body);
    let within = |found: regex::Match<'_>| -> String {
        let start = lower.get(..at + found.start()).map_or(0, |head| head.chars().count());
        let length = found.as_str().chars().count();
        if same_length { statement.chars().skip(start).take(length).collect() } else { found.as_str().to_owned() }
    };
    if let Some(found) = SYSTEM_LETS.captures(body) {
        let role = found.get(1).map(within).map(|role| bare(&role));
        if let (Some(role), Some(goal)) = (role, found.get(2)) {
            return StoryParts { role: Some(role), goal: within(goal), benefit, is_written };
        }
    }
    if let Some(goal) = SYSTEM_DOES.captures(body).and_then(|found| found.get(2)) {
        return StoryParts { role: None, goal: format!("the system to {}", within(goal)), benefit, is_written };
    }
    if let Some(found) = ROLE_ABLE.captures(body)
        && let (Some(role), Some(goal)) = (found.get(1), found.get(2))
        && !SYSTEM_NOUN.is_match(role.as_str())
        && !goal.as_str().starts_with("be ")
        && !goal.as_str().starts_with("not ")
    {
        return StoryParts { role: Some(bare(&within(role))), goal: within(goal), benefit, is_written };
    }
    let start = lower.get(..at).map_or(0, |head| head.chars().count());
    let whole: String = statement.chars().skip(start).take(body.chars().count()).collect();
    let whole = if same_length { whole } else { body.to_owned() };
    StoryParts { role: None, goal: whole.trim_end_matches(['.', ';', ' ']).to_owned(), benefit, is_written }
}

/// Removes the article of a role, or lowers its initial if it has none, and makes the role singular.
fn bare(role: &str) -> String {
    let role = role.trim();
    let first = role.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_article = matches!(first.as_str(), "a" | "an" | "the" | "each" | "every" | "all" | "any" | "both" | "only");
    let rest = role.split_once(' ').map(|(_, rest)| rest);
    let role = rest.filter(|_| is_article).unwrap_or(role).trim();
    singular(&if is_article { role.to_owned() } else { small_initial(role) })
}

/// Converts "customers" to "customer" and "secretaries" to "secretary"; roles with "and", "or" or "of" stay unchanged.
fn singular(role: &str) -> String {
    let ends_plural = role.ends_with('s') && !role.ends_with("ss") && !role.ends_with("us");
    if !ends_plural || role.contains(" and ") || role.contains(" or ") || role.contains(" of ") {
        return role.to_owned();
    }
    match role.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => role.strip_suffix('s').unwrap_or(role).to_owned(),
    }
}

/// Lowers the initial, which is a capital only because the role starts the sentence.
fn small_initial(role: &str) -> String {
    let first = role.split_whitespace().next().unwrap_or_default();
    let is_plain = first.chars().skip(1).all(char::is_lowercase);
    let mut chars = role.chars();
    match chars.next().filter(|_| is_plain) {
        Some(initial) => initial.to_lowercase().chain(chars).collect(),
        None => role.to_owned(),
    }
}

/// A story in one sentence, without the clauses that it lacks.
#[must_use]
pub fn describe(role: Option<&str>, goal: &str, benefit: Option<&str>) -> String {
    let is_clause = goal.starts_with("the system to ");
    let is_verb = role.is_some();
    let wish = match (is_clause, is_verb) {
        (true, _) => format!("I want {goal}"),
        (false, true) => format!("I want to {goal}"),
        (false, false) => format!("I want this: {goal}"),
    };
    let opening =
        role.map(|role| {
            if role.contains(" and ") { format!("As {role}, ") } else { format!("As {} {role}, ", article(role)) }
        })
        .unwrap_or_default();
    let closing = benefit.map(|benefit| format!(", so that {benefit}")).unwrap_or_default();
    format!("{}.", capitalised(&format!("{opening}{wish}{closing}")))
}

fn article(role: &str) -> &'static str {
    let vowel = role.chars().next().is_some_and(|first| "aeiouAEIOU".contains(first))
        && !role.to_lowercase().starts_with("user");
    if vowel { "an" } else { "a" }
}

struct Condition<'a> {
    condition: &'a str,
    consequence: &'a str,
}

fn condition(body: &str) -> Option<Condition<'_>> {
    if let Some(found) = CONDITION_FIRST.captures(body) {
        let (condition, consequence) = (found.get(1)?.as_str(), found.get(2)?.as_str());
        return Some(Condition { condition, consequence });
    }
    let found = CONDITION_LAST.captures(body)?;
    let (consequence, condition) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    (consequence.split_whitespace().count() >= 3).then_some(Condition { condition, consequence })
}

/// Returns the criterion that the sentence states: a condition, and what follows from it. A lasting state becomes `given`,
/// an event `when`.
pub(super) fn criterion(statement: &str) -> Option<CriterionDraft> {
    let lower = plain(statement);
    let same_length = lower.len() == statement.len();
    let mut criterion = CriterionDraft {
        key: Fingerprint::of(statement).key("criterion"),
        text: statement.to_owned(),
        given: None,
        when: None,
        then: None,
    };
    let start = WISHED.find(&lower).map_or(0, |wish| wish.end());
    let split = lower.get(start..).and_then(condition)?;
    let original = |part: &str| -> String {
        let start = part.as_ptr().addr().saturating_sub(lower.as_ptr().addr());
        let words = if same_length { statement.get(start..start + part.len()) } else { None };
        words.unwrap_or(part).trim().to_owned()
    };
    let condition = original(split.condition);
    if STATE.is_match(split.condition) {
        criterion.given = Some(condition);
    } else {
        criterion.when = Some(condition);
    }
    criterion.then = Some(original(split.consequence));
    Some(criterion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_story_keeps_its_parts() {
        let found = parts("As a Data user, I want to see the 12 deletions, so that I trust the figures.");
        assert_eq!(found.role.as_deref(), Some("Data user"));
        assert_eq!(found.goal, "see the 12 deletions");
        assert_eq!(found.benefit.as_deref(), Some("I trust the figures"));
        assert_eq!(parts("As an auditor, I don't want to see names.").goal, "not see names");
    }

    #[test]
    fn nothing_is_invented_where_the_source_names_nothing() {
        let found = parts("The system shall prevent that a slot is booked twice.");
        assert_eq!((found.role, found.benefit), (None, None));
        assert_eq!(found.goal, "the system to prevent that a slot is booked twice");
        assert!(criterion("The system shall prevent that a slot is booked twice.").is_none());
    }

    #[test]
    fn a_role_comes_from_who_can_and_whom_it_lets() {
        assert_eq!(parts("A nurse shall be able to set the level of urgency.").role.as_deref(), Some("nurse"));
        let lets = parts("The system shall let a patient book, move and cancel an appointment.");
        assert_eq!(lets.role.as_deref(), Some("patient"));
        assert_eq!(lets.goal, "book, move and cancel an appointment");
    }

    #[test]
    fn a_condition_becomes_when_and_then() {
        let found =
            criterion("When an appointment is cancelled, the system must offer the free slot to the next patient.")
                .unwrap();
        assert_eq!(found.when.as_deref(), Some("When an appointment is cancelled"));
        assert_eq!(found.then.as_deref(), Some("the system must offer the free slot to the next patient"));
    }
}
