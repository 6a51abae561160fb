//! The cookie that a browser holds while its user is at another server to sign in, and the query with which that server sends
//! the browser back.
//!
//! The cookie binds the sign-in to the browser in which it was begun: the answer to the sign-in of another person is of no
//! use in it. It is sent to the paths that read it alone.

use actix_web::HttpRequest;

use super::cookies::{self, CookieSite, SetCookie};

/// The name of a cookie and the path to which browsers send it.
#[derive(Debug, Clone, Copy)]
pub struct SignInCookie {
    pub name: &'static str,
    pub path: &'static str,
}

impl SignInCookie {
    /// Returns the `Set-Cookie` header value that stores a value in the browser.
    #[must_use]
    pub fn set(self, value: &str, seconds: u64, app_url: &str) -> String {
        // The other server sends the browser back by a cross-site navigation, for which a `Strict` cookie would not be sent.
        let same_site = CookieSite::Lax;
        SetCookie { name: self.name, value, path: self.path, same_site, seconds: Some(seconds) }.header(app_url)
    }

    /// Returns the `Set-Cookie` header value that deletes it.
    #[must_use]
    pub fn dropped(self, app_url: &str) -> String {
        self.set("", 0, app_url)
    }

    /// Returns its value in a request. Of several the last one counts, as in a cookie jar.
    #[must_use]
    pub fn value(self, request: &HttpRequest) -> Option<String> {
        cookies::values(request, self.name).last()
    }
}

/// The query of a browser that another server sent back, and its cookie. The browser is not responsible for what is in it:
/// whatever is wrong is reported in the redirect that follows.
#[derive(Debug, Default)]
pub struct ReturnedBrowser {
    pub code: Option<String>,
    pub state: Option<String>,
    /// The issuer of the response, as in RFC 9207; not every provider sends it.
    pub issuer: Option<String>,
    pub error: Option<String>,
    pub cookie: Option<String>,
}

impl ReturnedBrowser {
    /// Reads the query; of a parameter that is there several times the last one counts.
    #[must_use]
    pub fn read(request: &HttpRequest, cookie: SignInCookie) -> Self {
        let mut returned = Self { cookie: cookie.value(request), ..Self::default() };
        for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
            let place = match name.as_ref() {
                "code" => &mut returned.code,
                "state" => &mut returned.state,
                "iss" => &mut returned.issuer,
                "error" => &mut returned.error,
                _ => continue,
            };
            *place = Some(value.into_owned());
        }
        returned
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use proptest::prelude::*;

    use super::{ReturnedBrowser, SignInCookie};

    const OWN: SignInCookie = SignInCookie { name: "colloquy-test", path: "/api/back" };

    #[test]
    fn a_cookie_is_for_its_path_over_tls_and_comes_back() {
        let set = OWN.set("value", 600, "https://app.example");
        assert_eq!(set, "colloquy-test=value; HttpOnly; SameSite=Lax; Secure; Path=/api/back; Max-Age=600");
        assert!(!OWN.set("value", 600, "http://127.0.0.1:8080").contains("Secure"));
        assert!(OWN.dropped("https://app.example").contains("Max-Age=0"));
        let sent = ("cookie", "a=b; colloquy-test=first; colloquy-test=value; c=d");
        assert_eq!(OWN.value(&TestRequest::default().insert_header(sent).to_http_request()).as_deref(), Some("value"));
        assert_eq!(OWN.value(&TestRequest::default().to_http_request()), None);
    }

    proptest! {
        #[test]
        fn whatever_a_browser_sends_is_read_without_harm(cookie in "[ -~]*", query in "[a-z0-9=&%+]*") {
            let request = TestRequest::with_uri(&format!("/back?{query}")).insert_header(("cookie", cookie)).to_http_request();
            let returned = ReturnedBrowser::read(&request, OWN);
            prop_assert!(returned.code.is_none() || query.contains("code") || query.contains('%'));
        }
    }
}
