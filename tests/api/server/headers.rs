//! The security headers of every response (S19), whatever kind of response it is.

use crate::support::{Kind, ServerSetup};

/// Requests with responses of every kind: of operations, for unknown paths, refused, public, private.
const ASKED: [(&str, &str); 7] = [
    ("GET", "/health/live"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/projects"),
    ("GET", "/api/projects/no-uuid"),
    ("GET", "/nothing"),
    ("DELETE", "/health/live"),
    ("POST", "/api/auth/login"),
];

#[test]
fn every_response_has_the_security_headers() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (url, over_tls) in [("https://app.colloquy.test", true), ("http://app.colloquy.test", false)] {
        let setup = ServerSetup::new(Kind::Sqlite).unwrap();
        let server = setup.start(&[("COLLOQUY__APP__URL", url)]);
        runtime.block_on(async {
            let client = server.client();
            for (method, path) in ASKED {
                let answer = client.request(method.parse().unwrap(), path).await;
                assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
                let policy = answer.header("content-security-policy").unwrap();
                assert!(
                    policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
                    "{path}: {policy}"
                );
                assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
                assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
                assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
                if path != "/api/openapi.json" {
                    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
                }
                let strict = answer.header("strict-transport-security");
                assert_eq!(
                    strict.is_some_and(|strict| strict.starts_with("max-age=63072000")),
                    over_tls,
                    "{path}: {strict:?}"
                );
                assert_eq!(answer.header("server"), None, "{path}");
            }
        });
    }
}
