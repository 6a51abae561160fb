//! The cookie that binds a connection to the browser in which it was begun.
//!
//! Without it, somebody could begin to connect a project of their own and have another person permit it: that person's
//! tracker would be open to them. The cookie is sent to the callback alone.

use cookie::time::Duration;
use cookie::{Cookie, SameSite};

const NAME: &str = "colloquy-tracker";
const PATH: &str = "/api/tracker/callback";

/// Returns the `Set-Cookie` header value that stores a secret in the browser; an empty one is deleted.
#[must_use]
pub fn cookie(value: &str, seconds: i64, secure: bool) -> String {
    Cookie::build((NAME, value))
        .path(PATH)
        .http_only(true)
        // The tracker sends the browser back by a cross-site navigation, for which a `Strict` cookie would not be sent.
        .same_site(SameSite::Lax)
        .secure(secure)
        .max_age(Duration::seconds(seconds))
        .build()
        .to_string()
}

/// Returns its value from the `Cookie` headers of a request. Of several the last one counts, as in a cookie jar.
pub fn value<'a>(headers: impl Iterator<Item = &'a str>) -> Option<String> {
    let cookies = headers.flat_map(Cookie::split_parse).flatten();
    cookies.filter(|cookie| cookie.name() == NAME).last().map(|cookie| cookie.value().to_owned())
}
