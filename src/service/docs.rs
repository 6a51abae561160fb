//! Swagger UI at /docs, for reading and trying the API, served from files in the binary.
//!
//! The page has its own content security policy: scripts come only from this server and none is inline; inline styles
//! are allowed, because the page sets them; and it may connect only to this server, so it uses no external validator.

use std::sync::Arc;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ContentEncoding, LOCATION};
use actix_web::{HttpResponse, web};
use utoipa_swagger_ui::{Config, SwaggerFile};

use crate::http::code::Code;
use crate::http::error::ApiError;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The files contain nothing private and change only with the program.
const CACHING: &str = "public, max-age=3600";

/// Mounts the page and its files.
pub fn mount(service: &mut web::ServiceConfig) {
    let config = Config::new(["/api/openapi.json"]).try_it_out_enabled(true).validator_url("none");
    let config = Arc::new(config.display_request_duration(true));
    let serve = move |path: web::Path<String>| {
        let config = Arc::clone(&config);
        async move { file(&path, config) }
    };
    // The page refers to its files by relative paths, so its URL has to end in a slash.
    let to_page = || async { HttpResponse::Found().insert_header((LOCATION, "/docs/")).finish() };
    service.route("/docs", web::get().to(to_page));
    service.service(web::resource("/docs/{file:.*}").get(serve));
}

fn file(path: &str, config: Arc<Config<'static>>) -> Result<HttpResponse, ApiError> {
    let found = utoipa_swagger_ui::serve(path, config).map_err(ApiError::internal)?;
    let SwaggerFile { bytes, content_type, gzpipped, .. } = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let mut answer = HttpResponse::Ok();
    answer.content_type(content_type);
    answer.insert_header((CONTENT_SECURITY_POLICY, POLICY)).insert_header((CACHE_CONTROL, CACHING));
    if gzpipped {
        answer.insert_header((CONTENT_ENCODING, ContentEncoding::Gzip));
    }
    Ok(answer.body(bytes.into_owned()))
}
