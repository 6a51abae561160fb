//! CORS: the origins whose pages may read responses in a browser (S19).

use crate::support::{Kind, ServerSetup};

const APP: &str = "https://app.example.org";
const STRANGERS: [&str; 7] = [
    "https://app.example.org.evil.test",
    "http://app.example.org",
    "https://app.example.org:8443",
    "null",
    "*",
    "https://APP.example.org",
    "https://example.org",
];

#[test]
fn pages_of_listed_origins_may_read_answers_and_no_others() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start(&[
        ("COLLOQUY__HTTP__ORIGINS", "https://app.example.org,https://other.example.org"),
        ("COLLOQUY__LOG__FILTER", "info"),
    ]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = server.client();
        for path in ["/health/live", "/api/projects", "/nothing"] {
            let answer = client.get(path).header("origin", APP).await;
            assert_eq!(answer.header("access-control-allow-origin"), Some(APP), "{path}");
            assert!(answer.header("vary").unwrap().contains("Origin"));
            assert!(answer.header("access-control-expose-headers").unwrap().contains("ETag"));
            assert_eq!(answer.header("access-control-allow-credentials"), None);
        }
        let preflight = |origin: &str| {
            let ask = client.request(reqwest::Method::OPTIONS, "/api/projects").header("origin", origin);
            ask.header("access-control-request-method", "POST")
        };
        let allowed = preflight(APP).await.is(204);
        assert_eq!(allowed.header("access-control-allow-origin"), Some(APP));
        assert!(allowed.header("access-control-allow-methods").unwrap().contains("PATCH"));
        assert!(allowed.header("access-control-allow-headers").unwrap().contains("Authorization"));
        for stranger in STRANGERS {
            let answer = client.get("/health/live").header("origin", stranger).await.is(200);
            assert_eq!(answer.header("access-control-allow-origin"), None, "{stranger}");
            assert_eq!(preflight(stranger).await.is(405).header("access-control-allow-origin"), None, "{stranger}");
        }
        assert_eq!(client.get("/health/live").await.header("access-control-allow-origin"), None);
        // Each of those answers says in the log which origin is missing where; the others say nothing of it.
        let log = server.read_log();
        let missing = |origin: &str| {
            let named = format!(r#""missing_origin":"{origin}","missing_in":"http.origins""#);
            log.lines().filter(|line| line.contains("answered") && line.contains(&named)).count()
        };
        for stranger in STRANGERS {
            assert_eq!(missing(stranger), 2, "{stranger}: {log}");
        }
        assert_eq!(missing(APP), 0, "{log}");
        let own = format!("http://{}", server.public);
        client.get("/health/live").header("origin", &own).await.is(200);
        assert!(!server.read_log().contains(&own));
    });
}
