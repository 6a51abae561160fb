//! Log-in at an OpenID provider: at a real one, and at one that forges.

mod forged;
mod real;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::browser::Browser;
use crate::support::client::Request;
use crate::support::parts::Part;
use crate::support::server::APP_URL;
use crate::support::{Place, Server};

const CLIENT_ID: &str = "colloquy.apps.example.org";
const CLIENT_SECRET: &str = "a secret of tests/with signs: 100%";

/// Of every application in these stories.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

fn redirect_uri() -> String {
    format!("{APP_URL}/api/auth/google-login/callback")
}

/// A server that knows a provider, and the provider.
struct Google {
    provider: Part,
    server: Server,
}

impl Google {
    /// `None`: no Node on this machine.
    fn start(place: &Place, program: &str, people: &Value) -> Option<Self> {
        let (people, redirect) = (people.to_string(), redirect_uri());
        let settings = [
            ("PEOPLE", people.as_str()),
            ("REDIRECT_URI", &redirect),
            ("CLIENT_ID", CLIENT_ID),
            ("CLIENT_SECRET", CLIENT_SECRET),
        ];
        let provider = Part::start(program, &settings)?;
        let server = Self::serve(place, &provider);
        Some(Self { provider, server })
    }

    fn serve(place: &Place, provider: &Part) -> Server {
        let issuer = provider.records["issuer"].as_str().unwrap();
        let discovery = format!("{issuer}/.well-known/openid-configuration");
        place.start(&[
            ("COLLOQUY__GOOGLE__CLIENT_ID", CLIENT_ID),
            ("COLLOQUY__GOOGLE__CLIENT_SECRET", CLIENT_SECRET),
            ("COLLOQUY__GOOGLE__DISCOVERY_URL", &discovery),
            ("COLLOQUY__GOOGLE__ISSUER", issuer),
            ("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.0.1"),
        ])
    }

    fn browser(&self) -> Browser {
        Browser::new(&self.server)
    }

    /// Goes to the provider as somebody; gives the address that they are sent back to, not yet called.
    async fn to_callback(&self, browser: &mut Browser, name: &str, return_url: Option<&str>) -> String {
        let begun = browser.get(&begin(return_url)).await;
        assert_eq!(begun.status, 302, "{begun:?}");
        let to_provider = format!("{}&as={name}", begun.location.unwrap());
        browser.follow(&to_provider, &redirect_uri()).await
    }

    /// As [`Google::to_callback`], and back; gives what the application is told in the fragment.
    async fn log_in_as(&self, browser: &mut Browser, name: &str) -> BTreeMap<String, String> {
        let callback = self.to_callback(browser, name, None).await;
        records(browser, &callback).await
    }

    fn exchange(&self, code: &str, verifier: &str) -> Request {
        let body = json!({"code": code, "codeVerifier": verifier});
        self.server.client().post("/api/auth/google-login/exchange").json(body)
    }

    /// Logs in all the way; gives the AuthResponse.
    async fn session_of(&self, name: &str) -> Value {
        let records = self.log_in_as(&mut self.browser(), name).await;
        let code = records.get("code").unwrap_or_else(|| panic!("{records:?}"));
        self.exchange(code, VERIFIER).await.is(200).data().clone()
    }

    /// Tells the provider something.
    async fn tell(&self, path: &str, what: &Value) {
        let url = format!("http://127.0.0.1:{}{path}", self.provider.port("http"));
        let records =
            reqwest::Client::builder().no_proxy().build().unwrap().post(url).body(what.to_string()).send().await;
        assert!(records.unwrap().status().is_success());
    }
}

fn begin(return_url: Option<&str>) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("codeChallenge", &challenge);
    if let Some(return_url) = return_url {
        query.append_pair("returnUrl", return_url);
    }
    format!("{APP_URL}/api/auth/google-login?{}", query.finish())
}

/// What the callback tells the application, wherever the callback was got from.
async fn records(browser: &mut Browser, callback: &str) -> BTreeMap<String, String> {
    let page = browser.get(callback).await;
    assert_eq!(page.status, 302, "{page:?}");
    let location = page.location.unwrap();
    let fragment = location.strip_prefix(&format!("{APP_URL}/login/callback#"));
    let fragment = fragment.unwrap_or_else(|| panic!("{location}"));
    url::form_urlencoded::parse(fragment.as_bytes()).into_owned().collect()
}

fn error(code: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("error".to_owned(), code.to_owned())])
}
