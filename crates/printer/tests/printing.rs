//! The program as the server runs it: JSON in, a PDF or a reason out.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the test, loudly")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use exports::specification::{
    ActionItemEntry, CriterionEntry, DecisionEntry, OpenQuestionEntry, ProjectHead, QualityNote, RequirementEntry,
    RiskEntry, SelectionHead, SourceEntry, Specification, SpecificationSummary, UserStoryEntry,
};

fn run(input: &[u8]) -> Output {
    run_with(&["--memory-mib", "2048", "--seconds", "60"], input)
}

fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_colloquy-printer"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Beside the reading of what comes back: a program that ends early closes its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn printed(specification: &Specification) -> Vec<u8> {
    let output = run(&serde_json::to_vec(specification).unwrap());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    assert!(output.stdout.starts_with(b"%PDF-1.7") && output.stdout.trim_ascii_end().ends_with(b"%%EOF"));
    output.stdout
}

/// What a reader of the file finds in it, in the order of the pages; none where `pdftotext` is not installed.
fn text_of(pdf: &[u8]) -> Option<String> {
    let child = Command::new("pdftotext").args(["-", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED what the text of the file is: pdftotext is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let pdf = pdf.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&pdf).unwrap());
    let text = child.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    Some(String::from_utf8(text).unwrap())
}

fn source(name: &str, quote: &str) -> SourceEntry {
    SourceEntry {
        kind: "RECORDING".to_owned(),
        name: name.to_owned(),
        quote: quote.to_owned(),
        page: Some(4),
        section: Some("Goals > Stock".to_owned()),
        start_ms: Some(752_000),
        end_ms: Some(787_000),
        speaker: Some("Dana Reyes".to_owned()),
        ..SourceEntry::default()
    }
}

fn requirement(number: usize) -> RequirementEntry {
    RequirementEntry {
        id: format!("id-{number}"),
        code: format!("REQ-{number:03}"),
        kind: "FUNCTIONAL".to_owned(),
        category: Some("SECURITY".to_owned()),
        title: format!("Stock within {number} seconds"),
        statement: "The system shall show the stock of every article.".to_owned(),
        priority: "HIGH".to_owned(),
        confidence: 0.87,
        workflow_status: "APPROVED".to_owned(),
        suspect: number == 1,
        quality_issues: vec![QualityNote {
            code: "VAGUE_WORD".to_owned(),
            message: "every".to_owned(),
            severity: "LOW".to_owned(),
        }],
        conflicts_with: vec!["id-2".to_owned()],
        sources: vec![source("Discovery", "We need the stock.")],
        ..RequirementEntry::default()
    }
}

/// One of each kind.
fn specification(language: &str) -> Specification {
    let story = UserStoryEntry {
        code: "US-001".to_owned(),
        title: "Reorder in time".to_owned(),
        requirement_ids: vec!["id-1".to_owned()],
        role: Some("buyer".to_owned()),
        goal: "a warning".to_owned(),
        benefit: Some("full shelves".to_owned()),
        description: "As a buyer, I want a warning.".to_owned(),
        acceptance_criteria: vec![CriterionEntry {
            code: "AC-001".to_owned(),
            text: "The mail is sent.".to_owned(),
            given: Some("stock four".to_owned()),
            when: Some("one is sold".to_owned()),
            then: Some("a mail goes out".to_owned()),
            ..CriterionEntry::default()
        }],
        tracker_url: Some("https://tracker.example.org/SHOP-12".to_owned()),
        ..UserStoryEntry::default()
    };
    Specification {
        project: ProjectHead {
            id: "0190".to_owned(),
            name: "Warehouse Portal".to_owned(),
            description: "Replaces spreadsheets.".to_owned(),
            language: language.to_owned(),
        },
        as_of: "2026-11-22T14:05:00Z".to_owned(),
        exported_by: "Ada Lovelace".to_owned(),
        selection: SelectionHead { items: "APPROVED".to_owned(), is_filtered: false },
        run_id: None,
        summary: SpecificationSummary {
            text: "It shows stock.".to_owned(),
            key_decisions: vec!["PostgreSQL".to_owned()],
            ..SpecificationSummary::default()
        },
        requirements: vec![requirement(1), requirement(2)],
        user_stories: vec![story],
        risks: vec![RiskEntry {
            code: "RISK-001".to_owned(),
            title: "Supplier unstable".to_owned(),
            severity: "HIGH".to_owned(),
            mitigation: Some("Keep a copy.".to_owned()),
            ..RiskEntry::default()
        }],
        open_questions: vec![OpenQuestionEntry {
            code: "Q-001".to_owned(),
            question: "Who maintains it?".to_owned(),
            ..OpenQuestionEntry::default()
        }],
        action_items: vec![ActionItemEntry {
            code: "ACT-001".to_owned(),
            text: "Ask the supplier.".to_owned(),
            due_date: Some("2026-12-01".to_owned()),
            ..ActionItemEntry::default()
        }],
        decisions: vec![DecisionEntry {
            code: "DEC-001".to_owned(),
            text: "Old values are marked.".to_owned(),
            sources: vec![source("Notes", "Mark them.")],
            ..DecisionEntry::default()
        }],
    }
}

fn contains(bytes: &[u8], part: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(part)
}

#[test]
fn what_is_no_specification_ends_with_2_and_one_line() {
    for input in [&b""[..], b"{", b"[]", b"{\"project\": \"\\u001b[31m\\n\"}", b"\xff\xfe"] {
        let output = run(input);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let reason = String::from_utf8(output.stderr).unwrap();
        assert!(reason.starts_with("colloquy-printer: the input is no specification: "), "{reason}");
        assert!(reason.ends_with('\n') && !reason.trim_end().contains(|c: char| c.is_control()), "{reason:?}");
    }
}

#[test]
fn the_same_specification_gives_the_same_bytes() {
    for language in ["EN", "AR", "DE"] {
        let one = printed(&specification(language));
        assert!(one == printed(&specification(language)), "{language}");
        assert!(one != printed(&Specification { as_of: "2026-11-23T14:05:00Z".to_owned(), ..specification(language) }));
    }
}

#[test]
fn everything_is_read_in_order() {
    let Some(text) = text_of(&printed(&specification("EN"))) else { return };
    let wanted = [
        "Warehouse Portal",
        "Requirements specification",
        "As of: 22 November 2026",
        "Exported by: Ada Lovelace",
        "Contains: Approved items",
        "Replaces spreadsheets.",
        "Contents",
        "Summary",
        "Functional requirements",
        "Decisions",
        "It shows stock.",
        "Key decisions",
        "PostgreSQL",
        "Functional requirements",
        "Goals > Stock",
        "REQ-001",
        "Stock within 1 seconds",
        "The system shall show the stock of every article.",
        "Category: Security · Priority: High · Status: Approved · Conflicts with: REQ-002",
        "Suspect:",
        "Sources: Discovery, Page 4, 12:32–13:07, Dana Reyes: “We need the stock.”",
        "REQ-002",
        "Sources: Discovery, Page 4, 12:32–13:07, Dana Reyes User stories",
        "US-001",
        "Reorder in time",
        "As a buyer, I want a warning.",
        "Requirements: REQ-001 · Tracker issue: https://tracker.example.org/SHOP-12",
        "Benefit: full shelves",
        "AC-001",
        "The mail is sent.",
        "stock four",
        "one is sold",
        "a mail goes out",
        "RISK-001",
        "Supplier unstable",
        "Keep a copy.",
        "Q-001",
        "Who maintains it?",
        "ACT-001",
        "Ask the supplier.",
        "1 December 2026",
        "DEC-001",
        "Old values are marked.",
        "“Mark them.”",
    ];
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = text.as_str();
    for part in wanted {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part:?} is missing or too early in {text}"));
        rest = after;
    }
    for left_out in ["87 %", "Vague word", "Version", "Role:", "14:05", "id-1"] {
        assert!(!text.contains(left_out), "{left_out} in {text}");
    }
}

#[test]
fn arabic_pages_have_arabic_words_and_keep_codes_and_dates() {
    let mut specification = specification("AR");
    specification.requirements[0].statement = "يعرض النظام المخزون منذ 2026-11-22 عبر الإصدار 1.2-beta.".to_owned();
    let pdf = printed(&specification);
    assert!(contains(&pdf, "/Lang (ar)") || contains(&pdf, "/Lang(ar)"));
    assert!(contains(&pdf, "/Direction /R2L") || contains(&pdf, "/Direction/R2L"));
    let Some(text) = text_of(&pdf) else { return };
    for part in ["المتطلبات", "REQ-001", "2026-11-22", "1.2-beta", "12:32–13:07"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn an_empty_specification_is_a_file_too() {
    let pdf = printed(&Specification::default());
    let Some(text) = text_of(&pdf) else { return };
    assert!(text.starts_with("Requirements specification"), "{text}");
    assert!(!text.contains("None") && !text.contains("Contents"), "{text}");
}

/// Texts that break layouts, files or readers; and each at each place where a text stands.
#[test]
fn no_text_breaks_the_file_or_becomes_a_link() {
    let texts = [
        "=HYPERLINK(\"http://x\") <script>alert(1)</script> &amp; [a](http://b) (/URI) endobj".to_owned(),
        "A".repeat(5_000),
        format!("https://example.org/{}", "path/".repeat(200)),
        "مرحبا Hello عالم (REST API) 123-456".to_owned(),
        "English then עברית and العربية, 1-2/3.".to_owned(),
        "a\0\u{1}\u{7}\u{1b}[31m\u{8}\u{7f}\u{85}x\ty \u{202e}evil\u{202c} \u{2066}open \u{200f}\u{feff}\u{fdd0}\u{10ffff}".to_owned(),
        "😀 👨‍👩‍👧 漢字 ไทย \u{e000} a\u{301}\u{301}\u{301}".to_owned(),
        "ب".repeat(3_000),
        "😀".to_owned(),
        "\u{301}\u{64b}\u{202b}\u{2067}\u{200d}".to_owned(),
        "\n".repeat(60),
        "ﷺ لا لله ﻻ ﬁ नमस्ते".to_owned(),
        String::new(),
    ];
    for text in &texts {
        for language in ["EN", "AR", "\u{202e}"] {
            let t = || text.clone();
            let source = || SourceEntry {
                name: t(),
                quote: t(),
                kind: t(),
                section: Some(t()),
                speaker: Some(t()),
                start_ms: Some(u64::MAX),
                page: Some(u32::MAX),
                ..SourceEntry::default()
            };
            let mut hostile = specification(language);
            hostile.project = ProjectHead { id: t(), name: t(), description: t(), language: language.to_owned() };
            hostile.as_of = t();
            hostile.summary.text = t();
            hostile.summary.key_decisions = vec![t()];
            for item in &mut hostile.requirements {
                (item.code, item.kind, item.title, item.statement) = (t(), t(), t(), t());
                (item.priority, item.workflow_status, item.category) = (t(), t(), Some(t()));
                (item.confidence, item.duplicate_of, item.conflicts_with) = (f64::MAX, Some(t()), vec![t(), t()]);
                item.quality_issues = vec![QualityNote { code: t(), message: t(), severity: t() }];
                item.sources = vec![source(), source()];
            }
            for item in &mut hostile.user_stories {
                (item.code, item.title, item.goal, item.description) = (t(), t(), t(), t());
                (item.role, item.benefit, item.tracker_key, item.tracker_url) =
                    (Some(t()), Some(t()), Some(t()), Some(t()));
                item.acceptance_criteria[0] = CriterionEntry {
                    id: t(),
                    code: t(),
                    text: t(),
                    given: Some(t()),
                    when: Some(t()),
                    then: Some(t()),
                };
            }
            (hostile.risks[0].title, hostile.risks[0].severity, hostile.risks[0].mitigation) = (t(), t(), Some(t()));
            (hostile.open_questions[0].question, hostile.open_questions[0].raised_by) = (t(), Some(t()));
            (hostile.action_items[0].assignee, hostile.action_items[0].due_date) = (Some(t()), Some(t()));
            (hostile.decisions[0].text, hostile.decisions[0].code) = (t(), t());
            let pdf = printed(&hostile);
            let file = String::from_utf8_lossy(&pdf);
            for action in ["/URI", "/JavaScript", "/Launch", "/GoToR", "/Named", "/SubmitForm"] {
                let found = ["/S", "/S "].iter().any(|key| file.contains(&format!("{key}{action}")));
                assert!(!found, "{action} for {text:.40}");
            }
            // The chapters and the group of requirements, each once in the contents: there is no summary where it says nothing.
            let links =
                ["/Subtype/Link", "/Subtype /Link"].iter().map(|link| file.matches(link).count()).sum::<usize>();
            assert_eq!(links, 8, "{text:.40}");
        }
    }
}

#[test]
fn what_has_no_glyph_is_seen_to_be_missing() {
    let mut specification = specification("EN");
    specification.summary.text = "before 漢😀 after".to_owned();
    let Some(text) = text_of(&printed(&specification)) else { return };
    assert!(text.contains("before \u{fffd}\u{fffd} after"), "{text}");
}

#[test]
fn requirements_stand_in_groups_whatever_their_order() {
    let mut specification = specification("EN");
    specification.requirements = (1..=4).map(requirement).collect();
    for (item, kind) in
        specification.requirements.iter_mut().zip(["CONSTRAINT", "FUNCTIONAL", "NON_FUNCTIONAL", "CONSTRAINT"])
    {
        item.kind = kind.to_owned();
        item.conflicts_with.clear();
    }
    let Some(text) = text_of(&printed(&specification)) else { return };
    let body = text.split_once("It shows stock.").unwrap().1;
    let places = ["Functional requirements", "REQ-002", "Security", "REQ-003", "Constraints", "REQ-001", "REQ-004"]
        .map(|part| body.find(part).unwrap());
    assert!(places.is_sorted(), "{places:?} in {body}");
}

#[test]
fn an_entry_stays_on_one_page() {
    let mut long = specification("EN");
    long.requirements = (1..=60).map(requirement).collect();
    for item in &mut long.requirements {
        (item.statement, item.title) =
            (format!("{} Begins. {} Ends.", item.code, "It goes on. ".repeat(40)), String::new());
    }
    let Some(text) = text_of(&printed(&long)) else { return };
    for page in text.split('\u{c}') {
        assert_eq!(page.matches("Begins.").count(), page.matches("Ends.").count(), "{page}");
    }
    assert_eq!(text.matches("Begins.").count(), 60);
}

#[test]
fn a_thousand_requirements_are_one_file_with_contents_on_one_page() {
    let mut large = specification("EN");
    large.requirements = (1..=1000).map(requirement).collect();
    let pdf = printed(&large);
    assert!(pdf.len() < 20 << 20, "{} bytes", pdf.len());
    let Some(text) = text_of(&pdf) else { return };
    assert!(text.contains("REQ-1000"));
    let cover = text.split('\u{c}').next().unwrap();
    assert!(cover.contains("Contents") && cover.contains("Decisions"), "{cover}");
}

#[test]
fn limits_are_kept_and_other_arguments_refused() {
    let json = serde_json::to_vec(&Specification::default()).unwrap();
    assert!(run_with(&[], &json).status.success(), "by hand there are no limits");
    assert!(!run_with(&["--memory-mib", "8", "--seconds", "60"], &json).status.success());
    for arguments in [&["--memory-mib", "x", "--seconds", "60"][..], &["--memory-mib", "64"], &["file.json"]] {
        let refused = run_with(arguments, &json);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("usage"), "{arguments:?}");
    }
}
