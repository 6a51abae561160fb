//! The parts of a mail (MIME): where each begins and ends, its type, its content decoded.
//!
//! Headers are parsed by the library. The tree is walked here, one part at a time: the library decodes all parts at once,
//! attachments too, and holds mails within mails in a structure as deep as the mail likes.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Message, MessageParser, MimeHeaders};

use super::super::draft::more_than;
use super::super::source::Unreadable;
use super::super::text::decode;

/// Maximum bytes of the headers of one part.
const HEADERS: usize = 256 * 1024;

/// A part of a mail, or the mail itself.
pub struct MailPart<'a> {
    /// `None` if it has no headers: it is plain text then.
    pub headers: Option<Message<'static>>,
    body: &'a [u8],
    /// Whether it is a mail unless its headers say otherwise (the parts of a digest).
    is_mail: bool,
}

/// An attachment, which is named and not read.
pub struct Attachment {
    name: Option<String>,
    kind: String,
}

/// How the lines of a text were wrapped (RFC 3676).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flowed {
    No,
    /// A line that ends with a space goes on in the next one.
    Yes,
    /// The same, and the space does not belong to the text.
    DeletesSpace,
}

impl<'a> MailPart<'a> {
    /// Finds the headers of a mail; `None` if there are none.
    pub fn of_mail(bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let mut bytes = bytes.get(start..)?;
        // The line that separates mails in a mailbox.
        if bytes.starts_with(b"From ") || bytes.starts_with(b">From ") {
            let end = bytes.iter().position(|byte| *byte == b'\n')?;
            bytes = bytes.get(end + 1..)?;
        }
        Some(Self::of_bytes(bytes, false)).filter(|part| part.headers.is_some())
    }

    fn of_bytes(bytes: &'a [u8], is_mail: bool) -> Self {
        let end = end_of_headers(bytes);
        let headers = bytes.get(..end.min(HEADERS)).filter(|headers| headers.contains(&b':'));
        // Letters that are not encoded should be UTF-8; of older programs they are often not.
        let headers = headers.and_then(|headers| {
            MessageParser::default().parse_headers(decode(headers).as_bytes()).map(Message::into_owned)
        });
        Self { headers, body: bytes.get(end..).unwrap_or_default(), is_mail }
    }

    /// Returns the type and the subtype in lower case.
    pub fn kind(&self) -> (String, String) {
        match self.headers.as_ref().and_then(|headers| headers.content_type()) {
            Some(kind) => (kind.ctype().to_lowercase(), kind.subtype().unwrap_or_default().to_lowercase()),
            None if self.is_mail => ("message".to_owned(), "rfc822".to_owned()),
            None => ("text".to_owned(), "plain".to_owned()),
        }
    }

    /// Whether the sender meant it as an attachment and not as a text to be read.
    pub fn is_attachment(&self) -> bool {
        self.headers
            .as_ref()
            .and_then(|headers| headers.content_disposition())
            .is_some_and(|disposition| disposition.ctype().eq_ignore_ascii_case("attachment"))
    }

    /// Returns what is known of an attachment; `None` for a picture within the text.
    pub fn attachment(&self) -> Option<Attachment> {
        let name = self.headers.as_ref().and_then(|headers| headers.attachment_name()).map(str::to_owned);
        let (kind, subtype) = self.kind();
        let is_within_text = !self.is_attachment() && (kind == "image" || name.is_none());
        (!is_within_text).then(|| Attachment { name, kind: format!("{kind}/{subtype}") })
    }

    /// Whether there is more than white space.
    pub fn has_content(&self) -> bool {
        self.body.iter().any(|byte| !byte.is_ascii_whitespace())
    }

    /// Returns how its lines were wrapped.
    pub fn flowed(&self) -> Flowed {
        let Some(kind) = self.headers.as_ref().and_then(|headers| headers.content_type()) else { return Flowed::No };
        let is =
            |name: &str, wanted: &str| kind.attribute(name).is_some_and(|value| value.eq_ignore_ascii_case(wanted));
        match (is("format", "flowed"), is("delsp", "yes")) {
            (false, _) => Flowed::No,
            (true, false) => Flowed::Yes,
            (true, true) => Flowed::DeletesSpace,
        }
    }

    /// Returns the content without its transfer encoding; what is not encoded as it says is returned as it is.
    pub fn content(&self) -> Cow<'a, [u8]> {
        let encoding = self.headers.as_ref().and_then(|headers| headers.content_transfer_encoding());
        let decoded = match encoding.map(|encoding| encoding.trim().to_lowercase()).as_deref() {
            Some("base64") => base64_decode(self.body),
            Some("quoted-printable") => quoted_printable_decode(self.body),
            _ => None,
        };
        decoded.map_or(Cow::Borrowed(self.body), Cow::Owned)
    }

    /// Returns the content as text. Without a known charset it is guessed as for a text file.
    pub fn text(&self) -> String {
        let content = self.content();
        let charset = self.headers.as_ref().and_then(|headers| headers.content_type()?.attribute("charset"));
        let charset = charset.unwrap_or_default().trim().as_bytes();
        match (Encoding::for_label(charset), charset_decoder(charset)) {
            (Some(encoding), _) if encoding != encoding_rs::UTF_8 => encoding.decode(&content).0.into_owned(),
            // Those that the web does not have, such as UTF-7.
            (None, Some(decoder)) => decoder(&content),
            _ => decode(&content).into_owned(),
        }
    }

    /// Returns the parts of a multipart in order. They are counted before the first one is parsed.
    ///
    /// # Errors
    /// `TooLarge` for more parts than `most`.
    pub fn parts(&self, most: usize) -> Result<Vec<MailPart<'a>>, Unreadable> {
        let Some(kind) = self.headers.as_ref().and_then(|headers| headers.content_type()) else {
            return Ok(Vec::new());
        };
        let Some(boundary) = kind.attribute("boundary").filter(|boundary| !boundary.is_empty()) else {
            return Ok(Vec::new());
        };
        let is_digest = kind.subtype().is_some_and(|subtype| subtype.eq_ignore_ascii_case("digest"));
        let places =
            places(self.body, boundary.as_bytes(), most).ok_or_else(|| more_than(super::PARTS, "parts of a mail"))?;
        let bytes = places.into_iter().map(|place| self.body.get(place).unwrap_or_default());
        Ok(bytes.map(|bytes| Self::of_bytes(bytes, is_digest)).collect())
    }
}

impl Attachment {
    /// Returns its name and type, or `None` for parts that people do not see as attachments.
    pub fn written(self) -> Option<String> {
        match self.name {
            Some(name) => Some(format!("{} ({})", name.trim(), self.kind)),
            None => (!self.kind.starts_with("message/") && !self.kind.starts_with("text/")).then_some(self.kind),
        }
    }
}

/// Returns where the parts between boundaries begin and end; `None` if there are more than `most`. A mail may break off
/// within the last one.
fn places(body: &[u8], boundary: &[u8], most: usize) -> Option<Vec<Range<usize>>> {
    let mut places = Vec::new();
    // Offsets of the open part and of the line that is looked at.
    let (mut open, mut at) = (None, 0);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let ends = boundary_line(line, boundary);
        if ends.is_some()
            && let Some(start) = open.take()
        {
            places.push(start..at);
        }
        at += line.len();
        match ends {
            // What follows is no part.
            Some(BoundaryLine::Last) => break,
            Some(BoundaryLine::Next) if places.len() == most => return None,
            Some(BoundaryLine::Next) => open = Some(at),
            None => {}
        }
    }
    places.extend(open.map(|start| start..body.len()));
    Some(places)
}

enum BoundaryLine {
    Next,
    Last,
}

fn boundary_line(line: &[u8], boundary: &[u8]) -> Option<BoundaryLine> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary)?;
    match rest.trim_ascii() {
        b"" => Some(BoundaryLine::Next),
        b"--" => Some(BoundaryLine::Last),
        _ => None,
    }
}

/// Returns where the body begins: after the first empty line.
fn end_of_headers(bytes: &[u8]) -> usize {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if matches!(line, b"\n" | b"\r\n") {
            return at;
        }
    }
    at
}
