//! The page on which users join a meeting, at the URL in `joinUrl`, served from the files of web/join in the binary.
//!
//! The page is the same for every meeting, so it does not reveal which meetings exist. Browsers never cache it; its
//! files have a digest of all of them in their path and are cached permanently. The page has its own content security
//! policy: scripts and styles come only from this server and none is inline, and it may connect only to this server and
//! the media server.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use actix_web::guard::{Any, Get, Head};
use actix_web::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, HeaderName, HeaderValue,
    VARY,
};
use actix_web::{HttpRequest, HttpResponse, ResponseError, Route, web};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use url::Url;
use uuid::Uuid;

use crate::http::answer::is_known;
use crate::http::code::Code;
use crate::http::error::ApiError;

const PAGE: &str = include_str!("../../web/join/index.html");
/// The placeholder in the page for the path of its files.
const FOLDER: &str = "FILES";
/// The page's files: name, content type, content.
const FILES: [(&str, &str, &[u8]); 7] = [
    ("page.js", SCRIPT, include_bytes!("../../web/join/dist/page.js")),
    ("livekit-client.js", SCRIPT, include_bytes!("../../web/join/dist/livekit-client.js")),
    (
        "livekit-client.licences.txt",
        "text/plain; charset=utf-8",
        include_bytes!("../../web/join/dist/livekit-client.licences.txt"),
    ),
    ("style.css", "text/css; charset=utf-8", include_bytes!("../../web/join/style.css")),
    ("words.en.json", "application/json; charset=utf-8", include_bytes!("../../web/join/words.en.json")),
    ("words.ar.json", "application/json; charset=utf-8", include_bytes!("../../web/join/words.ar.json")),
    ("icon.svg", "image/svg+xml", include_bytes!("../../web/join/icon.svg")),
];
const SCRIPT: &str = "text/javascript; charset=utf-8";

const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// Microphone, camera, screen capture and autoplay, for this page and not for frames in it.
const PERMITTED: &str = "camera=(self), microphone=(self), display-capture=(self), autoplay=(self), geolocation=(), \
                         payment=(), usb=(), serial=(), hid=(), midi=()";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const REVALIDATE: &str = "public, no-cache";

/// The page and its files, as configured for this server.
struct Join {
    page: String,
    policy: String,
    /// Digest over all files together.
    digest: String,
    files: Vec<StaticFile>,
}

struct StaticFile {
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
    etag: String,
    /// The gzip-compressed content for slow connections; compressed on first request.
    packed: OnceLock<Bytes>,
}

/// Mounts the page and its files. `app_url` is the URL at which browsers reach the server, `livekit_url` that of the
/// media server, if there is one.
pub fn mount(service: &mut web::ServiceConfig, app_url: &str, livekit_url: Option<&str>) {
    let join = Arc::new(Join::new(app_url, livekit_url));
    let page = {
        let join = Arc::clone(&join);
        move |id: web::Path<String>| {
            let join = Arc::clone(&join);
            async move { join.page(&id) }
        }
    };
    let file = move |request: HttpRequest, path: web::Path<(String, String)>| {
        let join = Arc::clone(&join);
        async move { join.file(&request, &path.0, &path.1) }
    };
    service.service(read("/meetings/{meetingId}/join", web::route().to(page)));
    service.service(read("/join/{digest}/{file}", web::route().to(file)));
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

impl Join {
    fn new(app_url: &str, livekit_url: Option<&str>) -> Self {
        let files = FILES.map(|(name, content_type, content)| StaticFile {
            name,
            content_type,
            content,
            etag: format!("\"{}\"", digest([content])),
            packed: OnceLock::new(),
        });
        let digest = digest(FILES.map(|(_, _, content)| content));
        let app = Url::parse(app_url).ok();
        let below = app.as_ref().map_or("", |app| app.path().trim_end_matches('/'));
        let page = PAGE.replace(FOLDER, &format!("{below}/join/{digest}"));
        Self { page, policy: policy(app.as_ref(), livekit_url), digest, files: files.into() }
    }

    fn page(&self, meeting_id: &str) -> Result<HttpResponse, ApiError> {
        // Any well-formed id is accepted: whether the meeting exists is revealed only to users who may know.
        Uuid::try_parse(meeting_id).map_err(|_| ApiError::of(Code::NOT_FOUND))?;
        let mut answer = HttpResponse::Ok();
        answer.content_type("text/html; charset=utf-8").insert_header((CACHE_CONTROL, "no-store"));
        answer.insert_header((CONTENT_SECURITY_POLICY, self.policy.as_str()));
        answer.insert_header((PERMISSIONS, PERMITTED)).insert_header((OPENER, "same-origin"));
        Ok(answer.body(self.page.clone()))
    }

    fn file(&self, request: &HttpRequest, digest: &str, name: &str) -> Result<HttpResponse, ApiError> {
        let file = self.files.iter().find(|file| file.name == name).ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        // A page that was loaded before an update requests files under the old digest: it gets the current ones, but
        // not for permanent caching.
        let cache_control = if digest == self.digest { IMMUTABLE } else { REVALIDATE };
        // A weak validator, because compressed and uncompressed responses are the same file.
        let etag = format!("W/{}", file.etag);
        if is_known(request, &file.etag) {
            let mut known = HttpResponse::NotModified();
            return Ok(known.insert_header((ETAG, etag)).insert_header((CACHE_CONTROL, cache_control)).finish());
        }
        let mut answer = HttpResponse::Ok();
        answer.content_type(file.content_type).insert_header((ETAG, etag));
        answer.insert_header((CACHE_CONTROL, cache_control)).insert_header((VARY, "Accept-Encoding"));
        if !takes_gzip(request) {
            return Ok(answer.body(file.content));
        }
        Ok(answer.insert_header((CONTENT_ENCODING, "gzip")).body(file.packed()?))
    }
}

impl StaticFile {
    fn packed(&self) -> Result<Bytes, ApiError> {
        if let Some(packed) = self.packed.get() {
            return Ok(packed.clone());
        }
        let mut encoder = GzEncoder::new(Vec::with_capacity(self.content.len() / 3), Compression::default());
        encoder.write_all(self.content).map_err(ApiError::internal)?;
        let packed = Bytes::from(encoder.finish().map_err(ApiError::internal)?);
        Ok(self.packed.get_or_init(|| packed).clone())
    }
}

fn takes_gzip(request: &HttpRequest) -> bool {
    let named = |value: &str| {
        value.split(',').map(str::trim).any(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    };
    request.headers().get_all(ACCEPT_ENCODING).any(|value| value.to_str().is_ok_and(named))
}

fn policy(app: Option<&Url>, livekit_url: Option<&str>) -> String {
    // Not every browser counts WebSocket connections to the same host as 'self'.
    let mut connect = vec!["'self'".to_owned()];
    connect.extend(app.and_then(socket));
    if let Some(media) = livekit_url.and_then(|url| Url::parse(url).ok()) {
        // The page asks the media server over HTTP for the reason when a WebSocket connection is refused.
        connect.extend(socket(&media));
        connect.extend(origin(&media, &[("ws", "http"), ("wss", "https"), ("http", "http"), ("https", "https")]));
    }
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; \
         connect-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        connect.join(" "),
    )
}

fn socket(url: &Url) -> Option<String> {
    origin(url, &[("ws", "ws"), ("wss", "wss"), ("http", "ws"), ("https", "wss")])
}

/// Returns the origin of a URL, with the scheme that `schemes` lists for the URL's own.
fn origin(url: &Url, schemes: &[(&str, &str)]) -> Option<String> {
    let (_, scheme) = schemes.iter().find(|(own, _)| *own == url.scheme())?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{}{port}", url.host_str()?))
}

/// Returns the first 16 hex digits of the SHA-256 over the contents.
fn digest<const N: usize>(contents: [&[u8]; N]) -> String {
    let mut digest = Sha256::new();
    contents.iter().for_each(|content| digest.update(content));
    hex::encode(digest.finalize()).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::{FILES, Join};

    #[test]
    fn the_page_speaks_to_this_server_and_the_media_server_alone() {
        let policy = |app: &str, livekit: Option<&str>| {
            let policy = Join::new(app, livekit).policy;
            let connect = policy.split("; ").find(|part| part.starts_with("connect-src ")).unwrap();
            connect.to_owned()
        };
        assert_eq!(policy("https://meet.example/app", None), "connect-src 'self' wss://meet.example");
        let media = "wss://media.example:7443/path?x=1";
        assert_eq!(
            policy("http://127.0.0.1:8080", Some(media)),
            "connect-src 'self' ws://127.0.0.1:8080 wss://media.example:7443 https://media.example:7443"
        );
        assert_eq!(policy("none", Some("; script-src *")), "connect-src 'self'");
    }

    #[test]
    fn the_page_finds_its_files_below_the_applications_address() {
        for (app, below) in [("https://meet.example/app", "/app/join/"), ("https://meet.example", "/join/")] {
            let join = Join::new(app, None);
            let folder = format!("\"{below}{}/", join.digest);
            assert_eq!(join.page.matches(&folder).count(), 3, "{}", join.page);
            assert!(!join.page.contains("FILES"), "{}", join.page);
        }
    }

    #[test]
    fn the_pages_own_scripts_are_small() {
        let page = FILES.iter().find(|(name, ..)| *name == "page.js").unwrap();
        assert!(page.2.len() < 40_000, "{}", page.2.len());
    }
}
