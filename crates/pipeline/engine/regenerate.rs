//! Writes a story anew from its requirements and what the sources say, by the rules of the embedded engine. What the
//! feedback asks for is not interpreted, and that is said; nothing is invented.

use std::collections::HashSet;

use super::super::loop_control::{Halted, LoopControl};
use super::super::regeneration::{
    RegeneratedCriterion, RegeneratedStory, StatedRequirement, StoryContent, StoryRequest,
};
use super::super::result::{CriterionDraft, Priority, RequirementDraft, UserStoryDraft};
use super::Embedded;
use super::issues;
use super::persons::is_person;
use super::stories::{StoryParts, criterion, describe, parts};

/// Writes a story anew. The same request gives the same story.
///
/// # Errors
/// [`Halted`] once it is cancelled.
pub fn regenerate(request: &StoryRequest, control: &LoopControl) -> Result<RegeneratedStory, Halted> {
    let statements = request.requirements.iter().map(|one| one.statement.as_str());
    let said: Vec<&str> = statements.chain(request.quotes.iter().map(String::as_str)).collect();
    let mut found = Vec::with_capacity(said.len());
    for (at, text) in said.iter().enumerate() {
        control.report(at, said.len())?;
        found.push(parts(text));
    }
    let stated = found.get(..request.requirements.len()).unwrap_or_default();
    let chosen = stated.iter().position(names_somebody).unwrap_or_default();
    let requirement = request.requirements.get(chosen);
    let own = stated.get(chosen);
    let role = found.iter().find(|parts| names_somebody(parts)).and_then(|parts| parts.role.clone());
    let own_benefit = own.and_then(|own| own.benefit.clone());
    let benefit = own_benefit.clone().or_else(|| found.iter().find_map(|parts| parts.benefit.clone()));
    let goal = own.map(|own| own.goal.clone()).unwrap_or_default();
    let written = own.filter(|own| own.is_written && own_benefit == benefit);
    let description = match (written, requirement) {
        (Some(_), Some(requirement)) => requirement.statement.clone(),
        _ => describe(role.as_deref(), &goal, benefit.as_deref()),
    };
    let drafts: Vec<RequirementDraft> = request.requirements.iter().enumerate().map(draft).collect();
    let story = UserStoryDraft {
        key: "story".to_owned(),
        requirement_keys: drafts.iter().map(|draft| draft.key.clone()).collect(),
        title: requirement.map(|one| one.title.clone()).unwrap_or_default(),
        role,
        goal,
        benefit,
        description,
        priority: priority(&request.requirements),
        acceptance_criteria: criteria(&said, &found),
        quality_score: 1.0,
        quality_issues: Vec::new(),
        sources: Vec::new(),
    };
    let checked = issues::check(&Embedded::default(), &drafts, std::slice::from_ref(&story), control)?
        .user_stories
        .pop()
        .unwrap_or(story);
    let notes = notes(request, &checked);
    Ok(RegeneratedStory {
        title: checked.title,
        role: checked.role,
        goal: checked.goal,
        benefit: checked.benefit,
        description: checked.description,
        priority: checked.priority,
        acceptance_criteria: checked.acceptance_criteria.into_iter().map(plain_criterion).collect(),
        quality_score: checked.quality_score,
        quality_issues: checked.quality_issues,
        notes,
    })
}

/// Whether a sentence names a person who wants something, as a story does.
fn names_somebody(parts: &StoryParts) -> bool {
    parts.is_written || parts.role.as_deref().is_some_and(is_person)
}

fn draft((at, stated): (usize, &StatedRequirement)) -> RequirementDraft {
    RequirementDraft {
        key: at.to_string(),
        kind: stated.kind,
        category: None,
        title: stated.title.clone(),
        statement: stated.statement.clone(),
        pattern: None,
        priority: stated.priority,
        confidence: 1.0,
        quality_issues: Vec::new(),
        sources: Vec::new(),
        duplicate_of: None,
        conflicts_with: Vec::new(),
    }
}

/// The highest priority that a requirement states.
fn priority(requirements: &[StatedRequirement]) -> Priority {
    let stated = requirements.iter().map(|one| one.priority).filter(|priority| *priority != Priority::Unknown);
    stated.max().unwrap_or(Priority::Unknown)
}

/// The conditions with an outcome that requirements and sources state, each once.
fn criteria(said: &[&str], found: &[StoryParts]) -> Vec<CriterionDraft> {
    let conditions = said.iter().zip(found).filter(|(_, parts)| !parts.is_written);
    let mut seen = HashSet::new();
    conditions.filter_map(|(text, _)| criterion(text)).filter(|one| seen.insert(one.key.clone())).collect()
}

fn plain_criterion(criterion: CriterionDraft) -> RegeneratedCriterion {
    let CriterionDraft { text, given, when, then, .. } = criterion;
    RegeneratedCriterion { text, given, when, then }
}

fn notes(request: &StoryRequest, story: &UserStoryDraft) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |holds: bool, text: &str| {
        if holds {
            notes.push(text.to_owned());
        }
    };
    let criteria = story.acceptance_criteria.iter().map(|criterion| criterion.text.clone()).collect();
    let StoryContent { role, goal, benefit, .. } = &request.story;
    let now =
        StoryContent { role: story.role.clone(), goal: story.goal.clone(), benefit: story.benefit.clone(), criteria };
    note(
        !request.feedback.trim().is_empty(),
        "The embedded engine writes stories by rules from the requirements and the sources. It does not interpret feedback: \
         edit the story, or the requirement, to say what the feedback asks for.",
    );
    note(now == request.story, "The requirements and the sources give the same story as before.");
    note(story.goal != *goal, "The goal is the requirement's own words.");
    note(
        story.role.is_none() && role.is_some(),
        "No requirement or source names who wants this, so the former role was left out.",
    );
    note(
        story.benefit.is_none() && benefit.is_some(),
        "No requirement or source says what this is for, so the former benefit was left out.",
    );
    note(
        story.acceptance_criteria.is_empty() && !request.story.criteria.is_empty(),
        "No requirement or source states a condition with its outcome, so the former criteria were left out.",
    );
    let covered = matches!(request.language, actors::language::Language::Auto | actors::language::Language::En);
    note(!covered, "The rules of the embedded engine are for English.");
    notes
}

#[cfg(test)]
mod tests {
    use actors::language::Language;

    use super::super::super::request::CancelToken;
    use super::super::super::result::RequirementType;
    use super::*;

    fn request(statement: &str, quotes: &[&str]) -> StoryRequest {
        StoryRequest {
            story: StoryContent::default(),
            requirements: vec![StatedRequirement {
                title: "Cancel an appointment".to_owned(),
                statement: statement.to_owned(),
                kind: RequirementType::Functional,
                priority: Priority::High,
            }],
            quotes: quotes.iter().map(|quote| (*quote).to_owned()).collect(),
            feedback: "Make it shorter.".to_owned(),
            language: Language::En,
        }
    }

    fn written_anew(request: &StoryRequest) -> RegeneratedStory {
        regenerate(request, &LoopControl::new(CancelToken::new())).unwrap()
    }

    #[test]
    fn clauses_that_the_requirement_lacks_are_taken_from_the_sources_and_nothing_is_invented() {
        let bare = written_anew(&request("A patient must be able to cancel an appointment.", &[]));
        assert_eq!((bare.role.as_deref(), bare.benefit.as_deref()), (Some("patient"), None));
        assert!(bare.acceptance_criteria.is_empty());
        assert_eq!(bare.priority, Priority::High);
        let quotes = [
            "Patients must be able to cancel, so that others get the free slot.",
            "When an appointment is cancelled, the system must offer the slot to the next patient.",
        ];
        let fuller = written_anew(&request("A patient must be able to cancel an appointment.", &quotes));
        assert_eq!(fuller.benefit.as_deref(), Some("others get the free slot"));
        assert_eq!(fuller.goal, "cancel an appointment");
        let then = fuller.acceptance_criteria.iter().map(|one| one.then.clone().unwrap()).collect::<Vec<_>>();
        assert_eq!(then, ["the system must offer the slot to the next patient"]);
        assert!(fuller.quality_score > bare.quality_score);
        assert_eq!(written_anew(&request("A patient must be able to cancel an appointment.", &quotes)), fuller);
    }

    #[test]
    fn what_could_not_be_done_is_said() {
        let mut asked = request("The system shall print a receipt.", &[]);
        asked.story = StoryContent { role: Some("cashier".to_owned()), ..StoryContent::default() };
        let story = written_anew(&asked);
        assert_eq!((story.role, story.goal.as_str()), (None, "the system to print a receipt"));
        assert!(story.notes.iter().any(|note| note.contains("does not interpret feedback")), "{:?}", story.notes);
        assert!(story.notes.iter().any(|note| note.contains("former role was left out")), "{:?}", story.notes);
    }

    #[test]
    fn a_story_that_comes_out_the_same_is_said_to_be() {
        let mut asked = request("As a clerk, I want to see the list, so that I can fill slots.", &[]);
        let first = written_anew(&asked);
        assert_eq!(first.description, "As a clerk, I want to see the list, so that I can fill slots.");
        asked.story = StoryContent {
            role: first.role,
            goal: first.goal,
            benefit: first.benefit,
            criteria: first.acceptance_criteria.into_iter().map(|one| one.text).collect(),
        };
        assert!(written_anew(&asked).notes.iter().any(|note| note.contains("the same story as before")));
    }
}
