//! The meaning of the paragraph styles of a DOCX: headings and their level, lists, tables of contents.

use std::collections::HashMap;

use super::package::{PartEvent, attribute, for_each_event};
use super::source::Unreadable;

/// The role that a style gives to a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A heading with its level, from 1.
    Heading(u8),
    ListItem,
    Quote,
    /// A line of the table of contents.
    Contents,
}

/// The styles by id.
#[derive(Default)]
pub struct Styles(HashMap<String, Style>);

#[derive(Default)]
struct Style {
    /// The role by the style's name. The name itself is not stored: it may be long, and each paragraph would look at
    /// it.
    named: Option<Role>,
    based_on: Option<String>,
    /// `None`: not specified by this style; `Some(None)`: body text.
    outline: Option<Option<u8>>,
    in_list: bool,
}

/// Maximum bytes of the id of a base style; Word writes a few words.
const ID: usize = 255;
/// Maximum length of a chain of base styles. A longer one is assumed to be a cycle.
const CHAIN: usize = 20;

impl Styles {
    /// Reads `word/styles.xml`.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut styles = Self::default();
        let mut open: Option<(String, Style)> = None;
        for_each_event(xml, |event| match event {
            PartEvent::Opens("style", tag) => {
                open = attribute(tag, "styleId").map(|id| (id, Style::default()));
            }
            PartEvent::Opens(element, tag) => {
                if let Some((_, style)) = &mut open {
                    style.learn(element, attribute(tag, "val"));
                }
            }
            PartEvent::Closes("style") => styles.0.extend(open.take()),
            PartEvent::Closes(_) | PartEvent::Text(_) => {}
        })?;
        Ok(styles)
    }

    /// Returns the role of a style, its own or that of the styles it is based on.
    pub fn role(&self, id: &str) -> Option<Role> {
        let mut next = Some(id);
        let mut in_list = false;
        for _ in 0..CHAIN {
            let Some(id) = next else { break };
            let style = self.0.get(id);
            if let Some(role) = style.map_or_else(|| by_name(id), |style| style.named) {
                return Some(role);
            }
            if let Some(outline) = style.and_then(|style| style.outline) {
                return outline.map(Role::Heading);
            }
            in_list |= style.is_some_and(|style| style.in_list);
            next = style.and_then(|style| style.based_on.as_deref());
        }
        in_list.then_some(Role::ListItem)
    }
}

impl Style {
    fn learn(&mut self, element: &str, value: Option<String>) {
        match (element, value) {
            ("name", Some(name)) => self.named = by_name(&name),
            ("basedOn", Some(parent)) if parent.len() <= ID => self.based_on = Some(parent),
            ("outlineLvl", Some(level)) => self.outline = Some(outline_level(&level)),
            ("numPr", _) => self.in_list = true,
            _ => {}
        }
    }
}

/// Converts an outline level: Word counts from 0, and 9 is body text.
pub fn outline_level(value: &str) -> Option<u8> {
    value.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}

/// Returns the role of a built-in style by its name. Built-in styles have English names in every language of Word; ids
/// ("berschrift1") do not.
fn by_name(name: &str) -> Option<Role> {
    let name = name.to_lowercase();
    let numbered = |prefix: &str| name.strip_prefix(prefix).map(str::trim);
    if let Some(level) = numbered("heading").and_then(|level| level.parse::<u8>().ok()) {
        return Some(Role::Heading(level.clamp(1, 9)));
    }
    match name.as_str() {
        "title" => Some(Role::Heading(1)),
        "toc heading" => Some(Role::Contents),
        "quote" | "intense quote" => Some(Role::Quote),
        _ if name.starts_with("toc ") => Some(Role::Contents),
        _ if name.starts_with("list ") => Some(Role::ListItem),
        _ => None,
    }
}
