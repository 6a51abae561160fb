//! Objects as requirements and stories.

use std::collections::{HashMap, HashSet};

use super::content::{RawObject, RawValue, ReqifContent};
use super::fields::{is_heading, is_user_story_type};
use super::links::{ItemPosition, link};
use super::xhtml::{BULLET, XhtmlText};
use crate::import::{ImportFault, Imported, ImportedCriterion, ImportedRequirement, ImportedUserStory, quoted};
use crate::reqif::{ReqifDatatype, ReqifField};
use crate::words::Label;

pub(super) fn imported(mut content: ReqifContent) -> Result<Imported, ImportFault> {
    let mut imported = Imported::default();
    let mut positions = HashMap::new();
    for object in std::mem::take(&mut content.objects) {
        if positions.contains_key(&object.identifier) {
            let reason = format!("The identifier {} is used more than once.", quoted(&object.identifier));
            content.notes.add(&object.place, reason);
            continue;
        }
        let type_name = content.object_types.get(&object.object_type).map_or("", |head| head.name.as_str());
        let is_story = is_user_story_type(type_name);
        let Some(fields) = ObjectFields::of(&mut content, &object) else { continue };
        let position = if is_story {
            imported.user_stories.push(fields.user_story(&mut content));
            ItemPosition::UserStory(imported.user_stories.len() - 1)
        } else {
            imported.requirements.push(fields.requirement(&mut content));
            ItemPosition::Requirement(imported.requirements.len() - 1)
        };
        positions.insert(object.identifier, position);
    }
    link(&mut content, &mut imported, &positions);
    imported.not_understood = content.notes.into_list();
    Ok(imported)
}

/// The id within an identifier: that of this program without its `_`, otherwise the identifier itself.
pub(super) fn plain_id(identifier: &str) -> String {
    const SHAPE: &str = "00000000-0000-0000-0000-000000000000";
    let is_uuid = |id: &&str| {
        id.len() == SHAPE.len()
            && id.bytes().zip(SHAPE.bytes()).all(|(given, wanted)| match wanted {
                b'0' => given.is_ascii_hexdigit(),
                _ => given == wanted,
            })
    };
    identifier.strip_prefix('_').filter(is_uuid).unwrap_or(identifier).to_owned()
}

/// The values of one object by what they mean.
struct ObjectFields<'a> {
    object: &'a RawObject,
    /// Those that the type of the object has.
    places: HashSet<ReqifField>,
    values: HashMap<ReqifField, FieldSource<'a>>,
}

enum FieldSource<'a> {
    Value(&'a RawValue),
    /// That of the attribute with this identifier.
    Default(String),
}

impl<'a> ObjectFields<'a> {
    /// Nothing where the object is a heading.
    fn of(content: &mut ReqifContent, object: &'a RawObject) -> Option<Self> {
        let ReqifContent { attributes, object_types, notes, .. } = content;
        let mut this = Self { object, places: HashSet::new(), values: HashMap::new() };
        let mut heading = None;
        for (identifier, value) in &object.values {
            let head = attributes.get(identifier);
            let field = head.and_then(|head| head.field);
            let name = head.map_or("", |head| head.name.as_str());
            let shown = || quoted(if name.trim().is_empty() { identifier } else { name });
            if value.is_empty() {
                this.places.extend(field);
                continue;
            }
            if let RawValue::Rich(XhtmlText { has_objects: true, .. }) = value {
                notes.add(&object.place, "Pictures and embedded files are not taken over.");
            }
            match field {
                Some(field) if this.values.contains_key(&field) => {
                    notes.add(
                        &object.place,
                        format!("The attribute {} is not used beside another of its meaning.", shown()),
                    );
                }
                Some(field) => {
                    heading = if is_heading(name) { Some(value) } else { heading };
                    this.places.insert(field);
                    this.values.insert(field, FieldSource::Value(value));
                }
                None => notes.add(&object.place, format!("The attribute {} is not used.", shown())),
            }
        }
        if let Some(heading) = heading
            && !this.values.contains_key(&ReqifField::Text)
        {
            notes.add(&object.place, format!("The heading {} is not a requirement.", quoted(plain_text(heading))));
            return None;
        }
        let of_type = object_types.get(&object.object_type).map_or(&[][..], |head| head.attributes.as_slice());
        for identifier in of_type {
            let Some(attribute) = attributes.get(identifier) else { continue };
            let Some(field) = attribute.field else { continue };
            this.places.insert(field);
            if attribute.default.is_some() && !object.values.iter().any(|(given, _)| given == identifier) {
                this.values.entry(field).or_insert_with(|| FieldSource::Default(identifier.clone()));
            }
        }
        Some(this)
    }

    fn requirement(&self, content: &mut ReqifContent) -> ImportedRequirement {
        ImportedRequirement {
            id: self.id(),
            code: self.text(content, ReqifField::Code),
            version: self.version(content),
            title: self.text(content, ReqifField::Title),
            statement: self.text(content, ReqifField::Text),
            kind: self.term(content, ReqifField::Kind),
            category: self.term(content, ReqifField::Category),
            priority: self.term(content, ReqifField::Priority),
            workflow_status: self.term(content, ReqifField::Status),
            duplicate_of: self.text(content, ReqifField::DuplicateOutside),
            conflicts_with: self.ids(content, ReqifField::ConflictsOutside),
            place: self.object.place.clone(),
        }
    }

    fn user_story(&self, content: &mut ReqifContent) -> ImportedUserStory {
        ImportedUserStory {
            id: self.id(),
            code: self.text(content, ReqifField::Code),
            version: self.version(content),
            requirement_ids: self.ids(content, ReqifField::RequirementsOutside),
            title: self.text(content, ReqifField::Title),
            role: self.text(content, ReqifField::Role),
            goal: self.text(content, ReqifField::Goal),
            benefit: self.text(content, ReqifField::Benefit),
            description: self.text(content, ReqifField::Text),
            priority: self.term(content, ReqifField::Priority),
            acceptance_criteria: self.criteria(content),
            workflow_status: self.term(content, ReqifField::Status),
            place: self.object.place.clone(),
        }
    }

    fn id(&self) -> Option<String> {
        Some(plain_id(&self.object.identifier)).filter(|id| !id.is_empty())
    }

    fn value<'b>(&self, content: &'b ReqifContent, field: ReqifField) -> Option<&'b RawValue>
    where
        'a: 'b,
    {
        match self.values.get(&field)? {
            FieldSource::Value(value) => Some(value),
            FieldSource::Default(identifier) => content.attributes.get(identifier)?.default.as_ref(),
        }
    }

    /// A field that the type has and the object leaves out is empty.
    fn text(&self, content: &ReqifContent, field: ReqifField) -> Option<String> {
        self.places.contains(&field).then(|| match self.value(content, field) {
            Some(RawValue::Words(words)) => {
                let names = words.iter().filter_map(|word| content.words.get(word)).map(|word| word.name.as_str());
                names.collect::<Vec<_>>().join(", ")
            }
            Some(value) => plain_text(value).to_owned(),
            None => String::new(),
        })
    }

    fn ids(&self, content: &ReqifContent, field: ReqifField) -> Option<Vec<String>> {
        let text = self.text(content, field)?;
        Some(text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(plain_id).collect())
    }

    fn version(&self, content: &mut ReqifContent) -> Option<i64> {
        let text = self.text(content, ReqifField::Version).filter(|text| !text.trim().is_empty())?;
        let version = text.trim().parse().ok();
        if version.is_none() {
            content.notes.add(&self.object.place, format!("The version {} is not a number.", quoted(&text)));
        }
        version
    }

    /// A word of the interface; empty where the object names none.
    fn term(&self, content: &mut ReqifContent, field: ReqifField) -> Option<String> {
        let ReqifDatatype::Enumeration(set) = field.datatype() else { return None };
        if !self.places.contains(&field) {
            return None;
        }
        let (given, known) = match self.value(content, field) {
            None => return Some(String::new()),
            Some(RawValue::Words(words)) => {
                let [word] = words.as_slice() else {
                    let reason = format!("The attribute “{}” has more than one value.", field.long_name());
                    content.notes.add(&self.object.place, reason);
                    return None;
                };
                let word = content.words.get(word);
                let (name, other_content) =
                    word.map_or(("", ""), |word| (word.name.as_str(), word.other_content.as_str()));
                (name, set.parse(other_content).or_else(|| set.parse(name)))
            }
            Some(value) => (plain_text(value), set.parse(plain_text(value))),
        };
        if known.is_none() {
            let reason = format!("The value {} of “{}” is not known here.", quoted(given), field.long_name());
            content.notes.add(&self.object.place, reason);
        }
        known.map(str::to_owned)
    }

    fn criteria(&self, content: &ReqifContent) -> Option<Vec<ImportedCriterion>> {
        if !self.places.contains(&ReqifField::Criteria) {
            return None;
        }
        Some(match self.value(content, ReqifField::Criteria) {
            Some(RawValue::Rich(rich)) => {
                criteria_of_table(&rich.rows).unwrap_or_else(|| criteria_of_lines(&rich.text))
            }
            Some(value) => criteria_of_lines(plain_text(value)),
            None => Vec::new(),
        })
    }
}

fn plain_text(value: &RawValue) -> &str {
    match value {
        RawValue::Text(text) => text,
        RawValue::Rich(rich) => &rich.text,
        RawValue::Words(_) => "",
    }
}

/// Of a table whose first row names its columns.
fn criteria_of_table(rows: &[Vec<String>]) -> Option<Vec<ImportedCriterion>> {
    let (head, rows) = rows.split_first()?;
    let column = |label: Label| head.iter().position(|name| label.is_written(name));
    let text = column(Label::Criterion)?;
    let (code, given) = (column(Label::Code), column(Label::Given));
    let (when, then) = (column(Label::When), column(Label::Then));
    let filled = rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty()));
    let criteria = filled.map(|row| {
        let cell = |column: Option<usize>| row.get(column?).cloned();
        ImportedCriterion {
            id: None,
            code: cell(code).filter(|code| !code.is_empty()),
            text: cell(Some(text)).unwrap_or_default(),
            given: cell(given),
            when: cell(when),
            then: cell(then),
        }
    });
    Some(criteria.collect())
}

fn criteria_of_lines(text: &str) -> Vec<ImportedCriterion> {
    let lines = text.lines().map(|line| line.trim().trim_start_matches(BULLET)).filter(|line| !line.is_empty());
    lines.map(|line| ImportedCriterion { text: line.to_owned(), ..ImportedCriterion::default() }).collect()
}
