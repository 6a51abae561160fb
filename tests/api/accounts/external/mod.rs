//! Log-in at an OpenID provider: a real one, and one that forges.

mod forged;
mod real;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::browser::Browser;
use crate::support::client::{Request, plain_http};
use crate::support::node_program::NodeProgram;
use crate::support::server::APP_URL;
use crate::support::{Server, ServerSetup};

const CLIENT_ID: &str = "colloquy.apps.example.org";
const CLIENT_SECRET: &str = "a secret of tests/with signs: 100%";

/// The PKCE verifier of every application in these tests.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

fn redirect_uri() -> String {
    format!("{APP_URL}/api/auth/google-login/callback")
}

/// An OpenID provider and a server that is configured for it.
struct Google {
    provider: NodeProgram,
    server: Server,
}

impl Google {
    /// Starts both; `program` is the provider's. `None`: no Node on this machine.
    fn start(setup: &ServerSetup, program: &str, people: &Value) -> Option<Self> {
        let (people, redirect) = (people.to_string(), redirect_uri());
        let settings = [
            ("PEOPLE", people.as_str()),
            ("REDIRECT_URI", &redirect),
            ("CLIENT_ID", CLIENT_ID),
            ("CLIENT_SECRET", CLIENT_SECRET),
        ];
        let provider = NodeProgram::start(program, &settings)?;
        let server = Self::serve(setup, &provider, "OPEN");
        Some(Self { provider, server })
    }

    /// `registration`: who may register.
    fn serve(setup: &ServerSetup, provider: &NodeProgram, registration: &str) -> Server {
        let issuer = provider.announced["issuer"].as_str().unwrap();
        let discovery = format!("{issuer}/.well-known/openid-configuration");
        setup.start(&[
            ("COLLOQUY__GOOGLE__CLIENT_ID", CLIENT_ID),
            ("COLLOQUY__GOOGLE__CLIENT_SECRET", CLIENT_SECRET),
            ("COLLOQUY__GOOGLE__DISCOVERY_URL", &discovery),
            ("COLLOQUY__GOOGLE__ISSUER", issuer),
            ("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.0.1"),
            ("COLLOQUY__ACCOUNTS__REGISTRATION", registration),
        ])
    }

    fn browser(&self) -> Browser {
        Browser::new(&self.server)
    }

    /// Logs in at the provider as `name`. Returns the callback URL that the browser is redirected to, not yet called.
    async fn to_callback(&self, browser: &mut Browser, name: &str, return_url: Option<&str>) -> String {
        let begun = browser.get(&begin(return_url)).await;
        assert_eq!(begun.status, 302, "{begun:?}");
        let to_provider = format!("{}&as={name}", begun.location.unwrap());
        browser.follow(&to_provider, &redirect_uri()).await
    }

    /// Like [`Google::to_callback`], and calls the callback. Returns what the application receives in the fragment.
    async fn log_in_as(&self, browser: &mut Browser, name: &str) -> BTreeMap<String, String> {
        let callback = self.to_callback(browser, name, None).await;
        callback_result(browser, &callback).await
    }

    fn exchange(&self, code: &str, verifier: &str) -> Request {
        let body = json!({"code": code, "codeVerifier": verifier});
        self.server.client().post("/api/auth/google-login/exchange").json(body)
    }

    /// Logs in and exchanges the code. Returns the `AuthResponse`.
    async fn session_of(&self, name: &str) -> Value {
        let callback_result = self.log_in_as(&mut self.browser(), name).await;
        let code = callback_result.get("code").unwrap_or_else(|| panic!("{callback_result:?}"));
        self.exchange(code, VERIFIER).await.is(200).data().clone()
    }

    /// Posts to a control path of the provider. Panics unless it succeeds.
    async fn control(&self, path: &str, what: &Value) {
        let url = format!("http://127.0.0.1:{}{path}", self.provider.port("http"));
        let answer = plain_http().build().unwrap().post(url).body(what.to_string()).send().await;
        assert!(answer.unwrap().status().is_success());
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

/// Calls the callback, whichever browser obtained it, and returns what the application receives in the fragment.
async fn callback_result(browser: &mut Browser, callback: &str) -> BTreeMap<String, String> {
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
