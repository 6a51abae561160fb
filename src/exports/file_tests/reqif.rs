//! Rules of the ReqIF that is written here.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::samples;
use super::specification::Specification;
use crate::{ExportFormat, write};

/// The document in the archive.
pub(super) fn document(specification: &Specification) -> String {
    let bytes = write(specification, ExportFormat::Reqif).unwrap();
    if let Some(folder) = std::env::var_os("REQIF_SAMPLES") {
        let name = format!("{}-{}.reqifz", specification.project.language, specification.requirements.len());
        std::fs::write(std::path::Path::new(&folder).join(name), &bytes).unwrap();
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), 1);
    let mut text = String::new();
    archive.by_name("specification.reqif").unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn samples_are_written() {
    for language in ["EN", "DE", "AR"] {
        document(&samples::hostile(language));
    }
    document(&samples::empty());
    document(&samples::large(200));
}
