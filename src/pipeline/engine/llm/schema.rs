//! The JSON schemas of the answers: every list of names is closed, and nothing may be added.

use actors::run::AnalysisType;
use serde_json::{Value, json};
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
        &json!({
            "kind": {"type": "string", "enum": kinds},
            "quote": {"type": "string"},
            "statement": {"type": "string"},
            "type": {"type": "string", "enum": types},
            "category": {"type": "string", "enum": categories},
            "priority": {"type": "string", "enum": priorities},
            "confidence": {"type": "string", "enum": CONFIDENCES.map(|(name, _)| name)},
        }),
    )
}

/// The schema of quotes that were asked for again.
pub fn quotes() -> Value {
    list("quotes", &json!({"n": {"type": "integer"}, "quote": {"type": "string"}}))
}

/// The schema of verdicts.
pub fn verdicts() -> Value {
    list(
        "verdicts",
        &json!({
            "n": {"type": "integer"},
            "supported": {"type": "boolean"},
            "polarity": {"type": "string", "enum": ["SAME", "OPPOSITE"]},
        }),
    )
}

/// An object with one list of objects that have exactly these properties.
fn list(name: &str, properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
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
