//! Builds the MIME message of an e-mail, byte for byte the same for every attempt.
//!
//! ```text
//! multipart/alternative            with a calendar:  multipart/mixed
//!   text/plain                                         multipart/alternative
//!   text/html                                            text/plain, text/html, text/calendar; method=…  (programs)
//!                                                      application/ics, invite.ics                       (people)
//! ```

use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, MultiPartBuilder, SinglePart};
use lettre::{Address, Message};

use super::{Calendar, EmailInTransit, OutgoingEmail};

/// # Errors
/// Returns a message that says why the MIME message can't be built: an invalid recipient, a link that is not http or
/// https, or a part that can't be encoded.
pub fn message(sending: &EmailInTransit<'_>, from: &Mailbox) -> Result<Message, String> {
    let EmailInTransit { email, id, written_at, request } = *sending;
    let to: Address = email.to.parse().map_err(|error| format!("the recipient's address is invalid: {error}"))?;
    if let Some(link) = email.links().find(|link| !is_web(link)) {
        return Err(format!("{} is not an http or https URL", link.split(':').next().unwrap_or_default()));
    }
    let alternative = part(MultiPart::alternative(), id, "alternative")
        .singlepart(text(ContentType::TEXT_PLAIN, email.text())?)
        .singlepart(text(ContentType::TEXT_HTML, email.html()?)?);
    let content = match &email.calendar {
        None => alternative,
        Some(calendar) => with_calendar(alternative, calendar, id)?,
    };
    Message::builder()
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .date(written_at.utc().into())
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(email.subject_line())
        // RFC 3834: keeps automatic responders, such as absence notes, from replying.
        .raw_header(header("Auto-Submitted", "auto-generated"))
        .raw_header(header("X-Request-Id", &request.replace(|c: char| !c.is_ascii_graphic(), "")))
        .multipart(content)
        .map_err(|error| error.to_string())
}

impl OutgoingEmail {
    fn links(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            super::EmailBlock::Link { url, .. } => Some(url.as_str()),
            _ => None,
        })
    }
}

/// Whether a link is a plain http or https URL. This server generates every link itself, so any other text in a link is
/// a bug, and could act as markup in a recipient's mail program.
fn is_web(link: &str) -> bool {
    let is_plain = link.chars().all(|c| c.is_ascii_graphic());
    is_plain && url::Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn header(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// Sets a boundary that begins with `=_`, which occurs in no encoded part, so that no part can contain its own
/// boundary.
fn part(kind: MultiPartBuilder, id: &str, name: &str) -> MultiPartBuilder {
    kind.boundary(format!("=_{id}_{name}"))
}

/// Encodes every language as quoted-printable, so that a code is readable in the raw file too.
fn text(content_type: ContentType, text: String) -> Result<SinglePart, String> {
    let body = Body::new_with_encoding(text, ContentTransferEncoding::QuotedPrintable);
    let body = body.map_err(|_| "a text can't be encoded".to_owned())?;
    Ok(SinglePart::builder().header(content_type).body(body))
}

fn with_calendar(alternative: MultiPart, calendar: &Calendar, id: &str) -> Result<MultiPart, String> {
    let Calendar { method, text } = calendar;
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(format!("{method:?} is not a calendar method"));
    }
    let content_type = |text: &str| ContentType::parse(text).map_err(|error| error.to_string());
    // Base64, so that its line endings stay unchanged.
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
