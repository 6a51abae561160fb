//! What a file is, by its content first, of which a piece at a time is held; the name only tells text-like formats apart, and may not
//! contradict the content.

use std::io::{self, Read};

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Pdf,
    Docx,
    Html,
    Markdown,
    Text,
    Csv,
    Vtt,
    Srt,
}

/// A file that is not read: what it seems to be, in one sentence for the person who sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    pub message: String,
}

impl Format {
    /// All of them, with the name each has on the command line of the child.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Pdf, "pdf"),
        (Self::Docx, "docx"),
        (Self::Html, "html"),
        (Self::Markdown, "markdown"),
        (Self::Text, "text"),
        (Self::Csv, "csv"),
        (Self::Vtt, "vtt"),
        (Self::Srt, "srt"),
    ];

    /// The name on the command line of the child.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, _)| *format == self).map_or("text", |(_, name)| *name)
    }

    /// The format of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }

    /// The format with that media type, if there is one.
    pub fn of_mime_type(mime_type: &str) -> Option<Self> {
        Self::ALL.iter().map(|(format, _)| *format).find(|format| format.mime_type() == mime_type)
    }

    /// The media type that is stored and answered.
    pub fn mime_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Html => "text/html",
            Self::Markdown => "text/markdown",
            Self::Text => "text/plain",
            Self::Csv => "text/csv",
            Self::Vtt => "text/vtt",
            Self::Srt => "application/x-subrip",
        }
    }
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unsupported {}

/// How far into a file its kind must show. PDF readers allow rubbish before the header up to this.
const HEAD_BYTES: usize = 1024;
/// Held at a time of what follows.
const PIECE: u64 = 64 * 1024;

/// Tells what a file is. Only looks, unpacks nothing: it is safe in the server itself.
///
/// # Errors
/// The content can't be read; within, `Unsupported` when the format is not read, or the name says another one than the content.
pub fn sniff(file_name: &str, mut content: impl Read) -> io::Result<Result<Format, Unsupported>> {
    let extension = extension(file_name);
    let mut head = Vec::with_capacity(HEAD_BYTES);
    content.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    if holds(&head, b"%PDF-") {
        return Ok(named_so(Format::Pdf, &["pdf"], &extension));
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return package(&head, content, &extension);
    }
    if head.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) && extension == "docx" {
        // An encrypted DOCX is another container: the reader says that it needs a password.
        let [encrypted] = search(&head, content, [&utf16("EncryptedPackage")])?;
        return Ok(if encrypted { Ok(Format::Docx) } else { Err(no_text()) });
    }
    if !is_text(&head, content)? {
        return Ok(Err(no_text()));
    }
    Ok(text_like(&extension, &super::text::decode(&head)))
}

fn text_like(extension: &str, head: &str) -> Result<Format, Unsupported> {
    let start = head.trim_start().to_lowercase();
    if start.starts_with("{\\rtf") {
        return Err(unsupported("Rich text (RTF) is not read; save it as DOCX or PDF."));
    }
    let shape = if start.starts_with("webvtt") {
        Some(Format::Vtt)
    } else if ["<!doctype html", "<html"].iter().any(|tag| start.starts_with(tag)) {
        Some(Format::Html)
    } else if looks_like_srt(&start) {
        Some(Format::Srt)
    } else {
        None
    };
    match (extension, shape) {
        ("txt" | "text" | "log" | "", Some(shape)) => Ok(shape),
        ("vtt" | "srt", Some(shape @ (Format::Vtt | Format::Srt))) => Ok(shape),
        ("vtt", _) => Err(unsupported("This file is called .vtt, but it does not start with WEBVTT.")),
        ("srt", _) => Err(unsupported("This file is called .srt, but it holds no numbered and timed cues.")),
        ("txt" | "text" | "log" | "", None) => Ok(Format::Text),
        ("md" | "markdown", _) => Ok(Format::Markdown),
        ("csv", _) => Ok(Format::Csv),
        ("html" | "htm" | "xhtml", _) => Ok(Format::Html),
        (other, _) => Err(unsupported(format!("Files of type .{other} are not read."))),
    }
}

/// Names stand uncompressed in a ZIP: finding them needs no unpacking.
fn package(head: &[u8], content: impl Read, extension: &str) -> io::Result<Result<Format, Unsupported>> {
    const KINDS: [(&[u8], &str); 5] = [
        (b"ppt/presentation.xml", "PowerPoint presentations are not read yet."),
        (b"xl/workbook.xml", "Excel workbooks are not read yet; save the sheet as CSV."),
        (b"application/vnd.oasis.opendocument", "OpenDocument files are not read yet; save it as DOCX or PDF."),
        (b"application/epub+zip", "EPUB books are not read."),
        (b"META-INF/MANIFEST.MF", "Java archives are not read."),
    ];
    let [a, b, c, d, e] = KINDS.map(|(mark, _)| mark);
    let [types, body, kinds @ ..] =
        search(head, content, [b"[Content_Types].xml", b"word/document.xml", a, b, c, d, e])?;
    if types && body {
        return Ok(named_so(Format::Docx, &["docx"], extension));
    }
    let known = KINDS.iter().zip(kinds).find(|(_, found)| *found);
    Ok(Err(unsupported(
        known.map_or("ZIP archives are not read; upload the documents in it one by one.", |((_, said), _)| *said),
    )))
}

/// Which of these byte strings are in the content.
fn search<const N: usize>(head: &[u8], mut content: impl Read, wanted: [&[u8]; N]) -> io::Result<[bool; N]> {
    let longest = wanted.iter().map(|wanted| wanted.len()).max().unwrap_or(0);
    let mut found = [false; N];
    let mut window = head.to_vec();
    loop {
        for (found, wanted) in found.iter_mut().zip(wanted) {
            *found = *found || holds(&window, wanted);
        }
        // One may begin in this piece and end in the next.
        window.drain(..window.len().saturating_sub(longest));
        if content.by_ref().take(PIECE).read_to_end(&mut window)? == 0 {
            return Ok(found);
        }
    }
}

fn named_so(format: Format, extensions: &[&str], extension: &str) -> Result<Format, Unsupported> {
    if extension.is_empty() || extensions.contains(&extension) {
        return Ok(format);
    }
    let name = format.name().to_uppercase();
    Err(unsupported(format!("This file is called .{extension}, but its content is {name}.")))
}

/// Lower case, empty if there is none. A name may hold either kind of slash.
fn extension(file_name: &str) -> String {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.rsplit_once('.').map(|(_, extension)| extension.trim().to_lowercase()).unwrap_or_default()
}

/// Text has no NUL and hardly any other control character, unless a byte order mark says UTF-16.
fn is_text(head: &[u8], mut content: impl Read) -> io::Result<bool> {
    let is_wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    let (mut size, mut controls, mut nul) = (0_usize, 0_usize, false);
    let mut piece = head.to_vec();
    while !piece.is_empty() {
        size += piece.len();
        nul = nul || piece.contains(&0);
        controls += piece.iter().filter(|byte| **byte < 0x20 && !b"\t\n\r\x0b\x0c\x1b".contains(byte)).count();
        piece.clear();
        content.by_ref().take(PIECE).read_to_end(&mut piece)?;
    }
    Ok(if is_wide { size.is_multiple_of(2) } else { !nul && controls * 100 <= size })
}

fn looks_like_srt(start: &str) -> bool {
    let mut lines = start.lines();
    let number = lines.next().is_some_and(|line| !line.is_empty() && line.trim().bytes().all(|b| b.is_ascii_digit()));
    number && lines.next().is_some_and(|line| line.contains(" --> "))
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    let mut tail = bytes;
    while let Some(at) = tail.iter().position(|byte| byte == first) {
        tail = tail.get(at + 1..).unwrap_or_default();
        if tail.starts_with(rest) {
            return true;
        }
    }
    false
}

fn utf16(word: &str) -> Vec<u8> {
    word.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn no_text() -> Unsupported {
    unsupported("This file is neither text nor a document format that is read here.")
}

fn unsupported(message: impl Into<String>) -> Unsupported {
    Unsupported { message: message.into() }
}
