//! The HTTP side of tracker clients: calls to configured hosts and to public addresses only, without redirects, each with a
//! timeout and a limit on the size of the answer.
//!
//! An address that a user typed must be https and must not lead into this machine's network: its host is resolved by
//! [`PublicAddresses`], which drops every address that is not public, and the connection goes to an address that it returned.
//! So nobody can have another address looked up between the check and the call. Origins that the settings list are exempt.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::HeaderMap;
use reqwest::{Method, Request, RequestBuilder};
use serde::de::DeserializeOwned;
use url::{Host, Url};

use crate::clients::{retry_after, without_url};

/// The timeout of a call. An issue whose creation was not confirmed is looked for later than this after the call began.
pub const CALL_LIMIT: Duration = Duration::from_secs(20);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The largest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// How long to pause where a tracker does not say it, and the longest pause that is waited for.
const PAUSE: Duration = Duration::from_secs(30);
const MAX_PAUSE: Duration = Duration::from_secs(3600);
/// Characters of a tracker's own words that are passed on.
const WORDS: usize = 1000;

/// Makes calls for tracker clients.
#[derive(Clone)]
pub struct TrackerHttp {
    /// For origins of the settings.
    trusted: reqwest::Client,
    /// For addresses that users typed.
    public: reqwest::Client,
    origins: Arc<[String]>,
}

/// A complete answer.
#[derive(Debug)]
pub struct TrackerAnswer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A call without a complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// The request was not sent.
    NotSent(String),
    /// The request, or a part of it, may have arrived.
    NoAnswer(String),
}

impl TrackerHttp {
    /// `origins`: those to which calls may go wherever they lead, such as `https://jira.example.org`.
    ///
    /// # Errors
    /// Returns a message when no HTTP client can be created, or an origin is not one.
    pub fn new(origins: &[String]) -> Result<Self, String> {
        let parsed = origins.iter().map(|origin| {
            let url = Url::parse(origin).map_err(|error| format!("{origin} is not an address: {error}"))?;
            Ok(url.origin().ascii_serialization())
        });
        let build = |builder: reqwest::ClientBuilder| {
            builder
                .redirect(reqwest::redirect::Policy::none())
                .timeout(CALL_LIMIT)
                .connect_timeout(CONNECT_LIMIT)
                .no_proxy()
                .user_agent("Colloquy")
                .build()
                .map_err(|error| format!("the trackers' client can't be created: {error}"))
        };
        Ok(Self {
            trusted: build(reqwest::Client::builder())?,
            public: build(reqwest::Client::builder().dns_resolver(Arc::new(PublicAddresses)))?,
            origins: parsed.collect::<Result<Vec<String>, String>>()?.into(),
        })
    }

    /// Checks an address that a user typed, and returns it without a trailing slash.
    ///
    /// # Errors
    /// Returns what is wrong with it, for the user.
    pub fn base_url(&self, given: &str) -> Result<String, String> {
        let url = Url::parse(given.trim())
            .map_err(|_| "This must be an address such as https://jira.example.org.".to_owned())?;
        let is_plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        if !is_plain || url.cannot_be_a_base() {
            return Err("This must be an address without a user, a query or a fragment.".to_owned());
        }
        if !self.is_trusted(&url) {
            if url.scheme() != "https" {
                return Err("This must begin with https://.".to_owned());
            }
            let is_inside = match url.host() {
                Some(Host::Ipv4(address)) => !is_public(IpAddr::V4(address)),
                Some(Host::Ipv6(address)) => !is_public(IpAddr::V6(address)),
                Some(Host::Domain(name)) => is_local_name(name),
                None => true,
            };
            if is_inside {
                return Err(
                    "This must be a public address, unless the server's operator lists it in trackers.origins."
                        .to_owned(),
                );
            }
        }
        Ok(url.as_str().trim_end_matches('/').to_owned())
    }

    fn is_trusted(&self, url: &Url) -> bool {
        self.origins.contains(&url.origin().ascii_serialization())
    }

    /// Begins a request to an address below a configured or checked one.
    ///
    /// # Errors
    /// `NotSent` if the address may not be called.
    pub fn request(&self, method: Method, url: &str) -> Result<RequestBuilder, CallFailure> {
        let refused = |why: String| CallFailure::NotSent(why);
        let url = Url::parse(url).map_err(|error| refused(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("the address names a user".to_owned()));
        }
        if self.is_trusted(&url) {
            return Ok(self.trusted.request(method, url));
        }
        // A literal address is not resolved, so that it has to be checked here.
        self.base_url(url.origin().ascii_serialization().as_str()).map_err(refused)?;
        Ok(self.public.request(method, url))
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// No complete answer came.
    pub async fn send(&self, request: RequestBuilder) -> Result<TrackerAnswer, CallFailure> {
        let (client, request) = request.build_split();
        let request: Request = request.map_err(|error| CallFailure::NotSent(without_url(error)))?;
        let mut answer = client.execute(request).await.map_err(|error| {
            if error.is_connect() || error.is_builder() {
                CallFailure::NotSent(without_url(error))
            } else {
                CallFailure::NoAnswer(without_url(error))
            }
        })?;
        let mut body = BytesMut::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| CallFailure::NoAnswer(without_url(error)))? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(CallFailure::NoAnswer("its answer is too long".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(TrackerAnswer { status: answer.status().as_u16(), headers: answer.headers().clone(), body: body.freeze() })
    }
}

impl TrackerAnswer {
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// # Errors
    /// Says where the body is not what was expected, without showing it.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&self.body).map_err(|error| format!("its answer can't be read: {error}"))
    }

    /// How long it wants to be left alone, at most an hour; 30 s if it does not say it.
    #[must_use]
    pub fn pause(&self) -> Duration {
        retry_after::seconds(&self.headers).unwrap_or(PAUSE).min(MAX_PAUSE)
    }

    /// The value of a header, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotSent(why) | Self::NoAnswer(why)) = self;
        f.write_str(why)
    }
}

/// A tracker's own words, cut to a length that can be stored and shown, without control characters.
#[must_use]
pub fn words(said: &str) -> String {
    said.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(WORDS).collect()
}

/// Resolves names to public addresses only.
struct PublicAddresses;

impl Resolve for PublicAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(format!("{} has no public address", name.as_str()).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    !name.contains('.') || name.ends_with(".localhost") || name.ends_with(".local") || name.ends_with(".internal")
}

/// Whether an address is one of the public internet: outside of the blocks that IANA's registries of special-purpose addresses
/// mark as not globally reachable, and of those that carry another address inside.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_special = first == 0
        || first == 10
        || first == 127
        || (first == 100 && (64..128).contains(&second))
        || (first == 169 && second == 254)
        || (first == 172 && (16..32).contains(&second))
        || (first == 192 && second == 0 && (third == 0 || third == 2))
        || (first == 192 && second == 88 && third == 99)
        || (first == 192 && second == 168)
        || (first == 198 && (second == 18 || second == 19))
        || (first == 198 && second == 51 && third == 100)
        || (first == 203 && second == 0 && third == 113)
        || first >= 224;
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is global unicast; parts of it are for tunnels, which lead elsewhere, and for documentation.
    let is_global = (0x2000..0x4000).contains(&first);
    let is_special = (first == 0x2001 && (second < 0x0200 || second == 0x0db8))
        || first == 0x2002
        || (first == 0x3fff && second < 0x1000);
    is_global && !is_special
}

#[cfg(test)]
mod tests {
    use super::{TrackerHttp, is_public};

    #[test]
    fn addresses_inside_of_networks_are_not_public() {
        let inside = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "3fff::1",
        ];
        for address in inside {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "100.63.255.255", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "::ffff:1.1.1.1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_typed_address_is_public_or_listed() {
        let http = TrackerHttp::new(&["http://127.0.0.1:4000".to_owned()]).unwrap();
        assert_eq!(http.base_url(" https://acme.example.org/jira/ "), Ok("https://acme.example.org/jira".to_owned()));
        assert_eq!(http.base_url("http://127.0.0.1:4000/"), Ok("http://127.0.0.1:4000".to_owned()));
        let refused = [
            "",
            "acme",
            "http://acme.example.org",
            "ftp://acme.example.org",
            "https://127.0.0.1",
            "https://[::1]",
            "https://2130706433",
            "https://0x7f.1",
            "http://127.0.0.1:4001",
            "https://localhost",
            "https://jira",
            "https://a.localhost",
            "https://db.internal",
            "https://user@acme.example.org",
            "https://acme.example.org?x=1",
            "https://acme.example.org#x",
            "https://169.254.169.254/",
            "mailto:a@example.org",
            "https://[::ffff:10.0.0.1]/",
        ];
        for given in refused {
            assert!(http.base_url(given).is_err(), "{given}");
            assert!(given.starts_with("https://acme") || http.request(reqwest::Method::GET, given).is_err(), "{given}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_not_called() {
        let http = TrackerHttp::new(&[]).unwrap();
        // Resolved by the system to a loopback address wherever it resolves at all.
        let request = http.public.get("https://localhost:1/");
        let failure = http.send(request).await.unwrap_err();
        assert!(failure.to_string().contains("has no public address"), "{failure}");
    }
}
