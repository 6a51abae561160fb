//! Swagger UI at /docs: the interface to read and to try, from files in the binary.
//!
//! The page is served under a policy of its own: scripts come from this server alone and none is inline; styles may be,
//! since the page sets them; it may call this server and nobody else, so no validator elsewhere is asked.

use std::sync::Arc;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ContentEncoding, LOCATION};
use actix_web::{HttpResponse, web};
use utoipa_swagger_ui::{Config, SwaggerFile};

use crate::http::code::Code;
use crate::http::failure::Failure;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Nothing in these files is private, and they change with the program alone.
const KEPT: &str = "public, max-age=3600";

/// The page and its files.
pub fn mount(service: &mut web::ServiceConfig) {
    let config = Config::new(["/api/openapi.json"]).try_it_out_enabled(true).validator_url("none");
    let config = Arc::new(config.display_request_duration(true));
    let serve = move |path: web::Path<String>| {
        let config = Arc::clone(&config);
        async move { file(&path, config) }
    };
    // The page names its files relative to itself, so its address has to end in a slash.
    let to_page = || async { HttpResponse::Found().insert_header((LOCATION, "/docs/")).finish() };
    service.route("/docs", web::get().to(to_page));
    service.service(web::resource("/docs/{file:.*}").get(serve));
}

fn file(path: &str, config: Arc<Config<'static>>) -> Result<HttpResponse, Failure> {
    let found = utoipa_swagger_ui::serve(path, config).map_err(Failure::internal)?;
    let SwaggerFile { bytes, content_type, gzpipped, .. } = found.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
    let mut answer = HttpResponse::Ok();
    answer.content_type(content_type);
    answer.insert_header((CONTENT_SECURITY_POLICY, POLICY)).insert_header((CACHE_CONTROL, KEPT));
    if gzpipped {
        answer.insert_header((CONTENT_ENCODING, ContentEncoding::Gzip));
    }
    Ok(answer.body(bytes.into_owned()))
}
