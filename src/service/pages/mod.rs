//! The web pages, served from the files of web/dist in the binary: the console at `/`, the review page, and the page on
//! which users join a meeting, at the URL in `joinUrl`.
//!
//! A page is the same for everybody, so it does not reveal which projects and meetings exist. Browsers never cache it;
//! its files have a digest of their content in their names and are cached permanently.

mod assets;
mod policy;

use std::sync::Arc;

use actix_web::guard::{Any, Get, Head};
use actix_web::http::header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, ResponseError, Route, web};
use url::Url;
use uuid::Uuid;

use self::assets::{Assets, html};
use self::policy::{media_policy, own_policy, playing_policy};
use crate::http::code::Code;
use crate::http::error::ApiError;

/// The paths of the console: its own script finds the view. The OpenID provider leads back to `/login/callback`; e-mails lead
/// to `/invitations/project`.
const CONSOLE: [&str; 6] =
    ["/", "/projects/{view:.*}", "/profile", "/operator", "/invitations/project", "/login/callback"];
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// Microphone, camera, screen capture and autoplay, for the page and not for frames in it.
const LIVE: &str = "camera=(self), microphone=(self), display-capture=(self), autoplay=(self), geolocation=(), \
                    payment=(), usb=(), serial=(), hid=(), midi=()";
/// Google's issuer, as OpenID Connect names it.
const GOOGLE: &str = "https://accounts.google.com";
const NOTHING: &str = "camera=(), microphone=(), display-capture=(), geolocation=(), payment=(), usb=(), serial=(), \
                       hid=(), midi=()";

/// A page, as configured for this server.
struct Page {
    html: String,
    policy: String,
    permissions: &'static str,
}

/// What the pages are told of this server.
pub struct PageSettings<'a> {
    /// The URL at which browsers reach the server.
    pub app_url: &'a str,
    /// The URL of the media server, if there is one.
    pub livekit_url: Option<&'a str>,
    /// The issuer of the OpenID provider for sign-in, if there is one.
    pub login_issuer: Option<&'a str>,
    /// Who may register: the name of the setting.
    pub registration: &'a str,
}

/// Mounts the pages and their files.
pub fn mount(service: &mut web::ServiceConfig, settings: PageSettings<'_>) {
    let PageSettings { app_url, livekit_url, login_issuer, registration } = settings;
    let app = Url::parse(app_url).ok();
    // The pages have words of their own for a provider that is not Google.
    let provider = login_issuer.map_or("", |issuer| if issuer == GOOGLE { "Google" } else { "SSO" });
    let below = app.as_ref().map_or("", |app| app.path().trim_end_matches('/')).to_owned();
    let page = |name: &str, policy: String, permissions| {
        Arc::new(Page { html: html(name, &below, provider, registration), policy, permissions })
    };
    let console = page("console", playing_policy(app.as_ref()), NOTHING);
    let review = page("review", own_policy(app.as_ref()), NOTHING);
    let join = page("join", media_policy(app.as_ref(), livekit_url), LIVE);

    let console = CONSOLE.map(|path| (path, Arc::clone(&console)));
    for (path, page) in console.into_iter().chain([("/review", review)]) {
        let serve = move || {
            let page = Arc::clone(&page);
            async move { page.serve() }
        };
        service.service(read(path, web::route().to(serve)));
    }
    let serve_join = move |meeting_id: web::Path<String>| {
        let join = Arc::clone(&join);
        async move {
            // Any well-formed id is accepted: whether the meeting exists is revealed only to users who may know.
            Uuid::try_parse(&meeting_id).map_err(|_| ApiError::of(Code::NOT_FOUND))?;
            Ok::<_, ApiError>(join.serve())
        }
    };
    service.service(read("/meetings/{meetingId}/join", web::route().to(serve_join)));

    let assets = Arc::new(Assets::embedded());
    let serve_asset = move |request: HttpRequest, name: web::Path<String>| {
        let assets = Arc::clone(&assets);
        async move { assets.serve(&request, &name) }
    };
    service.service(read("/assets/{file}", web::route().to(serve_asset)));
}

/// Creates a resource that answers GET and HEAD, and any other method with 405.
fn read(path: &str, route: Route) -> actix_web::Resource {
    let refuse = || async {
        let mut refused = ApiError::of(Code::METHOD_NOT_ALLOWED).error_response();
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        refused
    };
    web::resource(path).route(route.guard(Any(Get()).or(Head()))).default_service(web::to(refuse))
}

impl Page {
    fn serve(&self) -> HttpResponse {
        let mut answer = HttpResponse::Ok();
        answer.content_type("text/html; charset=utf-8").insert_header((CACHE_CONTROL, "no-store"));
        answer.insert_header((CONTENT_SECURITY_POLICY, self.policy.as_str()));
        answer.insert_header((PERMISSIONS, self.permissions)).insert_header((OPENER, "same-origin"));
        answer.body(self.html.clone())
    }
}
