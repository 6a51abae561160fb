//! The body of a request that connects a tracker.

use utoipa::ToSchema;

use super::model::{ApiToken, BaseUrl, ConnectionRequest};
use crate::accounts::external::model::ReturnUrl;
use crate::accounts::model::Email;
use crate::clients::trackers::model::TrackerProvider;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::Body;
use crate::http::reason::Reason;

/// The tracker to connect to, and the token if there is one.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StartTrackerConnection {
    pub provider: TrackerProvider,
    /// A path in the application to which the browser comes back from the tracker; `/` if absent.
    #[schema(value_type = Option<String>, max_length = 2000, pattern = "^/")]
    pub return_url: Option<ReturnUrl>,
    /// For a connection with a token: the address of the tracker.
    pub base_url: Option<BaseUrl>,
    /// The account's e-mail address, where the tracker wants it beside the token (Jira Cloud).
    pub email: Option<Email>,
    /// The token. It is encrypted and never shown again.
    pub api_token: Option<ApiToken>,
}

/// By hand, because which fields are required depends on which are there.
impl Body for StartTrackerConnection {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_with_token = ["baseUrl", "email", "apiToken"].iter().any(|name| fields.has(name));
        let provider = fields.required("provider");
        let return_url = fields.optional("returnUrl");
        let email = fields.optional("email");
        if !is_with_token {
            let (provider, return_url) = (provider?, return_url?);
            return Ok(Self { provider, return_url, base_url: None, email: None, api_token: None });
        }
        let base_url = fields.required("baseUrl");
        let api_token = fields.required("apiToken");
        if matches!(return_url, Ok(Some(_))) {
            return Err(fields.fault("returnUrl", Reason::InvalidValue, "A connection with a token leads nowhere."));
        }
        Ok(Self {
            provider: provider?,
            return_url: return_url?,
            base_url: Some(base_url?),
            email: email?,
            api_token: Some(api_token?),
        })
    }
}

impl StartTrackerConnection {
    #[must_use]
    pub fn request(self) -> (TrackerProvider, ConnectionRequest) {
        let Self { provider, return_url, base_url, email, api_token } = self;
        let request = match (base_url, api_token) {
            (Some(base_url), Some(token)) => ConnectionRequest::Token {
                base_url: base_url.0,
                email: email.map(|email| email.as_str().to_owned()),
                token: token.0,
            },
            _ => ConnectionRequest::SignIn { return_url: return_url.map(|url| url.as_str().to_owned()) },
        };
        (provider, request)
    }
}
