//! What the styles of an ODT mean for a reader of text: titles, quotations, code, and text that is not shown.

use std::collections::HashMap;

use super::package::{PartEvent, attribute, for_each_event};
use super::source::Unreadable;

/// The role that a style gives to a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OdtRole {
    /// A heading with its level, from 1.
    Heading(u8),
    Quote,
    Code,
}

/// What decides whether text is seen; `None` where the style says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextLook {
    pub is_hidden: bool,
    pub is_white: Option<bool>,
    pub is_shaded: Option<bool>,
}

impl TextLook {
    /// Returns the look of a span within text of this look.
    pub fn with(self, inner: Self) -> Self {
        Self {
            is_hidden: self.is_hidden || inner.is_hidden,
            is_white: inner.is_white.or(self.is_white),
            is_shaded: inner.is_shaded.or(self.is_shaded),
        }
    }
}

/// The styles by name.
#[derive(Default)]
pub struct OdtStyles(HashMap<String, OdtStyle>);

#[derive(Default)]
struct OdtStyle {
    role: Option<OdtRole>,
    parent: Option<String>,
    look: TextLook,
}

/// Maximum bytes of the name of a parent; programs write a few words.
const NAME: usize = 255;
/// Maximum length of a chain of parents. A longer one is assumed to be a cycle.
const CHAIN: usize = 20;

impl OdtStyles {
    /// Adds the styles of a part.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read(&mut self, xml: &str) -> Result<(), Unreadable> {
        let mut open: Option<(String, OdtStyle)> = None;
        for_each_event(xml, |event| match event {
            PartEvent::Opens("style", tag) => {
                open = attribute(tag, "name").map(|name| {
                    let role = attribute(tag, "display-name").as_deref().and_then(by_name).or_else(|| by_name(&name));
                    let parent = attribute(tag, "parent-style-name").filter(|parent| parent.len() <= NAME);
                    (name, OdtStyle { role, parent, look: TextLook::default() })
                });
            }
            PartEvent::Opens("text-properties", tag) => {
                if let Some((_, style)) = &mut open {
                    style.look.is_hidden |= attribute(tag, "display").is_some_and(|display| display == "none");
                    style.look.is_white = attribute(tag, "color")
                        .map(|color| color.eq_ignore_ascii_case("#ffffff"))
                        .or(style.look.is_white);
                    style.look.is_shaded = shaded(attribute(tag, "background-color")).or(style.look.is_shaded);
                }
            }
            PartEvent::Opens("paragraph-properties", tag) => {
                if let Some((_, style)) = &mut open {
                    style.look.is_shaded = shaded(attribute(tag, "background-color")).or(style.look.is_shaded);
                }
            }
            PartEvent::Closes("style") => self.0.extend(open.take()),
            _ => {}
        })
    }

    /// Returns the role of a style, its own or that of its parents.
    pub fn role(&self, name: &str) -> Option<OdtRole> {
        self.chain(name).find_map(|style| style.role)
    }

    /// Returns the look of a style, its own over that of its parents.
    pub fn look(&self, name: &str) -> TextLook {
        self.chain(name).fold(TextLook::default(), |look, parent| parent.look.with(look))
    }

    fn chain<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a OdtStyle> {
        let parent = |style: &&'a OdtStyle| style.parent.as_deref().and_then(|parent| self.0.get(parent));
        std::iter::successors(self.0.get(name), parent).take(CHAIN)
    }
}

fn shaded(background: Option<String>) -> Option<bool> {
    background.map(|color| color != "transparent" && !color.eq_ignore_ascii_case("#ffffff"))
}

/// Returns the role of a style by its name, which may have its spaces written as `_20_`.
fn by_name(name: &str) -> Option<OdtRole> {
    match name.replace("_20_", " ").as_str() {
        "Title" => Some(OdtRole::Heading(1)),
        "Quotations" | "Quote" | "Block Text" => Some(OdtRole::Quote),
        "Preformatted Text" | "Source Code" => Some(OdtRole::Code),
        _ => None,
    }
}
