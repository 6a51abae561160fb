//! The types of connections.

use actors::ids::{self, Id, User};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clients::trackers::model::{TrackerProvider, TrackerSite};
use crate::http::enumeration::wire_enum;
use crate::http::fields::{Field, InvalidValue, text};
use crate::trackers::destinations::model::TrackerDestination;

wire_enum! {
    /// `PENDING --> ACTIVE <--> NEEDS_REAUTH --> DISCONNECTED`
    pub enum TrackerConnectionStatus {
        /// Somebody has begun to connect the project and has not yet permitted it at the tracker.
        Pending,
        Active,
        /// The tracker does not accept the tokens any more: connect the project again.
        NeedsReauth,
        Disconnected,
    }
}

/// The connection of a project to an issue tracker. Never contains a token.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerConnection {
    /// Null if the project was never connected.
    #[schema(required)]
    pub provider: Option<TrackerProvider>,
    pub status: TrackerConnectionStatus,
    /// The chosen site; null as long as there are several and none was chosen.
    #[schema(required)]
    pub site: Option<TrackerSite>,
    /// All sites that the connected account may use.
    pub available_sites: Vec<TrackerSite>,
    /// The connected account's name at the tracker, once it is known.
    #[schema(required)]
    pub account_name: Option<String>,
    /// What the tracker permits, in its own words; empty for a connection with a token.
    pub scopes: Vec<String>,
    /// Id of the account that connected the project; null before that.
    #[schema(required)]
    pub connected_by_id: Option<Id<User>>,
    /// When the connection became ACTIVE; null before that.
    #[schema(required)]
    pub connected_at: Option<Time>,
    /// Why the connection has to be made again.
    #[schema(required)]
    pub last_error: Option<String>,
}

impl TrackerConnection {
    /// The connection of a project that never had one.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            provider: None,
            status: TrackerConnectionStatus::Disconnected,
            site: None,
            available_sites: Vec::new(),
            account_name: None,
            scopes: Vec::new(),
            connected_by_id: None,
            connected_at: None,
            last_error: None,
        }
    }
}

/// A project's connection, and where its stories go.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectedTracker {
    pub connection: TrackerConnection,
    #[schema(required)]
    pub destination: Option<TrackerDestination>,
}

/// How a connection goes on after it was begun.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedTrackerConnection {
    /// Where the user permits the access, in the browser that got this response; null for a connection with a token.
    #[schema(required)]
    pub authorize_url: Option<String>,
    /// For how long that is possible, in seconds; null for a connection with a token.
    #[schema(required)]
    pub expires_in: Option<u64>,
    pub connection: TrackerConnection,
}

/// How a project is to be connected.
#[derive(Debug, Clone)]
pub enum ConnectionRequest {
    /// By OAuth, in the browser.
    SignIn { return_url: Option<String> },
    /// With a token that its owner made.
    Token { base_url: String, email: Option<String>, token: String },
}

/// Who connects which project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connecting {
    pub project_id: Id<ids::Project>,
    pub user_id: Id<User>,
    pub provider: TrackerProvider,
}

/// A token that its owner made at a tracker: 8–4,000 visible ASCII characters.
#[derive(Clone, ToSchema)]
#[schema(format = Password, min_length = 8, max_length = 4000)]
pub struct ApiToken(pub String);

impl Field for ApiToken {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::String(text) = value else { return Err(InvalidValue::value("This must be a string.")) };
        let text = text.trim();
        InvalidValue::length(text, 8, 4000)?;
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidValue::value("This must be a token as the tracker showed it, without spaces."));
        }
        Ok(Self(text.to_owned()))
    }
}

/// The address of a tracker: 1–500 characters.
#[derive(Debug, Clone, ToSchema)]
#[schema(min_length = 1, max_length = 500, example = "https://jira.example.org")]
pub struct BaseUrl(pub String);

impl Field for BaseUrl {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 500).map(Self)
    }
}

/// The id of a site, project or issue type at a tracker: 1–300 visible characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 300, pattern = "^[^\\s\\u0000-\\u001F\\u007F-\\u009F]+$")]
pub struct TrackerId(pub String);

impl Field for TrackerId {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::String(text) = value else { return Err(InvalidValue::value("This must be a string.")) };
        Self::read(text)
    }
}

impl TrackerId {
    /// # Errors
    /// The text is empty, too long, or has control characters or spaces.
    pub fn read(text: &str) -> Result<Self, InvalidValue> {
        InvalidValue::length(text, 1, 300)?;
        if text.chars().any(|sign| sign.is_control() || sign.is_whitespace()) {
            return Err(InvalidValue::value("This must be an id as the tracker gives it."));
        }
        Ok(Self(text.to_owned()))
    }
}
