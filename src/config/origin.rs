//! The origins whose web pages may open sockets. A browser lets any page open a socket to any host, but sends the
//! origin of the page.

use actix_web::HttpRequest;
use actix_web::http::header;
use url::Url;

use super::Http;

impl Http {
    /// Whether the request comes from no web page (it has no Origin header), from a page of this host (as the client
    /// names it in Host, or as `app_url` does), or from an origin in the settings.
    #[must_use]
    pub fn allows_origin(&self, request: &HttpRequest, app_url: &str) -> bool {
        let mut origins = request.headers().get_all(header::ORIGIN);
        let Some(origin) = origins.next() else { return true };
        let (Ok(origin), None) = (origin.to_str(), origins.next()) else { return false };
        let listed = self.origins.iter().any(|listed| listed.trim_end_matches('/').eq_ignore_ascii_case(origin));
        listed || is_own_origin(request, origin, app_url)
    }
}

/// Whether an origin is that of this host, as the client names it in Host, or as `app_url` does.
#[must_use]
pub fn is_own_origin(request: &HttpRequest, origin: &str, app_url: &str) -> bool {
    let is_app = Url::parse(app_url).is_ok_and(|app| app.origin().ascii_serialization() == origin);
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    is_app || matches!((authority, host), (Some(authority), Some(host)) if authority == host)
}

#[cfg(test)]
mod tests {
    use super::Http;
    use crate::config::{Config, Overrides};
    use actix_web::test::TestRequest;

    #[test]
    fn pages_of_other_hosts_open_no_sockets() {
        let config = Config::layered(None, std::collections::HashMap::new(), &Overrides::default()).unwrap();
        let http = Http { origins: vec!["https://other.example".to_owned()], ..config.http };
        let from = |origin: &str| {
            let request = TestRequest::default().insert_header(("host", "127.0.0.1:8080"));
            http.allows_origin(
                &request.insert_header(("origin", origin)).to_http_request(),
                "https://colloquy.example/app",
            )
        };
        for allowed in ["http://127.0.0.1:8080", "https://other.example", "https://colloquy.example"] {
            assert!(from(allowed), "{allowed}");
        }
        for refused in ["null", "http://127.0.0.1", "https://evil.example", "https://other.example.evil.example", ""] {
            assert!(!from(refused), "{refused}");
        }
        assert!(http.allows_origin(&TestRequest::default().to_http_request(), "https://colloquy.example"));
    }
}
