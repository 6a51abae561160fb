//! Markdown reader (CommonMark with tables, footnotes, task lists): the rendered text without the markup.
//!
//! The lines of a conversation stay apart although Markdown joins lines: each message is a paragraph.
//!
//! Left out: front matter, the tags of raw HTML, struck-out text.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::flow::TextFlow;
use super::messages;
use super::source::{SourceText, Unreadable};

/// Reads Markdown.
///
/// # Errors
/// `TooLarge` past a limit of `TextDraft`.
pub fn read(markdown: &str) -> Result<SourceText, Unreadable> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let markdown = markdown.trim_start_matches('\u{feff}');
    let mut state = MarkdownState::default();
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        state.follow_messages(markdown, &event, range);
        state.handle(event);
        if state.flow.is_full() {
            break;
        }
    }
    state.flow.finish()
}

#[derive(Default)]
struct MarkdownState {
    flow: TextFlow,
    skipped: usize,
    lists: usize,
    /// Whether the open paragraph is a conversation.
    is_conversation: bool,
    /// Whether the line that begins is one of its messages.
    begins_message: bool,
}

impl MarkdownState {
    /// Tells where the messages of a conversation begin, which only its lines as they were written show.
    fn follow_messages(&mut self, markdown: &str, event: &Event, range: Range<usize>) {
        match event {
            Event::Start(Tag::Paragraph) => {
                self.is_conversation = messages::are_in(markdown.get(range).unwrap_or_default());
            }
            Event::End(TagEnd::Paragraph) => self.is_conversation = false,
            Event::SoftBreak | Event::HardBreak if self.is_conversation => {
                let line = markdown.get(range.end..).and_then(|rest| rest.lines().next());
                self.begins_message = line.is_some_and(messages::begins);
            }
            _ => self.begins_message = false,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start(Tag::MetadataBlock(_) | Tag::Strikethrough) => self.skipped += 1,
            Event::End(TagEnd::MetadataBlock(_) | TagEnd::Strikethrough) => {
                self.skipped = self.skipped.saturating_sub(1)
            }
            _ if self.skipped > 0 => {}
            Event::Start(tag) => self.opens(&tag),
            Event::End(tag) => self.closes(tag),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.flow.write(&text)
            }
            Event::SoftBreak | Event::HardBreak if self.begins_message => self.flow.close(),
            Event::SoftBreak => self.flow.write(" "),
            Event::HardBreak => self.flow.line_break(),
            Event::Rule => self.flow.close(),
            Event::Html(_) | Event::InlineHtml(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn opens(&mut self, tag: &Tag) {
        match tag {
            Tag::TableHead | Tag::TableRow => self.flow.open_row(),
            Tag::TableCell => self.flow.open_cell(),
            Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. } | Tag::Superscript | Tag::Subscript => {}
            _ => self.flow.close(),
        }
        match tag {
            Tag::Heading { level, .. } => self.flow.heading = Some(depth(*level)),
            Tag::CodeBlock(_) => self.flow.preformatted = true,
            Tag::BlockQuote(_) => self.flow.quotes += 1,
            Tag::List(_) => self.lists += 1,
            Tag::Item => self.flow.item = true,
            _ => {}
        }
    }

    fn closes(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableHead | TagEnd::TableRow => self.flow.close_row(),
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::Superscript
            | TagEnd::Subscript => {}
            _ => self.flow.close(),
        }
        match tag {
            TagEnd::Heading(_) => self.flow.heading = None,
            TagEnd::CodeBlock => self.flow.preformatted = false,
            TagEnd::BlockQuote(_) => self.flow.quotes = self.flow.quotes.saturating_sub(1),
            TagEnd::List(_) => {
                self.lists = self.lists.saturating_sub(1);
                self.flow.item = self.lists > 0;
            }
            _ => {}
        }
    }
}

fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
