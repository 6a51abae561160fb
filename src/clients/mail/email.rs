//! An e-mail as a list of blocks, and its rendering as plain text and as HTML.

use actors::language::Language;
use askama::Template;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::inert::{inert, stripped};

/// An e-mail to one recipient.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OutgoingEmail {
    /// What it is about. Jobs stored by earlier versions do not say it.
    #[serde(default)]
    pub kind: EmailKind,
    pub to: String,
    // Jobs stored by earlier versions call it `tongue`.
    #[serde(alias = "tongue")]
    pub locale: Locale,
    pub subject: String,
    pub blocks: Vec<EmailBlock>,
    /// A calendar object that is sent along, also as an `.ics` attachment.
    pub calendar: Option<Calendar>,
}

/// What an e-mail is about, for an operator, who may see neither its subject nor its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EmailKind {
    #[default]
    Unknown,
    ConfirmationCode,
    PasswordResetCode,
    PasswordChanged,
    LoginLinked,
    AlreadyRegistered,
    AccountDeleted,
    ProjectInvitation,
    MeetingInvitation,
    MeetingChanged,
    MeetingCancelled,
    ReviewInvitation,
    FeedbackDecided,
}

/// The languages that e-mails are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Locale {
    English,
    /// Written from right to left.
    Arabic,
}

/// The language of e-mails to a user with this language.
impl From<Language> for Locale {
    fn from(language: Language) -> Self {
        match language {
            Language::Ar => Self::Arabic,
            _ => Self::English,
        }
    }
}

/// A part of an e-mail, in order from top to bottom. Only the URL of a `Link` is a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EmailBlock {
    /// Text that this server writes; a user-chosen name within it goes through [`super::isolated`].
    Text(String),
    /// A code that the recipient types elsewhere: alone on its line.
    Code(String),
    /// Text that a user wrote: never a link, whatever it looks like.
    Quote(String),
    Link {
        label: String,
        url: String,
    },
}

/// A calendar invitation or cancellation, as RFC 5545 text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    /// The METHOD property of the text: REQUEST or CANCEL.
    pub method: String,
    pub text: String,
}

#[derive(Template)]
#[template(path = "email.html", config = "src/clients/mail/askama.toml")]
struct HtmlPage<'a> {
    language: &'static str,
    direction: &'static str,
    /// The side on which a line begins: `left` or `right`.
    side: &'static str,
    subject: String,
    blocks: &'a [EmailBlock],
}

impl OutgoingEmail {
    /// Renders the e-mail as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks = self.blocks.iter().map(|block| match block {
            EmailBlock::Text(text) => inert(text),
            EmailBlock::Code(code) => code.clone(),
            // Marked as a quotation, so that the recipient neither takes it for this server's own text nor a number in
            // it for a code.
            EmailBlock::Quote(text) => stripped(text).lines().map(quoted).collect::<Vec<_>>().join("\n"),
            EmailBlock::Link { label, url } => format!("{}\n{url}", inert(label)),
        });
        blocks.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// Renders the e-mail as HTML, without images, scripts or any other external resource.
    ///
    /// # Errors
    /// Returns a message when the template can't be rendered.
    pub fn html(&self) -> Result<String, String> {
        let (language, direction, side) = match self.locale {
            Locale::English => ("en", "ltr", "left"),
            Locale::Arabic => ("ar", "rtl", "right"),
        };
        let page = HtmlPage { language, direction, side, subject: self.subject_line(), blocks: &self.blocks };
        page.render().map_err(|error| error.to_string())
    }

    /// Returns the subject on one line, without control characters and addresses, whatever text it was built from.
    #[must_use]
    pub fn subject_line(&self) -> String {
        let visible = |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c };
        let words: String = inert(&self.subject).chars().map(visible).collect();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn quoted(line: &str) -> String {
    format!("> \u{2068}{}\u{2069}", inert(line))
}

/// Filters of the HTML template.
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
