//! Where a request comes from: the peer, or what a trusted proxy says of it.

use std::net::IpAddr;

use actix_web::HttpRequest;

use super::Http;

impl Http {
    /// The nearest address that is no trusted proxy's. A header from anyone else changes nothing.
    #[must_use]
    pub fn client_address(&self, request: &HttpRequest) -> String {
        let Some(peer) = request.peer_addr().map(|peer| peer.ip()) else { return "unknown".to_owned() };
        let headers = request.headers().get_all("x-forwarded-for").filter_map(|value| value.to_str().ok());
        let mut hops: Vec<IpAddr> =
            headers.flat_map(|list| list.split(',')).filter_map(|hop| hop.trim().parse().ok()).collect();
        let mut client = peer;
        while self.trusted_proxies.contains(&client) {
            match hops.pop() {
                Some(hop) => client = hop,
                None => break,
            }
        }
        client.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Http;
    use actix_web::test::TestRequest;

    #[test]
    fn a_forged_forwarded_for_changes_nothing() {
        let http = Http { trusted_proxies: vec!["10.0.0.1".parse().unwrap()], origins: Vec::new() };
        let from = |peer: &str, forwarded: &str| {
            let request = TestRequest::default().peer_addr(peer.parse().unwrap());
            http.client_address(&request.insert_header(("x-forwarded-for", forwarded)).to_http_request())
        };
        assert_eq!(from("192.0.2.7:1", "198.51.100.1"), "192.0.2.7");
        assert_eq!(from("10.0.0.1:1", "203.0.113.9, 198.51.100.1"), "198.51.100.1");
        assert_eq!(from("10.0.0.1:1", "198.51.100.1, 10.0.0.1"), "198.51.100.1");
    }
}
