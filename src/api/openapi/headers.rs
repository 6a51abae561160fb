//! The headers of responses, as components of the document.

use serde_json::{Map, Value, json};

/// Each header with the name of its component, its schema and its description.
fn table() -> [(&'static str, &'static str, Value, &'static str); 10] {
    let text = || json!({"type": "string"});
    [
        (
            "X-Request-Id",
            "XRequestId",
            json!({"type": "string", "minLength": 1, "maxLength": 128}),
            "Identifies the request, also in the server's log: the request's own X-Request-Id, or a generated one.",
        ),
        (
            "ETag",
            "ETag",
            json!({"type": "string", "examples": ["\"3\""]}),
            "Identifies the state that was sent, in quotes. Where an operation takes `If-Match`, send it with the change; \
             where it takes `If-None-Match`, with the next read.",
        ),
        ("Retry-After", "RetryAfter", json!({"type": "integer", "minimum": 1}), "After how many seconds to try again."),
        (
            "WWW-Authenticate",
            "WWWAuthenticate",
            json!({"type": "string", "enum": ["Bearer"]}),
            "The scheme to authenticate by.",
        ),
        ("Location", "Location", json!({"type": "string", "format": "uri-reference"}), "Where the browser is sent."),
        ("Set-Cookie", "SetCookie", text(), "Binds what was started to this browser; HttpOnly, SameSite=Lax."),
        ("Cache-Control", "CacheControl", text(), "How long the content may be kept."),
        (
            "Content-Disposition",
            "ContentDisposition",
            text(),
            "`attachment` with the file's name, also as `filename*` in UTF-8.",
        ),
        (
            "Accept-Ranges",
            "AcceptRanges",
            json!({"type": "string", "enum": ["bytes"]}),
            "Parts of the file can be asked for with `Range`.",
        ),
        (
            "Content-Range",
            "ContentRange",
            text(),
            "The part that is sent and the size of the whole file, such as `bytes 0-999/5000`; `bytes */5000` with a 416.",
        ),
    ]
}

/// Refers to these headers, which have to be in the table.
pub fn references<'a>(names: impl IntoIterator<Item = &'a str>) -> Value {
    let table = table();
    let known = names.into_iter().filter_map(|name| table.iter().find(|header| header.0 == name));
    let references =
        known.map(|header| (header.0.to_owned(), json!({"$ref": format!("#/components/headers/{}", header.1)})));
    Value::Object(references.collect())
}

pub fn components() -> Map<String, Value> {
    let component =
        |(_, name, schema, description)| (String::from(name), json!({"schema": schema, "description": description}));
    table().into_iter().map(component).collect()
}
