//! Objects as requirements and stories.

use std::collections::{HashMap, HashSet};

use super::content::{RawObject, RawValue, ReqifContent};
use super::fields::is_user_story_type;
use super::links::{ItemPosition, link};
use super::xhtml::{BULLET, XhtmlText};
use crate::import::bounds::{ItemBudget, name};
use crate::import::fault::{ImportFault, quoted};
use crate::import::imported::{Imported, ImportedCriterion, ImportedRequirement, ImportedUserStory};
use crate::reqif::{ReqifDatatype, ReqifField};
use crate::words::Label;

pub(super) fn imported(mut content: ReqifContent) -> Result<Imported, ImportFault> {
    let mut imported = Imported::default();
    let mut positions = HashMap::new();
    let mut budget = ItemBudget::default();
    let types = object_types(&content);
    for object in std::mem::take(&mut content.objects) {
        if positions.contains_key(&object.identifier) {
            let reason = format!("The identifier {} is used more than once.", quoted(&object.identifier));
            content.notes.add(&object.place, reason);
            continue;
        }
        let object_type = types.get(&object.object_type);
        let Some(fields) = ObjectFields::of(&mut content, object_type, &object) else { continue };
        let fault = |message| ImportFault::at(&*object.place, message);
        let position = if object_type.is_some_and(|object_type| object_type.is_story) {
            imported.user_stories.push(fields.user_story(&mut content, &mut budget).map_err(fault)?);
            ItemPosition::UserStory(imported.user_stories.len() - 1)
        } else {
            imported.requirements.push(fields.requirement(&mut content, &mut budget).map_err(fault)?);
            ItemPosition::Requirement(imported.requirements.len() - 1)
        };
        positions.insert(object.identifier, position);
    }
    link(&mut content, &mut imported, &positions);
    (imported.not_understood, imported.more_not_understood) = content.notes.into_list().into_parts();
    Ok(imported)
}

/// What the objects of one type have in common. It is found out once: every object would go through all attributes of its type.
struct ReqifObjectType {
    is_story: bool,
    /// The fields that an object of it has a place for.
    places: HashSet<ReqifField>,
    /// Of each field the attributes with a default value, in their order.
    defaults: HashMap<ReqifField, Vec<String>>,
}

/// By the identifier of the type.
fn object_types(content: &ReqifContent) -> HashMap<String, ReqifObjectType> {
    let types = content.object_types.iter().map(|(identifier, head)| {
        let mut object_type = ReqifObjectType {
            is_story: is_user_story_type(&head.name),
            places: HashSet::new(),
            defaults: HashMap::new(),
        };
        let mut seen = HashSet::new();
        for identifier in head.attributes.iter().filter(|identifier| seen.insert(*identifier)) {
            let Some(attribute) = content.attributes.get(identifier) else { continue };
            let Some(field) = attribute.field else { continue };
            object_type.places.insert(field);
            if attribute.default.is_some() {
                object_type.defaults.entry(field).or_default().push(identifier.clone());
            }
        }
        (identifier.clone(), object_type)
    });
    types.collect()
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
    Default(&'a str),
}

impl<'a> ObjectFields<'a> {
    /// Nothing where the object is a heading.
    fn of(content: &mut ReqifContent, object_type: Option<&'a ReqifObjectType>, object: &'a RawObject) -> Option<Self> {
        let ReqifContent { attributes, notes, .. } = content;
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
                    heading = if head.is_some_and(|head| head.is_heading) { Some(value) } else { heading };
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
        let Some(object_type) = object_type else { return Some(this) };
        this.places.extend(&object_type.places);
        let given: HashSet<&str> = object.values.iter().map(|(identifier, _)| identifier.as_str()).collect();
        for (field, attributes) in &object_type.defaults {
            // Each attribute that is passed over is a value of the object's own.
            if let Some(default) = attributes.iter().find(|identifier| !given.contains(identifier.as_str())) {
                this.values.entry(*field).or_insert(FieldSource::Default(default));
            }
        }
        Some(this)
    }

    fn requirement(&self, content: &mut ReqifContent, budget: &mut ItemBudget) -> Result<ImportedRequirement, String> {
        Ok(ImportedRequirement {
            id: self.id(),
            code: self.text(content, budget, ReqifField::Code)?.map(name).transpose()?,
            version: self.version(content, budget)?,
            title: self.text(content, budget, ReqifField::Title)?,
            statement: self.text(content, budget, ReqifField::Text)?,
            kind: self.term(content, ReqifField::Kind),
            category: self.term(content, ReqifField::Category),
            priority: self.term(content, ReqifField::Priority),
            workflow_status: self.term(content, ReqifField::Status),
            duplicate_of: self.text(content, budget, ReqifField::DuplicateOutside)?,
            conflicts_with: self.ids(content, budget, ReqifField::ConflictsOutside)?,
            place: self.object.place.clone(),
        })
    }

    fn user_story(&self, content: &mut ReqifContent, budget: &mut ItemBudget) -> Result<ImportedUserStory, String> {
        Ok(ImportedUserStory {
            id: self.id(),
            code: self.text(content, budget, ReqifField::Code)?.map(name).transpose()?,
            version: self.version(content, budget)?,
            requirement_ids: self.ids(content, budget, ReqifField::RequirementsOutside)?,
            title: self.text(content, budget, ReqifField::Title)?,
            role: self.text(content, budget, ReqifField::Role)?,
            goal: self.text(content, budget, ReqifField::Goal)?,
            benefit: self.text(content, budget, ReqifField::Benefit)?,
            description: self.text(content, budget, ReqifField::Text)?,
            priority: self.term(content, ReqifField::Priority),
            acceptance_criteria: self.criteria(content, budget)?,
            workflow_status: self.term(content, ReqifField::Status),
            place: self.object.place.clone(),
        })
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
            FieldSource::Default(identifier) => content.attributes.get(*identifier)?.default.as_ref(),
        }
    }

    /// A field that the type has and the object leaves out is empty.
    fn text(
        &self,
        content: &ReqifContent,
        budget: &mut ItemBudget,
        field: ReqifField,
    ) -> Result<Option<String>, String> {
        if !self.places.contains(&field) {
            return Ok(None);
        }
        match self.value(content, field) {
            Some(RawValue::Words(words)) => {
                let mut text = String::new();
                for word in words.iter().filter_map(|word| content.words.get(word)) {
                    if !text.is_empty() {
                        text.push_str(", ");
                    }
                    budget.text(&word.name)?;
                    text.push_str(&word.name);
                }
                Ok(Some(text))
            }
            Some(value) => {
                budget.text(plain_text(value))?;
                Ok(Some(plain_text(value).to_owned()))
            }
            None => Ok(Some(String::new())),
        }
    }

    fn ids(
        &self,
        content: &ReqifContent,
        budget: &mut ItemBudget,
        field: ReqifField,
    ) -> Result<Option<Vec<String>>, String> {
        let Some(text) = self.text(content, budget, field)? else { return Ok(None) };
        budget.links(text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(plain_id)).map(Some)
    }

    fn version(&self, content: &mut ReqifContent, budget: &mut ItemBudget) -> Result<Option<i64>, String> {
        let text = self.text(content, budget, ReqifField::Version)?;
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
        let version = text.trim().parse().ok();
        if version.is_none() {
            content.notes.add(&self.object.place, format!("The version {} is not a number.", quoted(&text)));
        }
        Ok(version)
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

    fn criteria(
        &self,
        content: &ReqifContent,
        budget: &mut ItemBudget,
    ) -> Result<Option<Vec<ImportedCriterion>>, String> {
        if !self.places.contains(&ReqifField::Criteria) {
            return Ok(None);
        }
        let Some(value) = self.value(content, ReqifField::Criteria) else { return Ok(Some(Vec::new())) };
        budget.text(plain_text(value))?;
        if let RawValue::Rich(rich) = value
            && let Some(criteria) = criteria_of_table(&rich.rows)
        {
            return within(budget, criteria).map(Some);
        }
        within(budget, criteria_of_lines(plain_text(value))).map(Some)
    }
}

fn within(
    budget: &mut ItemBudget,
    criteria: impl Iterator<Item = ImportedCriterion>,
) -> Result<Vec<ImportedCriterion>, String> {
    criteria.map(|criterion| budget.criterion().map(|()| criterion)).collect()
}

fn plain_text(value: &RawValue) -> &str {
    match value {
        RawValue::Text(text) => text,
        RawValue::Rich(rich) => &rich.text,
        RawValue::Words(_) => "",
    }
}

/// Of a table whose first row names its columns.
fn criteria_of_table(rows: &[Vec<String>]) -> Option<impl Iterator<Item = ImportedCriterion>> {
    let (head, rows) = rows.split_first()?;
    let column = |label: Label| head.iter().position(|name| label.is_written(name));
    let text = column(Label::Criterion)?;
    let (code, given) = (column(Label::Code), column(Label::Given));
    let (when, then) = (column(Label::When), column(Label::Then));
    let filled = rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty()));
    Some(filled.map(move |row| {
        let cell = |column: Option<usize>| row.get(column?).cloned();
        ImportedCriterion {
            id: None,
            code: cell(code).filter(|code| !code.is_empty()),
            text: cell(Some(text)).unwrap_or_default(),
            given: cell(given),
            when: cell(when),
            then: cell(then),
        }
    }))
}

fn criteria_of_lines(text: &str) -> impl Iterator<Item = ImportedCriterion> {
    let lines = text.lines().map(|line| line.trim().trim_start_matches(BULLET)).filter(|line| !line.is_empty());
    lines.map(|line| ImportedCriterion { text: line.to_owned(), ..ImportedCriterion::default() })
}
