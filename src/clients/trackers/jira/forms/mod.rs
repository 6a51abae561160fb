//! The issue types of a project, and the fields that their issues are created with.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::{AllowedChild, AllowedValue, IssueField, IssueFieldKind, IssueForm, TrackerError};
use super::calls::{JiraApi, checked_id};
use super::dialect::JiraDialect;
use super::secure_url;

/// The entries of one page.
const PAGE: usize = 100;
/// The most pages of one list.
const PAGES: usize = 30;
/// The most values of a list to choose from; longer ones are left out.
const VALUES: usize = 2000;
/// Fields that an export fills, or that Jira fills with the account that creates the issue.
const FROM_STORY: [&str; 6] = ["summary", "description", "project", "issuetype", "labels", "reporter"];
pub(super) const EPIC_NAME: &str = "com.pyxis.greenhopper.jira:gh-epic-label";
const DESCRIPTION: &str = "description";

/// A page of issue types or of fields, under the names that the Cloud and the Data Center give them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateMetaPage<T> {
    #[serde(alias = "issueTypes", alias = "fields", default = "Vec::new")]
    values: Vec<T>,
    total: Option<usize>,
    is_last: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueTypeAnswer {
    id: String,
    name: String,
    #[serde(default)]
    subtask: bool,
    icon_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FieldAnswer {
    field_id: String,
    name: String,
    required: bool,
    #[serde(default)]
    has_default_value: bool,
    schema: FieldSchema,
    #[serde(default)]
    allowed_values: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct FieldSchema {
    #[serde(rename = "type")]
    kind: String,
    items: Option<String>,
    custom: Option<String>,
    system: Option<String>,
}

/// Returns the issue types whose issues can stand alone.
pub(super) async fn issue_forms(api: &JiraApi<'_>, project_id: &str) -> Result<Vec<IssueForm>, TrackerError> {
    let path = format!("/issue/createmeta/{}/issuetypes", checked_id(project_id)?);
    let types: Vec<IssueTypeAnswer> = all(api, &path).await?;
    let mut forms = Vec::new();
    for found in types.into_iter().filter(|found| !found.subtask) {
        let fields: Vec<FieldAnswer> = all(api, &format!("{path}/{}", checked_id(&found.id)?)).await?;
        let mut fields: Vec<IssueField> = fields.into_iter().map(|field| read_field(field, api.dialect)).collect();
        if fields.iter().all(|field| field.id != DESCRIPTION) {
            fields.push(missing_description());
        }
        let icon_url = found.icon_url.filter(|url| secure_url(url));
        forms.push(IssueForm { id: found.id, name: found.name, icon_url, fields });
    }
    Ok(forms)
}

async fn all<T: DeserializeOwned>(api: &JiraApi<'_>, path: &str) -> Result<Vec<T>, TrackerError> {
    let mut found: Vec<T> = Vec::new();
    for _ in 0..PAGES {
        let query = [("startAt", &*found.len().to_string()), ("maxResults", &*PAGE.to_string())];
        let page: CreateMetaPage<T> = api.get(path, &query).await?;
        let count = page.values.len();
        found.extend(page.values);
        let is_end = page.total.map_or(count < PAGE, |total| found.len() >= total);
        if is_end || count == 0 || page.is_last == Some(true) {
            return Ok(found);
        }
    }
    Err(TrackerError::Invalid("the list of its issue types, or of one's fields, is too long".to_owned()))
}

/// Stands for a description that can't be set, so that the issue type is shown as one that can't be used.
fn missing_description() -> IssueField {
    IssueField {
        id: DESCRIPTION.to_owned(),
        name: "Description (not on the create screen)".to_owned(),
        kind: IssueFieldKind::OffScreen,
        required: true,
        allowed: Vec::new(),
    }
}

fn read_field(field: FieldAnswer, dialect: JiraDialect) -> IssueField {
    let given = field.allowed_values.unwrap_or_default();
    let allowed: Vec<AllowedValue> =
        if given.len() > VALUES { Vec::new() } else { given.iter().filter_map(allowed_value).collect() };
    let kind = kind(&field.field_id, &field.schema, &allowed, dialect);
    let has_list = matches!(kind, IssueFieldKind::Choice | IssueFieldKind::Choices | IssueFieldKind::Cascade);
    IssueField {
        id: field.field_id,
        name: field.name,
        kind,
        required: field.required && !field.has_default_value,
        allowed: if has_list { allowed } else { Vec::new() },
    }
}

fn kind(id: &str, schema: &FieldSchema, allowed: &[AllowedValue], dialect: JiraDialect) -> IssueFieldKind {
    let custom = schema.custom.as_deref().unwrap_or_default();
    if FROM_STORY.contains(&schema.system.as_deref().unwrap_or(id)) || custom == EPIC_NAME {
        return IssueFieldKind::FromStory;
    }
    let has_ids = |kind: &str| match kind {
        "option" | "priority" | "version" | "component" | "securitylevel" | "resolution" | "project" => true,
        "user" => dialect.has_user_ids(),
        _ => false,
    };
    match (schema.kind.as_str(), schema.items.as_deref()) {
        ("string", _) if custom.ends_with(":textarea") || schema.system.as_deref() == Some("environment") => {
            IssueFieldKind::LongText
        }
        ("string", _) => IssueFieldKind::Text,
        ("number", _) => IssueFieldKind::Number,
        ("date", _) => IssueFieldKind::Date,
        ("array", Some("string")) => IssueFieldKind::Words,
        ("array", Some(items)) if has_ids(items) && !allowed.is_empty() => IssueFieldKind::Choices,
        ("option-with-child", _) if !allowed.is_empty() => IssueFieldKind::Cascade,
        (single, _) if has_ids(single) && !allowed.is_empty() => IssueFieldKind::Choice,
        _ => IssueFieldKind::Other,
    }
}

/// `None` for a value without an id or a name.
fn allowed_value(value: &Value) -> Option<AllowedValue> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)?.as_str()).map(str::to_owned);
    let children = value.get("children").and_then(Value::as_array).into_iter().flatten();
    Some(AllowedValue {
        id: text(&["id", "accountId"])?,
        name: text(&["name", "value", "displayName"])?,
        children: children
            .filter_map(|child| {
                let id = child.get("id")?.as_str()?.to_owned();
                let name = child.get("value").or_else(|| child.get("name"))?.as_str()?.to_owned();
                Some(AllowedChild { id, name })
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests;
