//! The client address of a request: the peer, or what a trusted proxy reports in X-Forwarded-For.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;

use super::Http;

impl Http {
    /// Returns the address that rate limits count: the nearest one that is not a trusted proxy. The header of any other
    /// peer is ignored. A hop that is not an address ends the walk, since its author could also have written every hop
    /// before it. Of an IPv6 address, only the first 64 bits are used, which is what one customer is assigned: a client
    /// that has one such address has them all.
    #[must_use]
    pub fn client_address(&self, request: &HttpRequest) -> String {
        let Some(peer) = request.peer_addr().map(|peer| peer.ip().to_canonical()) else { return "unknown".to_owned() };
        if !self.is_trusted(peer) {
            return Self::network(peer);
        }
        let headers = request.headers().get_all("x-forwarded-for");
        let mut hops: Vec<&str> =
            headers.flat_map(|value| value.to_str().unwrap_or("unreadable").split(',')).map(str::trim).collect();
        let mut client = peer;
        while self.is_trusted(client) {
            match hops.pop().and_then(address) {
                Some(hop) => client = hop,
                None => break,
            }
        }
        Self::network(client)
    }

    /// Whether an address belongs to a trusted proxy.
    #[must_use]
    pub fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|proxy| proxy.to_canonical() == address)
    }

    /// Returns the network that stands for one client: an IPv4 address as it is, an IPv6 address as its /64.
    #[must_use]
    pub fn network(address: IpAddr) -> String {
        match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                format!("{}/64", std::net::Ipv6Addr::from_bits(network))
            }
        }
    }
}

/// Parses an address as proxies write it: some append the port.
fn address(hop: &str) -> Option<IpAddr> {
    let alone = hop.parse::<IpAddr>().ok();
    let with_port = || hop.parse::<SocketAddr>().ok().map(|address| address.ip());
    alone.or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use proptest::prelude::*;

    use super::Http;
    use crate::config::{Config, Overrides};

    fn behind(proxies: &[&str]) -> Http {
        let config = Config::layered(None, std::collections::HashMap::new(), &Overrides::default()).unwrap();
        Http { trusted_proxies: proxies.iter().map(|proxy| proxy.parse().unwrap()).collect(), ..config.http }
    }

    fn seen(http: &Http, peer: &str, forwarded: &[u8]) -> String {
        let request = TestRequest::default().peer_addr(peer.parse().unwrap());
        let value = actix_web::http::header::HeaderValue::from_bytes(forwarded).unwrap();
        http.client_address(&request.insert_header(("x-forwarded-for", value)).to_http_request())
    }

    #[test]
    fn a_forged_forwarded_for_changes_nothing() {
        let http = behind(&["10.0.0.1"]);
        let from = |peer: &str, forwarded: &str| seen(&http, peer, forwarded.as_bytes());
        assert_eq!(from("192.0.2.7:1", "198.51.100.1"), "192.0.2.7");
        assert_eq!(from("10.0.0.1:1", "203.0.113.9, 198.51.100.1"), "198.51.100.1");
        assert_eq!(from("10.0.0.1:1", "198.51.100.1, 10.0.0.1"), "198.51.100.1");
        assert_eq!(from("10.0.0.1:1", "203.0.113.9, unknown"), "10.0.0.1");
        assert_eq!(from("10.0.0.1:1", "203.0.113.9, 198.51.100.1:4711"), "198.51.100.1");
        assert_eq!(from("[::ffff:10.0.0.1]:1", "198.51.100.1"), "198.51.100.1");
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let http = behind(&[]);
        let from = |peer: &str| seen(&http, peer, b"");
        assert_eq!(from("[2001:db8:1:2::1]:1"), "2001:db8:1:2::/64");
        assert_eq!(from("[2001:db8:1:2:ffff::9]:1"), "2001:db8:1:2::/64");
        assert_ne!(from("[2001:db8:1:3::1]:1"), from("[2001:db8:1:2::1]:1"));
    }

    proptest! {
        /// Through an untrusted proxy no header changes the client address; through a trusted one no header causes a
        /// panic.
        #[test]
        fn no_header_makes_anybody_somebody_else(
            forwarded in proptest::collection::vec(prop_oneof![Just(b'\t'), 32_u8..=126, 128_u8..=255], 0..200)
        ) {
            prop_assert_eq!(seen(&behind(&["10.0.0.1"]), "192.0.2.7:1", &forwarded), "192.0.2.7");
            prop_assert!(!seen(&behind(&["10.0.0.1"]), "10.0.0.1:1", &forwarded).is_empty());
        }
    }
}
