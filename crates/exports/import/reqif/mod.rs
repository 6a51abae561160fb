//! Reads ReqIF, of this program and of others: a document, or an archive of them.
//!
//! Requirements and stories are told apart by the names of their types, fields by the names of their attributes, in any of the languages
//! that files are written in. The order of objects in specifications is not read: it has no counterpart here.

mod content;
mod fields;
mod items;
mod links;
mod notes;
mod tokens;
mod xhtml;

use std::borrow::Cow;

use content::ReqifContent;
use tokens::ReqifTokens;

use super::bounds::{BoundedArchive, check_file_size};
use super::fault::{ImportFault, MAX_PLACE_LENGTH, cut, quoted};
use super::imported::Imported;

pub(super) fn read(bytes: &[u8]) -> Result<Imported, ImportFault> {
    check_file_size(bytes)?;
    let mut content = ReqifContent::default();
    if bytes.starts_with(b"PK") {
        read_archive(bytes, &mut content)?;
    } else {
        read_document(bytes, None, &mut content)?;
    }
    items::imported(content)
}

fn read_archive(bytes: &[u8], content: &mut ReqifContent) -> Result<(), ImportFault> {
    let mut archive = BoundedArchive::open(bytes)?;
    let is_document = |name: &String| name.to_ascii_lowercase().ends_with(".reqif");
    let (documents, others): (Vec<String>, Vec<String>) = archive.names().into_iter().partition(is_document);
    if documents.is_empty() {
        return Err(ImportFault::new("The archive has no .reqif file."));
    }
    for name in &others {
        content.notes.add(name, format!("The file {} of the archive is not used.", quoted(name)));
    }
    for name in &documents {
        let Some(document) = archive.read(name)? else { continue };
        let shown = (documents.len() > 1).then_some(name.as_str());
        read_document(&document, shown, content)?;
    }
    Ok(())
}

/// `name` is that of the document where there are several.
fn read_document(bytes: &[u8], name: Option<&str>, content: &mut ReqifContent) -> Result<(), ImportFault> {
    let text = decoded(bytes).ok_or_else(|| {
        let message = "The file is not text in UTF-8 or UTF-16.";
        name.map_or_else(|| ImportFault::new(message), |name| ImportFault::at(name, message))
    })?;
    let name = name.map(|name| cut(name, MAX_PLACE_LENGTH));
    let mut tokens = ReqifTokens::of(&text, name.as_deref(), content.elements);
    content.read(&mut tokens)?;
    content.elements = tokens.elements();
    Ok(())
}

/// XML in UTF-16 always begins with a mark of its byte order.
fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
        if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xef, 0xbb, 0xbf, rest @ ..] => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
        _ => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
    }
}
