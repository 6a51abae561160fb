//! Checks of the format of values that differ from run to run: times, ids, keys.

use serde_json::Value;

/// Parses a time. Panics unless it has the API's format: UTC, milliseconds, `Z`.
#[track_caller]
pub fn time(value: &Value) -> chrono::DateTime<chrono::Utc> {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no time"));
    assert!(text.len() == 24 && text.ends_with('Z') && text.as_bytes()[19] == b'.', "{text} is no time of ours");
    chrono::DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

/// Returns an id. Panics unless it is a UUID of version 7.
#[track_caller]
pub fn id(value: &Value) -> String {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no id"));
    let id = uuid::Uuid::parse_str(text).unwrap_or_else(|_| panic!("{text} is no id"));
    assert_eq!((id.get_version_num(), id.to_string()), (7, text.to_owned()));
    text.to_owned()
}

/// Returns the keys of an object, in order. Panics when the value is no object.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object")).keys().map(String::as_str).collect()
}
