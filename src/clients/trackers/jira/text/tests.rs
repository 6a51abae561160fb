//! Tests of what is rendered in any markup.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::super::super::{IssueBlock, IssueDraft};
use super::super::dialect::JiraDialect;
use super::{clean, length, one_line, summary, with_title};

#[test]
fn control_characters_are_removed_and_line_ends_alike() {
    assert_eq!(clean("a\r\nb\rc\u{2028}d\te\u{0}\u{7f}\u{ffff}f"), "a\nb\nc\nd ef");
    assert_eq!(one_line(" a\n\n b\u{1b} \tc "), "a b c");
}

#[test]
fn a_long_title_is_cut_at_a_word_and_shown_in_full_in_the_description() {
    assert_eq!(summary(&"x".repeat(255)), "x".repeat(255));
    assert_eq!(summary(&"x".repeat(256)), format!("{}…", "x".repeat(254)));
    let words = "word ".repeat(60);
    let cut = summary(&words);
    assert_eq!(cut, format!("{}…", "word ".repeat(50).trim_end()));
    assert!(length(&cut) <= 255);
    // Outside of the basic plane a character is two.
    assert_eq!(summary(&"😀".repeat(128)), format!("{}…", "😀".repeat(127)));
    assert_eq!(with_title("short", &[]), []);
    assert_eq!(with_title(&words, &[]), [IssueBlock::Paragraph(words.trim_end().to_owned())]);
}

fn with_quotes(count: usize, signs: usize) -> IssueDraft {
    let quote = |number| IssueBlock::Quote { text: format!("{number} {}", "q".repeat(signs)), from: "Ada".to_owned() };
    let mut blocks = vec![IssueBlock::Paragraph("As a user".to_owned())];
    blocks.extend((0..count).map(quote));
    IssueDraft { marker: uuid::Uuid::nil(), title: "A title".to_owned(), blocks }
}

/// The size of a description, and how many quotes it says are left out.
fn rendered(dialect: JiraDialect, draft: &IssueDraft) -> (usize, usize) {
    let description = dialect.render(draft).unwrap().description;
    let shown = super::super::adf::visible(&description);
    let dropped = shown.rsplit_once("… ").and_then(|(_, end)| end.split(' ').next()?.parse().ok()).unwrap_or(0);
    let size = description.as_str().map_or_else(|| description.to_string(), str::to_owned);
    (length(&size), dropped)
}

#[test]
fn the_last_quotes_are_left_out_where_a_description_is_too_long() {
    for dialect in [JiraDialect::Cloud, JiraDialect::DataCenter] {
        assert_eq!(rendered(dialect, &with_quotes(3, 100)).1, 0);
        let (size, dropped) = rendered(dialect, &with_quotes(50, 1000));
        assert!(size <= 32_767 && size > 31_000, "{size}");
        assert!((15..25).contains(&dropped), "{dropped}");
        let shown = super::super::adf::visible(&dialect.render(&with_quotes(50, 1000)).unwrap().description);
        let kept = 50 - dropped;
        assert!(shown.contains(&format!("{} q", kept - 1)) && !shown.contains(&format!("{kept} q")));
        assert!(shown.ends_with(&format!("… {dropped} more sources are in Colloquy.")));
        let (_, dropped) = rendered(dialect, &with_quotes(1, 40_000));
        assert_eq!(dropped, 1);
    }
}

#[test]
fn a_description_is_as_long_as_jira_takes_and_not_longer() {
    let of = |signs: usize| IssueDraft {
        marker: uuid::Uuid::nil(),
        title: "A title".to_owned(),
        blocks: vec![IssueBlock::Paragraph("x".repeat(signs))],
    };
    assert!(JiraDialect::DataCenter.render(&of(32_767)).is_ok());
    assert_eq!(JiraDialect::DataCenter.render(&of(32_768)).unwrap_err().code, "TooLong");
    let around = length(&JiraDialect::Cloud.render(&of(1)).unwrap().description.to_string()) - 1;
    assert!(JiraDialect::Cloud.render(&of(32_767 - around)).is_ok());
    assert_eq!(JiraDialect::Cloud.render(&of(32_768 - around)).unwrap_err().code, "TooLong");
}

#[test]
fn an_empty_title_is_refused() {
    let draft = IssueDraft { marker: uuid::Uuid::nil(), title: "\u{0} ".to_owned(), blocks: Vec::new() };
    assert_eq!(JiraDialect::Cloud.render(&draft).unwrap_err().code, "FieldRejected");
}

proptest! {
    // Inputs that failed once are kept beside this file and tried first.
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_summary_is_one_line_of_at_most_255(title in any::<String>(), times in 1_usize..20) {
        let summary = summary(&title.repeat(times));
        prop_assert!(length(&summary) <= 255);
        prop_assert!(!summary.contains(char::is_control));
        prop_assert_eq!(summary.trim(), summary.as_str());
    }
}
