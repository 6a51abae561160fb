//! Tests of the wiki markup.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::super::super::IssueBlock;
use super::{encoded, escaped, markup};

#[test]
fn each_block_has_its_markup() {
    let blocks = [
        IssueBlock::Heading("Why\nnow".to_owned()),
        IssueBlock::Paragraph("As a user\r\nI *want*".to_owned()),
        IssueBlock::Criteria(vec!["one".to_owned(), " ".to_owned(), "two\n\nlines".to_owned()]),
        IssueBlock::Quote { text: "{quote}said".to_owned(), from: "Ada".to_owned() },
        IssueBlock::Link { text: "Open [it]".to_owned(), url: "https://x.example/s?a=1|b".to_owned() },
        IssueBlock::Link { text: "Text".to_owned(), url: "javascript:alert(1)".to_owned() },
        IssueBlock::Paragraph(" \n".to_owned()),
    ];
    insta::assert_snapshot!(markup(&blocks), @r"
    h3. Why now

    As a user
    I \*want\*

    * one
    * two
    lines

    {quote}
    \{quote\}said
    — Ada
    {quote}

    [Open \[it\]|https://x.example/s?a=1%7Cb]

    Text
    ");
}

#[test]
fn signs_of_markup_are_escaped_and_words_are_not() {
    for (text, expected) in [
        ("well-known snake_case 1+1 a~b", "well-known snake_case 1+1 a~b"),
        ("* item", "\\* item"),
        (" - item", " \\- item"),
        ("# item ## x", "\\# item #\\# x"),
        ("h1. Title", "h1\\. Title"),
        ("bq. said. so", "bq\\. said. so"),
        ("_a_ -b- +c+ ^d^ ~e~ ??f??", "\\_a\\_ \\-b\\- \\+c\\+ \\^d\\^ \\~e\\~ \\?\\?f\\?\\?"),
        ("----", "\\-\\-\\-\\-"),
        ("{code}|a|[b]!c!", "\\{code\\}\\|a\\|\\[b\\]\\!c\\!"),
        ("a\\\\b \\n", "a&#92;&#92;b &#92;n"),
        ("&lt; & A&B &#42;", "&amp;lt; & A&amp;B &amp;#42;"),
        (":) ;) :D (y)", "\\:) \\;) \\:D \\(y)"),
        ("A really? Yes.", "A really? Yes."),
    ] {
        assert_eq!(escaped(text), expected);
    }
}

#[test]
fn an_address_does_not_end_its_link() {
    assert_eq!(encoded("https://x.example/a|b]c"), "https://x.example/a%7Cb%5Dc");
}

/// What Jira makes of an escaped line that has no markup.
fn read(escaped: &str) -> String {
    let text = escaped.replace("&#92;", "\u{1}").replace('\\', "").replace("&amp;", "&");
    text.replace('\u{1}', "\\")
}

proptest! {
    // Inputs that failed once are kept beside this file and tried first.
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_escaped_line_shows_the_line(line in "[^\u{1}\r\n]*") {
        prop_assert_eq!(read(&escaped(&line)), line);
    }

    #[test]
    fn no_block_of_markup_begins_within_a_text(line in "[ a{}\\[\\]!|*#h1.b q-]{0,12}") {
        let escaped = escaped(&line);
        let mut before = ' ';
        for sign in escaped.chars() {
            prop_assert!(before == '\\' || !"{}[]!|".contains(sign), "{}", escaped);
            before = sign;
        }
        let first = escaped.trim_start().chars().next().unwrap_or('x');
        prop_assert!(!"*#-".contains(first), "{}", escaped);
    }
}
