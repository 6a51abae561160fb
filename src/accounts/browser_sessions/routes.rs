//! HTTP handlers of the session of a browser.

use actix_web::HttpRequest;
use bytes::Bytes;

use super::bodies::BeginBrowserSession;
use super::cookie::SessionCookie;
use super::model::BrowserSession;
use super::operations;
use crate::access::policy::Public;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::answer::WithCookie;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Described, Input, Raw, ValidJson};
use crate::http::mounted::{Mounted, Need};

/// The cookie of the request. Without one, or with one that can't be read, the operation decides.
pub struct PresentedCookie(Option<SessionCookie>);

impl Input for PresentedCookie {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        let state = Accounts::of(request)?;
        Ok(Self(SessionCookie::read(request, &state.url)))
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<Accounts>()]
    }
}

/// The body of the request, and the cookie that the browser has already.
pub struct BodyAndCookie {
    body: BeginBrowserSession,
    cookie: PresentedCookie,
}

impl Input for BodyAndCookie {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let cookie = PresentedCookie::take(request, Raw::Bytes(Bytes::new())).await?;
        let ValidJson(body) = ValidJson::take(request, body).await?;
        Ok(Self { body, cookie })
    }

    fn needs() -> Vec<Need> {
        PresentedCookie::needs()
    }

    fn describe() -> Described {
        ValidJson::<BeginBrowserSession>::describe()
    }
}

pub async fn begin(
    request: Authorized<Public, BodyAndCookie>,
    state: Accounts,
) -> Result<WithCookie<BrowserSession>, ApiError> {
    let BodyAndCookie { body, cookie } = request.input;
    let stays = body.stay_signed_in.unwrap_or(false);
    operations::begin(&state, &body.refresh_token.0, stays, cookie.0).await.map(with_cookie)
}

pub async fn refresh(
    request: Authorized<Public, PresentedCookie>,
    state: Accounts,
) -> Result<WithCookie<BrowserSession>, ApiError> {
    operations::refresh(&state, request.input.0).await.map(with_cookie)
}

pub async fn end(
    request: Authorized<Public, PresentedCookie>,
    state: Accounts,
) -> Result<WithCookie<Nothing>, ApiError> {
    operations::end(&state, request.input.0).await?;
    Ok(WithCookie { reply: Reply::ok(Nothing {}), cookie: Some(SessionCookie::dropped(&state.url)) })
}

fn with_cookie((session, cookie): (BrowserSession, String)) -> WithCookie<BrowserSession> {
    WithCookie { reply: Reply::ok(session), cookie: Some(cookie) }
}
