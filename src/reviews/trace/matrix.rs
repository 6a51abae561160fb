//! Makes the trace matrix of a project's items.

use std::collections::HashMap;
use std::io;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

use super::model::{TraceGap, TraceMatrix, TraceRow, TraceTotals, TracedRequirement, TracedStory};
use crate::analysis::items::model::{SourceReference, TrackerIssue, WorkflowStatus};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequirementBody {
    id: Uuid,
    code: String,
    title: String,
    workflow_status: WorkflowStatus,
    suspect: bool,
    sources: Vec<SourceReference>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoryBody {
    id: Uuid,
    code: String,
    requirement_ids: Vec<Uuid>,
    acceptance_criteria: Vec<IgnoredAny>,
    workflow_status: WorkflowStatus,
    suspect: bool,
    tracker_issue: Option<TrackerIssue>,
}

impl StoryBody {
    fn counts(&self) -> bool {
        self.workflow_status != WorkflowStatus::Rejected
    }

    fn traced(&self) -> TracedStory {
        TracedStory {
            id: self.id,
            code: self.code.clone(),
            criteria: self.acceptance_criteria.len(),
            workflow_status: self.workflow_status,
            tracker_issue: self.tracker_issue.clone(),
        }
    }
}

/// How many stories all rows and the orphans may have together.
pub const MAX_COVERED: usize = 200_000;

/// Why there is no matrix.
#[derive(Debug)]
pub enum Untraced {
    /// Its rows have more than [`MAX_COVERED`] stories.
    TooLarge,
    /// A stored item can't be read, or parsed.
    Broken(serde_json::Error),
}

impl From<serde_json::Error> for Untraced {
    fn from(error: serde_json::Error) -> Self {
        Self::Broken(error)
    }
}

/// Makes the matrix of a project's items, as JSON, each kind in the order of its codes; with `gaps_only`, of the rows that have gaps.
///
/// # Errors
/// [`Untraced`]: it would be too large, or a stored item can't be parsed.
pub fn matrix(
    requirements: impl Iterator<Item = io::Result<Bytes>>,
    stories: impl Iterator<Item = io::Result<Bytes>>,
    gaps_only: bool,
) -> Result<TraceMatrix, Untraced> {
    let stories = stories.map(|body| serde_json::from_slice(&body.map_err(serde_json::Error::io)?));
    let stories = stories.collect::<serde_json::Result<Vec<StoryBody>>>()?;
    if stories.iter().map(|story| story.requirement_ids.len().max(1)).sum::<usize>() > MAX_COVERED {
        return Err(Untraced::TooLarge);
    }
    let mut covering: HashMap<Uuid, Vec<&StoryBody>> = HashMap::new();
    for story in &stories {
        for id in &story.requirement_ids {
            covering.entry(*id).or_default().push(story);
        }
    }
    let mut totals = TraceTotals::default();
    let (mut rows, mut ids) = (Vec::new(), std::collections::HashSet::new());
    for body in requirements {
        let body = body.map_err(serde_json::Error::io)?;
        let requirement: RequirementBody = serde_json::from_slice(&body)?;
        ids.insert(requirement.id);
        let of_it = covering.get(&requirement.id).map(Vec::as_slice).unwrap_or_default();
        let gaps = gaps(&requirement, of_it);
        if requirement.workflow_status == WorkflowStatus::Rejected {
            totals.rejected_requirements += 1;
        } else {
            totals.requirements += 1;
            totals.covered += usize::from(!gaps.contains(&TraceGap::NoStory));
            gaps.iter().for_each(|gap| totals.gaps.add(*gap));
        }
        if gaps_only && gaps.is_empty() {
            continue;
        }
        let RequirementBody { id, code, title, workflow_status, sources, .. } = requirement;
        rows.push(TraceRow {
            requirement: TracedRequirement { id, code, title, workflow_status },
            user_stories: of_it.iter().map(|story| story.traced()).collect(),
            sources,
            gaps,
        });
    }
    let standing = stories.iter().filter(|story| story.counts());
    let is_orphan = |story: &&StoryBody| !story.requirement_ids.iter().any(|id| ids.contains(id));
    let orphans: Vec<TracedStory> = standing.clone().filter(is_orphan).map(StoryBody::traced).collect();
    totals.user_stories = standing.clone().count();
    totals.criteria = standing.map(|story| story.acceptance_criteria.len()).sum();
    totals.orphans = orphans.len();
    Ok(TraceMatrix { rows, orphans, totals })
}

fn gaps(requirement: &RequirementBody, stories: &[&StoryBody]) -> Vec<TraceGap> {
    if requirement.workflow_status == WorkflowStatus::Rejected {
        return Vec::new();
    }
    let standing = || stories.iter().filter(|story| story.counts());
    let gaps = [
        (TraceGap::NoStory, standing().next().is_none()),
        (TraceGap::NoCriteria, standing().any(|story| story.acceptance_criteria.is_empty())),
        (TraceGap::NoSource, requirement.sources.is_empty()),
        (TraceGap::NotExported, standing().any(|story| story.tracker_issue.is_none())),
        (TraceGap::Suspect, requirement.suspect || standing().any(|story| story.suspect)),
    ];
    gaps.into_iter().filter(|(_, is_there)| *is_there).map(|(gap, _)| gap).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn requirement(id: u128, status: &str, suspect: bool, sources: usize) -> String {
        let source = json!({
            "kind": "DOCUMENT", "documentId": Uuid::from_u128(9), "recordingId": null, "quote": "q", "page": null,
            "section": null, "startOffset": 0, "endOffset": 1, "startMs": null, "endMs": null, "speaker": null,
        });
        json!({
            "id": Uuid::from_u128(id), "code": format!("REQ-{id:03}"), "title": "t", "workflowStatus": status,
            "suspect": suspect, "sources": vec![source; sources],
        })
        .to_string()
    }

    fn story(id: u128, of: &[u128], status: &str, criteria: usize, issue: Option<&str>) -> String {
        let of: Vec<Uuid> = of.iter().map(|id| Uuid::from_u128(*id)).collect();
        let issue = issue.map(|key| json!({"key": key, "url": "https://tracker.example/1"}));
        json!({
            "id": Uuid::from_u128(100 + id), "code": format!("US-{id:03}"), "requirementIds": of, "workflowStatus": status,
            "acceptanceCriteria": vec![Value::Null; criteria], "suspect": false, "trackerIssue": issue,
        })
        .to_string()
    }

    #[test]
    fn stories_that_cover_very_many_requirements_are_refused_before_they_are_repeated() {
        let ids: Vec<u128> = (0..200).collect();
        let requirements: Vec<String> = (0..200).map(|id| requirement(id, "APPROVED", false, 0)).collect();
        let stories = |count: usize| -> Vec<String> {
            (0..count).map(|number| story(1000 + number as u128, &ids, "APPROVED", 1, None)).collect()
        };
        let (few, many) = (stories(100), stories(MAX_COVERED / 200 + 1));
        assert_eq!(matrix(bodies(&requirements), bodies(&few), false).unwrap().rows[0].user_stories.len(), 100);
        assert!(matches!(matrix(bodies(&requirements), bodies(&many), false), Err(Untraced::TooLarge)));
    }

    fn bodies(bodies: &[String]) -> impl Iterator<Item = io::Result<Bytes>> {
        bodies.iter().map(|body| Ok(Bytes::copy_from_slice(body.as_bytes())))
    }

    #[test]
    fn each_gap_is_found_and_what_was_rejected_counts_for_nothing() {
        let requirements = [
            requirement(1, "APPROVED", false, 1),
            requirement(2, "NEEDS_REVIEW", false, 0),
            requirement(3, "APPROVED", true, 1),
            requirement(4, "REJECTED", true, 0),
            requirement(5, "APPROVED", false, 1),
        ];
        let stories = [
            story(1, &[1], "APPROVED", 2, Some("T-1")),
            story(2, &[3], "NEEDS_REVIEW", 0, None),
            story(3, &[5], "REJECTED", 3, None),
            story(4, &[77], "APPROVED", 1, None),
            story(5, &[], "REJECTED", 1, None),
        ];
        let all = matrix(bodies(&requirements), bodies(&stories), false).unwrap();
        let gaps: Vec<_> = all.rows.iter().map(|row| row.gaps.clone()).collect();
        use TraceGap::{NoCriteria, NoSource, NoStory, NotExported, Suspect};
        assert_eq!(
            gaps,
            [vec![], vec![NoStory, NoSource], vec![NoCriteria, NotExported, Suspect], vec![], vec![NoStory],]
        );
        assert_eq!(all.orphans.iter().map(|story| story.code.as_str()).collect::<Vec<_>>(), ["US-004"]);
        let counts = crate::reviews::trace::model::GapCounts {
            no_story: 2,
            no_criteria: 1,
            no_source: 1,
            not_exported: 1,
            suspect: 1,
        };
        let totals = TraceTotals {
            requirements: 4,
            rejected_requirements: 1,
            user_stories: 3,
            criteria: 3,
            covered: 2,
            orphans: 1,
            gaps: counts,
        };
        assert_eq!(all.totals, totals);
        let some = matrix(bodies(&requirements), bodies(&stories), true).unwrap();
        let codes: Vec<_> = some.rows.iter().map(|row| row.requirement.code.as_str()).collect();
        assert_eq!((codes, some.totals), (vec!["REQ-002", "REQ-003", "REQ-005"], totals));
    }
}
