//! Datatypes, types and their attributes.

use std::io::{self, Write};

use super::fields::ReqifDatatype;
use super::markup::{ReqifMarkup, moment};
use super::{RelationKind, ReqifField};
use crate::specification::Specification;
use crate::text::clean_line;
use crate::words::TermSet;

pub(super) const SPECIFICATION_TYPE: &str = "_colloquy-specification";

const LINE: &str = "_colloquy-datatype-line";
const RICH: &str = "_colloquy-datatype-rich-text";
const INTEGER: &str = "_colloquy-datatype-integer";

/// The two kinds of objects.
#[derive(Debug, Clone, Copy)]
pub(super) enum ObjectType {
    Requirement,
    UserStory,
}

impl ObjectType {
    pub(super) fn identifier(self) -> &'static str {
        match self {
            Self::Requirement => "_colloquy-requirement",
            Self::UserStory => "_colloquy-user-story",
        }
    }

    fn long_name(self) -> &'static str {
        match self {
            Self::Requirement => "Requirement",
            Self::UserStory => "User story",
        }
    }

    fn fields(self) -> &'static [ReqifField] {
        match self {
            Self::Requirement => &ReqifField::OF_REQUIREMENTS,
            Self::UserStory => &ReqifField::OF_USER_STORIES,
        }
    }

    pub(super) fn attribute(self, field: ReqifField) -> String {
        format!("{}-{}", self.identifier(), field.key())
    }
}

/// What stands for the datatype in the names of elements.
pub(super) fn element_part(datatype: ReqifDatatype) -> &'static str {
    match datatype {
        ReqifDatatype::Line => "STRING",
        ReqifDatatype::Rich => "XHTML",
        ReqifDatatype::Integer => "INTEGER",
        ReqifDatatype::Enumeration(_) => "ENUMERATION",
    }
}

pub(super) fn relation_type(kind: RelationKind) -> String {
    format!("_colloquy-relation-{}", kind.key())
}

/// The identifier of a word; a word that the set lacks has its place among the others of the file.
pub(super) fn enum_value(set: TermSet, word: &str, others: &[&str]) -> Option<String> {
    let key = set_key(set);
    if set.rows().iter().any(|(known, _)| *known == word) {
        return Some(format!("_colloquy-{key}-{word}"));
    }
    let position = others.iter().position(|other| *other == word)?;
    Some(format!("_colloquy-{key}-other-{position}"))
}

/// The words of the file that the set lacks, in their order.
pub(super) fn other_words<'a>(specification: &'a Specification, set: TermSet) -> Vec<&'a str> {
    let requirements = specification.requirements.iter().map(|entry| match set {
        TermSet::RequirementType => entry.kind.as_str(),
        TermSet::Category => entry.category.as_deref().unwrap_or_default(),
        TermSet::Priority => &entry.priority,
        _ => &entry.workflow_status,
    });
    let stories = specification.user_stories.iter().map(|entry| match set {
        TermSet::Priority => entry.priority.as_str(),
        TermSet::WorkflowStatus => &entry.workflow_status,
        _ => "",
    });
    let mut others: Vec<&'a str> = requirements
        .chain(stories)
        .filter(|word| !word.is_empty() && !set.rows().iter().any(|(known, _)| known == word))
        .collect();
    others.sort_unstable();
    others.dedup();
    others
}

pub(super) fn write<W: Write>(xml: &mut ReqifMarkup<W>, specification: &Specification) -> io::Result<()> {
    let changed = moment(&specification.as_of);
    xml.open("DATATYPES", &[])?;
    let line = [&head(LINE, "Text", changed)[..], &[("MAX-LENGTH", "2147483647")]];
    xml.empty("DATATYPE-DEFINITION-STRING", &line.concat())?;
    xml.empty("DATATYPE-DEFINITION-XHTML", &head(RICH, "Formatted text", changed))?;
    let bounds = [("MAX", "9223372036854775807"), ("MIN", "-9223372036854775808")];
    let integer = [&head(INTEGER, "Number", changed)[..], &bounds];
    xml.empty("DATATYPE-DEFINITION-INTEGER", &integer.concat())?;
    for set in [TermSet::RequirementType, TermSet::Category, TermSet::Priority, TermSet::WorkflowStatus] {
        write_enumeration(xml, set, &other_words(specification, set), changed)?;
    }
    xml.close("DATATYPES")?;
    xml.open("SPEC-TYPES", &[])?;
    for object_type in [ObjectType::Requirement, ObjectType::UserStory] {
        write_object_type(xml, object_type, changed)?;
    }
    for kind in RelationKind::ALL {
        xml.empty("SPEC-RELATION-TYPE", &head(&relation_type(kind), kind.long_name(), changed))?;
    }
    xml.empty("SPECIFICATION-TYPE", &head(SPECIFICATION_TYPE, "Specification", changed))?;
    xml.close("SPEC-TYPES")
}

fn head<'a>(identifier: &'a str, name: &'a str, changed: &'a str) -> [(&'a str, &'a str); 3] {
    [("IDENTIFIER", identifier), ("LAST-CHANGE", changed), ("LONG-NAME", name)]
}

fn write_enumeration<W: Write>(
    xml: &mut ReqifMarkup<W>,
    set: TermSet,
    others: &[&str],
    changed: &str,
) -> io::Result<()> {
    let (identifier, name) = (enumeration(set), enumeration_name(set));
    xml.open("DATATYPE-DEFINITION-ENUMERATION", &head(&identifier, name, changed))?;
    xml.open("SPECIFIED-VALUES", &[])?;
    let known = set.rows().iter().map(|(word, [english, ..])| (*word, *english));
    for (number, (word, name)) in known.chain(others.iter().map(|word| (*word, *word))).enumerate() {
        let Some(identifier) = enum_value(set, word, others) else { continue };
        xml.open("ENUM-VALUE", &head(&identifier, &clean_line(name), changed))?;
        xml.open("PROPERTIES", &[])?;
        let key = number.to_string();
        xml.empty("EMBEDDED-VALUE", &[("KEY", &key), ("OTHER-CONTENT", &clean_line(word))])?;
        xml.close("PROPERTIES")?;
        xml.close("ENUM-VALUE")?;
    }
    xml.close("SPECIFIED-VALUES")?;
    xml.close("DATATYPE-DEFINITION-ENUMERATION")
}

fn write_object_type<W: Write>(xml: &mut ReqifMarkup<W>, object_type: ObjectType, changed: &str) -> io::Result<()> {
    xml.open(
        "SPEC-OBJECT-TYPE",
        &[("IDENTIFIER", object_type.identifier()), ("LAST-CHANGE", changed), ("LONG-NAME", object_type.long_name())],
    )?;
    xml.open("SPEC-ATTRIBUTES", &[])?;
    for field in object_type.fields() {
        let datatype = field.datatype();
        let part = element_part(datatype);
        let element = format!("ATTRIBUTE-DEFINITION-{part}");
        let identifier = object_type.attribute(*field);
        let mut attributes = head(&identifier, field.long_name(), changed).to_vec();
        if let ReqifDatatype::Enumeration(_) = datatype {
            attributes.push(("MULTI-VALUED", "false"));
        }
        xml.open(&element, &attributes)?;
        let datatype = match datatype {
            ReqifDatatype::Line => LINE.to_owned(),
            ReqifDatatype::Rich => RICH.to_owned(),
            ReqifDatatype::Integer => INTEGER.to_owned(),
            ReqifDatatype::Enumeration(set) => enumeration(set),
        };
        xml.reference("TYPE", &format!("DATATYPE-DEFINITION-{part}-REF"), &datatype)?;
        xml.close(&element)?;
    }
    xml.close("SPEC-ATTRIBUTES")?;
    xml.close("SPEC-OBJECT-TYPE")
}

fn enumeration(set: TermSet) -> String {
    format!("_colloquy-datatype-{}", set_key(set))
}

fn set_key(set: TermSet) -> &'static str {
    match set {
        TermSet::RequirementType => "type",
        TermSet::Category => "category",
        TermSet::Priority => "priority",
        TermSet::Severity => "severity",
        TermSet::WorkflowStatus => "status",
        TermSet::RevisionSource => "revision-source",
        TermSet::QualityIssue => "quality-issue",
        TermSet::SourceKind => "source-kind",
        TermSet::Selection => "selection",
    }
}

fn enumeration_name(set: TermSet) -> &'static str {
    match set {
        TermSet::RequirementType => "Type of requirement",
        TermSet::Category => "Category (ISO/IEC 25010)",
        TermSet::Priority => "Priority",
        _ => "Status",
    }
}
