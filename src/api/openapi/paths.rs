//! The operations of the document, by path and method.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::components::reference;
use super::examples::Examples;
use super::{errors, groups, parameters, responses, texts};
use crate::api::operation::Operation;

pub fn of(operations: &[Operation], examples: &Examples<'_>) -> BTreeMap<&'static str, BTreeMap<String, Value>> {
    let mut paths: BTreeMap<&'static str, BTreeMap<String, Value>> = BTreeMap::new();
    for operation in operations {
        let method = operation.method.as_str().to_ascii_lowercase();
        paths.entry(operation.path).or_default().insert(method, described(operation, examples));
    }
    paths
}

fn described(operation: &Operation, examples: &Examples<'_>) -> Value {
    let mut described = json!({
        "tags": [operation.tag],
        "operationId": operation.id,
        "summary": operation.summary,
        "description": description(operation),
        "parameters": parameters::of(operation, examples),
        "responses": responses::of(operation, examples),
        "security": groups::security(operation.who),
    });
    if let (Some((name, _)), Some(object)) = (&operation.input.schema, described.as_object_mut()) {
        let mut content = json!({"schema": reference(name)});
        if let (Some(body), Some(content)) = (examples.story.request(operation.id), content.as_object_mut()) {
            content.insert("examples".to_owned(), json!({"story": {"value": body}}));
        }
        let content = json!({operation.input.content_type: content});
        let body = json!({"required": !operation.input.optional, "content": content});
        object.insert("requestBody".to_owned(), body);
    }
    described
}

/// What the operation does, who may call it, and the codes that its callers have to know.
fn description(operation: &Operation) -> String {
    let text = texts::of(operation).unwrap_or_default();
    let mut description = format!("{}\n\n**Access:** {}.", text.description, groups::who(operation.who));
    let codes: Vec<String> =
        errors::of(operation).iter().map(|error| format!("`{}` ({})", error.code.name, error.code.status)).collect();
    if !codes.is_empty() {
        description.push_str("\n\n**Errors:** ");
        description.push_str(&codes.join(", "));
        description.push('.');
    }
    if !text.redirected.is_empty() {
        description.push_str("\n\n**In the redirect**, as the name of the code:\n");
        for (code, when) in text.redirected {
            description.push_str(&format!("\n- `{}`: {when}", code.name));
        }
    }
    description
}
