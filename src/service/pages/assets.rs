//! The files of web/dist in the binary: the pages' HTML, and the scripts and styles that they load.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::sync::OnceLock;

use actix_web::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, VARY};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::RustEmbed;

use crate::http::answer::is_known;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// The files, as `npm run build` in web makes them.
#[derive(RustEmbed)]
#[folder = "web/dist"]
struct Dist;

/// The folder of scripts and styles, and its path as it stands in the HTML.
const FOLDER: &str = "assets/";
const FOLDER_IN_HTML: &str = "../assets/";
/// What the pages' scripts read: the path below which the server is reached, the OpenID provider of its sign-in, and who may
/// register.
const BASE_IN_HTML: &str = "<meta name=\"base-path\" content=\"/\" />";
const PROVIDER_IN_HTML: &str = "<meta name=\"login-provider\" content=\"\" />";
const REGISTRATION_IN_HTML: &str = "<meta name=\"registration\" content=\"OPEN\" />";

const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const REVALIDATE: &str = "public, no-cache";

/// Returns the HTML of a page, for a server that is reached below the path `below` (empty, or without a slash at its
/// end), with this OpenID provider (empty: none) and this setting of who may register. A page that is not in web/dist is empty; a
/// test covers all of them.
pub fn html(page: &str, below: &str, provider: &str, registration: &str) -> String {
    let content = Dist::get(&format!("{page}/index.html")).map(|file| file.data).unwrap_or_default();
    let html = String::from_utf8_lossy(&content);
    let base = format!("<meta name=\"base-path\" content=\"{below}/\" />");
    let provider = format!("<meta name=\"login-provider\" content=\"{provider}\" />");
    let html = html.replace(FOLDER_IN_HTML, &format!("{below}/{FOLDER}"));
    let registration = format!("<meta name=\"registration\" content=\"{registration}\" />");
    html.replace(BASE_IN_HTML, &base).replace(PROVIDER_IN_HTML, &provider).replace(REGISTRATION_IN_HTML, &registration)
}

/// The scripts, styles and pictures of the pages, by their names.
pub struct Assets(HashMap<String, Asset>);

struct Asset {
    content_type: &'static str,
    caching: &'static str,
    content: Cow<'static, [u8]>,
    etag: String,
    /// The gzip-compressed content for slow connections; compressed on first request.
    packed: OnceLock<Bytes>,
}

impl Assets {
    pub fn embedded() -> Self {
        let named = Dist::iter().filter_map(|path| {
            let name = path.strip_prefix(FOLDER)?.to_owned();
            let file = Dist::get(&path)?;
            let etag = format!("\"{}\"", hex::encode(&file.metadata.sha256_hash()[..8]));
            let (content_type, caching) = kind(&name);
            Some((name, Asset { content_type, caching, content: file.data, etag, packed: OnceLock::new() }))
        });
        Self(named.collect())
    }

    pub fn serve(&self, request: &HttpRequest, name: &str) -> Result<HttpResponse, ApiError> {
        let asset = self.0.get(name).ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        // A weak validator, because compressed and uncompressed responses are the same file.
        let etag = format!("W/{}", asset.etag);
        if is_known(request, &asset.etag) {
            let mut known = HttpResponse::NotModified();
            return Ok(known.insert_header((ETAG, etag)).insert_header((CACHE_CONTROL, asset.caching)).finish());
        }
        let mut answer = HttpResponse::Ok();
        answer.content_type(asset.content_type).insert_header((ETAG, etag));
        answer.insert_header((CACHE_CONTROL, asset.caching)).insert_header((VARY, "Accept-Encoding"));
        if !takes_gzip(request) {
            return Ok(answer.body(Bytes::from_owner(asset.content.clone())));
        }
        Ok(answer.insert_header((CONTENT_ENCODING, "gzip")).body(asset.packed()?))
    }
}

impl Asset {
    fn packed(&self) -> Result<Bytes, ApiError> {
        if let Some(packed) = self.packed.get() {
            return Ok(packed.clone());
        }
        let mut encoder = GzEncoder::new(Vec::with_capacity(self.content.len() / 3), Compression::default());
        encoder.write_all(&self.content).map_err(ApiError::internal)?;
        let packed = Bytes::from(encoder.finish().map_err(ApiError::internal)?);
        Ok(self.packed.get_or_init(|| packed).clone())
    }
}

/// The content type of a file, and how long browsers keep it: for good where its name has a digest of its content.
fn kind(name: &str) -> (&'static str, &'static str) {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "js" => ("text/javascript; charset=utf-8", IMMUTABLE),
        "css" => ("text/css; charset=utf-8", IMMUTABLE),
        "svg" => ("image/svg+xml", IMMUTABLE),
        "txt" => ("text/plain; charset=utf-8", REVALIDATE),
        _ => ("application/octet-stream", REVALIDATE),
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

#[cfg(test)]
mod tests {
    use super::{Assets, html};

    const PAGES: [&str; 3] = ["console", "review", "join"];

    #[test]
    fn a_page_finds_its_files_below_the_applications_address() {
        let assets = Assets::embedded();
        for (page, below) in PAGES.iter().flat_map(|page| [(page, "/app"), (page, "")]) {
            let html = html(page, below, "SSO", "CLOSED");
            let folder = format!("\"{below}/assets/");
            let mut files = html.split(folder.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap());
            assert!(files.clone().count() >= 3 && files.all(|file| assets.0.contains_key(file)), "{html}");
            assert!(*page == "join" || html.contains("content=\"SSO\""), "{html}");
            assert!(*page != "console" || html.contains("content=\"CLOSED\""), "{html}");
            assert!(!html.contains("../") && html.contains(&format!("content=\"{below}/\"")), "{html}");
        }
    }

    /// What a page may load before it can be used, compressed. The media client, the views of a project and the Arabic
    /// words are loaded when they are wanted.
    const MAX_BYTES: usize = 120 * 1024;

    #[test]
    fn what_a_page_loads_first_is_small() {
        let assets = Assets::embedded();
        for page in PAGES {
            let html = html(page, "", "", "OPEN");
            let files = html.split("/assets/").skip(1).filter_map(|rest| rest.split('"').next());
            let bytes: usize = files.map(|file| assets.0[file].packed().ok().unwrap().len()).sum();
            println!("{page}: {bytes} bytes, compressed");
            assert!((1..=MAX_BYTES).contains(&bytes), "{page}: {bytes}");
        }
    }
}
