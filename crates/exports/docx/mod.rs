//! A document of a word processor: numbered headings, contents, what is known of each item below its text in small letters.
//!
//! What is the same in every document (styles, numbering, relations) is a template of the program; the rest is written as it comes, so
//! that the size of a specification is bounded by its bytes and not by a tree of them.

mod body;
mod markup;

use std::io::{self, BufWriter, Cursor, Write};

use markup::{PageSetting, WordMarkup};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::fault::ExportFault;
use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::text::clean_line;
use crate::words::{Label, Words};

const CONTENT_TYPES: &str = include_str!("template/content_types.xml");
const PACKAGE_RELATIONS: &str = include_str!("template/package_relations.xml");
const DOCUMENT_RELATIONS: &str = include_str!("template/document_relations.xml");
const STYLES: &str = include_str!("template/styles.xml");
const NUMBERING: &str = include_str!("template/numbering.xml");
const SETTINGS: &str = include_str!("template/settings.xml");
const FOOTER: &str = include_str!("template/footer.xml");

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    package(specification).map_err(|error| ExportFault(format!("The document could not be written: {error}")))
}

fn package(specification: &Specification) -> io::Result<Vec<u8>> {
    let words = Words::of(&specification.project.language);
    let codes = RequirementCodes::of(specification);
    let languages = SpellingLanguages::of(&specification.project.language, words);
    let setting = PageSetting { words, complex_language: &languages.complex };
    let mut archive = DocxArchive(ZipWriter::new(Cursor::new(Vec::new())));
    archive.part("[Content_Types].xml", |out| out.write_all(CONTENT_TYPES.as_bytes()))?;
    archive.part("_rels/.rels", |out| out.write_all(PACKAGE_RELATIONS.as_bytes()))?;
    archive.part("word/document.xml", |out| {
        let mut markup = WordMarkup::new(out, setting)?;
        body::document(&mut markup, specification, &codes)?;
        markup.flush()
    })?;
    archive.part("word/styles.xml", |out| out.write_all(languages.styles().as_bytes()))?;
    archive.part("word/numbering.xml", |out| out.write_all(NUMBERING.as_bytes()))?;
    archive.part("word/settings.xml", |out| out.write_all(SETTINGS.as_bytes()))?;
    archive.part("word/footer.xml", |out| out.write_all(FOOTER.as_bytes()))?;
    archive.part("word/_rels/document.xml.rels", |out| out.write_all(DOCUMENT_RELATIONS.as_bytes()))?;
    archive.part("docProps/core.xml", |out| {
        let mut markup = WordMarkup::new(out, setting)?;
        core_properties(&mut markup, specification, words)?;
        markup.flush()
    })?;
    Ok(archive.0.finish()?.into_inner())
}

struct DocxArchive(ZipWriter<Cursor<Vec<u8>>>);

type PartWriter<'a> = BufWriter<&'a mut ZipWriter<Cursor<Vec<u8>>>>;

impl DocxArchive {
    fn part(&mut self, name: &str, content: impl FnOnce(&mut PartWriter<'_>) -> io::Result<()>) -> io::Result<()> {
        // The time is fixed: the same specification gives the same bytes.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644);
        self.0.start_file(name, options)?;
        let mut out = BufWriter::with_capacity(1 << 16, &mut self.0);
        content(&mut out)?;
        out.flush()
    }
}

fn core_properties<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    specification: &Specification,
    words: Words,
) -> io::Result<()> {
    let namespaces = [
        ("xmlns:cp", "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"),
        ("xmlns:dc", "http://purl.org/dc/elements/1.1/"),
        ("xmlns:dcterms", "http://purl.org/dc/terms/"),
        ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    ];
    markup.start("cp:coreProperties", &namespaces)?;
    markup.element("dc:title", &[], &clean_line(&specification.project.name))?;
    markup.element("dc:subject", &[], words.label(Label::Specification))?;
    markup.element("dc:language", &[], words.language().tag())?;
    if let Some(time) = whole_seconds(&specification.as_of) {
        let kind = [("xsi:type", "dcterms:W3CDTF")];
        markup.element("dcterms:created", &kind, &time)?;
        markup.element("dcterms:modified", &kind, &time)?;
    }
    markup.end("cp:coreProperties")
}

/// The time without its fraction, as word processors expect it; none if it is no time in UTC, which would make them reject the file.
fn whole_seconds(time: &str) -> Option<String> {
    let (seconds, fraction) = time.split_at_checked("2026-11-24T17:30:00".len())?;
    let shape: String =
        seconds.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).collect();
    let fraction = fraction.strip_suffix('Z')?.trim_start_matches('.');
    (shape == "0000-00-00T00:00:00" && fraction.chars().all(|character| character.is_ascii_digit()))
        .then(|| format!("{seconds}Z"))
}

/// The languages that spelling is checked in: one for letters from the left, one for letters from the right.
struct SpellingLanguages {
    latin: String,
    complex: String,
}

impl SpellingLanguages {
    fn of(project: &str, words: Words) -> Self {
        let tag = language_tag(project);
        let (latin, complex) = if words.direction().is_rtl() { (None, tag) } else { (tag, None) };
        Self {
            latin: latin.unwrap_or_else(|| "en-US".to_owned()),
            complex: complex.unwrap_or_else(|| "ar-SA".to_owned()),
        }
    }

    fn styles(&self) -> String {
        STYLES.replace("LATIN-LANGUAGE", &self.latin).replace("COMPLEX-LANGUAGE", &self.complex)
    }
}

/// The language of a project as a word processor names it; none for `AUTO` and whatever else is no language.
fn language_tag(project: &str) -> Option<String> {
    let (language, region) = project.split_once(['-', '_']).unwrap_or((project, ""));
    let is_letters = |part: &str| part.chars().all(|character| character.is_ascii_alphabetic());
    if !(2..=3).contains(&language.len())
        || !matches!(region.len(), 0 | 2)
        || !is_letters(language)
        || !is_letters(region)
    {
        return None;
    }
    let (language, region) = (language.to_ascii_lowercase(), region.to_ascii_uppercase());
    Some(match (language.as_str(), region.as_str()) {
        ("en", "") => "en-US".to_owned(),
        ("ar", "") => "ar-SA".to_owned(),
        ("de", "") => "de-DE".to_owned(),
        (_, "") => language,
        _ => format!("{language}-{region}"),
    })
}
