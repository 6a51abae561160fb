//! Compares two states of a project's items.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::model::{BaselineComparison, ChangedFields, ComparedField, ComparedItem, ComparedType};

/// An item in one of the two states.
#[derive(Debug, Clone)]
pub struct ComparedRow {
    pub target_type: ComparedType,
    /// Of its code.
    pub number: i64,
    pub body: String,
}

const REQUIREMENT_FIELDS: [&str; 6] = ["title", "statement", "type", "category", "priority", "workflowStatus"];
const STORY_FIELDS: [&str; 7] = ["title", "role", "goal", "benefit", "description", "priority", "workflowStatus"];
const CRITERION_FIELDS: [&str; 4] = ["text", "given", "when", "then"];

/// An item, as far as it is compared.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ComparedBody {
    id: Uuid,
    code: String,
    #[serde(default)]
    requirement_ids: Vec<Uuid>,
    #[serde(default)]
    acceptance_criteria: Vec<CriterionBody>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Deserialize)]
struct CriterionBody {
    id: Uuid,
    code: String,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// Compares the items of a baseline with later ones.
///
/// # Errors
/// A stored item can't be parsed.
pub fn compare(before: &[ComparedRow], after: &[ComparedRow]) -> serde_json::Result<BaselineComparison> {
    let codes = codes(before, after)?;
    let places = |rows: &[ComparedRow]| -> serde_json::Result<HashMap<Uuid, usize>> {
        rows.iter().enumerate().map(|(at, row)| Ok((outline(row)?.id, at))).collect()
    };
    let (places_before, places_after) = (places(before)?, places(after)?);
    let mut comparison = BaselineComparison { added: Vec::new(), removed: Vec::new(), changed: Vec::new() };
    for row in before {
        let outline = outline(row)?;
        let Some(other) = places_after.get(&outline.id).and_then(|at| after.get(*at)) else {
            comparison.removed.push(outline.item(row.target_type));
            continue;
        };
        if other.body == row.body {
            continue;
        }
        let (was, is): (ComparedBody, ComparedBody) =
            (serde_json::from_str(&row.body)?, serde_json::from_str(&other.body)?);
        let fields = changed_fields(row.target_type, &was, &is, &codes);
        if !fields.is_empty() {
            comparison.changed.push(ChangedFields { id: is.id, code: is.code, target_type: row.target_type, fields });
        }
    }
    for row in after {
        let outline = outline(row)?;
        if !places_before.contains_key(&outline.id) {
            comparison.added.push(outline.item(row.target_type));
        }
    }
    Ok(comparison)
}

#[derive(Deserialize)]
struct ItemHead {
    id: Uuid,
    code: String,
    title: String,
}

impl ItemHead {
    fn item(self, target_type: ComparedType) -> ComparedItem {
        ComparedItem { id: self.id, code: self.code, target_type, title: self.title }
    }
}

fn outline(row: &ComparedRow) -> serde_json::Result<ItemHead> {
    serde_json::from_str(&row.body)
}

/// The codes of all requirements of both states.
fn codes(before: &[ComparedRow], after: &[ComparedRow]) -> serde_json::Result<HashMap<Uuid, String>> {
    let requirements = before.iter().chain(after).filter(|row| row.target_type == ComparedType::Requirement);
    requirements.map(|row| outline(row).map(|head| (head.id, head.code))).collect()
}

fn changed_fields(
    target_type: ComparedType,
    was: &ComparedBody,
    is: &ComparedBody,
    codes: &HashMap<Uuid, String>,
) -> Vec<ComparedField> {
    let names: &[&str] = match target_type {
        ComparedType::Requirement => &REQUIREMENT_FIELDS,
        ComparedType::UserStory => &STORY_FIELDS,
    };
    let mut changed: Vec<ComparedField> =
        names.iter().filter_map(|name| difference((*name).to_owned(), &was.fields, &is.fields, name)).collect();
    let named = |ids: &[Uuid]| {
        let mut named: Vec<String> = ids.iter().filter_map(|id| codes.get(id).cloned()).collect();
        named.sort();
        (!named.is_empty()).then(|| named.join(", "))
    };
    let (before, after) = (named(&was.requirement_ids), named(&is.requirement_ids));
    if before != after {
        changed.push(ComparedField { name: "requirements".to_owned(), before, after });
    }
    changed.extend(changed_criteria(&was.acceptance_criteria, &is.acceptance_criteria));
    changed
}

fn difference(name: String, was: &Map<String, Value>, is: &Map<String, Value>, field: &str) -> Option<ComparedField> {
    let (before, after) = (shown(was.get(field)), shown(is.get(field)));
    (before != after).then_some(ComparedField { name, before, after })
}

fn shown(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    }
}

/// Criteria are the same by their ids; of those that are left, by their codes.
fn changed_criteria(was: &[CriterionBody], is: &[CriterionBody]) -> Vec<ComparedField> {
    let same_id = |one: &CriterionBody| is.iter().position(|other| other.id == one.id);
    let mut places: Vec<Option<usize>> = was.iter().map(same_id).collect();
    for (one, place) in was.iter().zip(0..) {
        let is_free = |at: &usize| !places.contains(&Some(*at));
        let same_code = is.iter().position(|other| other.code == one.code).filter(is_free);
        if let Some(slot) = places.get_mut::<usize>(place)
            && slot.is_none()
        {
            *slot = same_code;
        }
    }
    let mut changed = Vec::new();
    for (one, place) in was.iter().zip(&places) {
        match place.and_then(|at| is.get(at)) {
            Some(other) => changed.extend(
                CRITERION_FIELDS
                    .iter()
                    .filter_map(|field| difference(format!("{}.{field}", one.code), &one.fields, &other.fields, field)),
            ),
            None => changed.push(ComparedField {
                name: format!("{}.text", one.code),
                before: shown(one.fields.get("text")),
                after: None,
            }),
        }
    }
    for (at, other) in is.iter().enumerate() {
        if !places.contains(&Some(at)) {
            let after = shown(other.fields.get("text"));
            changed.push(ComparedField { name: format!("{}.text", other.code), before: None, after });
        }
    }
    let kept: Vec<(usize, &str)> =
        places.iter().zip(was).filter_map(|(place, one)| Some(((*place)?, one.code.as_str()))).collect();
    let mut moved = kept.clone();
    moved.sort_unstable_by_key(|(place, _)| *place);
    if moved != kept {
        let codes = |order: &[(usize, &str)]| Some(order.iter().map(|(_, code)| *code).collect::<Vec<_>>().join(", "));
        changed.push(ComparedField {
            name: "acceptanceCriteria".to_owned(),
            before: codes(&kept),
            after: codes(&moved),
        });
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn story(number: u128, criteria: &[(u128, &str)], title: &str) -> ComparedRow {
        let criterion = |(at, (id, text)): (usize, &(u128, &str))| {
            let code = format!("AC-{:03}", at + 1);
            json!({"id": Uuid::from_u128(*id), "code": code, "text": text, "given": null})
        };
        let criteria: Vec<Value> = criteria.iter().enumerate().map(criterion).collect();
        let body = json!({
            "id": Uuid::from_u128(number), "code": format!("US-{number:03}"), "title": title, "updatedAt": criteria.len(),
            "requirementIds": [], "acceptanceCriteria": criteria, "workflowStatus": "APPROVED",
        });
        ComparedRow { target_type: ComparedType::UserStory, number: 1, body: body.to_string() }
    }

    fn fields(before: &[(u128, &str)], after: &[(u128, &str)]) -> Vec<(String, Option<String>, Option<String>)> {
        let compared = compare(&[story(1, before, "t")], &[story(1, after, "t")]).unwrap();
        let fields = compared.changed.into_iter().flat_map(|changed| changed.fields);
        fields.map(|field| (field.name, field.before, field.after)).collect()
    }

    fn field(name: &str, before: Option<&str>, after: Option<&str>) -> (String, Option<String>, Option<String>) {
        (name.to_owned(), before.map(str::to_owned), after.map(str::to_owned))
    }

    #[test]
    fn criteria_are_compared_within_their_story_and_by_name() {
        let before = [(10, "a"), (11, "b"), (12, "c")];
        assert_eq!(fields(&before, &before), []);
        assert_eq!(
            fields(&before, &[(10, "a"), (11, "x"), (12, "c")]),
            [field("AC-002.text", Some("b"), Some("x"))],
            "its words"
        );
        assert_eq!(fields(&before, &[(10, "a"), (11, "b")]), [field("AC-003.text", Some("c"), None)]);
        assert_eq!(
            fields(&before, &[(10, "a"), (99, "y"), (12, "c")]),
            [field("AC-002.text", Some("b"), Some("y"))],
            "written anew in the same place"
        );
        assert_eq!(
            fields(&before, &[(10, "a"), (11, "b"), (12, "c"), (13, "d")]),
            [field("AC-004.text", None, Some("d"))]
        );
        assert_eq!(
            fields(&before, &[(12, "c"), (10, "a"), (11, "b")]),
            [field("acceptanceCriteria", Some("AC-001, AC-002, AC-003"), Some("AC-003, AC-001, AC-002"))]
        );
    }

    #[test]
    fn items_of_one_side_are_added_or_removed() {
        let compared = compare(&[story(1, &[], "a"), story(2, &[], "b")], &[story(2, &[], "b2"), story(3, &[], "c")]);
        let compared = compared.unwrap();
        let codes = |items: &[ComparedItem]| items.iter().map(|item| item.code.clone()).collect::<Vec<_>>();
        assert_eq!(
            (codes(&compared.added), codes(&compared.removed)),
            (vec!["US-003".to_owned()], vec!["US-001".to_owned()])
        );
        let changed: Vec<_> = compared.changed.iter().map(|one| (one.code.as_str(), one.fields.len())).collect();
        assert_eq!(changed, [("US-002", 1)]);
    }
}
