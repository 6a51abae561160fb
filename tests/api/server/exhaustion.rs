//! Clients that exhaust resources (S27): bodies that never end, responses that nobody reads, request heads sent byte
//! by byte, more and more connections. The server has a memory limit and would die if it gave way; an honest client is
//! served meanwhile.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::wire::Wire;
use crate::support::{Kind, Server, ServerSetup, User};

/// The memory limit of the attacked server, in MiB.
const LIMIT: u64 = 512;
/// The memory an attack may use beyond the server's size at rest, in KiB: twice the buffer for bodies and responses.
const TAKEN: u64 = 128 * 1024;
/// Timeouts of two seconds, so that a test sees them expire, and no call limit.
const SHORT: [(&str, &str); 3] = [
    ("COLLOQUY__HTTP__HEAD_SECONDS", "2"),
    ("COLLOQUY__HTTP__GRACE_SECONDS", "2"),
    ("COLLOQUY__LIMITS__CALLS__MOST", "0"),
];
/// How long a test waits for connections to end: far longer than the timeouts, for a busy machine.
const ENDED: Duration = Duration::from_secs(30);

fn attacker(number: usize) -> IpAddr {
    Ipv4Addr::new(127, 0, 1, u8::try_from(number % 200).unwrap() + 1).into()
}

/// An honest client, used before and during an attack.
struct Honest {
    ada: User,
    project: String,
    meeting: String,
    at_rest: u64,
}

impl Honest {
    async fn at(server: &Server) -> Self {
        let ada = server.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let honest = Self { ada, project, meeting, at_rest: 0 };
        honest.goes_on().await;
        Self { at_rest: server.memory().resident, ..honest }
    }

    async fn goes_on(&self) {
        for number in 0..5 {
            self.ada.client.apart().get("/api/projects").await.is(200);
            self.ada.client.patch(&self.meeting).json(json!({"title": format!("Title {number}")})).await.is(200);
            self.ada.client.get(&self.meeting).await.is(200);
        }
        let wrong = json!({"email": "nobody@example.org", "password": "wrong horse battery staple"});
        self.ada.client.post("/api/auth/login").json(wrong).await.is(401);
    }

    /// Panics unless the server is alive and its peak memory is less than [`TAKEN`] above its size at rest.
    fn assert_little_memory_used(&self, server: &Server) {
        let peak = server.memory().peak;
        assert!(peak < self.at_rest + TAKEN, "from {} KiB at rest to {peak} KiB", self.at_rest);
    }

    fn head(&self, method: &str, path: &str, length: usize) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n",
            self.ada.client.token()
        )
    }
}

/// Waits until fewer than 20 connections are open. Panics after [`ENDED`].
async fn connections_close(server: &Server) {
    let began = Instant::now();
    loop {
        let figures = server.operator().get("/metrics").await.text();
        let line = figures.lines().find_map(|line| line.strip_prefix("colloquy_connections ")).unwrap();
        if line.parse::<f64>().unwrap() < 20.0 {
            return;
        }
        assert!(began.elapsed() < ENDED, "{line} connections are still there");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn log_in(length: usize) -> String {
    format!(
        "POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn two_hundred_stalled_log_ins_get_408_and_hold_little_memory() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(LIMIT, &SHORT);
    let honest = Honest::at(&server).await;
    let mut wires = Vec::new();
    for number in 0..200 {
        let mut wire = Wire::from(attacker(number), server.public).await.unwrap();
        assert!(wire.send(log_in(16_000)).await && wire.send(vec![b' '; 15_000]).await);
        wires.push(wire);
    }
    honest.goes_on().await;
    for wire in &mut wires {
        let answer = wire.answer().await.expect("an answer before the end");
        assert_eq!(answer.status, 408, "{answer:?}");
        assert!(String::from_utf8(answer.body).unwrap().contains("RequestTimeout"));
        assert!(wire.ends_within(ENDED).await);
    }
    honest.assert_little_memory_used(&server);
    connections_close(&server).await;
}

#[tokio::test]
async fn unauthenticated_bodies_over_16_kib_are_413() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start(&[]);
    let ada = server.user().await;
    let padded = |bytes: usize| {
        let body = json!({"email": "nobody@example.org", "password": "wrong horse battery staple"}).to_string();
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    let client = || server.client();
    client().post("/api/auth/login").body("application/json", padded(16 * 1024)).await.is(401);
    let large = client().post("/api/auth/login").body("application/json", padded(16 * 1024 + 1)).await;
    large.refused(413, "PayloadTooLarge");
    let large = client().post("/api/auth/password/forgot").body("application/json", padded(1024 * 1024)).await;
    large.refused(413, "PayloadTooLarge");
    let known = json!({"name": "x", "description": "y".repeat(4000)}).to_string() + &" ".repeat(10_000);
    ada.client.post("/api/projects").body("application/json", known).await.is(201);
}

#[tokio::test]
async fn of_six_hundred_connections_of_one_address_all_but_a_hundred_are_refused() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let mut settings = SHORT.to_vec();
    settings.push(("COLLOQUY__HTTP__CONNECTIONS_PER_CLIENT", "100"));
    // None of the hundred may time out, and leave its place to another, before all have come.
    settings.push(("COLLOQUY__HTTP__GRACE_SECONDS", "10"));
    let server = setup.start_within(LIMIT, &settings);
    let honest = Honest::at(&server).await;
    let body = vec![b' '; 1024 * 1024 - 1];
    let mut wires = Vec::new();
    for _ in 0..641 {
        // A refused connection may be closed before it is established.
        if let Ok(mut wire) = Wire::from(attacker(7), server.public).await {
            wire.send(honest.head("POST", "/api/projects", 1024 * 1024)).await;
            wires.push(wire);
        }
    }
    honest.goes_on().await;
    let mut sending = tokio::task::JoinSet::new();
    for mut wire in wires {
        let body = body.clone();
        sending.spawn(async move {
            wire.send(body).await;
            wire.answer().await.map(|answer| answer.status)
        });
    }
    honest.goes_on().await;
    let mut held = 0;
    while let Some(status) = sending.join_next().await {
        match status.unwrap() {
            // 408: the last byte never came. 503: there was no buffer space left.
            Some(408 | 503) => held += 1,
            Some(429) | None => {}
            Some(other) => panic!("{other}"),
        }
    }
    assert!((1..=100).contains(&held), "{held} were listened to");
    honest.goes_on().await;
    honest.assert_little_memory_used(&server);
    connections_close(&server).await;
}

#[tokio::test]
async fn a_hundred_and_sixty_answers_that_nobody_reads_are_cut_off() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(LIMIT, &SHORT);
    let honest = Honest::at(&server).await;
    let words = "An answer that is too long to be in the system's buffers alone.\n\n".repeat(60_000);
    let (path, _) = honest.ada.read(&honest.project, "long.txt", words.as_bytes()).await;
    let at_rest = server.memory().resident;
    let honest = Honest { at_rest, ..honest };
    let mut wires = Vec::new();
    for number in 0..160 {
        let mut wire = Wire::from(attacker(number), server.public).await.unwrap();
        let path = format!("{path}/{}", if number % 2 == 0 { "text" } else { "content" });
        assert!(wire.send(honest.head("GET", &path, 0)).await);
        wires.push(wire);
    }
    honest.goes_on().await;
    connections_close(&server).await;
    honest.goes_on().await;
    honest.assert_little_memory_used(&server);
    // A client that reads receives the whole response.
    let text = honest.ada.client.get(format!("{path}/text")).await.is(200);
    assert!(text.bytes.len() > 600_000, "{}", text.bytes.len());
}

#[tokio::test]
async fn a_hundred_and_sixty_unread_refusals_of_large_bodies_are_small() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(LIMIT, &SHORT);
    let honest = Honest::at(&server).await;
    let keys: Vec<String> = (0..40_000).map(|number| format!("\"k{number}\":1")).collect();
    let body = format!("{{{}}}", keys.join(","));
    let mut wires = Vec::new();
    for number in 0..160 {
        let mut wire = Wire::from(attacker(number), server.public).await.unwrap();
        assert!(wire.send(honest.head("POST", "/api/projects", body.len()) + &body).await);
        wires.push(wire);
    }
    honest.goes_on().await;
    for wire in &mut wires {
        let answer = wire.answer().await.unwrap();
        assert!(matches!(answer.status, 422 | 503) && answer.body.len() < 8192, "{}", answer.status);
    }
    honest.assert_little_memory_used(&server);
}

/// Response heads alone fill the connection, and no response body is polled then.
#[tokio::test]
async fn thousands_of_small_answers_that_nobody_reads_are_cut_off() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(LIMIT, &SHORT);
    let honest = Honest::at(&server).await;
    let (mut wires, mut again) = (Vec::new(), tokio::task::JoinSet::new());
    for number in 0..20 {
        let mut wire = Wire::from(attacker(number), server.public).await.unwrap();
        let asks = |path: &str, count: usize| format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").repeat(count);
        if number < 16 {
            assert!(wire.send(asks("/health/live", 200)).await);
            // What the server does not read stays in the socket buffers, so sending blocks.
            let _ = tokio::time::timeout(Duration::from_millis(100), wire.send(asks("/health/live", 20_000))).await;
            wires.push(wire);
        } else {
            // Requests responses without a body until the connection is cut.
            again.spawn(async move {
                while wire.send(asks("/docs", 50)).await {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
        }
    }
    honest.goes_on().await;
    let all = tokio::time::timeout(ENDED, async { while again.join_next().await.is_some() {} }).await;
    assert!(all.is_ok(), "somebody sends on and on");
    connections_close(&server).await;
    honest.goes_on().await;
    honest.assert_little_memory_used(&server);
}

#[tokio::test]
async fn connections_that_send_byte_by_byte_are_closed() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start_within(LIMIT, &SHORT);
    let honest = Honest::at(&server).await;
    let ask = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
    let head = |wire: &str| format!("GET /health/live HTTP/1.1\r\nhost: x\r\n{wire}");
    let mut stalled = Vec::new();
    for number in 0..40 {
        let mut wire = Wire::from(attacker(number), server.public).await.unwrap();
        match number % 5 {
            // Nothing; half a head; half a second head; a chunked body that continues after its response; a head
            // without its body.
            0 => {}
            1 => assert!(wire.send(head("x-more: ")).await),
            2 => {
                assert_eq!(wire.call(ask).await.unwrap().status, 200);
                assert!(wire.send(head("x-more: ")).await);
            }
            3 => {
                let chunked = "POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n";
                assert_eq!(wire.call(chunked).await.unwrap().status, 404);
            }
            _ => assert!(wire.send(log_in(10_000)).await),
        }
        stalled.push(wire);
    }
    honest.goes_on().await;
    let began = Instant::now();
    let mut trickling = tokio::task::JoinSet::new();
    for mut wire in stalled {
        trickling.spawn(async move {
            // A byte every half second is no progress.
            while began.elapsed() < ENDED {
                if wire.ends_within(Duration::from_millis(500)).await || !wire.send("1").await {
                    return true;
                }
            }
            false
        });
    }
    while let Some(ended) = trickling.join_next().await {
        assert!(ended.unwrap(), "a connection goes on");
    }
    honest.goes_on().await;
    honest.assert_little_memory_used(&server);
    connections_close(&server).await;
}

#[tokio::test]
async fn a_slow_but_steady_upload_succeeds() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let server = setup.start(&SHORT);
    let honest = Honest::at(&server).await;
    let body = json!({"name": "Slow", "description": "y".repeat(4000)}).to_string() + &" ".repeat(40_000);
    let mut wire = Wire::to(server.public).await;
    assert!(wire.send(honest.head("POST", "/api/projects", body.len())).await);
    for piece in body.as_bytes().chunks(2048) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(wire.send(piece).await);
    }
    assert_eq!(wire.answer().await.unwrap().status, 201, "four seconds of grace given back in time");
}

#[tokio::test]
async fn behind_a_proxy_requests_in_flight_are_limited_per_client() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let mut settings = SHORT.to_vec();
    settings.push(("COLLOQUY__HTTP__CONNECTIONS_PER_CLIENT", "3"));
    settings.push(("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.1.9"));
    // None of the three requests may time out before all of them have started.
    settings.push(("COLLOQUY__HTTP__GRACE_SECONDS", "10"));
    let server = setup.start(&settings);
    let of = |client: &str| format!("x-forwarded-for: {client}\r\n");
    let begun = |client: &str| log_in(100).replace("host: x\r\n", &format!("host: x\r\n{}", of(client)));
    let from = || async { Wire::from(attacker(8), server.public).await.unwrap() };
    let ask = |client: &str| format!("GET /health/live HTTP/1.1\r\nhost: x\r\n{}\r\n", of(client));
    let mut wires = Vec::new();
    // Repeats until three requests are in flight. One that arrives while the probe occupies the third place is
    // refused, so more than three may be sent.
    let began = Instant::now();
    loop {
        let mut wire = from().await;
        assert!(wire.send(begun("198.51.100.7")).await);
        wires.push(wire);
        if wires.len() >= 3 && from().await.call(ask("198.51.100.7")).await.unwrap().status == 429 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(8), "a fourth request is taken");
    }
    for _ in 0..5 {
        assert_eq!(from().await.call(ask("198.51.100.8")).await.unwrap().status, 200);
    }
    let mut ended = Vec::new();
    for wire in &mut wires {
        ended.push(wire.answer().await.unwrap().status);
    }
    let count = |status: u16| ended.iter().filter(|ended| **ended == status).count();
    assert_eq!((count(408), count(429)), (3, wires.len() - 3), "{ended:?}");
    assert_eq!(from().await.call(ask("198.51.100.7")).await.unwrap().status, 200);
}
