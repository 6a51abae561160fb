//! Descriptions in the Atlassian Document Format, version 1, which Jira Cloud takes and returns.
//!
//! A text node has no line ends and is never empty: Jira refuses both.

use serde_json::{Value, json};
use url::Url;

use super::super::IssueBlock;
use super::text::{clean, is_blank, one_line};

/// How deep documents may be nested that are read.
const DEPTH: usize = 100;

/// The blocks as a document. Those without any text are left out.
pub(super) fn document(blocks: &[IssueBlock]) -> Value {
    let content: Vec<Value> = blocks.iter().filter_map(block).collect();
    json!({ "version": 1, "type": "doc", "content": content })
}

/// A text as a document with a paragraph.
pub(super) fn text_document(text: &str) -> Value {
    document(&[IssueBlock::Paragraph(text.to_owned())])
}

fn block(block: &IssueBlock) -> Option<Value> {
    match block {
        IssueBlock::Heading(text) => {
            let content = inline(&one_line(text));
            (!content.is_empty()).then(|| json!({ "type": "heading", "attrs": { "level": 3 }, "content": content }))
        }
        IssueBlock::Paragraph(text) => paragraph(text),
        IssueBlock::Criteria(criteria) => {
            let items: Vec<Value> = criteria
                .iter()
                .filter_map(|text| Some(json!({ "type": "listItem", "content": [paragraph(text)?] })))
                .collect();
            (!items.is_empty()).then(|| json!({ "type": "bulletList", "content": items }))
        }
        IssueBlock::Quote { text, from } => {
            let quoted = paragraph(text)?;
            let from = if is_blank(from) { None } else { paragraph(&format!("— {}", one_line(from))) };
            let content: Vec<Value> = std::iter::once(quoted).chain(from).collect();
            Some(json!({ "type": "blockquote", "content": content }))
        }
        IssueBlock::Link { text, url } => {
            let text = if is_blank(text) { one_line(url) } else { one_line(text) };
            let Some(address) = web_address(url) else { return paragraph(&text) };
            let mark = json!({ "type": "link", "attrs": { "href": address.as_str() } });
            Some(json!({ "type": "paragraph", "content": [{ "type": "text", "text": text, "marks": [mark] }] }))
        }
    }
}

/// An address that a link may lead to.
pub(super) fn web_address(url: &str) -> Option<Url> {
    Url::parse(url.trim()).ok().filter(|address| matches!(address.scheme(), "http" | "https"))
}

fn paragraph(text: &str) -> Option<Value> {
    let content = inline(clean(text).trim());
    (!content.is_empty()).then(|| json!({ "type": "paragraph", "content": content }))
}

/// Text nodes with line breaks between them.
fn inline(text: &str) -> Vec<Value> {
    let mut nodes = Vec::new();
    if text.trim().is_empty() {
        return nodes;
    }
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            nodes.push(json!({ "type": "hardBreak" }));
        }
        if !line.is_empty() {
            nodes.push(json!({ "type": "text", "text": line }));
        }
    }
    nodes
}

/// What people see of a description: a document's text with the addresses of its cards, or a markup string as it is.
pub(super) fn visible(description: &Value) -> String {
    let mut seen = String::new();
    match description {
        Value::String(markup) => seen.push_str(markup),
        node => walk(node, DEPTH, &mut seen),
    }
    seen
}

fn walk(node: &Value, depth: usize, seen: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let text = |at: &str| node.pointer(at).and_then(Value::as_str).unwrap_or_default();
    match text("/type") {
        "text" => seen.push_str(text("/text")),
        "inlineCard" | "blockCard" | "embedCard" => seen.push_str(text("/attrs/url")),
        "emoji" | "mention" | "status" => seen.push_str(text("/attrs/text")),
        _ => {}
    }
    for inner in node.get("content").and_then(Value::as_array).into_iter().flatten() {
        walk(inner, depth, seen);
    }
}

#[cfg(test)]
mod tests;
