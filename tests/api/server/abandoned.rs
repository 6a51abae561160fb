//! Requests whose connection is reset before they are answered (R20): one that began to write runs to its end. No
//! idempotency key stays claimed, and what was saved is published.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::chance::Chance;
use crate::support::{Client, ServerSetup, Socket, User, World};

/// How long a resource must stay unchanged: by then an abandoned request has arrived, or it never will.
const SETTLED: Duration = Duration::from_millis(400);
const REQUESTS: usize = 60;

struct Call<'a> {
    method: &'a str,
    path: &'a str,
    key: Option<&'a str>,
    body: Value,
}

/// Sends a whole request and resets the connection `after` microseconds later, before the response can arrive.
async fn abandoned(client: &Client, to: SocketAddr, Call { method, path, key, body }: Call<'_>, after: u64) {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let body = body.to_string();
    let key = key.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{key}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        client.token(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_micros(after)).await;
    // With or without data in flight, the server sees a reset and not an end of stream.
    stream.set_zero_linger().unwrap();
}

/// Polls `look` until its result has not changed for [`SETTLED`], and returns the result.
async fn settled<T: PartialEq>(look: impl AsyncFn() -> T) -> T {
    let mut seen = look().await;
    let mut since = Instant::now();
    while since.elapsed() < SETTLED {
        let now = look().await;
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
    }
    seen
}

async fn version(ada: &User, path: &str) -> i64 {
    ada.client.get(path).await.is(200).data()["version"].as_i64().unwrap()
}

on_both! {
    async fn of_sixty_requests_whose_connections_were_reset_no_key_stays_claimed(world: World) {
        let ada = world.user().await;
        let mut chance = Chance::new();
        let name = |number: usize| json!({"name": format!("Project {number}")});
        for number in 0..REQUESTS {
            let key = format!("key-{number}");
            let call = Call { method: "POST", path: "/api/projects", key: Some(&key), body: name(number) };
            abandoned(&ada.client, world.server.public, call, chance.below(12_000)).await;
        }
        // The lease of a key, 30 s, only matters when a server dies: no request has to wait for it here.
        let begun = Instant::now();
        for number in 0..REQUESTS {
            let key = format!("key-{number}");
            loop {
                let again = ada.client.post("/api/projects").key(&key).json(name(number)).await;
                if again.status == 201 {
                    break;
                }
                again.refused(409, "RequestInProgress");
                assert!(begun.elapsed() < Duration::from_secs(15), "{key} is still claimed");
            }
        }
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], REQUESTS, "each had one effect");
    }

    async fn a_saved_change_is_published_though_its_client_disconnected(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}");
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        let mut chance = Chance::new();
        let (mut heard, mut saved) = (1, 0);
        for number in 0..30 {
            let body = json!({"name": format!("Name {number}")});
            let call = Call { method: "PATCH", path: &path, key: None, body };
            abandoned(&ada.client, world.server.public, call, chance.below(6_000)).await;
            let now = settled(async || version(&ada, &path).await).await;
            saved += i32::from(now > heard);
            // Nothing else changes the project meanwhile, so no later event can stand in for this one.
            while heard < now {
                let event = socket.next().await;
                assert_eq!(event["event"], "project.updated", "{event}");
                heard = event["data"]["version"].as_i64().unwrap();
            }
        }
        assert!(saved > 0, "no request arrived in time");
    }

    async fn subscribers_learn_of_a_deleted_project_though_the_client_disconnected(world: World) {
        let ada = world.user().await;
        let mut chance = Chance::new();
        let mut deleted = 0;
        for _ in 0..15 {
            let project = ada.project().await;
            let path = format!("/api/projects/{project}");
            let mut socket = Socket::open(&ada.client).await;
            socket.subscribe(&format!("project:{project}")).await;
            let call = Call { method: "DELETE", path: &path, key: None, body: json!({}) };
            abandoned(&ada.client, world.server.public, call, chance.below(6_000)).await;
            if settled(async || ada.client.get(&path).await.status).await == 404 {
                let frame = socket.next().await;
                assert_eq!(frame["event"], "project.deleted", "{frame}");
                deleted += 1;
            }
        }
        assert!(deleted > 0, "no request arrived in time");
    }

    /// A server that is stopped finishes requests whose clients have disconnected.
    async fn a_stopping_server_finishes_requests_whose_clients_disconnected(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let name = |number: usize| json!({"name": format!("Project {number}")});
        let keys: Vec<String> = (0..REQUESTS).map(|number| format!("key-{number}")).collect();
        for (number, key) in keys.iter().enumerate() {
            let call = Call { method: "POST", path: "/api/projects", key: Some(key), body: name(number) };
            abandoned(&ada.client, server.public, call, 500).await;
        }
        server.terminate();
        let mut server = server;
        assert!(server.wait(Duration::from_secs(15)).expect("it ends").success());
        drop(server);
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        for (number, key) in keys.iter().enumerate() {
            // Each request finished or never started: none is left in progress with no server working on it.
            ada.client.post("/api/projects").key(key).json(name(number)).await.is(201);
        }
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], REQUESTS);
    }
}
