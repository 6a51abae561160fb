//! Detects the format of a file, primarily by its content, of which one piece at a time is in memory. The file name
//! only distinguishes text-like formats and must not contradict the content.

use std::io::{self, Read};

/// A supported format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Odt,
    Eml,
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
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Pdf, "pdf"),
        (Self::Docx, "docx"),
        (Self::Pptx, "pptx"),
        (Self::Xlsx, "xlsx"),
        (Self::Odt, "odt"),
        (Self::Eml, "eml"),
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
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Eml => "message/rfc822",
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
    if head.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        return compound(&head, content, &extension);
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
    } else if starts_like_mail(&start) {
        Some(Format::Eml)
    } else {
        None
    };
    match (extension, shape) {
        // Text may quote a mail with its headers; a program that sends mails writes more of them.
        ("txt" | "text" | "log" | "", Some(Format::Eml)) if !has_technical_headers(&start) => Ok(Format::Text),
        ("txt" | "text" | "log" | "", Some(shape)) => Ok(shape),
        ("eml", Some(Format::Eml)) => Ok(Format::Eml),
        ("eml", _) => Err(unsupported("This file is called .eml, but it does not start with the headers of a mail.")),
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

/// Detects what is in a file of the older container format of Office. An encrypted document is in one: it is accepted as
/// what its name says, and its reader reports that it needs a password.
fn compound(head: &[u8], content: impl Read, extension: &str) -> io::Result<Result<Format, Unsupported>> {
    let format = match extension {
        "docx" => Format::Docx,
        "pptx" => Format::Pptx,
        "xlsx" => Format::Xlsx,
        "doc" | "dot" => return Ok(Err(unsupported("Old Word files (.doc) are not read; save it as DOCX or PDF."))),
        "ppt" | "pps" => return Ok(Err(unsupported("Old PowerPoint files (.ppt) are not read; save it as PPTX."))),
        "xls" | "xlt" => return Ok(Err(unsupported("Old Excel files (.xls) are not read; save it as XLSX."))),
        "msg" => return Ok(Err(unsupported("Outlook messages (.msg) are not read; save it as EML."))),
        _ => return Ok(Err(no_text())),
    };
    let [encrypted] = last_places(head, content, [&utf16("EncryptedPackage")])?;
    Ok(if encrypted.is_some() { Ok(format) } else { Err(no_text()) })
}

/// Detects the format of a ZIP by the file names in it, which are not compressed, so that nothing has to be unpacked. The
/// list of the names is at the end of a ZIP, behind any package that is embedded in it: the last name counts.
fn package(head: &[u8], content: impl Read, extension: &str) -> io::Result<Result<Format, Unsupported>> {
    const MARKS: [(&[u8], Result<Format, &str>); 8] = [
        (b"word/document.xml", Ok(Format::Docx)),
        (b"ppt/presentation.xml", Ok(Format::Pptx)),
        (b"xl/workbook.xml", Ok(Format::Xlsx)),
        (b"xl/workbook.bin", Err("Binary Excel workbooks (.xlsb) are not read; save it as XLSX.")),
        (b"META-INF/container.xml", Err("EPUB books are not read.")),
        (b"META-INF/MANIFEST.MF", Err("Java archives are not read.")),
        (b"META-INF/manifest.xml", Ok(Format::Odt)),
        (b"[Content_Types].xml", Err("This file is a package of Office, but none that is read here.")),
    ];
    // An OpenDocument file starts with its type, which is not compressed, unless an archiver has packed it anew.
    let of_document: &[u8] = b"application/vnd.oasis.opendocument.";
    let kind = find(head, of_document).and_then(|at| head.get(at + of_document.len()..)).unwrap_or_default();
    let places = last_places(head, content, MARKS.map(|(mark, _)| mark))?;
    // The list of types is in each package of Office, so it only counts where nothing else is known.
    let [known @ .., types] = places;
    let found = MARKS.iter().zip(known).filter_map(|((_, meant), at)| Some((at?, *meant))).max_by_key(|(at, _)| *at);
    let meant = match found {
        Some((_, Ok(Format::Docx | Format::Pptx | Format::Xlsx))) if types.is_none() => None,
        Some((_, meant)) => Some(meant),
        None => types.and(MARKS.last().map(|(_, meant)| *meant)),
    };
    let meant = if kind.is_empty() { meant } else { Some(Ok(Format::Odt)) };
    let (format, extensions) = match meant {
        Some(Ok(Format::Odt)) if !kind.is_empty() && (!kind.starts_with(b"text") || kind.starts_with(b"text-")) => {
            return Ok(Err(unsupported(
                "Of the OpenDocument files only texts (ODT) are read; save it as PDF, PPTX or XLSX.",
            )));
        }
        Some(Ok(format @ Format::Docx)) => (format, ["docx", "docm"]),
        Some(Ok(format @ Format::Pptx)) => (format, ["pptx", "pptm"]),
        Some(Ok(format @ Format::Xlsx)) => (format, ["xlsx", "xlsm"]),
        Some(Ok(format)) => (format, ["odt", ""]),
        Some(Err(message)) => return Ok(Err(unsupported(message))),
        None => return Ok(Err(unsupported("ZIP archives are not read; upload the documents in it one by one."))),
    };
    let [plain, with_macros] = extensions;
    if !with_macros.is_empty() && extension == with_macros {
        return Ok(Err(unsupported(format!(
            "Files with macros (.{extension}) are not read; save it as {}.",
            plain.to_uppercase()
        ))));
    }
    Ok(named_so(format, &[plain], extension))
}

/// Returns for each of these byte strings where the content contains it last.
fn last_places<const N: usize>(
    head: &[u8],
    mut content: impl Read,
    wanted: [&[u8]; N],
) -> io::Result<[Option<usize>; N]> {
    let longest = wanted.iter().map(|wanted| wanted.len()).max().unwrap_or(0);
    let mut found = [None; N];
    let (mut window, mut window_start, mut unread) = (head.to_vec(), 0, 0);
    loop {
        // Some programs write the names of parts with backslashes.
        window.iter_mut().skip(unread).filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        for (found, wanted) in found.iter_mut().zip(wanted) {
            *found = find_last(&window, wanted).map(|at| window_start + at).or(*found);
        }
        // A match may start in this piece and end in the next.
        let passed = window.len().saturating_sub(longest);
        window.drain(..passed);
        window_start += passed;
        unread = window.len();
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

/// Whether the first line is a header of a mail, or the line that mail programs put before it.
fn starts_like_mail(start: &str) -> bool {
    const HEADERS: [&str; 24] = [
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "sender",
        "reply-to",
        "received",
        "return-path",
        "delivered-to",
        "message-id",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
        "in-reply-to",
        "references",
        "dkim-signature",
        "authentication-results",
        "envelope-to",
        "thread-topic",
        "thread-index",
        "importance",
        "user-agent",
        "list-id",
    ];
    let mut lines = start.lines();
    let mut line = lines.next().unwrap_or_default();
    if line.starts_with("from ") || line.starts_with(">from ") {
        line = lines.next().unwrap_or_default();
    }
    let Some((name, _)) = line.split_once(':') else { return false };
    let is_extension = ["x-", "arc-", "list-"].iter().any(|prefix| name.starts_with(prefix));
    HEADERS.contains(&name.trim_end()) || (is_extension && name.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// Whether the headers of a mail have some that people do not write.
fn has_technical_headers(start: &str) -> bool {
    let headers = start.lines().take_while(|line| !line.is_empty());
    let mut names = headers.filter_map(|line| line.split_once(':').map(|(name, _)| name));
    names.any(|name| matches!(name, "message-id" | "mime-version" | "received" | "return-path" | "delivered-to"))
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    find(bytes, wanted).is_some()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (first, rest) = wanted.split_first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| byte == first) {
        from += at + 1;
        if bytes.get(from..)?.starts_with(rest) {
            return Some(from - 1);
        }
    }
    None
}

fn find_last(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (last, rest) = wanted.split_last()?;
    let mut until = bytes.len();
    while let Some(at) = bytes.get(..until)?.iter().rposition(|byte| byte == last) {
        until = at;
        if bytes.get(..until)?.ends_with(rest) {
            return Some(until - rest.len());
        }
    }
    None
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
