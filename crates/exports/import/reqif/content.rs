//! The parts of ReqIF documents as they stand in them, before they mean anything. Parts refer to others that may come later.

use std::collections::HashMap;

use super::fields::{field_named, is_heading};
use super::notes::ImportNotes;
use super::tokens::ReqifTokens;
use super::xhtml::XhtmlText;
use crate::import::bounds::{MAX_DEFINITIONS, MAX_ITEMS, MAX_RELATIONS, MAX_VALUES, UpperBound, name};
use crate::import::fault::{ImportFault, quoted};
use crate::import::xml::{XmlElement, XmlToken};
use crate::reqif::ReqifField;
use crate::text::clean;

/// Maps are by identifier.
pub(super) struct ReqifContent {
    pub(super) words: HashMap<String, EnumWord>,
    pub(super) attributes: HashMap<String, AttributeHead>,
    pub(super) object_types: HashMap<String, ObjectTypeHead>,
    /// To their names.
    pub(super) relation_types: HashMap<String, String>,
    pub(super) objects: Vec<RawObject>,
    pub(super) relations: Vec<RawRelation>,
    pub(super) notes: ImportNotes,
    /// The elements of the XML so far.
    pub(super) elements: usize,
    bounds: ContentBounds,
}

/// How many parts of each kind all documents may have together.
struct ContentBounds {
    definitions: UpperBound,
    objects: UpperBound,
    values: UpperBound,
    relations: UpperBound,
}

impl Default for ReqifContent {
    fn default() -> Self {
        let bounds = ContentBounds {
            definitions: UpperBound::up_to(MAX_DEFINITIONS, "The file has more than {} types, attributes and words."),
            objects: UpperBound::up_to(MAX_ITEMS, "The file has more than {} objects."),
            values: UpperBound::up_to(MAX_VALUES, "The file has more than {} values."),
            relations: UpperBound::up_to(MAX_RELATIONS, "The file has more than {} relations."),
        };
        Self {
            words: HashMap::new(),
            attributes: HashMap::new(),
            object_types: HashMap::new(),
            relation_types: HashMap::new(),
            objects: Vec::new(),
            relations: Vec::new(),
            notes: ImportNotes::default(),
            elements: 0,
            bounds,
        }
    }
}

pub(super) struct EnumWord {
    pub(super) name: String,
    pub(super) other_content: String,
}

pub(super) struct AttributeHead {
    pub(super) name: String,
    /// `None` where it has no counterpart here.
    pub(super) field: Option<ReqifField>,
    pub(super) is_heading: bool,
    pub(super) default: Option<RawValue>,
}

pub(super) struct ObjectTypeHead {
    pub(super) name: String,
    /// Identifiers.
    pub(super) attributes: Vec<String>,
}

#[derive(Default)]
pub(super) struct RawObject {
    pub(super) identifier: String,
    pub(super) object_type: String,
    /// Each with the identifier of its attribute.
    pub(super) values: Vec<(String, RawValue)>,
    pub(super) place: String,
}

#[derive(Default)]
pub(super) struct RawRelation {
    pub(super) relation_type: String,
    pub(super) source: String,
    pub(super) target: String,
    pub(super) place: String,
}

pub(super) enum RawValue {
    Text(String),
    Rich(XhtmlText),
    /// Identifiers of words of an enumeration.
    Words(Vec<String>),
}

impl RawValue {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Rich(rich) => rich.text.is_empty() && !rich.has_objects,
            Self::Words(words) => words.is_empty(),
        }
    }
}

impl ReqifContent {
    /// Adds a document.
    pub(super) fn read(&mut self, tokens: &mut ReqifTokens<'_>) -> Result<(), ImportFault> {
        let root = loop {
            match tokens.next()? {
                Some(XmlToken::Start(root)) => break root,
                Some(XmlToken::Text(text)) if text.trim().is_empty() => {}
                _ => return Err(tokens.fault("The file is not ReqIF: it has no elements.")),
            }
        };
        if root.name != "REQ-IF" {
            let message = format!("The file is not ReqIF: its first element is {}.", quoted(&root.name));
            return Err(tokens.fault(message));
        }
        tokens.children(|tokens, element| match element.name.as_str() {
            "CORE-CONTENT" => tokens.children(|tokens, element| match element.name.as_str() {
                "REQ-IF-CONTENT" => tokens.children(|tokens, element| self.section(tokens, &element.name)),
                _ => self.unused(tokens, &element.name),
            }),
            "THE-HEADER" => tokens.skip().map(drop),
            _ => self.unused(tokens, &element.name),
        })?;
        // Damage after the end of the document is damage all the same.
        while tokens.next()?.is_some() {}
        Ok(())
    }

    fn section(&mut self, tokens: &mut ReqifTokens<'_>, name: &str) -> Result<(), ImportFault> {
        match name {
            "DATATYPES" => tokens.children(|tokens, element| match element.name.as_str() {
                "DATATYPE-DEFINITION-ENUMERATION" => self.enumeration(tokens),
                _ => tokens.skip().map(drop),
            }),
            "SPEC-TYPES" => tokens.children(|tokens, mut element| match element.name.as_str() {
                "SPEC-OBJECT-TYPE" => self.object_type(tokens, element),
                "SPEC-RELATION-TYPE" => {
                    let (identifier, name) = self.definition(tokens, &mut element)?;
                    self.relation_types.insert(identifier, name);
                    tokens.skip().map(drop)
                }
                _ => tokens.skip().map(drop),
            }),
            "SPEC-OBJECTS" => tokens.children(|tokens, element| self.object(tokens, element)),
            "SPEC-RELATIONS" => tokens.children(|tokens, _| self.relation(tokens)),
            "SPECIFICATIONS" => tokens.children(|tokens, element| self.specification(tokens, element)),
            _ => self.unused(tokens, name),
        }
    }

    /// Counts something that objects are made of; returns its identifier and its name.
    fn definition(
        &mut self,
        tokens: &mut ReqifTokens<'_>,
        element: &mut XmlElement,
    ) -> Result<(String, String), ImportFault> {
        let counted = self.bounds.definitions.count();
        let named = counted.and_then(|()| Ok((name(element.take("IDENTIFIER"))?, name(element.take("LONG-NAME"))?)));
        named.map_err(|message| tokens.fault(message))
    }

    /// Only its own attributes would say something.
    fn specification(&mut self, tokens: &mut ReqifTokens<'_>, mut element: XmlElement) -> Result<(), ImportFault> {
        let name = element.take("LONG-NAME");
        tokens.children(|tokens, element| {
            let place = tokens.place();
            if tokens.skip()? && element.name == "VALUES" {
                let reason = format!("The attributes of the specification {} are not used.", quoted(&name));
                self.notes.add(&place, reason);
            }
            Ok(())
        })
    }

    fn unused(&mut self, tokens: &mut ReqifTokens<'_>, name: &str) -> Result<(), ImportFault> {
        let place = tokens.place();
        if tokens.skip()? {
            self.notes.add(&place, format!("The part {} is not used.", quoted(name)));
        }
        Ok(())
    }

    fn enumeration(&mut self, tokens: &mut ReqifTokens<'_>) -> Result<(), ImportFault> {
        tokens.children(|tokens, element| match element.name.as_str() {
            "SPECIFIED-VALUES" => tokens.children(|tokens, mut element| {
                let (identifier, long_name) = self.definition(tokens, &mut element)?;
                let mut word = EnumWord { name: long_name, other_content: String::new() };
                tokens.children(|tokens, element| match element.name.as_str() {
                    "PROPERTIES" => tokens.children(|tokens, mut element| {
                        word.other_content =
                            name(element.take("OTHER-CONTENT")).map_err(|message| tokens.fault(message))?;
                        tokens.skip().map(drop)
                    }),
                    _ => tokens.skip().map(drop),
                })?;
                self.words.insert(identifier, word);
                Ok(())
            }),
            _ => tokens.skip().map(drop),
        })
    }

    fn object_type(&mut self, tokens: &mut ReqifTokens<'_>, mut element: XmlElement) -> Result<(), ImportFault> {
        let (identifier, name) = self.definition(tokens, &mut element)?;
        let mut head = ObjectTypeHead { name, attributes: Vec::new() };
        tokens.children(|tokens, element| match element.name.as_str() {
            "SPEC-ATTRIBUTES" => tokens.children(|tokens, mut element| {
                let (identifier, name) = self.definition(tokens, &mut element)?;
                let (field, is_heading) = (field_named(&name), is_heading(&name));
                let mut attribute = AttributeHead { field, is_heading, name, default: None };
                tokens.children(|tokens, element| match element.name.as_str() {
                    "DEFAULT-VALUE" => tokens.children(|tokens, element| {
                        attribute.default = Some(value(tokens, &mut self.bounds.values, element)?.1);
                        Ok(())
                    }),
                    _ => tokens.skip().map(drop),
                })?;
                head.attributes.push(identifier.clone());
                self.attributes.insert(identifier, attribute);
                Ok(())
            }),
            _ => tokens.skip().map(drop),
        })?;
        self.object_types.insert(identifier, head);
        Ok(())
    }

    fn object(&mut self, tokens: &mut ReqifTokens<'_>, mut element: XmlElement) -> Result<(), ImportFault> {
        let counted = self.bounds.objects.count();
        let identifier = counted.and_then(|()| name(element.take("IDENTIFIER")));
        let identifier = identifier.map_err(|message| tokens.fault(message))?;
        let mut object = RawObject { identifier, place: tokens.place(), ..RawObject::default() };
        tokens.children(|tokens, element| match element.name.as_str() {
            "TYPE" => {
                object.object_type = tokens.text()?;
                Ok(())
            }
            "VALUES" => tokens.children(|tokens, element| {
                object.values.push(value(tokens, &mut self.bounds.values, element)?);
                Ok(())
            }),
            _ => tokens.skip().map(drop),
        })?;
        self.objects.push(object);
        Ok(())
    }

    fn relation(&mut self, tokens: &mut ReqifTokens<'_>) -> Result<(), ImportFault> {
        self.bounds.relations.count().map_err(|message| tokens.fault(message))?;
        let mut relation = RawRelation { place: tokens.place(), ..RawRelation::default() };
        tokens.children(|tokens, element| {
            match element.name.as_str() {
                "TYPE" => relation.relation_type = tokens.text()?,
                "SOURCE" => relation.source = tokens.text()?,
                "TARGET" => relation.target = tokens.text()?,
                "VALUES" => {
                    if tokens.skip()? {
                        self.notes.add(&relation.place, "Attributes of relations are not used.");
                    }
                }
                _ => drop(tokens.skip()?),
            }
            Ok(())
        })?;
        self.relations.push(relation);
        Ok(())
    }
}

/// A value with the identifier of its attribute. Each word of an enumeration counts as one.
fn value(
    tokens: &mut ReqifTokens<'_>,
    values: &mut UpperBound,
    mut element: XmlElement,
) -> Result<(String, RawValue), ImportFault> {
    values.count().map_err(|message| tokens.fault(message))?;
    let mut attribute = String::new();
    let mut value = match element.name.as_str() {
        "ATTRIBUTE-VALUE-ENUMERATION" => RawValue::Words(Vec::new()),
        _ => RawValue::Text(clean(&element.take("THE-VALUE")).into_owned()),
    };
    tokens.children(|tokens, element| {
        match element.name.as_str() {
            "THE-VALUE" => value = RawValue::Rich(XhtmlText::read(tokens)?),
            "DEFINITION" => attribute = tokens.text()?,
            "VALUES" => {
                let mut words = Vec::new();
                tokens.children(|tokens, _| {
                    values.count().map_err(|message| tokens.fault(message))?;
                    words.push(tokens.text()?);
                    Ok(())
                })?;
                value = RawValue::Words(words);
            }
            _ => drop(tokens.skip()?),
        }
        Ok(())
    })?;
    Ok((attribute, value))
}
