//! The forms of a request. Services differ in which they know, so the strictest is tried first, and what a service refuses
//! is left out the next time.

use pipeline::chat::Chat;
use reqwest::StatusCode;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// What a request contains besides the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestForm {
    answer: AnswerForm,
    /// `max_completion_tokens`, which newer models of OpenAI want, in place of `max_tokens`.
    has_new_limit: bool,
    /// Newer models of OpenAI take no temperature.
    has_temperature: bool,
}

/// How the service is told which form its answer is to have. The question says it in words in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    /// `json_schema`: OpenAI, Ollama, llama.cpp's server, vLLM.
    Schema,
    /// `json_object` with a schema in it: llama-cpp-python, older servers of llama.cpp.
    ObjectOfSchema,
    /// `json_object`: any object.
    Object,
    /// Nothing.
    Text,
}

impl Default for RequestForm {
    fn default() -> Self {
        Self { answer: AnswerForm::Schema, has_new_limit: false, has_temperature: true }
    }
}

impl RequestForm {
    /// Returns the body of the request. There are no tools in it, and no stream is asked for.
    pub fn request(self, chat: &Chat) -> Value {
        let limit = if self.has_new_limit { "max_completion_tokens" } else { "max_tokens" };
        let mut body = json!({
            "model": chat.model,
            "messages": [{"role": "system", "content": chat.system}, {"role": "user", "content": chat.user}],
            limit: chat.answer_tokens,
            "stream": false,
        });
        let schema = &chat.schema;
        let format = match self.answer {
            AnswerForm::Schema => Some(json!({
                "type": "json_schema",
                "json_schema": {"name": chat.schema_name, "strict": true, "schema": schema},
            })),
            AnswerForm::ObjectOfSchema => Some(json!({"type": "json_object", "schema": schema})),
            AnswerForm::Object => Some(json!({"type": "json_object"})),
            AnswerForm::Text => None,
        };
        if let Some(body) = body.as_object_mut() {
            body.extend(format.map(|format| ("response_format".to_owned(), format)));
            body.extend(self.has_temperature.then(|| ("temperature".to_owned(), json!(0))));
        }
        body
    }

    /// Returns the form to try after this one was refused; `None` if the refusal is about something else.
    pub fn after(self, status: StatusCode, said: &[u8]) -> Option<Self> {
        let said = lower(said);
        let is_about_limit = said.contains("max_completion_tokens") || said.contains("'max_tokens'");
        if is_about_limit && !self.has_new_limit {
            return Some(Self { has_new_limit: true, ..self });
        }
        if said.contains("temperature") && self.has_temperature {
            return Some(Self { has_temperature: false, ..self });
        }
        // Who names the format may mean any of the forms; who names nothing may mean it too.
        let is_about_format = names_format(&said) || !status.is_server_error();
        let answer = match self.answer {
            AnswerForm::Schema => AnswerForm::ObjectOfSchema,
            AnswerForm::ObjectOfSchema => AnswerForm::Object,
            AnswerForm::Object => AnswerForm::Text,
            AnswerForm::Text => return None,
        };
        is_about_format.then_some(Self { answer, ..self })
    }
}

/// Writes JSON with the properties of its schemas in the order of `required`, because servers that force an answer into a
/// schema have it written in the schema's order: a model that has to choose a category first has not quoted anything yet.
pub struct InOrder<'a>(pub &'a Value);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => serializer.collect_map(fields.iter().map(|(name, value)| {
                let order = fields.get("required").and_then(Value::as_array).filter(|_| name == "properties");
                match (order, value) {
                    (Some(order), Value::Object(properties)) => (name, OrderedValue::Properties(order, properties)),
                    _ => (name, OrderedValue::Other(value)),
                }
            })),
            Value::Array(values) => serializer.collect_seq(values.iter().map(InOrder)),
            other => other.serialize(serializer),
        }
    }
}

/// A value within another one.
enum OrderedValue<'a> {
    /// The properties of a schema, with the order in which they come; those that it does not name are behind them.
    Properties(&'a [Value], &'a Map<String, Value>),
    Other(&'a Value),
}

impl Serialize for OrderedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Other(value) => InOrder(value).serialize(serializer),
            Self::Properties(order, properties) => {
                let place = |name: &str| order.iter().position(|named| named == name).unwrap_or(order.len());
                let mut sorted: Vec<(&String, &Value)> = properties.iter().collect();
                sorted.sort_by_key(|(name, _)| place(name));
                serializer.collect_map(sorted.into_iter().map(|(name, value)| (name, InOrder(value))))
            }
        }
    }
}

/// Whether a refusal may be about the form of the request. Some services answer an unknown form with 500.
pub fn may_be_refused(status: StatusCode, said: &[u8]) -> bool {
    let is_refusal = matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::UNPROCESSABLE_ENTITY
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::NOT_IMPLEMENTED
    );
    is_refusal || (status == StatusCode::INTERNAL_SERVER_ERROR && names_format(&lower(said)))
}

fn names_format(said: &str) -> bool {
    ["response_format", "json_schema", "json_object", "json schema", "grammar"].iter().any(|name| said.contains(name))
}

fn lower(said: &[u8]) -> String {
    String::from_utf8_lossy(said).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> Chat {
        let (model, system, user) = ("m".to_owned(), "s".to_owned(), "u".to_owned());
        Chat { model, system, user, schema_name: "n".to_owned(), schema: json!({"type": "object"}), answer_tokens: 7 }
    }

    #[test]
    fn the_strictest_form_is_first_and_each_refusal_leads_to_the_next() {
        let bad = StatusCode::BAD_REQUEST;
        let mut form = RequestForm::default();
        let mut formats = Vec::new();
        loop {
            formats.push(form.request(&chat())["response_format"]["type"].clone());
            match form.after(bad, b"{}") {
                Some(next) => form = next,
                None => break,
            }
        }
        assert_eq!(formats, [json!("json_schema"), json!("json_object"), json!("json_object"), Value::Null]);
        let whole = RequestForm::default().request(&chat());
        assert_eq!(
            (&whole["max_tokens"], &whole["temperature"], &whole["tools"]),
            (&json!(7), &json!(0), &Value::Null)
        );
    }

    #[test]
    fn properties_are_written_in_the_order_in_which_they_are_required() {
        let schema = json!({
            "type": "object", "required": ["zeta", "alpha"],
            "properties": {
                "alpha": {"type": "string"},
                "other": {"type": "string"},
                "zeta": {"items": [{"required": ["b", "a"], "properties": {"a": {"enum": [1]}, "b": {}}}]},
            },
        });
        let written = serde_json::to_string(&InOrder(&schema)).unwrap();
        assert_eq!(
            written,
            r#"{"properties":{"zeta":{"items":[{"properties":{"b":{},"a":{"enum":[1]}},"required":["b","a"]}]},"alpha":{"type":"string"},"other":{"type":"string"}},"required":["zeta","alpha"],"type":"object"}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), schema);
    }

    #[test]
    fn what_a_refusal_names_is_left_out() {
        let bad = StatusCode::BAD_REQUEST;
        let said = br#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}"#;
        let form = RequestForm::default().after(bad, said).unwrap();
        let said = br#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model."}}"#;
        let form = form.after(bad, said).unwrap();
        let request = form.request(&chat());
        assert_eq!((&request["max_completion_tokens"], &request["temperature"]), (&json!(7), &Value::Null));
        assert_eq!(request["response_format"]["type"], json!("json_schema"), "the rest stays");
        let failing = StatusCode::INTERNAL_SERVER_ERROR;
        assert!(
            !may_be_refused(failing, b"out of memory") && may_be_refused(failing, b"Input should be 'json_object'")
        );
    }
}
