//! Writes ReqIF 1.2, the OMG's format for the exchange of requirements, as a `.reqifz` archive with one document.
//!
//! The definitions have the same identifiers and English names in every file, so that another program which imports two projects gets
//! them once. Identifiers of requirements and stories are their ids, `_` before them because XML wants a letter there.

mod definitions;
mod fields;
mod markup;
mod objects;
mod relations;

use std::collections::HashMap;
use std::io::{self, BufWriter, Cursor, Write};

use markup::{ReqifMarkup, identifier, moment};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::fault::ExportFault;
use crate::references::RequirementCodes;
use crate::specification::{Specification, UserStoryEntry};
use crate::text::clean_line;

pub(crate) use fields::{RelationKind, ReqifDatatype, ReqifField};

const DOCUMENT_NAME: &str = "specification.reqif";
const TOOL: &str = "Colloquy";
/// The schema of ReqIF 1.2 fixes this number.
const SCHEMA_VERSION: &str = "1.0";

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let fault = |reason: String| ExportFault(format!("The ReqIF file could not be written: {reason}"));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // The time is fixed: the same specification gives the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    archive.start_file(DOCUMENT_NAME, options).map_err(|error| fault(error.to_string()))?;
    write_document(specification, BufWriter::new(&mut archive)).map_err(|error| fault(error.to_string()))?;
    Ok(archive.finish().map_err(|error| fault(error.to_string()))?.into_inner())
}

fn write_document(specification: &Specification, out: impl Write) -> io::Result<()> {
    let mut xml = ReqifMarkup::begin(out)?;
    xml.open(
        "REQ-IF",
        &[
            ("xmlns", "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"),
            ("xmlns:xhtml", "http://www.w3.org/1999/xhtml"),
        ],
    )?;
    write_header(&mut xml, specification)?;
    xml.open("CORE-CONTENT", &[])?;
    xml.open("REQ-IF-CONTENT", &[])?;
    let codes = RequirementCodes::of(specification);
    definitions::write(&mut xml, specification)?;
    objects::write(&mut xml, specification, &codes)?;
    relations::write(&mut xml, specification, &codes)?;
    write_hierarchy(&mut xml, specification, &codes)?;
    xml.close("REQ-IF-CONTENT")?;
    xml.close("CORE-CONTENT")?;
    xml.close("REQ-IF")?;
    xml.end()
}

fn write_header<W: Write>(xml: &mut ReqifMarkup<W>, specification: &Specification) -> io::Result<()> {
    let project = &specification.project;
    xml.open("THE-HEADER", &[])?;
    xml.open("REQ-IF-HEADER", &[("IDENTIFIER", &format!("{}-header", identifier(&project.id)))])?;
    xml.leaf("CREATION-TIME", moment(&specification.as_of))?;
    xml.leaf("REPOSITORY-ID", &clean_line(&project.id))?;
    xml.leaf("REQ-IF-TOOL-ID", TOOL)?;
    xml.leaf("REQ-IF-VERSION", SCHEMA_VERSION)?;
    xml.leaf("SOURCE-TOOL-ID", TOOL)?;
    xml.leaf("TITLE", &clean_line(&project.name))?;
    xml.close("REQ-IF-HEADER")?;
    xml.close("THE-HEADER")
}

/// The requirements in their order, each with the stories that realise it; a story stands once, below the first of its requirements.
/// Stories whose requirements are not in the file follow at the end.
fn write_hierarchy<W: Write>(
    xml: &mut ReqifMarkup<W>,
    specification: &Specification,
    codes: &RequirementCodes<'_>,
) -> io::Result<()> {
    let mut below: HashMap<&str, Vec<&UserStoryEntry>> = HashMap::new();
    let mut rest = Vec::new();
    for story in &specification.user_stories {
        match story.requirement_ids.iter().find(|id| codes.has(id)) {
            Some(requirement) => below.entry(requirement).or_default().push(story),
            None => rest.push(story),
        }
    }
    let project = &specification.project;
    xml.open("SPECIFICATIONS", &[])?;
    xml.open(
        "SPECIFICATION",
        &[
            ("IDENTIFIER", &identifier(&project.id)),
            ("LAST-CHANGE", moment(&specification.as_of)),
            ("LONG-NAME", &clean_line(&project.name)),
            ("DESC", &clean_line(&project.description)),
        ],
    )?;
    xml.reference("TYPE", "SPECIFICATION-TYPE-REF", definitions::SPECIFICATION_TYPE)?;
    xml.open("CHILDREN", &[])?;
    for requirement in &specification.requirements {
        let stories = below.remove(requirement.id.as_str()).unwrap_or_default();
        open_node(xml, &requirement.id, &requirement.updated_at)?;
        if !stories.is_empty() {
            xml.open("CHILDREN", &[])?;
            write_leaves(xml, &stories)?;
            xml.close("CHILDREN")?;
        }
        xml.close("SPEC-HIERARCHY")?;
    }
    write_leaves(xml, &rest)?;
    xml.close("CHILDREN")?;
    xml.close("SPECIFICATION")?;
    xml.close("SPECIFICATIONS")
}

fn write_leaves<W: Write>(xml: &mut ReqifMarkup<W>, stories: &[&UserStoryEntry]) -> io::Result<()> {
    for story in stories {
        open_node(xml, &story.id, &story.updated_at)?;
        xml.close("SPEC-HIERARCHY")?;
    }
    Ok(())
}

fn open_node<W: Write>(xml: &mut ReqifMarkup<W>, id: &str, updated_at: &str) -> io::Result<()> {
    let object = identifier(id);
    let node = format!("{object}-node");
    xml.open("SPEC-HIERARCHY", &[("IDENTIFIER", &node), ("LAST-CHANGE", moment(updated_at))])?;
    xml.reference("OBJECT", "SPEC-OBJECT-REF", &object)
}
