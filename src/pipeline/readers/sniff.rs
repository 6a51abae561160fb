//! Detects the format of a file, primarily by its content, of which one piece at a time is in memory. The file name
//! only distinguishes text-like formats and must not contradict the content.

use std::io::{self, Read};

/// A supported format.
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

/// The error for an unsupported file: its apparent type, in one sentence for the user who uploaded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    pub message: String,
}

impl Format {
    /// All formats with their names on the child process's command line.
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

    /// Returns the name on the child process's command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, _)| *format == self).map_or("text", |(_, name)| *name)
    }

    /// Returns the format with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }

    /// Returns the format with this media type, if there is one.
    pub fn of_mime_type(mime_type: &str) -> Option<Self> {
        Self::ALL.iter().map(|(format, _)| *format).find(|format| format.mime_type() == mime_type)
    }

    /// Returns the media type that is stored and sent in responses.
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

/// Number of bytes from the start of a file within which its format must show. PDF readers accept other bytes before
/// the header up to this.
const HEAD_BYTES: usize = 1024;
/// Bytes of the rest of the file that are in memory at a time.
const PIECE: u64 = 64 * 1024;

/// Detects the format of a file. It only scans and unpacks nothing, so it is safe within the server process.
///
/// # Errors
/// An I/O error if the content cannot be read; the inner `Unsupported` if the format is not supported or the name
/// claims another format than the content.
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
        // An encrypted DOCX has another container format: it is accepted here, and the reader reports that it needs a
        // password.
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

/// Detects the format of a ZIP by the file names in it, which are not compressed, so that nothing has to be unpacked.
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
        known.map_or("ZIP archives are not read; upload the documents in it one by one.", |((_, message), _)| *message),
    )))
}

/// Returns for each of these byte strings whether the content contains it.
fn search<const N: usize>(head: &[u8], mut content: impl Read, wanted: [&[u8]; N]) -> io::Result<[bool; N]> {
    let longest = wanted.iter().map(|wanted| wanted.len()).max().unwrap_or(0);
    let mut found = [false; N];
    let mut window = head.to_vec();
    loop {
        for (found, wanted) in found.iter_mut().zip(wanted) {
            *found = *found || holds(&window, wanted);
        }
        // A match may start in this piece and end in the next.
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

/// Returns the extension in lower case, empty if there is none. The name may contain either kind of slash.
fn extension(file_name: &str) -> String {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.rsplit_once('.').map(|(_, extension)| extension.trim().to_lowercase()).unwrap_or_default()
}

/// Whether the content is text: no NUL and at most 1 % other control characters or, after a UTF-16 byte order mark, an
/// even number of bytes.
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
