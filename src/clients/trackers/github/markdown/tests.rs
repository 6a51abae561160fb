//! Tests of Markdown and its escaping.

use proptest::prelude::*;
use regex::Regex;

use super::{literal, one_line, paragraphs};

/// What GitHub makes mentions, links, pictures and formulas of, in the text that the markup left.
const ACTED_ON: [&str; 7] =
    [r"@[0-9A-Za-z]", r"#[0-9]", r"(?i)\bgh-[0-9]", r"://", r"(?i)www\.", r":[0-9a-z_+-]{3,}:", r"\$"];

/// Reads an escaped line as GitHub does; formulas apart, which are in a `span` so that they are none.
fn shown(escaped: &str) -> String {
    let mut text = String::new();
    let mut rest = escaped;
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        let entities =
            [("&#8203;", "\u{200b}"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("<span>&#36;</span>", "¤")];
        if let Some((entity, meant)) = entities.iter().find(|(entity, _)| rest.starts_with(entity)) {
            text.push_str(meant);
            rest = &rest[entity.len()..];
        } else if sign == '\\' && after.starts_with(|next: char| next.is_ascii_punctuation()) {
            text.push_str(&after[..1]);
            rest = &after[1..];
        } else {
            text.push(sign);
            rest = after;
        }
    }
    text
}

/// Returns what GitHub would act on in an escaped line.
fn acted_on(escaped: &str) -> Option<String> {
    let text = shown(escaped);
    let found = ACTED_ON.iter().find_map(|pattern| Regex::new(pattern).unwrap().find(&text));
    let is_commit = |word: &&str| {
        let hexadecimal = word.chars().all(|sign| sign.is_ascii_hexdigit());
        hexadecimal && (7..=40).contains(&word.len()) && word.contains(|sign: char| sign.is_ascii_alphabetic())
    };
    let commit = text.split([' ', '(', ')', '[', ']', '{', '}', ',', '@']).find(is_commit);
    let tag = escaped.replace("<span>&#36;</span>", "").contains('<').then(|| "<".to_owned());
    found.map(|found| found.as_str().to_owned()).or(commit.map(str::to_owned)).or(tag)
}

#[test]
fn nobody_is_mentioned_and_nothing_referred_to() {
    let cases = [
        ("@octocat, see @acme/team", "@&#8203;octocat, see @&#8203;acme/team"),
        ("Fixes #12", "Fixes \\#&#8203;12"),
        ("closes acme/clinic#3 and GH-7", "closes acme/clinic\\#&#8203;3 and GH-&#8203;7"),
        ("resolves https://github.com/a/b/issues/1", "resolves https:&#8203;//github.com/a/b/issues/1"),
        ("www.example.org", "www&#8203;.example.org"),
        ("ada@example.org", "ada@&#8203;example.org"),
        ("in deadbeef1 there", "in d&#8203;eadbeef1 there"),
        ("a 12345678 long number", "a 12345678 long number"),
        (":tada: at 12:30:45", ":&#8203;tada: at 12:30:45"),
    ];
    for (text, escaped) in cases {
        assert_eq!(literal(text), escaped);
    }
}

#[test]
fn markup_is_shown_as_it_is() {
    let cases = [
        ("# no heading", "\\# no heading"),
        ("- [x] no task", "\\- \\[x\\] no task"),
        ("+ no list", "\\+ no list"),
        ("===", "\\==="),
        ("1. no list", "1\\. no list"),
        ("2026) no list", "2026\\) no list"),
        ("1.5 metres", "1\\.5 metres"),
        ("*a* _b_ `c` ~~d~~ | e", "\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~ \\| e"),
        ("![i](x) [l](y) [^1]: z", "!\\[i\\](x) \\[l\\](y) \\[^1\\]: z"),
        ("<img src=x> &amp; <!-- -->", "&lt;img src=x&gt; &amp;amp; &lt;!-- --&gt;"),
        ("$a$ for $5", "<span>&#36;</span>a<span>&#36;</span> for <span>&#36;</span>5"),
        (r"a\b\*", r"a\\b\\\*"),
        ("", ""),
    ];
    for (text, escaped) in cases {
        assert_eq!(literal(text), escaped);
    }
}

#[test]
fn lines_and_paragraphs_stay() {
    let text = "  one\r\n\ttwo  \n\n \n    three\u{0}\u{2028}four\n";
    assert_eq!(paragraphs(text), [vec!["one", "two"], vec!["three", "four"]]);
    assert_eq!(one_line(" a\n\n b\tc "), "a b c");
    assert!(paragraphs(" \n ").is_empty());
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "@",
        "octocat",
        "#",
        "1",
        "23",
        "GH-",
        "gh",
        "-",
        "www",
        ".",
        "https",
        "://",
        "github.com",
        "/a/b/issues/1",
        "a@b.co",
        ":",
        "tada",
        "+1",
        "`",
        "```",
        "*",
        "_",
        "- [x] ",
        "- ",
        "<!--",
        "-->",
        "<b>",
        "</",
        "&lt;",
        "&#64;",
        "&",
        "\\",
        "$",
        "deadbeef",
        "c0ffee12",
        "1. ",
        ">",
        "|",
        "~~",
        "[",
        "](",
        ")",
        "!",
        " ",
        "fixes ",
        "===",
        "---",
        "é",
        "日本",
        "\u{200b}",
        ",",
        "(",
        "'",
        "\"",
        "{",
        "}",
        "^",
        "[^1]",
    ]);
    let of_pieces = prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => of_pieces, 1 => "[ -~]{0,60}", 1 => "\\PC{0,40}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_line_is_shown_as_it_is_and_not_acted_on(text in texts()) {
        let line = text.trim();
        let escaped = literal(line);
        let visible = |text: &str| text.replace('\u{200b}', "").replace('$', "¤");
        prop_assert_eq!(visible(&shown(&escaped)), visible(line));
        prop_assert_eq!(acted_on(&escaped), None, "{}", escaped);
    }
}
