//! Cookies of requests and responses.

use actix_web::HttpRequest;
use actix_web::http::header;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};

/// A cookie that no script can read.
#[derive(Debug, Clone, Copy)]
pub struct SetCookie<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// Where browsers send it.
    pub path: &'a str,
    pub same_site: CookieSite,
    /// `None`: until the browser is closed.
    pub seconds: Option<u64>,
}

/// From which pages browsers send a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CookieSite {
    /// From pages of the same site alone.
    Strict,
    /// Also when a page of another site leads here.
    Lax,
}

impl SetCookie<'_> {
    /// Returns the `Set-Cookie` header value. Cookies of a server that is reached without TLS must not be secure: browsers would
    /// drop them.
    #[must_use]
    pub fn header(self, app_url: &str) -> String {
        let mut cookie = Cookie::build((self.name, self.value))
            .path(self.path)
            .http_only(true)
            .same_site(match self.same_site {
                CookieSite::Strict => SameSite::Strict,
                CookieSite::Lax => SameSite::Lax,
            })
            .secure(app_url.starts_with("https://"))
            .build();
        if let Some(seconds) = self.seconds {
            cookie.set_max_age(Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX)));
        }
        cookie.to_string()
    }
}

/// Returns the values of the cookies of one name in a request. Browsers send those of a longer path first.
pub fn values(request: &HttpRequest, name: &str) -> impl Iterator<Item = String> {
    let headers = request.headers().get_all(header::COOKIE).filter_map(|header| header.to_str().ok());
    let cookies = headers.flat_map(Cookie::split_parse).flatten();
    cookies.filter(move |cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}
