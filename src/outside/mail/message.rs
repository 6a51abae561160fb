//! A letter as a message of MIME, the same to the byte at each try.
//!
//! ```text
//! multipart/alternative            with a calendar:  multipart/mixed
//!   text/plain                                         multipart/alternative
//!   text/html                                            text/plain, text/html, text/calendar; method=…   what programs read
//!                                                      application/ics, invite.ics                        what people save
//! ```

use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, MultiPartBuilder, SinglePart};
use lettre::{Address, Message};

use super::{Calendar, Letter, Sending};

/// # Errors
/// In words: why there can't be such a message.
pub fn message(sending: &Sending<'_>, from: &Mailbox) -> Result<Message, String> {
    let Sending { letter, id, written_at, request } = *sending;
    let to: Address = letter.to.parse().map_err(|error| format!("the address can't be written to: {error}"))?;
    if let Some(link) = letter.links().find(|link| !is_web(link)) {
        return Err(format!("{} is no address of the web", link.split(':').next().unwrap_or_default()));
    }
    let alternative = part(MultiPart::alternative(), id, "alternative")
        .singlepart(text(ContentType::TEXT_PLAIN, letter.text())?)
        .singlepart(text(ContentType::TEXT_HTML, letter.html()?)?);
    let content = match &letter.calendar {
        None => alternative,
        Some(calendar) => with_calendar(alternative, calendar, id)?,
    };
    Message::builder()
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .date(written_at.utc().into())
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(letter.subject_line())
        // RFC 3834: so that no absence note answers.
        .raw_header(header("Auto-Submitted", "auto-generated"))
        .raw_header(header("X-Request-Id", &request.replace(|c: char| !c.is_ascii_graphic(), "")))
        .multipart(content)
        .map_err(|error| error.to_string())
}

impl Letter {
    fn links(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            super::Block::Link { url, .. } => Some(url.as_str()),
            _ => None,
        })
    }
}

/// A link of ours leads to a web page; anything else in it is a fault of ours, and would be markup to somebody.
fn is_web(link: &str) -> bool {
    let is_plain = link.chars().all(|c| c.is_ascii_graphic());
    is_plain && url::Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn header(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// `=_` is in no part that is encoded, so that no part can hold its own end.
fn part(kind: MultiPartBuilder, id: &str, name: &str) -> MultiPartBuilder {
    kind.boundary(format!("=_{id}_{name}"))
}

/// Quoted-printable for all languages, so that a code is readable in the raw file too.
fn text(content_type: ContentType, text: String) -> Result<SinglePart, String> {
    let body = Body::new_with_encoding(text, ContentTransferEncoding::QuotedPrintable);
    let body = body.map_err(|_| "a text can't be encoded".to_owned())?;
    Ok(SinglePart::builder().header(content_type).body(body))
}

fn with_calendar(alternative: MultiPart, calendar: &Calendar, id: &str) -> Result<MultiPart, String> {
    let Calendar { method, text } = calendar;
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(format!("{method:?} is no method of calendars"));
    }
    let content_type = |text: &str| ContentType::parse(text).map_err(|error| error.to_string());
    // Base64, so that its line ends stay as they are.
    let body = || {
        Body::new_with_encoding(text.clone().into_bytes(), ContentTransferEncoding::Base64)
            .map_err(|_| "a calendar can't be encoded".to_owned())
    };
    let read = content_type(&format!("text/calendar; charset=utf-8; method={method}"))?;
    let alternative = alternative.singlepart(SinglePart::builder().header(read).body(body()?));
    let saved = content_type("application/ics; name=\"invite.ics\"")?;
    let saved = Attachment::new("invite.ics".to_owned()).body(body()?, saved);
    Ok(part(MultiPart::mixed(), id, "mixed").multipart(alternative).singlepart(saved))
}
