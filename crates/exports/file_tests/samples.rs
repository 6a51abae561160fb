//! Specifications to write: one with a bit of everything, most of it hostile, an empty one, and one of any size.

use super::specification::{
    ActionItemEntry, CriterionEntry, DecisionEntry, OpenQuestionEntry, ProjectHead, QualityNote, RequirementEntry,
    RiskEntry, SourceEntry, Specification, SpecificationSummary, UserStoryEntry,
};

/// Texts that must stay texts.
pub(crate) const HOSTILE: [&str; 18] = [
    "=HYPERLINK(\"http://evil.example\",\"click\")",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1+1)",
    "＝1+1",
    "  =1+1",
    "\t=1+1",
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "\"><b onmouseover='x'>&amp;</b>",
    "![x](http://evil.example/a.png) [y](javascript:alert(1)) <http://evil.example> www.evil.example",
    "# Heading\n===\n- item\n| a | b |\n|---|---|\n```\ncode",
    "@ada please see #12 and mail ada@evil.example",
    "a\"b,c;d\r\ne'f",
    "nul\0 bell\u{7} escape\u{1b}[31m noncharacter\u{ffff}",
    "override \u{202e}fdp.exe\u{2067} lone isolate",
    "👩‍👩‍👧‍👦 🏴 e\u{301} 𝒳",
    "]]> &lt; {{ x }} {% y %} ${z} %00 _x000D_",
    "http://evil.example/path?a=b&c=d",
];

pub(crate) fn id(kind: u16, number: usize) -> String {
    format!("01930000-0000-7000-{:04x}-{number:012x}", 0x8000 | kind)
}

/// Something of each kind, in the language (`EN`, `DE`, `AR`) and with [`HOSTILE`] texts.
pub(crate) fn hostile(language: &str) -> Specification {
    let say = |english: &str, german: &str, arabic: &str| match language {
        "DE" => german.to_owned(),
        "AR" => arabic.to_owned(),
        _ => english.to_owned(),
    };
    let title = say("Sign in with a code", "Anmeldung mit einem Code", "تسجيل الدخول برمز");
    let statement = say(
        "The system shall let a nurse sign in with a code within 2 seconds.",
        "Das System muss Pflegekräfte binnen 2 Sekunden mit einem Code anmelden.",
        "يجب أن يسمح النظام للممرضة بتسجيل الدخول برمز خلال 2 ثانية.",
    );
    let nurse = say("nurse", "Pflegekraft", "ممرضة");
    let mut requirements = vec![requirement(1, &title, &statement)];
    requirements.extend(HOSTILE.iter().zip(2..).map(|(text, number)| requirement(number, text, text)));
    if let [first, second, ..] = requirements.as_mut_slice() {
        first.conflicts_with = vec![second.id.clone(), id(1, 9_999)];
        first.duplicate_of = Some(second.id.clone());
        first.suspect = true;
        first.category = None;
        first.kind = "FUNCTIONAL".to_owned();
        first.workflow_status = "APPROVED".to_owned();
    }
    let mut user_stories = vec![user_story(1, &title, &nurse, 1)];
    user_stories.extend(HOSTILE.iter().zip(2..).map(|(text, number)| user_story(number, text, text, number)));
    Specification {
        project: ProjectHead {
            id: id(9, 1),
            name: say("Clinic & ward <1>", "Klinik & Station <1>", "العيادة & الجناح <1>"),
            description: format!("{statement}\n{}", HOSTILE.join("\n")),
            language: language.to_owned(),
        },
        as_of: "2026-11-24T17:30:00Z".to_owned(),
        run_id: Some(id(8, 1)),
        summary: SpecificationSummary {
            text: statement.clone(),
            key_decisions: vec![title.clone(), "=1+1".to_owned()],
            scope: vec![statement.clone()],
            out_of_scope: vec!["<b>billing</b>".to_owned()],
            assumptions: vec!["12:30 🙂".to_owned()],
        },
        requirements,
        user_stories,
        risks: HOSTILE.iter().zip(1..).map(|(text, number)| risk(number, text)).collect(),
        open_questions: HOSTILE.iter().zip(1..).map(|(text, number)| open_question(number, text)).collect(),
        action_items: HOSTILE.iter().zip(1..).map(|(text, number)| action_item(number, text)).collect(),
        decisions: HOSTILE.iter().zip(1..).map(|(text, number)| decision(number, text)).collect(),
    }
}

/// Only a name.
pub(crate) fn empty() -> Specification {
    Specification {
        project: ProjectHead {
            id: id(9, 1),
            name: "Nothing yet".to_owned(),
            language: "AUTO".to_owned(),
            ..Default::default()
        },
        ..Default::default()
    }
}

/// As many requirements as asked for, and half as many stories.
pub(crate) fn large(count: usize) -> Specification {
    let statement =
        "The system shall show the list of open orders of a ward within two seconds of the request. ".repeat(2);
    Specification {
        requirements: (1..=count).map(|number| requirement(number, "Open orders of a ward", &statement)).collect(),
        user_stories: (1..=count / 2).map(|number| user_story(number, "Open orders", "nurse", number)).collect(),
        ..empty()
    }
}

fn requirement(number: usize, title: &str, statement: &str) -> RequirementEntry {
    RequirementEntry {
        id: id(1, number),
        code: format!("REQ-{number:03}"),
        kind: "NON_FUNCTIONAL".to_owned(),
        category: Some("PERFORMANCE_EFFICIENCY".to_owned()),
        title: title.to_owned(),
        statement: statement.to_owned(),
        priority: "HIGH".to_owned(),
        confidence: 0.75,
        workflow_status: "NEEDS_REVIEW".to_owned(),
        quality_issues: vec![QualityNote {
            code: "VAGUE_WORD".to_owned(),
            message: format!("Vague: {title}"),
            severity: "LOW".to_owned(),
        }],
        version: 3,
        revision_source: "AI_GENERATED".to_owned(),
        sources: sources(number, statement),
        created_at: "2026-11-20T08:00:00Z".to_owned(),
        updated_at: "2026-11-24T17:30:00.123Z".to_owned(),
        ..Default::default()
    }
}

fn user_story(number: usize, title: &str, role: &str, requirement: usize) -> UserStoryEntry {
    UserStoryEntry {
        id: id(2, number),
        code: format!("US-{number:03}"),
        requirement_ids: vec![id(1, requirement)],
        title: title.to_owned(),
        role: Some(role.to_owned()),
        goal: title.to_owned(),
        description: format!("As a {role}, I want {title}."),
        priority: "MEDIUM".to_owned(),
        acceptance_criteria: vec![CriterionEntry {
            id: id(3, number),
            code: format!("AC-{number:03}"),
            text: title.to_owned(),
            given: Some(role.to_owned()),
            when: Some(title.to_owned()),
            then: None,
        }],
        workflow_status: "APPROVED".to_owned(),
        quality_score: 0.5,
        version: 1,
        revision_source: "HUMAN_EDITED".to_owned(),
        tracker_key: Some(format!("CLIN-{number}")),
        tracker_url: Some(format!("https://tracker.example/browse/CLIN-{number}")),
        sources: sources(number, title),
        created_at: "2026-11-20T08:00:00Z".to_owned(),
        updated_at: "2026-11-24T17:30:00Z".to_owned(),
        ..Default::default()
    }
}

fn risk(number: usize, text: &str) -> RiskEntry {
    RiskEntry {
        id: id(4, number),
        code: format!("RISK-{number:03}"),
        title: text.to_owned(),
        description: text.to_owned(),
        severity: "CRITICAL".to_owned(),
        likelihood: "LOW".to_owned(),
        mitigation: Some(text.to_owned()),
        sources: sources(number, text),
    }
}

fn open_question(number: usize, text: &str) -> OpenQuestionEntry {
    OpenQuestionEntry {
        id: id(5, number),
        code: format!("Q-{number:03}"),
        question: text.to_owned(),
        why: text.to_owned(),
        raised_by: Some(text.to_owned()),
        sources: Vec::new(),
    }
}

fn action_item(number: usize, text: &str) -> ActionItemEntry {
    ActionItemEntry {
        id: id(6, number),
        code: format!("ACT-{number:03}"),
        text: text.to_owned(),
        assignee: Some(text.to_owned()),
        due_date: Some("2026-12-01".to_owned()),
        sources: Vec::new(),
    }
}

fn decision(number: usize, text: &str) -> DecisionEntry {
    DecisionEntry {
        id: id(7, number),
        code: format!("DEC-{number:03}"),
        text: text.to_owned(),
        sources: sources(number, text),
    }
}

/// One of a document and one of a recording.
fn sources(number: usize, quote: &str) -> Vec<SourceEntry> {
    vec![
        SourceEntry {
            kind: "DOCUMENT".to_owned(),
            id: id(10, 1),
            name: "Interview = notes.docx".to_owned(),
            quote: quote.to_owned(),
            page: Some(3),
            section: Some("Access › Roles".to_owned()),
            start_offset: number * 100,
            end_offset: number * 100 + 40,
            ..Default::default()
        },
        SourceEntry {
            kind: "RECORDING".to_owned(),
            id: id(11, 1),
            name: "Kick-off".to_owned(),
            quote: quote.to_owned(),
            start_ms: Some(425_000),
            end_ms: Some(431_500),
            speaker: Some("Ada <Lovelace>".to_owned()),
            ..Default::default()
        },
    ]
}
