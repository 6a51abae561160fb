//! Generates the OpenAPI 3.1 document from the operations. What the types can't say, the operations' texts in each
//! area's `api.md` do; the examples are one story, which the tests carry out.

mod catalogue;
mod components;
mod errors;
mod examples;
mod groups;
mod headers;
mod parameters;
mod paths;
mod responses;
mod story;
mod texts;
mod vocabulary;

use serde_json::{Value, json};

pub use self::catalogue::error_catalogue;
use self::components::Components;
pub use self::errors::{DocumentedError, of as errors};
use self::examples::Examples;
use self::story::Story;
pub use self::texts::of as text;
use super::operation::Operation;

/// What a document says of itself.
#[must_use]
pub fn info(title: &str, description: &str) -> Value {
    json!({
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "description": description,
        "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        "contact": {"name": "The makers of Colloquy"},
    })
}

/// Returns the document for `operations` as JSON.
#[must_use]
pub fn document(operations: &[Operation]) -> Value {
    let components = Components::of(operations);
    let mut tags: Vec<&str> = operations.iter().map(|operation| operation.tag).collect();
    tags.sort_unstable();
    tags.dedup();
    let story = Story::read();
    let paths = paths::of(operations, &Examples { components: &components, story: &story });
    json!({
        "openapi": "3.1.0",
        "info": info("Colloquy", ABOUT),
        "servers": [{"url": "/", "description": "This server."}],
        "tags": tags.iter().map(|tag| json!({"name": tag, "description": groups::about(tag)})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": components.into_schemas(),
            "parameters": parameters::components(),
            "headers": headers::components(),
            "examples": examples::of_errors(operations),
            "securitySchemes": groups::security_schemes(),
        },
    })
}

const ABOUT: &str = include_str!("about.md");
