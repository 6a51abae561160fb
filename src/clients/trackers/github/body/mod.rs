//! An issue's title and body, and what can be told from a body: its marker, its ticked criteria, and whether it was edited.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};
use url::Url;
use uuid::Uuid;

use super::markdown::{literal, one_line, paragraphs};
use crate::clients::trackers::{IssueBlock, IssueDraft, IssueRefusal};

/// The largest lengths that GitHub takes, in characters.
const TITLE_CHARACTERS: usize = 256;
const BODY_CHARACTERS: usize = 65_536;
/// A comment of HTML, which is not shown. No text of a story can contain its beginning: `<` is always escaped.
const MARKER_START: &str = "<!-- colloquy:";
const MARKER_END: &str = " -->";
const OPEN: &str = "- [ ]";
const DONE: &str = "- [x]";
const TICKED: [&str; 2] = [DONE, "- [X]"];

/// An issue as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueMarkdown {
    pub title: String,
    pub body: String,
}

/// Criteria that are ticked in an issue, without white space.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TickedCriteria(BTreeSet<String>);

impl IssueMarkdown {
    /// Renders a draft. Criteria that are ticked are ticked again. Quotes are left out, from the last one on, where the body
    /// would be too long.
    ///
    /// # Errors
    /// `TooLong` if it is too long without them.
    pub fn of(draft: &IssueDraft, ticked: &TickedCriteria) -> Result<Self, IssueRefusal> {
        let whole = one_line(&draft.title);
        let title = cut(&whole);
        let mut parts: Vec<(bool, String)> = Vec::new();
        if title != whole {
            parts.push((false, literal(&whole)));
        }
        for block in &draft.blocks {
            let text = rendered(block, ticked);
            if !text.is_empty() {
                parts.push((matches!(block, IssueBlock::Quote { .. }), text));
            }
        }
        parts.push((false, marker(draft.marker)));
        let separator = "\n\n".len();
        let mut length = parts.iter().map(|(_, text)| text.chars().count() + separator).sum::<usize>() - separator;
        while length > BODY_CHARACTERS {
            let Some(last) = parts.iter().rposition(|(is_quote, _)| *is_quote) else {
                return Err(IssueRefusal {
                    code: "TooLong",
                    message: format!(
                        "The description has {length} characters of Markdown; GitHub takes {BODY_CHARACTERS} at most."
                    ),
                });
            };
            let (_, quote) = parts.remove(last);
            length -= quote.chars().count() + separator;
        }
        let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
        Ok(Self { title, body: texts.join("\n\n") })
    }

    /// A digest of title and body. White space does not count, because editors change it, and neither do ticks.
    pub fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            let bare: String = text.chars().filter(|sign| !sign.is_whitespace()).collect();
            digest.update(bare);
        };
        add(&self.title);
        // No text of either side can contain it, so that nothing moves from the one to the other unnoticed.
        add("\0");
        for line in self.body.lines() {
            match TICKED.iter().find_map(|ticked| line.trim_start().strip_prefix(ticked)) {
                Some(rest) => {
                    add(OPEN);
                    add(rest);
                }
                None => add(line),
            }
        }
        hex::encode(digest.finalize())
    }
}

impl TickedCriteria {
    /// Reads them from a body.
    pub fn of(body: &str) -> Self {
        let mut ticked = BTreeSet::new();
        let mut current: Option<String> = None;
        for line in body.lines() {
            if let Some(text) = TICKED.iter().find_map(|mark| line.strip_prefix(mark)) {
                ticked.extend(current.replace(bare(text)));
            } else if line.starts_with("  ") {
                if let Some(text) = &mut current {
                    text.push_str(&bare(line));
                }
            } else {
                ticked.extend(current.take());
            }
        }
        ticked.extend(current);
        Self(ticked)
    }
}

/// Returns the marker of a body: the last one, which is at its end unless somebody wrote below it.
pub fn marker_of(body: &str) -> Option<Uuid> {
    let (_, rest) = body.rsplit_once(MARKER_START)?;
    let (id, _) = rest.split_once(MARKER_END)?;
    id.parse().ok()
}

fn marker(id: Uuid) -> String {
    format!("{MARKER_START}{id}{MARKER_END}")
}

fn cut(title: &str) -> String {
    if title.chars().count() <= TITLE_CHARACTERS {
        return title.to_owned();
    }
    let beginning: String = title.chars().take(TITLE_CHARACTERS - 1).collect();
    format!("{}…", beginning.trim_end())
}

fn rendered(block: &IssueBlock, ticked: &TickedCriteria) -> String {
    match block {
        IssueBlock::Heading(text) => {
            let text = literal(&one_line(text));
            if text.is_empty() { text } else { format!("## {text}") }
        }
        IssueBlock::Paragraph(text) => {
            paragraphs(text).iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n")
        }
        IssueBlock::Criteria(criteria) => {
            let items = criteria.iter().map(|text| paragraphs(text).concat().join("\n  "));
            let items = items.filter(|item| !item.is_empty()).map(|item| {
                let tick = if ticked.0.contains(&bare(&item)) { DONE } else { OPEN };
                format!("{tick} {item}")
            });
            items.collect::<Vec<_>>().join("\n")
        }
        IssueBlock::Quote { text, from } => {
            let mut quoted = paragraphs(text);
            let from = literal(&one_line(from));
            if quoted.is_empty() {
                return String::new();
            }
            if !from.is_empty() {
                quoted.push(vec![format!("— {from}")]);
            }
            let quoted =
                quoted.iter().map(|lines| lines.iter().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"));
            quoted.collect::<Vec<_>>().join("\n>\n")
        }
        IssueBlock::Link { text, url } => link(&one_line(text), url),
    }
}

/// An address that is none of the web is shown, but leads nowhere.
fn link(text: &str, url: &str) -> String {
    let text = literal(if text.is_empty() { url } else { text });
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => {
            let target: String = parsed
                .as_str()
                .chars()
                .map(|sign| match sign {
                    '<' => "%3C".to_owned(),
                    '>' => "%3E".to_owned(),
                    '\\' => "%5C".to_owned(),
                    '&' => "&amp;".to_owned(),
                    _ => sign.to_string(),
                })
                .collect();
            format!("[{text}](<{target}>)")
        }
        _ => text,
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}

#[cfg(test)]
mod tests;
