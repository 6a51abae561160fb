//! A letter as blocks, and as the text and the page that are made of them.

use askama::Template;
use serde::{Deserialize, Serialize};

use super::inert::{balanced, inert, stripped};

/// A mail to one person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Letter {
    pub to: String,
    pub tongue: Tongue,
    pub subject: String,
    pub blocks: Vec<Block>,
    /// An `.ics` file that goes with it.
    pub calendar: Option<Calendar>,
}

/// The languages that letters are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tongue {
    English,
    /// From right to left.
    Arabic,
}

/// A part of a letter, from the top to the bottom. Nothing but the address of a `Link` is a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    /// Our own words; a name within them goes through [`super::isolated`].
    Text(String),
    /// What is to be typed elsewhere: alone on its line.
    Code(String),
    /// What somebody else wrote: never a link, whatever it looks like.
    Quote(String),
    Link {
        label: String,
        url: String,
    },
}

/// An invitation to a calendar, as RFC 5545 text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    /// REQUEST or CANCEL, as in the text.
    pub method: String,
    pub text: String,
}

#[derive(Template)]
#[template(path = "letter.html")]
struct Page<'a> {
    language: &'static str,
    direction: &'static str,
    /// Where a line begins.
    side: &'static str,
    subject: String,
    blocks: &'a [Block],
}

impl Letter {
    /// As plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Text(text) => inert(text),
            Block::Code(code) => code.clone(),
            // Marked, so that nobody takes it for our own words, nor a number in it for a code.
            Block::Quote(text) => stripped(text).lines().map(quoted).collect::<Vec<_>>().join("\n"),
            Block::Link { label, url } => format!("{}\n{url}", inert(label)),
        });
        blocks.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// As a page: no picture, no script, nothing that is loaded from anywhere.
    ///
    /// # Errors
    /// In words.
    pub fn html(&self) -> Result<String, String> {
        let (language, direction, side) = match self.tongue {
            Tongue::English => ("en", "ltr", "left"),
            Tongue::Arabic => ("ar", "rtl", "right"),
        };
        let page = Page { language, direction, side, subject: self.subject_line(), blocks: &self.blocks };
        page.render().map_err(|error| error.to_string())
    }

    /// The subject on one line, whatever was put into it.
    #[must_use]
    pub fn subject_line(&self) -> String {
        let visible = |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c };
        let words: String = balanced(&self.subject).chars().map(visible).collect();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn quoted(line: &str) -> String {
    format!("> \u{2068}{}\u{2069}", inert(line))
}

/// What the page calls.
mod filters {
    use super::{inert, stripped};

    #[askama::filter_fn]
    pub fn of_us(text: &str, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(inert(text))
    }

    #[askama::filter_fn]
    pub fn of_others(text: &str, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(inert(&stripped(text)))
    }
}
