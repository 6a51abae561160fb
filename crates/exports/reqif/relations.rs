//! The links within the file as relations. Those that lead outside are in attributes of their objects.

use std::collections::HashSet;
use std::io::{self, Write};

use super::RelationKind;
use super::definitions::relation_type;
use super::markup::{ReqifMarkup, identifier, moment};
use crate::references::RequirementCodes;
use crate::specification::Specification;

pub(super) fn write<W: Write>(
    xml: &mut ReqifMarkup<W>,
    specification: &Specification,
    codes: &RequirementCodes<'_>,
) -> io::Result<()> {
    let mut relations = RelationMarkup { xml, codes, written: HashSet::new() };
    relations.xml.open("SPEC-RELATIONS", &[])?;
    for story in &specification.user_stories {
        for requirement in &story.requirement_ids {
            relations.write(RelationKind::Realises, &story.id, requirement, &story.updated_at)?;
        }
    }
    for requirement in &specification.requirements {
        for other in &requirement.conflicts_with {
            // Both of them may name the other: the pair is written once, in one direction.
            let (first, second) =
                if requirement.id <= *other { (&requirement.id, other) } else { (other, &requirement.id) };
            relations.write(RelationKind::ConflictsWith, first, second, &requirement.updated_at)?;
        }
    }
    for requirement in &specification.requirements {
        if let Some(original) = &requirement.duplicate_of {
            relations.write(RelationKind::Duplicates, &requirement.id, original, &requirement.updated_at)?;
        }
    }
    relations.xml.close("SPEC-RELATIONS")
}

struct RelationMarkup<'a, W: Write> {
    xml: &'a mut ReqifMarkup<W>,
    codes: &'a RequirementCodes<'a>,
    written: HashSet<String>,
}

impl<W: Write> RelationMarkup<'_, W> {
    /// One end is in the file for sure; the relation is left out where the other is not, and where it is there already.
    fn write(&mut self, kind: RelationKind, source: &str, target: &str, changed: &str) -> io::Result<()> {
        let is_inside = self.codes.has(target) && (kind == RelationKind::Realises || self.codes.has(source));
        let (source, target) = (identifier(source), identifier(target));
        let relation = format!("{source}-{}{target}", kind.key());
        if !is_inside || !self.written.insert(relation.clone()) {
            return Ok(());
        }
        self.xml.open("SPEC-RELATION", &[("IDENTIFIER", &relation), ("LAST-CHANGE", moment(changed))])?;
        self.xml.reference("TYPE", "SPEC-RELATION-TYPE-REF", &relation_type(kind))?;
        self.xml.reference("SOURCE", "SPEC-OBJECT-REF", &source)?;
        self.xml.reference("TARGET", "SPEC-OBJECT-REF", &target)?;
        self.xml.close("SPEC-RELATION")
    }
}
