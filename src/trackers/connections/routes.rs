//! The HTTP endpoints of connections.

use actix_web::HttpRequest;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::model::{
    ApiToken, BaseUrl, ConnectedTracker, Connecting, ConnectionRequest, StartedTrackerConnection, TrackerConnection,
};
use super::operations::{self, BegunConnection, COOKIE};
use crate::access::policy::{Manager, Member, Public};
use crate::accounts::external::model::ReturnUrl;
use crate::accounts::model::Email;
use crate::api::operation::Authorized;
use crate::clients::trackers::model::TrackerProvider;
use crate::http::answer::{Redirect, WithCookie};
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Described, Empty, Input, Raw, ValidJson, query_parameter};
use crate::http::reason::Reason;
use crate::http::sign_in_cookie::ReturnedBrowser;
use crate::projects::model::Project;
use crate::trackers::state::Trackers;

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
    fn request(self) -> (TrackerProvider, ConnectionRequest) {
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

pub async fn start(
    request: Authorized<Manager<Project>, ValidJson<StartTrackerConnection>>,
    state: Trackers,
) -> Result<WithCookie<StartedTrackerConnection>, ApiError> {
    let ValidJson(body) = request.input;
    let (provider, how) = body.request();
    let Manager { caller, resource: project, .. } = request.access;
    let connecting = Connecting { project_id: project.id, user_id: caller.user_id, provider };
    let BegunConnection { started, cookie } = operations::start(&state, connecting, how, request.request_id).await?;
    Ok(WithCookie { reply: Reply::created(started), cookie })
}

/// What a browser has that a tracker sent back.
pub struct ReturnedFromTracker(ReturnedBrowser);

impl Input for ReturnedFromTracker {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        Ok(Self(ReturnedBrowser::read(request, COOKIE)))
    }

    fn describe() -> Described {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let parameters = vec![
            query_parameter("code", "The authorization code of the tracker.", text()),
            query_parameter("state", "The state that was generated when the connection was begun.", text()),
            query_parameter("error", "The error of the tracker, in place of a code.", text()),
        ];
        Described { parameters, ..Described::default() }
    }
}

pub async fn callback(request: Authorized<Public, ReturnedFromTracker>, state: Trackers) -> Result<Redirect, ApiError> {
    let (location, cookie) = operations::finish(&state, request.input.0, request.request_id).await;
    Ok(Redirect { location, cookie })
}

pub async fn details(
    request: Authorized<Member<Project>, Empty>,
    state: Trackers,
) -> Result<Reply<ConnectedTracker>, ApiError> {
    operations::details(&state, request.access.resource.id).await.map(Reply::ok)
}

pub async fn disconnect(
    request: Authorized<Manager<Project>, Empty>,
    state: Trackers,
) -> Result<Reply<TrackerConnection>, ApiError> {
    operations::disconnect(&state, request.access.resource.id, request.request_id).await.map(Reply::ok)
}
