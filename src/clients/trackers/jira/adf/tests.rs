//! Tests of Atlassian's document format.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::super::IssueBlock;
use super::{document, text_document, visible};

#[test]
fn each_block_has_its_node() {
    let blocks = [
        IssueBlock::Heading("Why\nnow".to_owned()),
        IssueBlock::Paragraph(" As a user\r\nI want\u{7}\n\nthis ".to_owned()),
        IssueBlock::Criteria(vec!["one".to_owned(), " ".to_owned(), "t\two".to_owned()]),
        IssueBlock::Quote { text: "said".to_owned(), from: "Ada, 10:00".to_owned() },
        IssueBlock::Link { text: "Open it".to_owned(), url: "https://colloquy.example/s?a=1".to_owned() },
    ];
    insta::assert_snapshot!(lines(&document(&blocks)), @r#"
    {"attrs":{"level":3},"content":[{"text":"Why now","type":"text"}],"type":"heading"}
    {"content":[{"text":"As a user","type":"text"},{"type":"hardBreak"},{"text":"I want","type":"text"},{"type":"hardBreak"},{"type":"hardBreak"},{"text":"this","type":"text"}],"type":"paragraph"}
    {"content":[{"content":[{"content":[{"text":"one","type":"text"}],"type":"paragraph"}],"type":"listItem"},{"content":[{"content":[{"text":"t wo","type":"text"}],"type":"paragraph"}],"type":"listItem"}],"type":"bulletList"}
    {"content":[{"content":[{"text":"said","type":"text"}],"type":"paragraph"},{"content":[{"text":"— Ada, 10:00","type":"text"}],"type":"paragraph"}],"type":"blockquote"}
    {"content":[{"marks":[{"attrs":{"href":"https://colloquy.example/s?a=1"},"type":"link"}],"text":"Open it","type":"text"}],"type":"paragraph"}
    "#);
}

/// A node a line.
fn lines(document: &Value) -> String {
    let nodes = document["content"].as_array().unwrap();
    nodes.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn blocks_without_text_are_left_out() {
    let blank = || "\u{0} \n\t".to_owned();
    let blocks = [
        IssueBlock::Heading(blank()),
        IssueBlock::Paragraph(blank()),
        IssueBlock::Criteria(vec![blank()]),
        IssueBlock::Criteria(Vec::new()),
        IssueBlock::Quote { text: blank(), from: "Ada".to_owned() },
        IssueBlock::Link { text: blank(), url: blank() },
    ];
    assert_eq!(document(&blocks), json!({ "version": 1, "type": "doc", "content": [] }));
}

#[test]
fn only_addresses_of_the_web_are_links() {
    for url in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "no address"] {
        let link = IssueBlock::Link { text: "Text".to_owned(), url: url.to_owned() };
        assert_eq!(document(&[link]), text_document("Text"));
    }
}

#[test]
fn cards_and_mentions_are_seen_and_markup_is_a_text() {
    let inner = json!([
        { "type": "text", "text": "a" },
        { "type": "inlineCard", "attrs": { "url": "https://x.example" } },
        { "type": "emoji", "attrs": { "shortName": ":x:", "text": "X" } },
        { "type": "mention", "attrs": { "id": "1", "text": "@Ada" } },
        { "type": "hardBreak" },
    ]);
    let document = json!({ "type": "doc", "content": [{ "type": "paragraph", "content": inner }] });
    assert_eq!(visible(&document), "ahttps://x.exampleX@Ada");
    assert_eq!(visible(&json!("h1. x")), "h1. x");
    assert_eq!(visible(&Value::Null), "");
}

#[test]
fn a_document_that_is_nested_too_deep_is_read_to_its_limit() {
    let mut node = json!({ "type": "text", "text": "x" });
    for _ in 0..120 {
        node = json!({ "type": "blockquote", "content": [node] });
    }
    assert_eq!(visible(&node), "");
}

fn text_nodes(node: &Value, found: &mut Vec<String>) {
    found.extend(node.get("text").and_then(Value::as_str).map(str::to_owned));
    for inner in node.get("content").and_then(Value::as_array).into_iter().flatten() {
        assert!(inner["content"].as_array().is_none_or(|content| !content.is_empty()), "{inner}");
        text_nodes(inner, found);
    }
}

proptest! {
    #[test]
    fn a_text_node_is_never_empty_and_has_no_line_end_or_control_character(text in any::<String>(), from in any::<String>()) {
        let blocks = [
            IssueBlock::Heading(text.clone()),
            IssueBlock::Paragraph(text.clone()),
            IssueBlock::Criteria(vec![text.clone(), from.clone()]),
            IssueBlock::Quote { text: text.clone(), from: from.clone() },
            IssueBlock::Link { text, url: from },
        ];
        let mut found = Vec::new();
        text_nodes(&document(&blocks), &mut found);
        for text in found {
            let is_broken = text.contains('\u{2028}') || text.contains(char::is_control);
            prop_assert!(!text.is_empty() && !is_broken);
        }
    }
}
