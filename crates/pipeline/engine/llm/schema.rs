//! The JSON schemas of the answers: every list of names is closed, and nothing may be added. `required` names the
//! properties in the order in which a model is to write them: what it has read first, what it makes of that behind it.

use actors::run::AnalysisType;
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::super::super::result::{Priority, QualityCategory, RequirementType};
use super::super::FindingKind;

/// The kinds of items with their names.
pub const KINDS: [(FindingKind, &str); 5] = [
    (FindingKind::Requirement, "REQUIREMENT"),
    (FindingKind::Risk, "RISK"),
    (FindingKind::OpenQuestion, "OPEN_QUESTION"),
    (FindingKind::ActionItem, "ACTION_ITEM"),
    (FindingKind::Decision, "DECISION"),
];
/// No quality category.
pub const NONE: &str = "NONE";
/// How sure a model is, with the confidence that this becomes.
pub const CONFIDENCES: [(&str, f64); 3] = [("HIGH", 0.9), ("MEDIUM", 0.7), ("LOW", 0.5)];

/// The schema of what is found in a part.
pub fn items(analysis: AnalysisType) -> Value {
    let kinds: Vec<&str> = KINDS.iter().filter(|(kind, _)| kind.is_wanted(analysis)).map(|(_, name)| *name).collect();
    let types: Vec<&str> = RequirementType::VARIANTS.iter().map(|kind| kind.into_str()).collect();
    let categories = QualityCategory::VARIANTS.iter().map(|category| category.into_str()).chain([NONE]);
    let categories: Vec<&str> = categories.collect();
    let priorities: Vec<&str> = Priority::VARIANTS.iter().map(|priority| priority.into_str()).collect();
    list(
        "items",
        &[
            ("kind", json!({"type": "string", "enum": kinds})),
            ("quote", json!({"type": "string"})),
            ("statement", json!({"type": "string"})),
            ("type", json!({"type": "string", "enum": types})),
            ("category", json!({"type": "string", "enum": categories})),
            ("priority", json!({"type": "string", "enum": priorities})),
            ("confidence", json!({"type": "string", "enum": CONFIDENCES.map(|(name, _)| name)})),
        ],
    )
}

/// The schema of quotes that were asked for again.
pub fn quotes() -> Value {
    list("quotes", &[("n", json!({"type": "integer"})), ("quote", json!({"type": "string"}))])
}

/// The schema of verdicts.
pub fn verdicts() -> Value {
    list(
        "verdicts",
        &[
            ("n", json!({"type": "integer"})),
            ("supported", json!({"type": "boolean"})),
            ("polarity", json!({"type": "string", "enum": ["SAME", "OPPOSITE"]})),
        ],
    )
}

/// An object with one list of objects that have exactly these properties.
fn list(name: &str, properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": [name],
        "properties": {
            name: {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": names,
                    "properties": properties,
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::prompts;
    use super::*;

    #[test]
    fn the_instructions_and_the_schemas_name_the_properties_in_one_order() {
        for (list, schema, instructions) in [
            ("items", items(AnalysisType::Full), prompts::FIND),
            ("quotes", quotes(), prompts::QUOTE_AGAIN),
            ("verdicts", verdicts(), prompts::VERIFY),
        ] {
            let names = schema["properties"][list]["items"]["required"].as_array().unwrap();
            let example = instructions.split_once(&format!("{{\"{list}\": [{{")).unwrap().1;
            let places: Vec<usize> = names.iter().map(|name| example.find(&format!("{name}:")).unwrap()).collect();
            assert!(places.is_sorted(), "{list}: {names:?}");
        }
    }
}
