//! The quality of items that a person has written: the same checks as for what the analysis writes.

use super::super::glossary::ProjectTerms;
use super::super::result::{EarsPattern, IssueCode, Priority, QualityIssue, RequirementDraft, RequirementType};
use super::ears;
use super::fingerprint::Fingerprint;
use super::issues::{issues_of, story_quality};

/// The issues of a story that are its own, and not those of the requirements that it covers.
const OF_A_STORY: [IssueCode; 3] = [IssueCode::MissingRole, IssueCode::MissingBenefit, IssueCode::MissingCriteria];

/// Returns the issues of a requirement and its pattern. Issues that rest on other requirements stay as they were.
#[must_use]
pub fn requirement_quality(
    kind: RequirementType,
    statement: &str,
    former: &[QualityIssue],
) -> (Vec<QualityIssue>, Option<EarsPattern>) {
    let draft = RequirementDraft {
        key: String::new(),
        kind,
        category: None,
        title: String::new(),
        statement: statement.to_owned(),
        pattern: None,
        priority: Priority::Unknown,
        confidence: 1.0,
        quality_issues: Vec::new(),
        sources: Vec::new(),
        duplicate_of: None,
        conflicts_with: Vec::new(),
    };
    let mut issues = issues_of(&ProjectTerms::default(), &draft);
    issues.extend(former.iter().filter(|issue| issue.code == IssueCode::Conflict).cloned());
    (issues, ears::pattern_of(statement))
}

/// Returns the score and the issues of a story, which has a role, a benefit, a criterion with an outcome, or not. What it has
/// of the requirements that it covers stays as it was.
#[must_use]
pub fn edited_story_quality(
    former: &[QualityIssue],
    has_role: bool,
    has_benefit: bool,
    is_testable: bool,
) -> (f64, Vec<QualityIssue>) {
    // Stories of before may have what a requirement contradicts.
    let is_inherited = |issue: &&QualityIssue| !OF_A_STORY.contains(&issue.code) && issue.code != IssueCode::Conflict;
    let inherited = former.iter().filter(is_inherited).cloned().collect();
    story_quality(inherited, (has_role, has_benefit, is_testable))
}

/// Returns the key of a requirement that a person has written: that of a finding with the same words.
#[must_use]
pub fn requirement_key(statement: &str) -> String {
    Fingerprint::of(statement).key("requirement")
}

/// Returns the key of a story that a person has written. The analysis finds a story by the requirement that it covers, so that
/// no finding has this key.
#[must_use]
pub fn story_key(description: &str) -> String {
    Fingerprint::of(description).key("written story")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_is_checked_as_what_the_analysis_writes() {
        let conflict = QualityIssue::new(IssueCode::Conflict, "It contradicts “x”.".to_owned());
        let vague = QualityIssue::new(IssueCode::VagueWord, "former".to_owned());
        let former = [vague, conflict];
        let (issues, _) = requirement_quality(RequirementType::NonFunctional, "The search shall be fast.", &former);
        let codes: Vec<IssueCode> = issues.iter().map(|issue| issue.code).collect();
        assert_eq!(codes, [IssueCode::VagueWord, IssueCode::Unmeasurable, IssueCode::Conflict]);
        let mended = "When a clerk searches, the system shall answer within 2 seconds.";
        let (issues, pattern) = requirement_quality(RequirementType::NonFunctional, mended, &[]);
        assert_eq!((issues, pattern), (Vec::new(), Some(EarsPattern::EventDriven)));
    }

    #[test]
    fn a_story_loses_the_issues_that_were_mended_and_keeps_those_of_its_requirements() {
        let former = [IssueCode::VagueWord, IssueCode::MissingRole, IssueCode::MissingCriteria];
        let former = former.map(|code| QualityIssue::new(code, String::new()));
        let (score, issues) = edited_story_quality(&former, true, false, true);
        let codes: Vec<IssueCode> = issues.iter().map(|issue| issue.code).collect();
        assert_eq!((codes, score), (vec![IssueCode::VagueWord, IssueCode::MissingBenefit], 0.7));
    }
}
