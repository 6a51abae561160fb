//! The XML of a ReqIF file, element by element.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::text::clean;

/// Each element begins on a line of its own, so that messages about the file can name lines; those within XHTML do not, since there a
/// line end is a blank.
pub(super) struct ReqifMarkup<W: Write>(Writer<W>);

impl<W: Write> ReqifMarkup<W> {
    pub(super) fn begin(out: W) -> io::Result<Self> {
        let mut writer = Writer::new(out);
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        Ok(Self(writer))
    }

    pub(super) fn end(mut self) -> io::Result<()> {
        self.line()?;
        self.0.get_mut().flush()
    }

    pub(super) fn open(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.line()?;
        self.0.write_event(Event::Start(BytesStart::new(name).with_attributes(attributes.iter().copied())))
    }

    pub(super) fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.line()?;
        self.0.write_event(Event::Empty(BytesStart::new(name).with_attributes(attributes.iter().copied())))
    }

    pub(super) fn close(&mut self, name: &str) -> io::Result<()> {
        self.0.write_event(Event::End(BytesEnd::new(name)))
    }

    pub(super) fn leaf(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.open(name, &[])?;
        self.0.write_event(Event::Text(BytesText::new(text)))?;
        self.close(name)
    }

    /// `<TYPE><DATATYPE-DEFINITION-STRING-REF>…`
    pub(super) fn reference(&mut self, role: &str, name: &str, target: &str) -> io::Result<()> {
        self.open(role, &[])?;
        self.leaf(name, target)?;
        self.close(role)
    }

    /// Opens an XHTML element within a line.
    pub(super) fn open_inline(&mut self, name: &str) -> io::Result<()> {
        self.0.write_event(Event::Start(BytesStart::new(name)))
    }

    /// The text of a stranger as XHTML.
    pub(super) fn inline_text(&mut self, text: &str) -> io::Result<()> {
        for (index, line) in clean(text).split('\n').enumerate() {
            if index > 0 {
                self.0.write_event(Event::Empty(BytesStart::new("xhtml:br")))?;
            }
            self.0.write_event(Event::Text(BytesText::new(line)))?;
        }
        Ok(())
    }

    pub(super) fn inline_element(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.open_inline(name)?;
        self.inline_text(text)?;
        self.close(name)
    }

    fn line(&mut self) -> io::Result<()> {
        self.0.get_mut().write_all(b"\n")
    }
}

/// An id as an XML name: only letters, digits and hyphens of it.
pub(super) fn identifier(id: &str) -> String {
    let id: String = id.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    format!("_{id}")
}

/// The time as ReqIF wants it. Where none is known, and the format demands one, it is the beginning of the epoch.
pub(super) fn moment(time: &str) -> &str {
    const SHAPE: &str = "0000-00-00T00:00:00";
    let (head, zone) = time.split_at_checked(SHAPE.len()).unwrap_or_default();
    let is_shaped = head.len() == SHAPE.len()
        && head.bytes().zip(SHAPE.bytes()).all(|(given, wanted)| match wanted {
            b'0' => given.is_ascii_digit(),
            _ => given == wanted,
        });
    let fraction = zone.strip_suffix('Z').map(|fraction| fraction.strip_prefix('.').unwrap_or(fraction));
    let is_utc = fraction.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
        && (zone == "Z" || zone.len() > 2 && zone.starts_with('.'));
    if is_shaped && is_utc { time } else { "1970-01-01T00:00:00Z" }
}
