//! HTML reader: the text that a browser would show.
//!
//! Uses the standard's tokenizer without building a tree, so that time and memory are linear however deep the tags are
//! nested and however many attributes a tag has.
//!
//! Left out: head, scripts, styles, navigation, the choices of forms, struck-out text (`del`, `s`). A `footer` is
//! boilerplate.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::flow::TextFlow;
use super::source::{SourceText, Unreadable};

/// Reads HTML, a whole page or a fragment.
///
/// # Errors
/// `TooLarge` past a limit of `TextDraft`.
pub fn read(html: &str) -> Result<SourceText, Unreadable> {
    let mut state = HtmlState::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        state.handle(event);
        None
    });
    // Keeps the content of scripts, styles and the like from being tokenized as tags.
    emitter.naively_switch_states(true);
    // The tokenizer yields no items: the callback handles every event.
    Tokenizer::new_with_emitter(html, emitter).for_each(drop);
    state.flow.finish()
}

#[derive(Default)]
struct HtmlState {
    flow: TextFlow,
    /// Name of the start tag that is being read.
    name: String,
    in_head: bool,
    skipped: usize,
    lists: usize,
    tables: usize,
}

impl HtmlState {
    fn handle(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name.clear();
                self.name.push_str(&String::from_utf8_lossy(name));
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                let name = std::mem::take(&mut self.name);
                let skips = is_skipped(&name);
                if skips && !self_closing {
                    self.skipped += 1;
                } else if !skips && self.skipped == 0 {
                    self.opens(&name);
                }
            }
            CallbackEvent::EndTag { name } => {
                let name = String::from_utf8_lossy(name);
                if is_skipped(&name) {
                    self.skipped = self.skipped.saturating_sub(1);
                } else if self.skipped == 0 {
                    self.closes(&name);
                }
            }
            CallbackEvent::String { value } if self.skipped == 0 && !self.in_head => {
                self.flow.write(&String::from_utf8_lossy(value));
            }
            _ => {}
        }
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
