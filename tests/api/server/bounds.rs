//! What an unauthenticated client makes up leaves nothing behind, and is not echoed at full length (S27).

use serde_json::{Value, json};

use crate::support::wire::Wire;
use crate::support::{Kind, Server, ServerSetup, World};

/// The memory limit of the attacked server, in MiB.
const LIMIT: u64 = 512;
/// How much memory the attack may leave allocated, in KiB: for caches that fill once, not for anything that grows with
/// the number of requests.
const LEFT: u64 = 24 * 1024;

/// Returns the server's resident memory in KiB and the length of its metrics page in bytes.
async fn held(server: &Server) -> (u64, usize) {
    let figures = server.operator().get("/metrics").await.is(200);
    (server.memory().resident, figures.text().len())
}

/// Sends `count` requests one after the other over eight connections and returns the statuses. A connection that ends
/// without a response is replaced, and its request has no status.
async fn send_all(server: &Server, count: usize, request: impl Fn(usize) -> String) -> Vec<u16> {
    let (mut wires, mut statuses) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        wires.push(Wire::to(server.public).await);
    }
    for number in 0..count {
        let at = number % wires.len();
        match wires[at].call(request(number)).await {
            Some(answer) => statuses.push(answer.status),
            None => wires[at] = Wire::to(server.public).await,
        }
    }
    statuses
}

/// Returns a request with made-up parts, most of them long: `number` selects which of the parts that an
/// unauthenticated client chooses (method, path, host, query, header, token, ticket, origin …) and makes them unique.
fn odd(number: usize) -> String {
    let long = |bytes: usize| format!("{number:x}").repeat(bytes / 4);
    match number % 8 {
        0 => format!("MADE-UP-{number} /api/projects HTTP/1.1\r\nhost: x\r\n\r\n"),
        1 => format!("GET /made-up/{number}/{} HTTP/1.1\r\nhost: x\r\n\r\n", long(4000)),
        2 => format!("GET /api/projects/{number}/meetings HTTP/1.1\r\nhost: made-up-{number}.example\r\n\r\n"),
        3 => format!("GET /health/live?made-up-{number}={} HTTP/1.1\r\nhost: x\r\n\r\n", long(4000)),
        4 => format!("GET /api/projects HTTP/1.1\r\nhost: x\r\nx-made-up-{number}: {}\r\n\r\n", long(8000)),
        5 => format!("GET /api/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n", long(8000)),
        6 => format!(
            "GET /api/ws?ticket={} HTTP/1.1\r\nhost: x\r\norigin: https://made-up-{number}.example\r\n\r\n",
            long(400)
        ),
        _ => format!(
            "OPTIONS /API/Projects/{number} HTTP/1.1\r\nhost: x\r\nx-request-id: made-up-{number}\r\n\
             x-forwarded-for: made-up-{number}\r\nuser-agent: {}\r\n\r\n",
            long(8000)
        ),
    }
}

#[tokio::test]
async fn four_thousand_made_up_methods_of_120_kb_leave_nothing_behind() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(LIMIT, &[]);
    let name = "M".repeat(120_000);
    let made_up = |number: usize| format!("{number}{name} /health/live HTTP/1.1\r\nhost: x\r\n\r\n");
    send_all(&server, 80, made_up).await;
    let (memory, figures) = held(&server).await;
    let statuses = send_all(&server, 4000, made_up).await;
    assert!(statuses.len() == 4000 && statuses.iter().all(|status| *status == 400), "{:?}", statuses.first());
    let (memory_after, figures_after) = held(&server).await;
    assert!(figures_after < figures + 4096, "/metrics grew from {figures} to {figures_after} bytes");
    assert!(memory_after < memory + LEFT, "the server grew from {memory} to {memory_after} KiB");
    assert!(!server.read_log().contains(&name), "the log has what was sent, at its length");
}

#[tokio::test]
async fn nothing_that_an_unauthenticated_client_makes_up_is_stored() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    // With call limits, which are disabled in other tests: their counters are stored too.
    let server = setup.start_within(LIMIT, &[("COLLOQUY__LIMITS__CALLS__MOST", "1000000")]);
    send_all(&server, 400, odd).await;
    let (memory, figures) = held(&server).await;
    let statuses = send_all(&server, 8000, |number| odd(number + 400)).await;
    assert!(statuses.len() == 8000 && statuses.iter().all(|status| *status < 500), "{} answers", statuses.len());
    let (memory_after, figures_after) = held(&server).await;
    assert!(figures_after < figures + 4096, "/metrics grew from {figures} to {figures_after} bytes");
    assert!(memory_after < memory + LEFT, "the server grew from {memory} to {memory_after} KiB");
    let page = server.operator().get("/metrics").await.text();
    assert!(page.contains(r#"method="OTHER""#) && !page.contains("MADE-UP"), "unknown methods are one");
}

#[tokio::test]
async fn oversized_request_heads_are_refused() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start(&[]);
    let long = "x".repeat(9000);
    let headers: String = (0..5).map(|number| format!("x-{number}: {long}\r\n")).collect();
    for (request, status, code) in [
        (format!("{long} / HTTP/1.1\r\nhost: x\r\n\r\n"), 400, "BadRequest"),
        (format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n"), 414, "UriTooLong"),
        (format!("GET /health/live?{long} HTTP/1.1\r\nhost: x\r\n\r\n"), 414, "UriTooLong"),
        (format!("GET /health/live HTTP/1.1\r\nhost: x\r\n{headers}\r\n"), 431, "HeadersTooLarge"),
    ] {
        let answer = Wire::to(server.public).await.call(request).await.unwrap();
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, &body["errors"][0]["code"]), (status, &json!(code)));
        assert!(answer.body.len() < 1024);
    }
}

on_both! {
    async fn a_response_names_at_most_twenty_field_errors_and_stays_short(world: World) {
        let ada = world.user().await;
        let many: serde_json::Map<String, Value> = (0..50_000).map(|number| (format!("k{number}"), json!(1))).collect();
        let answer = ada.client.post("/api/projects").json(Value::Object(many)).await.is(422);
        assert_eq!(answer.faults().len(), 20);
        let long = "ä".repeat(200_000);
        let twice = format!("{{\"{long}\":1,\"{long}\":2}}");
        let bodies = [json!({"name": "x", long.as_str(): 1}).to_string(), twice, json!({"name": [long]}).to_string()];
        for body in bodies {
            let answer = ada.client.post("/api/projects").body("application/json", body).await.is(422);
            assert!(answer.bytes.len() < 4096, "{} bytes", answer.bytes.len());
        }
    }

    async fn field_errors_within_lists_count_towards_the_same_limit(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let keys: serde_json::Map<String, Value> = (0..1000).map(|number| (format!("k{number}"), json!(1))).collect();
        let invitees: Vec<Value> = (0..100).map(|_| Value::Object(keys.clone())).collect();
        let body = json!({"invitees": invitees, "unknown": 1});
        let answer = ada.client.post(format!("{meeting}/invitations/guests")).json(body).await.is(422);
        assert_eq!(answer.faults().len(), 20);
        assert!(answer.faults().iter().any(|(field, _)| field == "invitees[0].email"), "{:?}", answer.faults());
    }
}
