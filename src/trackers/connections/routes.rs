//! HTTP handlers of connections.

use actix_web::HttpRequest;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::bodies::StartTrackerConnection;
use super::model::{ConnectedTracker, Connecting, StartedTrackerConnection, TrackerConnection};
use super::operations::{self, BegunConnection, COOKIE};
use crate::access::policy::{Manager, Member, Public};
use crate::api::operation::Authorized;
use crate::http::answer::{Redirect, WithCookie};
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::{Described, Empty, Input, Raw, ValidJson, query_parameter};
use crate::http::sign_in_cookie::ReturnedBrowser;
use crate::projects::model::Project;
use crate::trackers::state::Trackers;

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
