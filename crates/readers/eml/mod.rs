//! EML reader: the subject as a heading, who wrote to whom and when, and what was written. Forwarded mails follow under
//! headings of their own.
//!
//! Of a mail in several forms the plain text is read, else the HTML. Lines after `>` are quotations; what follows `--`
//! is a signature. Attachments are named and not read. The day on which the mail was sent is the date of the document.

mod body;
mod parts;

use chrono::NaiveDate;
use mail_parser::{Address, DateTime, Message};

use super::draft::{TextDraft, more_than};
use super::html;
use super::source::{BlockKind, SourceText, Unreadable, UnreadableReason};
use parts::{Attachment, MailPart};

/// Maximum depth of parts within parts. Mail programs write four or five levels.
const DEPTH: usize = 20;
/// Maximum number of parts of a mail with all that are forwarded in it.
const PARTS: usize = 1_000;
/// Maximum number of addresses that are written of a header.
const ADDRESSES: usize = 50;

/// Reads a mail.
///
/// # Errors
/// `Encrypted` if there is nothing but an encrypted part; `Damaged` without headers or nested too deeply; `TooLarge`.
pub fn read(bytes: &[u8]) -> Result<SourceText, Unreadable> {
    let mut writer = MailWriter::default();
    let mail = MailPart::of_mail(bytes).ok_or_else(damaged)?;
    let date = mail.headers.as_ref().and_then(|headers| headers.date()).and_then(day);
    writer.mail(&mail, 0)?;
    if writer.is_encrypted && !writer.has_text {
        return Err(Unreadable::new(
            UnreadableReason::Encrypted,
            "This mail is encrypted, or its text is within a seal that is not opened.",
        ));
    }
    let mut source = writer.draft.finish()?;
    source.set_date(date);
    Ok(source)
}

#[derive(Default)]
struct MailWriter {
    draft: TextDraft,
    /// How many parts were found, read or not: finding one costs the parsing of its headers.
    parts: usize,
    is_encrypted: bool,
    has_text: bool,
}

impl MailWriter {
    /// Writes a mail with its headers; `depth` is that of the part it is in.
    fn mail(&mut self, mail: &MailPart, depth: usize) -> Result<(), Unreadable> {
        if let Some(headers) = &mail.headers {
            self.headers(headers, if depth == 0 { 1 } else { 2 });
        }
        self.part(mail, depth)
    }

    fn headers(&mut self, headers: &Message, level: u8) {
        let subject = headers.subject().map(str::trim).filter(|subject| !subject.is_empty());
        self.draft.heading(level, subject.unwrap_or("Mail without a subject"));
        let named = [
            ("From", headers.from().map(addresses)),
            ("To", headers.to().map(addresses)),
            ("Cc", headers.cc().map(addresses)),
            ("Date", headers.date().filter(|date| day(date).is_some()).map(written)),
        ];
        for (name, value) in named {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                self.draft.block(BlockKind::Boilerplate, &format!("{name}: {value}"));
            }
        }
    }

    fn part(&mut self, part: &MailPart, depth: usize) -> Result<(), Unreadable> {
        if depth > DEPTH {
            return Err(Unreadable::new(UnreadableReason::Damaged, "This mail is nested too deeply."));
        }
        if self.draft.is_full() {
            return Ok(());
        }
        let (kind, subtype) = part.kind();
        match (kind.as_str(), subtype.as_str()) {
            ("multipart", subtype) => self.multipart(part, subtype, depth),
            ("message", "rfc822" | "global") => {
                self.count(1)?;
                let content = part.content();
                match MailPart::of_mail(&content) {
                    Some(mail) => self.mail(&mail, depth + 1),
                    None => Ok(()),
                }
            }
            ("text", "plain") if !part.is_attachment() => {
                self.has_text = true;
                body::write(&part.text(), part.flowed(), &mut self.draft);
                Ok(())
            }
            ("text", "html") if !part.is_attachment() => {
                self.has_text = true;
                self.draft.adopt(&html::draft(&part.text()), 1, false);
                Ok(())
            }
            ("application", "pkcs7-mime" | "x-pkcs7-mime") => {
                self.is_encrypted = true;
                Ok(())
            }
            _ => {
                if let Some(name) = part.attachment().and_then(Attachment::written) {
                    self.draft.block(BlockKind::Boilerplate, &format!("Attachment: {name}"));
                }
                Ok(())
            }
        }
    }

    /// Counts parts before they are read.
    fn count(&mut self, more: usize) -> Result<(), Unreadable> {
        self.parts += more;
        if self.parts > PARTS { Err(more_than(PARTS, "parts of a mail")) } else { Ok(()) }
    }

    fn multipart(&mut self, part: &MailPart, subtype: &str, depth: usize) -> Result<(), Unreadable> {
        let parts = part.parts(PARTS.saturating_sub(self.parts))?;
        self.count(parts.len())?;
        if parts.is_empty() {
            // Not divided as its headers say: what is there can still be read.
            self.has_text = true;
            body::write(&part.text(), part.flowed(), &mut self.draft);
        }
        let read: &[MailPart] = match subtype {
            "encrypted" => {
                self.is_encrypted = true;
                return Ok(());
            }
            "alternative" => {
                let is = |part: &&MailPart, subtype: &str| part.kind() == ("text".to_owned(), subtype.to_owned());
                let plain = parts.iter().find(|part| is(part, "plain") && part.has_content());
                let html = parts.iter().find(|part| is(part, "html"));
                let inner = parts.iter().find(|part| part.kind().0 == "multipart");
                let best = plain.or(html).or(inner).or(parts.last());
                best.map(std::slice::from_ref).unwrap_or_default()
            }
            // The signature is the second part.
            "signed" => parts.get(..1).unwrap_or_default(),
            _ => &parts,
        };
        read.iter().try_for_each(|part| self.part(part, depth + 1))
    }
}

fn addresses(list: &Address) -> String {
    let written = list.iter().take(ADDRESSES).filter_map(|one| {
        let name = one.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let address = one.address.as_deref().map(str::trim).filter(|address| !address.is_empty());
        match (name, address) {
            (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
            (one, other) => one.or(other).map(str::to_owned),
        }
    });
    written.collect::<Vec<_>>().join(", ")
}

/// Returns the day on which a mail was sent, where it was sent.
fn day(date: &DateTime) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(i32::from(date.year), u32::from(date.month), u32::from(date.day))
}

fn written(date: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, tz_before_gmt, tz_hour, tz_minute, .. } = date;
    let sign = if *tz_before_gmt { '-' } else { '+' };
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} {sign}{tz_hour:02}:{tz_minute:02}")
}

fn damaged() -> Unreadable {
    Unreadable::new(UnreadableReason::Damaged, "This mail is damaged: it does not start with headers.")
}

#[cfg(test)]
mod tests;
