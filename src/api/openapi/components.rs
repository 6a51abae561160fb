//! The schemas of the document: the data of the operations, the envelopes around them, and the errors.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::vocabulary;
use crate::api::operation::Operation;
use crate::http::error::FieldError;
use crate::http::fields::TEXT_PATTERN;

/// All schemas by name.
pub struct Components(Map<String, Value>);

impl Components {
    pub fn of(operations: &[Operation]) -> Self {
        let mut of_error = vec![(FieldError::name().into_owned(), FieldError::schema())];
        FieldError::schemas(&mut of_error);
        let mut components = Self(Map::new());
        components.extend(&of_error);
        components.0.insert("Failure".to_owned(), failure());
        for operation in operations {
            let (input, answer) = (&operation.input, &operation.answer);
            components.extend(input.components.iter().chain(&input.schema));
            components.extend(answer.components.iter().chain(&answer.data));
            if let Some((data, _)) = &answer.data {
                components.0.insert(envelope_name(data), envelope(data));
            }
        }
        components.constrain_inputs(operations);
        components.name_inner_enumerations();
        components.0.values_mut().for_each(vocabulary::describe);
        components
    }

    fn extend<'a>(&mut self, schemas: impl IntoIterator<Item = &'a (String, RefOr<Schema>)>) {
        for (name, schema) in schemas {
            self.0.insert(name.clone(), json!(schema));
        }
    }

    /// Bodies are read field by field and reject every other key; their texts have no control characters.
    fn constrain_inputs(&mut self, operations: &[Operation]) {
        let inputs = operations.iter().map(|operation| &operation.input);
        let read: BTreeSet<&String> = inputs
            .clone()
            .flat_map(|input| input.components.iter().chain(&input.schema))
            .map(|(name, _)| name)
            .collect();
        for name in read {
            if let Some(schema) = self.0.get_mut(name) {
                add_pattern(schema);
            }
        }
        for (name, _) in inputs.filter_map(|input| input.schema.as_ref()) {
            // The bytes of a file have no keys.
            let schema = self.0.get_mut(name).and_then(Value::as_object_mut);
            if let Some(schema) = schema.filter(|schema| schema.get("type") == Some(&json!("object"))) {
                schema.insert("additionalProperties".to_owned(), json!(false));
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Replaces each enumeration in the schema of a parameter by a reference to the component that it is.
    pub fn name_enumerations(&self, schema: &mut Value) {
        name_enumerations(schema, &self.enumerations());
    }

    fn enumerations(&self) -> Vec<(String, Value)> {
        let is_enumeration = |(_, schema): &(&String, &Value)| schema.get("enum").is_some();
        self.0.iter().filter(is_enumeration).map(|(name, schema)| (name.clone(), schema.clone())).collect()
    }

    /// As [`Self::name_enumerations`], for those within other components.
    fn name_inner_enumerations(&mut self) {
        let known = self.enumerations();
        for schema in self.0.values_mut().filter(|schema| schema.get("enum").is_none()) {
            name_enumerations(schema, &known);
        }
    }

    pub fn into_schemas(self) -> Map<String, Value> {
        self.0
    }
}

fn name_enumerations(schema: &mut Value, known: &[(String, Value)]) {
    if let Some(values) = schema.get("enum") {
        if let Some((name, _)) = known.iter().find(|(_, enumeration)| enumeration.get("enum") == Some(values)) {
            *schema = reference(name);
        }
        return;
    }
    for part in ["items", "additionalProperties", "propertyNames"] {
        if let Some(part) = schema.get_mut(part) {
            name_enumerations(part, known);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(|property| name_enumerations(property, known));
    for several in ["allOf", "oneOf", "anyOf"] {
        let choices = schema.get_mut(several).and_then(Value::as_array_mut);
        choices.into_iter().flatten().for_each(|choice| name_enumerations(choice, known));
    }
}

/// Refers to a schema.
pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The name of the envelope around this data: `MeetingResponse`, `MeetingListResponse`.
pub fn envelope_name(data: &str) -> String {
    match data.strip_prefix("ListOf") {
        Some(item) => format!("{item}ListResponse"),
        // The data of a sign-in is itself named a response.
        None => format!(
            "{}Response",
            data.strip_suffix("Response").map_or(data.to_owned(), |name| format!("{name}Success"))
        ),
    }
}

fn envelope(data: &str) -> Value {
    let mut schema = enveloped(true, reference(data), "Empty.");
    if let Some(errors) = schema.pointer_mut("/properties/errors").and_then(Value::as_object_mut) {
        errors.insert("maxItems".to_owned(), json!(0));
    }
    describe(&mut schema, &format!("The response to a request that succeeded, with `{data}` as its data."));
    schema
}

fn failure() -> Value {
    // Always null, but declared as a nullable object: client generators don't know a type that is only null.
    let data = json!({"type": ["object", "null"], "description": "Always null."});
    let mut schema =
        enveloped(false, data, "Why the request failed: one item, or one for each invalid value, up to 20.");
    describe(&mut schema, "The response to a request that failed.");
    schema
}

fn describe(schema: &mut Value, description: &str) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), json!(description));
    }
}

fn enveloped(is_success: bool, data: Value, about_errors: &str) -> Value {
    json!({
        "type": "object",
        "required": ["isSuccess", "data", "message", "statusCode", "errors"],
        "properties": {
            "isSuccess": {"type": "boolean", "enum": [is_success], "description": "Whether the request succeeded."},
            "data": data,
            "message": {"type": "string", "description": "What happened, in a sentence for people. Programs go by the \
                status and the codes."},
            "statusCode": {"type": "integer", "minimum": 100, "maximum": 599, "description": "The HTTP status."},
            "errors": {"type": "array", "items": reference("Error"), "description": about_errors},
        },
    })
}

/// Adds the pattern of texts to every string of a body whose schema has no format, pattern or enum of its own.
fn add_pattern(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    let is_text = match fields.get("type") {
        Some(Value::Array(types)) => types.contains(&json!("string")),
        Some(one) => *one == json!("string"),
        None => false,
    };
    if is_text && !["format", "pattern", "enum"].iter().any(|form| fields.contains_key(*form)) {
        fields.insert("pattern".to_owned(), json!(TEXT_PATTERN));
    }
    if let Some(items) = fields.get_mut("items") {
        add_pattern(items);
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(add_pattern);
    }
}
