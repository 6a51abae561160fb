//! A minimal browser for log-ins at an OpenID provider: it stores cookies and follows redirects one at a time.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use cookie::Cookie;
use cookie::time::Duration as Age;

use super::Server;
use super::client::{IDLE, plain_http};
use super::server::APP_URL;

/// A browser with its own cookies. Requests for [`APP_URL`], whose host is in no DNS, go to the test's server.
pub struct Browser {
    http: reqwest::Client,
    application: String,
    jar: HashMap<String, BTreeMap<String, String>>,
}

/// The response for a page.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    pub location: Option<String>,
    #[expect(dead_code, reason = "shown where a story fails")]
    text: String,
}

impl Browser {
    pub fn new(server: &Server) -> Self {
        let http = plain_http().timeout(Duration::from_secs(60)).pool_idle_timeout(IDLE);
        let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, application: format!("http://{}", server.public), jar: HashMap::new() }
    }

    pub async fn get(&mut self, url: &str) -> Page {
        let host = url.split('/').nth(2).unwrap().to_owned();
        let reached = url.strip_prefix(APP_URL).map(|path| format!("{}{path}", self.application));
        let mut request = self.http.get(reached.as_deref().unwrap_or(url));
        if let Some(kept) = self.jar.get(&host).filter(|kept| !kept.is_empty()) {
            let kept: Vec<String> = kept.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header("cookie", kept.join("; "));
        }
        let answer = request.send().await.unwrap();
        let text = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let location = text("location");
        let set = answer.headers().get_all("set-cookie").iter();
        let cookies: Vec<String> = set.map(|value| value.to_str().unwrap().to_owned()).collect();
        let jar = self.jar.entry(host).or_default();
        for cookie in &cookies {
            let cookie = Cookie::parse(cookie.as_str()).unwrap();
            let dropped = cookie.max_age().is_some_and(|age| age <= Age::ZERO) || cookie.value().is_empty();
            if dropped {
                jar.remove(cookie.name());
            } else {
                jar.insert(cookie.name().to_owned(), cookie.value().to_owned());
            }
        }
        // A relative location is resolved against the page's own address.
        let location = location.map(|to| url::Url::parse(url).unwrap().join(&to).unwrap().to_string());
        Page { status: answer.status().as_u16(), location, text: answer.text().await.unwrap() }
    }

    /// Follows redirects until one leads to an address that begins with `end`, and returns that address without
    /// requesting it. Panics when a response is no redirect, and after 20 redirects.
    pub async fn follow(&mut self, url: &str, end: &str) -> String {
        let mut at = url.to_owned();
        for _ in 0..20 {
            let page = self.get(&at).await;
            at = page.location.clone().unwrap_or_else(|| panic!("{at} leads nowhere: {page:?}"));
            if at.starts_with(end) {
                return at;
            }
        }
        panic!("{url} leads round and round");
    }

    /// Returns the cookies of the application's host.
    pub fn of_application(&self) -> BTreeMap<String, String> {
        self.jar.get(APP_URL.split('/').nth(2).unwrap()).cloned().unwrap_or_default()
    }

    /// Copies the application's cookies of another browser into this one, as an attacker who stole them.
    pub fn with_cookies_of(mut self, other: &Self) -> Self {
        self.jar.insert(APP_URL.split('/').nth(2).unwrap().to_owned(), other.of_application());
        self
    }
}
