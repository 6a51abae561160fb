//! The cookie of a browser's session: a keyed hash over the session and its salt, so that the database holds no cookie.

use actix_web::HttpRequest;
use actors::ids::{Id, Session};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;
use url::Url;

use crate::http::cookies::{self, CookieSite, SetCookie};
use crate::keys::Secret;

const NAME: &str = "colloquy-session";
/// The path of the three operations that read it.
const PATH: &str = "/api/auth/browser-session";
const BYTES: usize = 16 + 1 + 32;

/// A parsed cookie; verifying it needs the salt of the session.
#[derive(Debug, Clone, Copy)]
pub struct SessionCookie {
    pub session_id: Id<Session>,
    /// Whether the browser keeps it when it is closed.
    pub stays: bool,
    mac: [u8; 32],
}

impl SessionCookie {
    /// Returns the cookie of a session.
    pub fn issue(secret: &Secret, session_id: Id<Session>, salt: &str, stays: bool) -> Self {
        Self { session_id, stays, mac: mac(secret, session_id, salt) }
    }

    /// Reads the cookie of a request. Returns `None` when it is absent or malformed. Of several the first one counts: the one with
    /// the path of the operations, before one that a neighbouring domain has set for all paths.
    pub fn read(request: &HttpRequest, app_url: &str) -> Option<Self> {
        Self::parse(&cookies::values(request, &name(app_url)).next()?)
    }

    fn parse(value: &str) -> Option<Self> {
        if value.len() > 2 * BYTES {
            return None;
        }
        let bytes: [u8; BYTES] = URL_SAFE_NO_PAD.decode(value).ok()?.try_into().ok()?;
        let (id, rest) = bytes.split_first_chunk::<16>()?;
        let (stays, mac) = rest.split_first()?;
        let session_id = Id::from_uuid(uuid::Uuid::from_bytes(*id));
        Some(Self { session_id, stays: *stays == 1, mac: mac.try_into().ok()? })
    }

    fn value(&self) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(self.session_id.uuid().as_bytes());
        bytes.push(u8::from(self.stays));
        bytes.extend_from_slice(&self.mac);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Whether this server issued the cookie for the session with this salt.
    pub fn is_genuine(&self, secret: &Secret, salt: &str) -> bool {
        mac(secret, self.session_id, salt).ct_eq(&self.mac).into()
    }

    /// Returns the `Set-Cookie` header value that stores it in the browser, for `seconds` if it stays.
    pub fn set(&self, seconds: u64, app_url: &str) -> String {
        set_cookie(&self.value(), self.stays.then_some(seconds), app_url)
    }

    /// Returns the `Set-Cookie` header value that deletes it.
    pub fn dropped(app_url: &str) -> String {
        set_cookie("", Some(0), app_url)
    }
}

/// Servers on several ports of one machine share their cookies: the port keeps them apart.
fn name(app_url: &str) -> String {
    match Url::parse(app_url).ok().and_then(|url| url.port()) {
        Some(port) => format!("{NAME}-{port}"),
        None => NAME.to_owned(),
    }
}

fn set_cookie(value: &str, seconds: Option<u64>, app_url: &str) -> String {
    let below = Url::parse(app_url).map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
    let (name, path) = (name(app_url), format!("{below}{PATH}"));
    SetCookie { name: &name, value, path: &path, same_site: CookieSite::Strict, seconds }.header(app_url)
}

fn mac(secret: &Secret, session_id: Id<Session>, salt: &str) -> [u8; 32] {
    secret.hash("browser session", &[session_id.uuid().as_bytes(), salt.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::SessionCookie;
    use crate::keys::Secret;
    use actors::ids::Id;
    use proptest::prelude::*;

    #[test]
    fn a_cookie_is_genuine_for_its_session_and_salt_alone() {
        let secret = Secret::of(vec![1; 32]);
        let cookie = SessionCookie::issue(&secret, Id::generate(), "salt", true);
        let read = SessionCookie::parse(&cookie.value()).unwrap();
        assert_eq!((read.session_id, read.stays), (cookie.session_id, true));
        assert!(read.is_genuine(&secret, "salt"));
        assert!(!read.is_genuine(&secret, "other"));
        assert!(!read.is_genuine(&Secret::of(vec![2; 32]), "salt"));
        let other = SessionCookie { session_id: Id::generate(), ..read };
        assert!(!other.is_genuine(&secret, "salt"));
    }

    #[test]
    fn a_cookie_goes_to_the_three_operations_below_the_servers_url_and_to_no_script() {
        let cookie = SessionCookie::issue(&Secret::of(vec![1; 32]), Id::generate(), "salt", false);
        let set = cookie.set(60, "https://example.org/colloquy");
        assert!(set.starts_with("colloquy-session="), "{set}");
        assert!(set.ends_with("; HttpOnly; SameSite=Strict; Secure; Path=/colloquy/api/auth/browser-session"), "{set}");
        let kept = SessionCookie { stays: true, ..cookie }.set(60, "http://127.0.0.1:8080");
        assert!(kept.starts_with("colloquy-session-8080="), "{kept}");
        assert!(kept.ends_with("; HttpOnly; SameSite=Strict; Path=/api/auth/browser-session; Max-Age=60"), "{kept}");
    }

    proptest! {
        #[test]
        fn whatever_is_presented_is_read_without_harm(value in ".*|[A-Za-z0-9_-]{66}") {
            if let Some(cookie) = SessionCookie::parse(&value) {
                prop_assert!(!cookie.is_genuine(&Secret::of(vec![1; 32]), "salt"));
            }
        }
    }
}
