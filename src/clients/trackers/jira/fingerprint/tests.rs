//! Tests of fingerprints.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::super::{IssueBlock, IssueDraft};
use super::super::dialect::JiraDialect;
use super::fingerprint;

/// What Jira may do to a document without changing what it says; `choices` decides, one bit a node.
struct Normalisation {
    choices: u64,
}

impl Normalisation {
    fn decides(&mut self) -> bool {
        self.choices = self.choices.rotate_left(7).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.choices >> 63 == 1
    }

    fn node(&mut self, node: &Value) -> Value {
        let mut changed: Map<String, Value> = node.as_object().unwrap().clone();
        if let Some(content) = node.get("content").and_then(Value::as_array) {
            let mut inner: Vec<Value> = Vec::new();
            for node in content {
                let node = self.node(node);
                for part in self.split(node) {
                    self.push(&mut inner, part);
                }
            }
            changed.insert("content".to_owned(), Value::from(inner));
        }
        if self.decides() {
            let attrs = changed.entry("attrs").or_insert_with(|| json!({}));
            attrs["localId"] = json!("8f4a");
        } else if self.decides() {
            changed.entry("attrs").or_insert_with(|| json!({}));
        }
        Value::Object(changed)
    }

    /// A text whose marks begin within it becomes two nodes.
    fn split(&mut self, node: Value) -> Vec<Value> {
        let text = node.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        if middle == 0 || !self.decides() {
            return vec![node];
        }
        let part = |text: &str| {
            let mut part = node.clone();
            part["text"] = json!(text);
            part
        };
        let mut second = part(&text[middle..]);
        second["marks"] = json!([{ "type": "strong" }]);
        vec![part(&text[..middle]), second]
    }

    /// Two texts beside each other become one.
    fn push(&mut self, inner: &mut Vec<Value>, node: Value) {
        let is_text = |node: &Value| node["type"] == "text";
        if let Some(last) = inner.last_mut()
            && is_text(last)
            && is_text(&node)
            && self.decides()
        {
            last["text"] = json!(format!("{}{}", last["text"].as_str().unwrap(), node["text"].as_str().unwrap()));
            return;
        }
        inner.push(node);
    }
}

fn draft(title: &str, blocks: Vec<IssueBlock>) -> IssueDraft {
    IssueDraft { marker: uuid::Uuid::nil(), title: title.to_owned(), blocks }
}

fn blocks() -> impl Strategy<Value = Vec<IssueBlock>> {
    let text = any::<String>;
    let block = prop_oneof![
        text().prop_map(IssueBlock::Heading),
        text().prop_map(IssueBlock::Paragraph),
        proptest::collection::vec(text(), 0..4).prop_map(IssueBlock::Criteria),
        (text(), text()).prop_map(|(text, from)| IssueBlock::Quote { text, from }),
        (text(), text()).prop_map(|(text, path)| IssueBlock::Link { text, url: format!("https://x.example/{path}") }),
    ];
    proptest::collection::vec(block, 0..6)
}

proptest! {
    #[test]
    fn what_jira_returns_of_an_untouched_issue_has_the_fingerprint_of_its_draft(
        title in "[^\\p{C}\\s]\\PC{0,300}", blocks in blocks(), choices in any::<u64>(),
    ) {
        let draft = draft(&title, blocks);
        let sent = JiraDialect::Cloud.render(&draft).unwrap();
        let echo: Value = serde_json::from_str(&sent.description.to_string()).unwrap();
        let returned = Normalisation { choices }.node(&echo);
        prop_assert_eq!(fingerprint(&format!("{} ", sent.summary), &returned), sent.fingerprint());
        let sent = JiraDialect::DataCenter.render(&draft).unwrap();
        let returned = Value::from(sent.description.as_str().unwrap().replace('\n', "\r\n"));
        prop_assert_eq!(fingerprint(&sent.summary, &returned), sent.fingerprint());
    }

    #[test]
    fn an_edit_of_any_character_changes_the_fingerprint(text in "[a-z ]{1,40}[a-z]", at in any::<prop::sample::Index>()) {
        let print = |text: &str| {
            let draft = draft("A title", vec![IssueBlock::Paragraph(text.to_owned())]);
            JiraDialect::Cloud.render(&draft).unwrap().fingerprint()
        };
        let mut edited: Vec<char> = text.chars().collect();
        let at = at.index(edited.len());
        edited[at] = 'Ä';
        prop_assert_ne!(print(&text), print(&edited.into_iter().collect::<String>()));
    }
}

#[test]
fn an_address_that_became_a_card_is_the_same() {
    let url = "https://colloquy.example/stories/1";
    let link = IssueBlock::Link { text: url.to_owned(), url: url.to_owned() };
    let sent = JiraDialect::Cloud.render(&draft("A title", vec![link])).unwrap();
    let card = json!({ "type": "inlineCard", "attrs": { "url": url } });
    let returned = json!({ "type": "doc", "content": [{ "type": "paragraph", "content": [card] }] });
    assert_eq!(fingerprint("A title", &returned), sent.fingerprint());
}

#[test]
fn summary_and_description_are_told_apart() {
    assert_ne!(fingerprint("ab", &json!("c")), fingerprint("a", &json!("bc")));
    assert_eq!(fingerprint("a b", &json!("")), fingerprint("ab", &Value::Null));
}
