//! The types of destinations.

use std::collections::BTreeMap;

use actors::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::clients::trackers::model::{AllowedValue, IssueField, IssueFieldKind, IssueForm, TrackerProvider};
use crate::http::fields::{Field, InvalidValue};

/// The most fields with a default.
const MAX_DEFAULTS: usize = 50;

/// Where exported stories go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerDestination {
    /// The site's id at the tracker.
    pub site_id: String,
    /// The id of the project at the tracker.
    pub project_id: String,
    /// The key of the project at the tracker, such as `CLINIC`.
    pub project_key: String,
    /// The name of the project at the tracker.
    pub project_name: String,
    /// The issue type's id at the tracker.
    pub issue_type_id: String,
    /// The issue type as the tracker shows it.
    pub issue_type_name: String,
    /// Values of fields that are not filled from the story, by the field's id.
    #[schema(value_type = Object)]
    pub field_defaults: BTreeMap<String, Value>,
    /// Labels that each issue gets.
    pub labels: Vec<String>,
    /// When the destination was chosen.
    pub saved_at: Time,
}

/// A destination with the tracker that it is at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDestination {
    pub provider: TrackerProvider,
    pub destination: TrackerDestination,
}

/// An issue type of a project at the tracker.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerIssueType {
    /// The issue type's id at the tracker.
    pub id: String,
    /// The issue type as the tracker shows it.
    pub name: String,
    /// A picture of the issue type at the tracker; null without one.
    #[schema(required)]
    pub icon_url: Option<String>,
    /// Whether stories can be exported as issues of this type: every required field has a value, from the story or from the
    /// saved defaults.
    pub compatible: bool,
    /// The required fields without a value. Save defaults for them with the destination.
    pub missing_required_fields: Vec<MissingTrackerField>,
}

/// A field that an issue type requires and stories don't have.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingTrackerField {
    /// The field's id at the tracker.
    pub id: String,
    /// The field as the tracker shows it.
    pub name: String,
    pub kind: IssueFieldKind,
    /// The values to choose from; empty if any may be given.
    pub allowed_values: Vec<AllowedValue>,
}

impl From<&IssueField> for MissingTrackerField {
    fn from(field: &IssueField) -> Self {
        Self { id: field.id.clone(), name: field.name.clone(), kind: field.kind, allowed_values: field.allowed.clone() }
    }
}

impl TrackerIssueType {
    #[must_use]
    pub fn of(form: IssueForm, defaults: &BTreeMap<String, Value>) -> Self {
        let missing: Vec<MissingTrackerField> = form.missing(defaults).into_iter().map(Into::into).collect();
        Self {
            id: form.id,
            name: form.name,
            icon_url: form.icon_url,
            compatible: missing.is_empty(),
            missing_required_fields: missing,
        }
    }
}

/// Values of a tracker's fields, by the field's id: at most 50.
#[derive(Debug, Clone, Default, ToSchema)]
#[schema(value_type = Object)]
pub struct FieldDefaults(pub BTreeMap<String, Value>);

impl Field for FieldDefaults {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::Object(values) = value else { return Err(InvalidValue::value("This must be an object.")) };
        if values.len() > MAX_DEFAULTS || values.keys().any(|name| name.is_empty() || name.len() > 200) {
            return Err(InvalidValue::value(format!(
                "This must have at most {MAX_DEFAULTS} fields, named by their ids."
            )));
        }
        Ok(Self(values.iter().map(|(name, value)| (name.clone(), value.clone())).collect()))
    }
}

/// A label: 1–100 characters without spaces.
#[derive(Debug, Clone, ToSchema)]
#[schema(min_length = 1, max_length = 100, pattern = "^[^\\s\\u0000-\\u001F\\u007F-\\u009F]+$", example = "colloquy")]
pub struct Label(pub String);

impl Field for Label {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::String(text) = value else { return Err(InvalidValue::value("This must be a string.")) };
        InvalidValue::length(text, 1, 100)?;
        if text.chars().any(|sign| sign.is_whitespace() || sign.is_control()) {
            return Err(InvalidValue::value("This must not contain spaces."));
        }
        Ok(Self(text.clone()))
    }
}
