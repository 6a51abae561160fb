//! HTML: what a browser would show as text, by the standard's tokenizer and without a tree, so that time and memory are linear however
//! deep the tags are nested.
//!
//! Left out: head, scripts, styles, navigation, forms' choices, what is struck out (`del`, `s`). A `footer` is boilerplate.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use super::flow::Flow;
use super::source::SourceText;

/// Reads HTML, a whole page or a fragment.
pub fn read(html: &str) -> SourceText {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Page::default(), TokenizerOpts::default());
    // It stops only for scripts, which the sink never hands out.
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner().flow.finish()
}

#[derive(Default)]
struct Page(RefCell<Seen>);

#[derive(Default)]
struct Seen {
    flow: Flow,
    in_head: bool,
    skipped: usize,
    lists: usize,
    tables: usize,
}

impl TokenSink for Page {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut seen = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => seen.tag(&tag),
            Token::CharacterTokens(text) => {
                if seen.skipped == 0 && !seen.in_head {
                    seen.flow.write(&text);
                }
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

impl Seen {
    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let opens = tag.kind == TagKind::StartTag;
        if is_skipped(name) && !tag.self_closing {
            self.skipped = if opens { self.skipped + 1 } else { self.skipped.saturating_sub(1) };
        } else if self.skipped == 0 {
            if opens { self.opens(name) } else { self.closes(name) }
        }
        match name {
            _ if !opens => TokenSinkResult::Continue,
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
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

    /// A block starts: the head is over even if nobody closed it, and so is the block before.
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
