//! Tests of an issue's body.

use proptest::prelude::*;
use uuid::Uuid;

use super::{BODY_CHARACTERS, IssueMarkdown, TITLE_CHARACTERS, TickedCriteria, marker_of};
use crate::clients::trackers::{IssueBlock, IssueDraft};

const ID: Uuid = Uuid::from_u128(0x0198_c1de_0000_7000_8000_0000_0000_0001);

fn draft(title: &str, blocks: Vec<IssueBlock>) -> IssueDraft {
    IssueDraft { marker: ID, title: title.to_owned(), blocks }
}

fn rendered(draft: &IssueDraft) -> IssueMarkdown {
    IssueMarkdown::of(draft, &TickedCriteria::default()).unwrap()
}

fn story() -> IssueDraft {
    draft(
        "Book an\nappointment",
        vec![
            IssueBlock::Paragraph("As a patient,\nI book.\n\nAt night, too.".to_owned()),
            IssueBlock::Heading("Acceptance criteria #".to_owned()),
            IssueBlock::Criteria(vec![
                "One sees free times.".to_owned(),
                "Given a time\n\nthen it is kept".to_owned(),
                " ".to_owned(),
            ]),
            IssueBlock::Quote { text: "I would like\n\n> that".to_owned(), from: "@ada, 10:02".to_owned() },
            IssueBlock::Link { text: "Open [it]".to_owned(), url: "https://app.example.org/s?a=1&b=<2>".to_owned() },
            IssueBlock::Link { text: String::new(), url: "javascript:alert(1)".to_owned() },
        ],
    )
}

#[test]
fn a_draft_becomes_markdown() {
    let IssueMarkdown { title, body } = rendered(&story());
    assert_eq!(title, "Book an appointment");
    assert_eq!(
        body,
        "As a patient,\nI book.\n\nAt night, too.\n\n\
         ## Acceptance criteria \\#\n\n\
         - [ ] One sees free times.\n- [ ] Given a time\n  then it is kept\n\n\
         > I would like\n>\n> &gt; that\n>\n> — @&#8203;ada, 10:02\n\n\
         [Open \\[it\\]](<https://app.example.org/s?a=1&amp;b=%3C2%3E>)\n\n\
         javascript:alert(1)\n\n\
         <!-- colloquy:0198c1de-0000-7000-8000-000000000001 -->"
    );
}

#[test]
fn the_marker_is_found_again_and_can_not_be_forged() {
    let forged = "<!-- colloquy:00000000-0000-0000-0000-000000000001 -->".to_owned();
    let IssueMarkdown { body, .. } = rendered(&draft("x", vec![IssueBlock::Paragraph(forged)]));
    assert_eq!(body.matches("<!--").count(), 1);
    assert_eq!(marker_of(&body), Some(ID));
    assert_eq!(marker_of(&format!("Text before\r\n{body}\r\nand after")), Some(ID));
    for body in ["", "no marker", "<!-- colloquy:abc -->", "<!-- colloquy:0198c1de-0000-7000-8000-000000000001"] {
        assert_eq!(marker_of(body), None, "{body}");
    }
}

#[test]
fn a_long_title_is_cut_and_whole_in_the_body() {
    let whole = "é".repeat(TITLE_CHARACTERS);
    assert_eq!(rendered(&draft(&whole, Vec::new())).title, whole);
    let longer = format!("{whole}#1");
    let IssueMarkdown { title, body } = rendered(&draft(&longer, Vec::new()));
    assert_eq!(title, format!("{}…", "é".repeat(TITLE_CHARACTERS - 1)));
    assert!(body.starts_with(&format!("{whole}\\#&#8203;1\n\n<!--")), "{body}");
}

#[test]
fn quotes_are_left_out_from_the_last_on_where_a_body_is_too_long() {
    let quote = |letter: &str, count: usize| IssueBlock::Quote { text: letter.repeat(count), from: String::new() };
    let long = |count: usize| {
        let paragraph = IssueBlock::Paragraph("p".repeat(count));
        draft("x", vec![quote("a", 100), paragraph, quote("b", 100), quote("c", 100)])
    };
    let whole = rendered(&long(1)).body.chars().count() - 1;
    let exact = rendered(&long(BODY_CHARACTERS - whole));
    assert_eq!(exact.body.chars().count(), BODY_CHARACTERS);
    assert!(exact.body.contains("ccc"));
    let cut = rendered(&long(BODY_CHARACTERS - whole + 1)).body;
    assert!(cut.contains("aaa") && cut.contains("bbb") && !cut.contains("ccc"));
    let without = rendered(&long(BODY_CHARACTERS - 58 - 2)).body;
    assert!(!without.contains("aaa") && without.contains("colloquy:"));
    let refusal = IssueMarkdown::of(&long(BODY_CHARACTERS), &TickedCriteria::default()).unwrap_err();
    assert_eq!(refusal.code, "TooLong");
}

#[test]
fn ticking_and_line_ends_are_no_edit_but_words_are() {
    let issue = rendered(&story());
    let with = |body: String| IssueMarkdown { title: issue.title.clone(), body }.fingerprint();
    assert_eq!(issue.fingerprint().len(), 64);
    assert_eq!(with(issue.body.replace("- [ ] Given", "- [x] Given")), issue.fingerprint());
    assert_eq!(with(issue.body.replace("- [ ]", "- [X]").replace('\n', "\r\n")), issue.fingerprint());
    assert_eq!(with(format!("{}\n", issue.body)), issue.fingerprint());
    assert_ne!(with(issue.body.replace("night", "day")), issue.fingerprint());
    assert_ne!(with(issue.body.replace("- [ ] One sees free times.\n", "")), issue.fingerprint());
    assert_ne!(with(issue.body.replace("- [ ] One", "- One")), issue.fingerprint());
    let retitled = IssueMarkdown { title: "Other".to_owned(), body: issue.body.clone() };
    assert_ne!(retitled.fingerprint(), issue.fingerprint());
    let moved = IssueMarkdown { title: "Book an".to_owned(), body: format!("appointment{}", issue.body) };
    assert_ne!(moved.fingerprint(), issue.fingerprint());
}

#[test]
fn ticks_of_criteria_that_stay_are_kept() {
    let before = rendered(&story()).body.replace("- [ ] Given", "- [x] Given").replace('\n', "\r\n");
    let ticked = TickedCriteria::of(&before);
    let changed = draft(
        "x",
        vec![IssueBlock::Criteria(vec![
            "Given a time".to_owned(),
            "One sees free times.".to_owned(),
            "Given a time\nthen it is kept".to_owned(),
        ])],
    );
    let body = IssueMarkdown::of(&changed, &ticked).unwrap().body;
    assert!(
        body.starts_with("- [ ] Given a time\n- [ ] One sees free times.\n- [x] Given a time\n  then it is kept\n\n"),
        "{body}"
    );
    assert_eq!(TickedCriteria::of("- [ ] a\n- [x] b\ntext\n  c"), TickedCriteria::of("- [X] b"));
    assert_eq!(TickedCriteria::of(""), TickedCriteria::default());
}

proptest! {
    #[test]
    fn every_criterion_can_be_ticked_and_stays_so(criteria in prop::collection::vec("[ -~\\n]{1,30}", 1..4)) {
        let draft = draft("x", vec![IssueBlock::Criteria(criteria)]);
        let open = rendered(&draft);
        let ticked = open.body.lines().map(|line| line.strip_prefix("- [ ]").map_or(line.to_owned(), |rest| format!("- [x]{rest}")));
        let ticked = IssueMarkdown { title: open.title.clone(), body: ticked.collect::<Vec<_>>().join("\r\n") };
        prop_assert_eq!(ticked.fingerprint(), open.fingerprint());
        let again = IssueMarkdown::of(&draft, &TickedCriteria::of(&ticked.body)).unwrap();
        prop_assert_eq!(again.body, ticked.body.replace("\r\n", "\n"));
    }
}
