//! Requirements and user stories as objects with their values.

use std::io::{self, Write};

use super::ReqifField;
use super::definitions::{ObjectType, element_part, enum_value, other_words};
use super::markup::{ReqifMarkup, identifier, moment};
use crate::references::{RequirementCodes, source_line};
use crate::specification::{CriterionEntry, RequirementEntry, SourceEntry, Specification, UserStoryEntry};
use crate::text::clean_line;
use crate::words::{Label, TermSet, Words};

pub(super) fn write<W: Write>(
    xml: &mut ReqifMarkup<W>,
    specification: &Specification,
    codes: &RequirementCodes<'_>,
) -> io::Result<()> {
    let words = Words::of(&specification.project.language);
    let others = |set| other_words(specification, set);
    let (types, categories) = (others(TermSet::RequirementType), others(TermSet::Category));
    let (priorities, statuses) = (others(TermSet::Priority), others(TermSet::WorkflowStatus));
    xml.open("SPEC-OBJECTS", &[])?;
    for entry in &specification.requirements {
        let RequirementEntry { id, code, title, statement, updated_at, .. } = entry;
        let mut object = ObjectMarkup::open(xml, ObjectType::Requirement, id, updated_at, words)?;
        object.line(ReqifField::Code, code)?;
        object.line(ReqifField::Title, title)?;
        object.rich(ReqifField::Text, statement)?;
        object.term(ReqifField::Kind, enum_value(TermSet::RequirementType, &entry.kind, &types))?;
        let category = entry.category.as_deref().unwrap_or_default();
        object.term(ReqifField::Category, enum_value(TermSet::Category, category, &categories))?;
        object.term(ReqifField::Priority, enum_value(TermSet::Priority, &entry.priority, &priorities))?;
        object.term(ReqifField::Status, enum_value(TermSet::WorkflowStatus, &entry.workflow_status, &statuses))?;
        object.number(ReqifField::Version, entry.version)?;
        object.outside(ReqifField::DuplicateOutside, entry.duplicate_of.as_slice(), codes)?;
        object.outside(ReqifField::ConflictsOutside, &entry.conflicts_with, codes)?;
        object.sources(&entry.sources)?;
        object.close()?;
    }
    for entry in &specification.user_stories {
        let UserStoryEntry { id, code, title, description, updated_at, .. } = entry;
        let mut object = ObjectMarkup::open(xml, ObjectType::UserStory, id, updated_at, words)?;
        object.line(ReqifField::Code, code)?;
        object.line(ReqifField::Title, title)?;
        object.rich(ReqifField::Text, description)?;
        object.rich(ReqifField::Role, entry.role.as_deref().unwrap_or_default())?;
        object.rich(ReqifField::Goal, &entry.goal)?;
        object.rich(ReqifField::Benefit, entry.benefit.as_deref().unwrap_or_default())?;
        object.criteria(&entry.acceptance_criteria)?;
        object.term(ReqifField::Priority, enum_value(TermSet::Priority, &entry.priority, &priorities))?;
        object.term(ReqifField::Status, enum_value(TermSet::WorkflowStatus, &entry.workflow_status, &statuses))?;
        object.number(ReqifField::Version, entry.version)?;
        object.outside(ReqifField::RequirementsOutside, &entry.requirement_ids, codes)?;
        object.sources(&entry.sources)?;
        object.close()?;
    }
    xml.close("SPEC-OBJECTS")
}

/// One object that is being written. A value that is empty is left out: so ReqIF says that there is none.
struct ObjectMarkup<'a, W: Write> {
    xml: &'a mut ReqifMarkup<W>,
    object_type: ObjectType,
    words: Words,
}

impl<'a, W: Write> ObjectMarkup<'a, W> {
    fn open(
        xml: &'a mut ReqifMarkup<W>,
        object_type: ObjectType,
        id: &str,
        updated_at: &str,
        words: Words,
    ) -> io::Result<Self> {
        xml.open("SPEC-OBJECT", &[("IDENTIFIER", &identifier(id)), ("LAST-CHANGE", moment(updated_at))])?;
        xml.open("VALUES", &[])?;
        Ok(Self { xml, object_type, words })
    }

    fn close(self) -> io::Result<()> {
        self.xml.close("VALUES")?;
        self.xml.reference("TYPE", "SPEC-OBJECT-TYPE-REF", self.object_type.identifier())?;
        self.xml.close("SPEC-OBJECT")
    }

    /// In one line: not every program keeps line ends in such values.
    fn line(&mut self, field: ReqifField, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.simple(field, &clean_line(text))
    }

    fn number(&mut self, field: ReqifField, number: i64) -> io::Result<()> {
        self.simple(field, &number.to_string())
    }

    fn simple(&mut self, field: ReqifField, value: &str) -> io::Result<()> {
        let element = value_element(field);
        self.xml.open(&element, &[("THE-VALUE", value)])?;
        self.definition(field)?;
        self.xml.close(&element)
    }

    fn term(&mut self, field: ReqifField, value: Option<String>) -> io::Result<()> {
        let Some(value) = value else { return Ok(()) };
        let element = value_element(field);
        self.xml.open(&element, &[])?;
        self.xml.reference("VALUES", "ENUM-VALUE-REF", &value)?;
        self.definition(field)?;
        self.xml.close(&element)
    }

    fn rich(&mut self, field: ReqifField, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.xhtml(field, |xml| xml.inline_text(text))
    }

    /// A table whose first row names its columns.
    fn criteria(&mut self, criteria: &[CriterionEntry]) -> io::Result<()> {
        if criteria.is_empty() {
            return Ok(());
        }
        // As the names of attributes, those of the columns are the same in every file.
        let words = Words::of("EN");
        self.xhtml(ReqifField::Criteria, |xml| {
            xml.open_inline("xhtml:table")?;
            xml.open_inline("xhtml:tr")?;
            for label in [Label::Code, Label::Criterion, Label::Given, Label::When, Label::Then] {
                xml.inline_element("xhtml:th", words.label(label))?;
            }
            xml.close("xhtml:tr")?;
            for criterion in criteria {
                xml.open_inline("xhtml:tr")?;
                xml.inline_element("xhtml:td", &criterion.code)?;
                xml.inline_element("xhtml:td", &criterion.text)?;
                for part in [&criterion.given, &criterion.when, &criterion.then] {
                    xml.inline_element("xhtml:td", part.as_deref().unwrap_or_default())?;
                }
                xml.close("xhtml:tr")?;
            }
            xml.close("xhtml:table")
        })
    }

    fn sources(&mut self, sources: &[SourceEntry]) -> io::Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        let words = self.words;
        self.xhtml(ReqifField::Sources, |xml| {
            for source in sources {
                let line = format!("{}\n“{}”", source_line(words, source), source.quote.trim());
                xml.inline_element("xhtml:p", &line)?;
            }
            Ok(())
        })
    }

    /// The ids that lead outside the file.
    fn outside(&mut self, field: ReqifField, ids: &[String], codes: &RequirementCodes<'_>) -> io::Result<()> {
        let ids: Vec<String> = ids.iter().filter(|id| !codes.has(id)).map(|id| clean_line(id)).collect();
        self.line(field, &ids.join(", "))
    }

    fn xhtml(
        &mut self,
        field: ReqifField,
        content: impl FnOnce(&mut ReqifMarkup<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        let element = value_element(field);
        self.xml.open(&element, &[])?;
        self.xml.open("THE-VALUE", &[])?;
        self.xml.open_inline("xhtml:div")?;
        content(self.xml)?;
        self.xml.close("xhtml:div")?;
        self.xml.close("THE-VALUE")?;
        self.definition(field)?;
        self.xml.close(&element)
    }

    fn definition(&mut self, field: ReqifField) -> io::Result<()> {
        let name = format!("ATTRIBUTE-DEFINITION-{}-REF", element_part(field.datatype()));
        self.xml.reference("DEFINITION", &name, &self.object_type.attribute(field))
    }
}

fn value_element(field: ReqifField) -> String {
    format!("ATTRIBUTE-VALUE-{}", element_part(field.datatype()))
}
