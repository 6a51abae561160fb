//! Writes the issue of a user story, in no tracker's markup.

use std::collections::HashMap;

use pipeline::result::Priority;
use uuid::Uuid;

use crate::analysis::items::model::{AcceptanceCriterion, SourceReference, UserStory};
use crate::clients::trackers::{IssueBlock, IssueDraft};

/// Returns the draft of a story's issue. `names`: the names of documents and of the meetings of recordings, by their ids.
#[must_use]
pub fn draft(story: &UserStory, names: &HashMap<Uuid, String>) -> IssueDraft {
    let mut blocks = vec![IssueBlock::Paragraph(story.description.clone())];
    if !story.acceptance_criteria.is_empty() {
        blocks.push(IssueBlock::Heading("Acceptance criteria".to_owned()));
        blocks.push(IssueBlock::Criteria(story.acceptance_criteria.iter().map(criterion).collect()));
    }
    if !story.sources.is_empty() {
        blocks.push(IssueBlock::Heading("Sources".to_owned()));
        blocks.extend(story.sources.iter().map(|source| quote(source, names)));
    }
    let priority = match story.priority {
        Priority::Unknown => String::new(),
        priority => format!(", priority {priority}"),
    };
    blocks.push(IssueBlock::Paragraph(format!("{} in Colloquy{priority}", story.code)));
    IssueDraft { marker: story.id, title: story.title.clone(), blocks }
}

fn criterion(criterion: &AcceptanceCriterion) -> String {
    format!("{}: {}", criterion.code, criterion.text)
}

fn quote(source: &SourceReference, names: &HashMap<Uuid, String>) -> IssueBlock {
    let name = source.document_id.or(source.recording_id).and_then(|id| names.get(&id)).cloned();
    let page = source.page.map(|page| format!("page {page}"));
    let time = source.start_ms.map(|at| format!("{}:{:02}", at / 60_000, at / 1000 % 60));
    let parts = [name, source.section.clone(), page, time, source.speaker.clone()];
    let from: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    IssueBlock::Quote { text: source.quote.clone(), from: from.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::draft;
    use crate::clients::trackers::IssueBlock;

    #[test]
    fn an_issue_has_the_story_its_criteria_and_its_sources() {
        let story = serde_json::json!({
            "id": "0198d2c0-0000-7000-8000-000000000001", "code": "US-007", "requirementIds": [], "title": "Cancel an appointment",
            "role": "patient", "goal": "cancel", "benefit": null, "description": "As a patient, I want to cancel.", "priority": "HIGH",
            "acceptanceCriteria": [{"id": "0198d2c0-0000-7000-8000-000000000002", "code": "AC-001", "text": "It is gone.", "given": null,
                "when": null, "then": null}],
            "workflowStatus": "APPROVED", "qualityScore": 1.0, "qualityIssues": [], "version": 1, "revisionSource": "AI_GENERATED",
            "sources": [{"kind": "RECORDING", "documentId": null, "recordingId": "0198d2c0-0000-7000-8000-000000000003",
                "quote": "I want to cancel.", "page": null, "section": null, "startOffset": 0, "endOffset": 1, "startMs": 65_000,
                "endMs": 66_000, "speaker": "Ada"}],
            "suspect": false, "trackerIssue": null, "runId": "0198d2c0-0000-7000-8000-000000000004",
            "createdAt": "2026-11-25T10:00:00Z", "updatedAt": "2026-11-25T10:00:00Z"
        });
        let story = serde_json::from_value(story).unwrap();
        let recording = "0198d2c0-0000-7000-8000-000000000003".parse().unwrap();
        let names = std::collections::HashMap::from([(recording, "Discovery".to_owned())]);
        let draft = draft(&story, &names);
        assert_eq!((draft.title.as_str(), draft.marker), ("Cancel an appointment", story.id));
        let expected = vec![
            IssueBlock::Paragraph("As a patient, I want to cancel.".to_owned()),
            IssueBlock::Heading("Acceptance criteria".to_owned()),
            IssueBlock::Criteria(vec!["AC-001: It is gone.".to_owned()]),
            IssueBlock::Heading("Sources".to_owned()),
            IssueBlock::Quote { text: "I want to cancel.".to_owned(), from: "Discovery, 1:05, Ada".to_owned() },
            IssueBlock::Paragraph("US-007 in Colloquy, priority HIGH".to_owned()),
        ];
        assert_eq!(draft.blocks, expected);
    }
}
