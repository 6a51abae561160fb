//! Specifications to write: one with a bit of everything, most of it hostile, an empty one, and one of any size.

use super::specification::{
    ActionItemEntry, CriterionEntry, DecisionEntry, OpenQuestionEntry, ProjectHead, QualityNote, RequirementEntry,
    RiskEntry, SelectionHead, SourceEntry, Specification, SpecificationSummary, UserStoryEntry,
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
        exported_by: "Ada <Lovelace>".to_owned(),
        selection: SelectionHead { items: "NOT_REJECTED".to_owned(), is_filtered: true },
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

/// What an analysis makes of a short brief, a part of it revised by people.
pub(crate) fn brief(language: &str) -> Specification {
    let say = |english: &str, german: &str, arabic: &str| match language {
        "DE" => german.to_owned(),
        "AR" => arabic.to_owned(),
        _ => english.to_owned(),
    };
    let statements = [
        say(
            "The system shall let a patient cancel an appointment until 24 hours before it begins without calling the clinic.",
            "Das System muss Patienten erlauben, einen Termin bis 24 Stunden vor Beginn ohne Anruf in der Klinik abzusagen.",
            "يجب أن يسمح النظام للمريض بإلغاء الموعد حتى 24 ساعة قبل بدايته دون الاتصال بالعيادة.",
        ),
        say(
            "The system shall offer a freed appointment to the first patient of the waiting list by mail.",
            "Das System muss einen frei gewordenen Termin dem ersten Patienten der Warteliste per E-Mail anbieten.",
            "يجب أن يعرض النظام الموعد الشاغر على أول مريض في قائمة الانتظار بالبريد.",
        ),
        say(
            "The system shall show the free appointments of a week within two seconds.",
            "Das System muss die freien Termine einer Woche binnen zwei Sekunden zeigen.",
            "يجب أن يعرض النظام المواعيد الشاغرة لأسبوع خلال ثانيتين.",
        ),
        say(
            "The data of patients must not leave the servers of the clinic.",
            "Die Daten der Patienten dürfen die Server der Klinik nicht verlassen.",
            "يجب ألا تغادر بيانات المرضى خوادم العيادة.",
        ),
    ];
    let sections = [
        say("Appointments › Cancelling", "Termine › Absage", "المواعيد › الإلغاء"),
        say("Appointments › Waiting list", "Termine › Warteliste", "المواعيد › قائمة الانتظار"),
    ];
    let kinds = [
        ("FUNCTIONAL", None, &sections[0]),
        ("FUNCTIONAL", None, &sections[1]),
        ("NON_FUNCTIONAL", Some("PERFORMANCE_EFFICIENCY"), &sections[0]),
        ("CONSTRAINT", None, &sections[1]),
    ];
    let requirements =
        (1..=16).zip(statements.iter().zip(kinds).cycle()).map(|(number, (statement, (kind, category, section)))| {
            let statement = if number > 4 { format!("({number}) {statement}") } else { statement.clone() };
            // As the engine makes them, but for one that a person has named.
            let cut: String = statement.chars().take(60).collect();
            let title = if number == 2 {
                say("Waiting list", "Warteliste", "قائمة الانتظار")
            } else {
                format!("{cut}…")
            };
            let mut entry = requirement(number, &title, &statement);
            entry.quality_issues.iter_mut().for_each(|note| note.message = "Week can be read in two ways.".to_owned());
            (entry.kind, entry.category) = (kind.to_owned(), category.map(str::to_owned));
            entry.priority = if number % 3 == 0 { "UNKNOWN" } else { "HIGH" }.to_owned();
            entry.workflow_status = if number % 5 == 0 { "NEEDS_REVIEW" } else { "APPROVED" }.to_owned();
            for source in &mut entry.sources {
                source.name =
                    if source.kind == "DOCUMENT" { "Clinic brief.docx".to_owned() } else { "Kick-off".to_owned() };
                source.section = source.section.take().map(|_| section.clone());
                source.speaker = source.speaker.take().map(|_| "Dana Reyes".to_owned());
            }
            if let [_, spoken] = entry.sources.as_mut_slice() {
                spoken.quote = say(
                    "Yes, nobody should have to call us for that.",
                    "Ja, dafür soll niemand anrufen müssen.",
                    "نعم، لا ينبغي أن يتصل أحد بنا لذلك.",
                );
            }
            entry
        });
    let requirements: Vec<RequirementEntry> = requirements.collect();
    let role = say("patient", "Patientin", "مريض");
    let goal = say("cancel an appointment online", "einen Termin online absagen", "إلغاء موعد عبر الإنترنت");
    let mut story = user_story(1, &goal, &role, 1);
    story.description = say(
        "As a patient, I want to cancel an appointment online so that I need not call the clinic.",
        "Als Patientin möchte ich einen Termin online absagen, damit ich nicht anrufen muss.",
        "بصفتي مريضًا، أريد إلغاء موعد عبر الإنترنت حتى لا أضطر إلى الاتصال.",
    );
    story.sources.iter_mut().for_each(|source| source.quote.clone_from(&statements[0]));
    let empty = empty();
    let mut risk = risk(1, &say("Nobody reads the mails.", "Niemand liest die E-Mails.", "لا أحد يقرأ الرسائل."));
    risk.mitigation =
        Some(say("Try it with ten patients first.", "Zuerst mit zehn Patienten erproben.", "تجربته أولًا مع عشرة مرضى."));
    let mut action = action_item(
        1,
        &say("Ask the data protection officer.", "Die Datenschutzbeauftragte fragen.", "سؤال مسؤول حماية البيانات."),
    );
    action.assignee = Some("Dana Reyes".to_owned());
    Specification {
        project: ProjectHead {
            name: say("Clinic portal", "Klinikportal", "بوابة العيادة"),
            description: say(
                "Booking and cancelling for patients.",
                "Buchen und Absagen für Patienten.",
                "الحجز والإلغاء للمرضى.",
            ),
            language: language.to_owned(),
            ..empty.project
        },
        as_of: "2026-11-24T17:30:00Z".to_owned(),
        exported_by: "Ada Lovelace".to_owned(),
        selection: SelectionHead { items: "NOT_REJECTED".to_owned(), is_filtered: false },
        summary: SpecificationSummary {
            text: say(
                "A portal in which patients book and cancel.",
                "Ein Portal, in dem Patienten buchen und absagen.",
                "بوابة يحجز فيها المرضى ويلغون.",
            ),
            ..Default::default()
        },
        requirements,
        user_stories: vec![story],
        risks: vec![risk],
        open_questions: vec![OpenQuestionEntry {
            raised_by: None,
            why: String::new(),
            ..open_question(
                1,
                &say(
                    "Who may see the waiting list?",
                    "Wer darf die Warteliste sehen?",
                    "من يحق له رؤية قائمة الانتظار؟",
                ),
            )
        }],
        action_items: vec![action],
        ..empty
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
