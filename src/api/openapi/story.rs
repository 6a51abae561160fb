//! The story that the examples tell: Ada registers, sets up the project of a clinic, and takes it from an interview to
//! approved, reviewed and exported requirements. `story.json` has its steps in order, each with the request and the
//! data of the response. The tests carry them out on a server, and record the responses anew if told to. `requests.json`
//! has the bodies that no step sends, because it has no part for an operation, or calls it without its optional body.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A call of an operation, as far as the document shows it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoryStep {
    operation: String,
    #[serde(default)]
    path: Map<String, Value>,
    body: Option<Value>,
    form: Option<Map<String, Value>>,
    response: Option<Value>,
}

/// Parameters that name another thing in each group of operations.
const AMBIGUOUS: [&str; 4] = ["token", "exportId", "invitationId", "participantId"];

pub struct Story {
    steps: Vec<StoryStep>,
    /// Bodies that no step sends, by the operation.
    requests: Map<String, Value>,
}

impl Story {
    /// Reads the story. The tests hold that it is well-formed; an unreadable one leaves the document without examples of
    /// its own.
    pub fn read() -> Self {
        Self {
            steps: serde_json::from_str(include_str!("story.json")).unwrap_or_default(),
            requests: serde_json::from_str(include_str!("requests.json")).unwrap_or_default(),
        }
    }

    fn of(&self, operation: &str) -> impl Iterator<Item = &StoryStep> {
        self.steps.iter().filter(move |step| step.operation == operation)
    }

    /// An example of an operation's body: that of its first call, with the parts of a form as an object.
    pub fn request(&self, operation: &str) -> Option<Value> {
        let sent = |step: &StoryStep| {
            let form = || {
                let mut parts = step.form.clone()?;
                parts.remove("fileName");
                Some(Value::Object(parts))
            };
            step.body.clone().or_else(form)
        };
        self.of(operation).next().and_then(sent).or_else(|| self.requests.get(operation).cloned())
    }

    /// The data of the first response of an operation.
    pub fn response(&self, operation: &str) -> Option<&Value> {
        self.of(operation).find_map(|step| step.response.as_ref())
    }

    /// The first value that a parameter of the path has.
    pub fn in_path(&self, operation: &str, name: &str) -> Option<&Value> {
        let others = self.steps.iter().filter(|_| !AMBIGUOUS.contains(&name));
        self.of(operation).chain(others).find_map(|step| step.path.get(name))
    }

    /// The first value of a property in any response, for examples of operations that the story has no part for.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.steps.iter().filter_map(|step| step.response.as_ref()).find_map(|response| find(response, name))
    }
}

fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => fields
            .get(name)
            .filter(|value| value.is_string())
            .or_else(|| fields.values().find_map(|value| find(value, name))),
        Value::Array(items) => items.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}
