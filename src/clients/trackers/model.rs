//! What issue trackers have in common: their sites, projects, issue types and issues, in plain types.

use std::collections::BTreeMap;
use std::time::Duration;

use actors::wire_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

wire_enum! {
    /// An issue tracker that projects can be connected to.
    pub enum TrackerProvider {
        Jira,
        Github,
    }
}

/// The tokens of an account at a tracker.
#[derive(Clone, PartialEq, Eq)]
pub struct TrackerTokens {
    pub access: String,
    /// `None` where access tokens don't expire.
    pub refresh: Option<String>,
    pub expires_in: Option<Duration>,
    pub scopes: Vec<String>,
}

/// With what this server presents itself at a tracker.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum TrackerLogin {
    /// An access token from the provider's OAuth.
    OAuth { access: String },
    /// A token that its owner made, with their e-mail address where the tracker wants one. `base_url` has no trailing slash.
    #[serde(rename_all = "camelCase")]
    Token { base_url: String, email: Option<String>, token: String },
}

/// A site (tenant) of a tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TrackerSite)]
pub struct TrackerSite {
    /// The site's id at the tracker.
    pub id: String,
    /// The site as the tracker shows it.
    pub name: String,
    /// Where people find it. No request goes there.
    pub url: String,
}

/// What calls about one site need.
#[derive(Clone)]
pub struct TrackerAccess {
    pub login: TrackerLogin,
    pub site: TrackerSite,
}

/// The account that a login belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackerAccount {
    pub id: String,
    pub name: String,
}

/// A project of a tracker, into which issues can be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerProjectOption {
    /// Stays when the project is renamed.
    pub id: String,
    /// The key of the project at the tracker, such as `CLINIC`.
    pub key: String,
    /// The project as the tracker shows it.
    pub name: String,
    /// A picture of the project at the tracker; null without one.
    #[schema(required)]
    pub avatar_url: Option<String>,
}

/// One page of projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackerProjectPage {
    pub items: Vec<TrackerProjectOption>,
    /// Of all pages.
    pub total: u64,
}

/// An issue type of a project, with the fields that its issues are created with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueForm {
    pub id: String,
    pub name: String,
    pub icon_url: Option<String>,
    /// Every field that can be set when an issue is created.
    pub fields: Vec<IssueField>,
}

/// A field of an issue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueField {
    pub id: String,
    pub name: String,
    pub kind: IssueFieldKind,
    /// Whether an issue without it is refused: the tracker has no default of its own.
    pub required: bool,
    /// The values to choose from; empty if there is no such list, or it is too long.
    pub allowed: Vec<AllowedValue>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IssueFieldKind {
    /// Filled from the user story.
    FromStory,
    /// One line of text.
    Text,
    /// Text of several lines.
    LongText,
    Number,
    /// `YYYY-MM-DD`.
    Date,
    /// One of the allowed values.
    Choice,
    /// Some of the allowed values.
    Choices,
    /// One of the allowed values, and then one of its children.
    Cascade,
    /// Words without spaces.
    Words,
    /// Any other: a default is sent as it is.
    Other,
    /// The story has something for it that can't be sent, since it is not on the screen of new issues.
    OffScreen,
}

/// A value of a field with a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedValue {
    /// The value's id at the tracker.
    pub id: String,
    /// The value as the tracker shows it.
    pub name: String,
    /// The values that may follow this one; empty for a field without levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<AllowedChild>,
}

/// A value of the second list of a field, which belongs to one of the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedChild {
    /// The value's id at the tracker.
    pub id: String,
    /// The value as the tracker shows it.
    pub name: String,
}

/// Where issues are created, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueTarget {
    pub project_id: String,
    pub project_key: String,
    pub form: IssueForm,
    /// The values of fields that are not filled from the story, by the field's id, as [`IssueForm::check`] accepted them.
    pub defaults: BTreeMap<String, Value>,
    pub labels: Vec<String>,
}

/// An issue as it is to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueDraft {
    /// The id of the user story: what the issue is found by.
    pub marker: Uuid,
    /// One line.
    pub title: String,
    pub blocks: Vec<IssueBlock>,
}

/// A part of an issue's description. Texts may have several lines and any characters; they are shown as they are, never read
/// as markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueBlock {
    Heading(String),
    Paragraph(String),
    /// What has to be checked off, one by one.
    Criteria(Vec<String>),
    /// A quote, and where it is from. The first to be left out where a description would be too long.
    Quote {
        text: String,
        from: String,
    },
    /// A line with a link.
    Link {
        text: String,
        url: String,
    },
}

/// An issue of a tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueReference {
    /// The identity: it stays when the issue is moved or its project renamed.
    pub id: String,
    pub key: String,
    /// Where people find it.
    pub url: String,
}

/// Why the tracker did not create or change one issue, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueRefusal {
    /// `FieldRejected`, `TooLong`, `Missing`, `Forbidden` or `Rejected`.
    pub code: &'static str,
    pub message: String,
}

/// An issue that carries a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedIssue {
    pub marker: Uuid,
    pub issue: IssueReference,
}

/// An issue as it is in the tracker now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentIssue {
    pub issue: IssueReference,
    pub project_id: String,
    /// Equal to [`Tracker::fingerprint`] of the draft as long as nobody has changed title or description.
    pub fingerprint: String,
    pub state: TrackerIssueState,
}

wire_enum! {
    /// How far the work on an issue is.
    pub enum TrackerIssueState {
        Open,
        InProgress,
        Done,
    }
}

impl IssueForm {
    /// Returns the required fields for which there is neither content of a story nor a default.
    #[must_use]
    pub fn missing<'a>(&'a self, defaults: &BTreeMap<String, Value>) -> Vec<&'a IssueField> {
        let is_missing = |field: &&IssueField| {
            field.required && field.kind != IssueFieldKind::FromStory && !defaults.contains_key(&field.id)
        };
        self.fields.iter().filter(is_missing).collect()
    }

    /// Checks defaults of fields: a string for TEXT, LONG_TEXT and DATE, a number for NUMBER, the id or name of an allowed
    /// value for a CHOICE, a list of those for CHOICES, a list of one or two (the value and its child) for CASCADE, a list of
    /// strings for WORDS. Returns them with ids for names.
    ///
    /// # Errors
    /// Returns the id of the field and what is wrong, for each that can't be used.
    pub fn check(&self, defaults: &BTreeMap<String, Value>) -> Result<BTreeMap<String, Value>, Vec<(String, String)>> {
        let mut faults = Vec::new();
        let mut checked = BTreeMap::new();
        for (id, value) in defaults {
            let field = self.fields.iter().find(|field| field.id == *id);
            let outcome = field
                .ok_or_else(|| "The issue type has no such field.".to_owned())
                .and_then(|field| field.value(value));
            match outcome {
                Ok(value) => drop(checked.insert(id.clone(), value)),
                Err(fault) => faults.push((id.clone(), fault)),
            }
        }
        if faults.is_empty() { Ok(checked) } else { Err(faults) }
    }
}

impl IssueField {
    fn value(&self, given: &Value) -> Result<Value, String> {
        let needs = |what: &str| Err(format!("“{}” must be {what}.", self.name));
        match self.kind {
            IssueFieldKind::FromStory => Err(format!("“{}” is filled from the user story.", self.name)),
            IssueFieldKind::OffScreen => Err(format!("“{}” can't be set when an issue is created.", self.name)),
            IssueFieldKind::Text => match given.as_str() {
                Some(text) if !text.trim().is_empty() && !text.contains(['\n', '\r']) => Ok(given.clone()),
                _ => needs("one line of text"),
            },
            IssueFieldKind::LongText => match given.as_str() {
                Some(text) if !text.trim().is_empty() => Ok(given.clone()),
                _ => needs("a text"),
            },
            IssueFieldKind::Number if given.is_number() => Ok(given.clone()),
            IssueFieldKind::Number => needs("a number"),
            IssueFieldKind::Date => {
                let date = given.as_str().and_then(|text| text.parse::<chrono::NaiveDate>().ok());
                date.map_or_else(|| needs("a date, as in 2026-11-25"), |date| Ok(Value::from(date.to_string())))
            }
            IssueFieldKind::Choice => Ok(Value::from(self.chosen(given)?.id.clone())),
            IssueFieldKind::Choices => match given.as_array() {
                Some(several) if !several.is_empty() => {
                    let ids = several.iter().map(|one| self.chosen(one).map(|one| one.id.clone()));
                    Ok(Value::from(ids.collect::<Result<Vec<String>, String>>()?))
                }
                _ => needs("a list of its values"),
            },
            IssueFieldKind::Cascade => match given.as_array().map(Vec::as_slice) {
                Some([parent]) => Ok(Value::from(vec![self.chosen(parent)?.id.clone()])),
                Some([parent, child]) => {
                    let parent = self.chosen(parent)?;
                    let children = parent.children.iter().map(|one| (one.id.as_str(), one.name.as_str()));
                    let child = self.one_of(&children.collect::<Vec<_>>(), child)?;
                    Ok(Value::from(vec![parent.id.clone(), child]))
                }
                _ => needs("a list of a value and, where it has any, one of its children"),
            },
            IssueFieldKind::Words => match given.as_array() {
                Some(words) if words.iter().all(|word| word.as_str().is_some_and(is_word)) => Ok(given.clone()),
                _ => needs("a list of words without spaces"),
            },
            IssueFieldKind::Other if given.is_null() => needs("a value as the tracker's interface takes it"),
            IssueFieldKind::Other => Ok(given.clone()),
        }
    }

    /// Returns the allowed value that is given by its id or name.
    fn chosen(&self, given: &Value) -> Result<&AllowedValue, String> {
        let all: Vec<(&str, &str)> = self.allowed.iter().map(|one| (one.id.as_str(), one.name.as_str())).collect();
        let id = self.one_of(&all, given)?;
        self.allowed.iter().find(|one| one.id == id).ok_or(id)
    }

    /// Returns the id of the value (id and name) that is given by either.
    fn one_of(&self, allowed: &[(&str, &str)], given: &Value) -> Result<String, String> {
        let text = given.as_str().unwrap_or_default();
        let found =
            allowed.iter().find(|(id, _)| *id == text).or_else(|| allowed.iter().find(|(_, name)| *name == text));
        found.map(|(id, _)| (*id).to_owned()).ok_or_else(|| {
            let names: Vec<&str> = allowed.iter().take(20).map(|(_, name)| *name).collect();
            let more = if allowed.len() > names.len() { " and others" } else { "" };
            format!("“{}” must be one of: {}{more}.", self.name, names.join(", "))
        })
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= 255 && !text.contains(char::is_whitespace)
}
