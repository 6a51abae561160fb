//! HTML reader: the text that a browser would show.
//!
//! Uses the standard's tokenizer without building a tree, so that time and memory are linear however deep the tags are
//! nested and however many attributes a tag has.
//!
//! Left out: head, scripts, styles, navigation, the choices of forms, struck-out text (`del`, `s`), and what an element's own
//! attributes hide. A `footer` is boilerplate.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::draft::TextDraft;
use super::flow::TextFlow;
use super::source::{SourceText, Unreadable};

/// Reads HTML, a whole page or a fragment.
///
/// # Errors
/// `TooLarge` past a limit of `TextDraft`.
pub fn read(html: &str) -> Result<SourceText, Unreadable> {
    draft(html).finish()
}

/// Reads HTML that is a part of something else.
pub fn draft(html: &str) -> TextDraft {
    let mut state = HtmlState::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        state.handle(event);
        None
    });
    // Keeps the content of scripts, styles and the like from being tokenized as tags.
    emitter.naively_switch_states(true);
    // The tokenizer yields no items: the callback handles every event.
    Tokenizer::new_with_emitter(html, emitter).for_each(drop);
    state.flow.into_draft()
}

#[derive(Default)]
struct HtmlState {
    flow: TextFlow,
    /// Name of the start tag that is being read.
    name: String,
    /// Name of its attribute that is being read.
    attribute: String,
    /// Whether its attributes hide the element.
    hides: bool,
    concealed: Option<Concealed>,
    in_head: bool,
    skipped: usize,
    lists: usize,
    tables: usize,
}

/// An element that is not shown.
struct Concealed {
    name: String,
    /// How many elements of that name are open.
    depth: usize,
    /// How many others with an end tag of their own are open inside.
    inner: usize,
}

impl HtmlState {
    fn handle(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name.clear();
                self.name.push_str(&String::from_utf8_lossy(name));
                self.hides = false;
            }
            CallbackEvent::AttributeName { name } => {
                self.attribute.clear();
                self.attribute.push_str(&String::from_utf8_lossy(name));
                self.hides |= self.attribute == "hidden";
            }
            CallbackEvent::AttributeValue { value } if self.attribute == "style" => {
                self.hides |= hides(&String::from_utf8_lossy(value));
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                let name = std::mem::take(&mut self.name);
                let skips = is_skipped(&name);
                if skips && !self_closing {
                    self.skipped += 1;
                } else if !skips && self.skipped == 0 && !self.conceals(&name, self_closing) {
                    self.opens(&name);
                }
            }
            CallbackEvent::EndTag { name } => {
                let name = String::from_utf8_lossy(name);
                if is_skipped(&name) {
                    self.skipped = self.skipped.saturating_sub(1);
                } else if self.skipped == 0 && !self.ends_concealed(&name) {
                    self.closes(&name);
                }
            }
            CallbackEvent::String { value } if self.skipped == 0 && !self.in_head => {
                let text = String::from_utf8_lossy(value);
                match self.concealed {
                    Some(_) => self.flow.hide(&text),
                    None => self.flow.write(&text),
                }
            }
            _ => {}
        }
    }

    /// Takes a start tag that is hidden, by its own attributes or by an element around it; returns whether it was.
    fn conceals(&mut self, name: &str, self_closing: bool) -> bool {
        let hides = std::mem::take(&mut self.hides);
        if is_void(name) || self_closing {
            return hides || self.concealed.is_some();
        }
        if let Some(around) = &mut self.concealed {
            if name != around.name {
                around.inner += usize::from(!ends_by_itself(name));
                return true;
            }
            if !ends_by_itself(name) {
                around.depth += 1;
                return true;
            }
            self.concealed = None;
        }
        // What hides the whole page is taken away by a script once it is loaded.
        let hides = hides && !matches!(name, "html" | "body");
        if hides {
            if is_block(name) {
                self.leave_line();
            }
            self.concealed = Some(Concealed { name: name.to_owned(), depth: 1, inner: 0 });
        }
        hides
    }

    /// Takes an end tag inside of a hidden element, or its own; returns whether it was one.
    fn ends_concealed(&mut self, name: &str) -> bool {
        let Some(around) = &mut self.concealed else { return false };
        if name == around.name {
            around.depth -= 1;
            if around.depth == 0 {
                self.concealed = None;
            }
            return true;
        }
        if ends_by_itself(name) {
            return true;
        }
        if around.inner > 0 {
            around.inner -= 1;
            return true;
        }
        // The end of an element around it.
        self.concealed = None;
        false
    }

    fn opens(&mut self, name: &str) {
        match name {
            "head" => self.in_head = true,
            "br" => self.flow.line_break(),
            "table" => {
                self.leave_line();
                self.tables += 1;
            }
            "tr" if self.tables == 1 => self.flow.open_row(),
            "td" | "th" if self.tables == 1 => self.flow.open_cell(),
            "td" | "th" => self.flow.write(" "),
            "ul" | "ol" => {
                self.leave_line();
                self.lists += 1;
            }
            "li" => {
                self.leave_line();
                self.flow.item = true;
            }
            "pre" => {
                self.leave_line();
                self.flow.preformatted = true;
            }
            "blockquote" => {
                self.leave_line();
                self.flow.quotes += 1;
            }
            "footer" => {
                self.leave_line();
                self.flow.boilerplate += 1;
            }
            _ => {
                if let Some(level) = heading_level(name) {
                    self.leave_line();
                    self.flow.heading = Some(level);
                } else if is_block(name) {
                    self.leave_line();
                }
            }
        }
    }

    fn closes(&mut self, name: &str) {
        match name {
            "head" => self.in_head = false,
            "table" => {
                if self.tables == 1 {
                    self.flow.close_row();
                }
                self.tables = self.tables.saturating_sub(1);
            }
            "tr" if self.tables == 1 => self.flow.close_row(),
            "ul" | "ol" => {
                self.flow.close();
                self.lists = self.lists.saturating_sub(1);
                self.flow.item = self.lists > 0;
            }
            "pre" => {
                self.flow.close();
                self.flow.preformatted = false;
            }
            "blockquote" => {
                self.flow.close();
                self.flow.quotes = self.flow.quotes.saturating_sub(1);
            }
            "footer" => {
                self.flow.close();
                self.flow.boilerplate = self.flow.boilerplate.saturating_sub(1);
            }
            _ if heading_level(name).is_some() => {
                self.flow.close();
                self.flow.heading = None;
            }
            _ if is_block(name) || name == "li" => self.flow.close(),
            _ => {}
        }
    }

    /// Starts a block: ends the head, even without its end tag, and the block before.
    fn leave_line(&mut self) {
        self.in_head = false;
        self.flow.close();
        self.flow.heading = None;
    }
}

/// Where nobody sees it.
const FAR_OUT: f32 = -900.0;

/// Whether a style hides its element, also by writing white on what is white unless it says otherwise.
fn hides(style: &str) -> bool {
    let style: String = style.chars().filter(|character| !character.is_whitespace()).collect::<String>().to_lowercase();
    style.split(';').any(|rule| {
        let value = |name: &str| rule.strip_prefix(name).map(|value| value.trim_end_matches("!important"));
        value("display:") == Some("none")
            || matches!(value("visibility:"), Some("hidden" | "collapse"))
            || matches!(value("color:"), Some("white" | "#fff" | "#ffffff" | "transparent" | "rgb(255,255,255)"))
                && !style.contains("background")
            || ["left:", "top:", "text-indent:", "margin-left:"].iter().any(|name| {
                let pixels =
                    value(name).and_then(|value| value.trim_end_matches("px").trim_end_matches("em").parse().ok());
                pixels.is_some_and(|pixels: f32| pixels <= FAR_OUT)
            })
            || value("opacity:").is_some_and(|value| value.parse() == Ok(0.0_f32))
            || value("font-size:").is_some_and(|value| {
                value.trim_end_matches(|unit: char| unit.is_ascii_alphabetic() || unit == '%').parse() == Ok(0.0_f32)
            })
    })
}

/// Elements without content, and so without an end tag.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements whose end tag is often left out: the next one of their name ends them.
fn ends_by_itself(name: &str) -> bool {
    matches!(name, "p" | "li" | "td" | "th" | "tr" | "dt" | "dd" | "option")
}

fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "nav"
            | "template"
            | "noscript"
            | "svg"
            | "iframe"
            | "object"
            | "select"
            | "textarea"
            | "title"
            | "del"
            | "s"
            | "strike"
    )
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "body"
            | "p"
            | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "aside"
            | "address"
            | "dl"
            | "dt"
            | "dd"
            | "figure"
            | "figcaption"
            | "form"
            | "fieldset"
            | "legend"
            | "hr"
            | "caption"
            | "thead"
            | "tbody"
            | "tfoot"
            | "details"
            | "summary"
    )
}

fn heading_level(name: &str) -> Option<u8> {
    match name {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" => Some(6),
        _ => None,
    }
}
