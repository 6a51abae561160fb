//! Tests that clients which do not read are disconnected.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::support::wire::Wire;
use crate::support::{ServerSetup, Socket};

/// Returns whether the operating system lists the server's end of a connection as established. Takes the ports of the
/// server and of the client.
fn is_established((server, client): (u16, u16)) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let (server, client) = (format!(":{server:04X}"), format!(":{client:04X}"));
    let fields = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut ends = fields.filter(|fields| fields[1].ends_with(&server) && fields[2].ends_with(&client));
    ends.any(|fields| fields[3] == "01")
}

on_sqlite! {
    async fn a_slow_socket_is_closed_and_the_others_receive_all_events(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__SOCKETS__WINDOW_FRAMES", "8")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (path, topic) = (format!("/api/projects/{project}"), format!("project:{project}"));
        let (mut slow, mut quick) = (Socket::open(&ada.client).await, Socket::open(&ada.client).await);
        let epoch = slow.subscribe(&topic).await["epoch"].clone();
        quick.subscribe(&topic).await;
        for number in 1..=600 {
            ada.client.patch(&path).json(json!({"name": format!("Name {number}")})).await.is(200);
            assert_eq!(quick.next().await["offset"], number);
        }
        tokio::time::sleep(Duration::from_secs(7)).await;
        let (code, frames) = slow.closed().await;
        assert_eq!(code, Some(1013));
        let figures = server.operator().get("/metrics").await.text();
        assert!(figures.contains("colloquy_sockets_closed_total{code=\"1013\"} 1"), "{figures}");
        assert!(frames.len() <= 8, "{} frames were in flight", frames.len());
        let mut offset = 0;
        for frame in frames {
            offset += 1;
            assert_eq!(frame["offset"], offset);
        }
        let mut again = Socket::open(&ada.client).await;
        assert_eq!(again.resume(&topic, &epoch, offset).await["recovered"], true);
        while offset < 600 {
            offset += 1;
            assert_eq!(again.next().await["offset"], offset);
        }
    }

    async fn a_handshake_with_a_chunked_body_opens_no_socket(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let handshake = |header: &str| {
            format!(
                "GET /api/ws HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                 sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{header}\r\n",
                ada.client.token()
            )
        };
        let refused = Wire::to(server.public).await.call(handshake("transfer-encoding: chunked\r\n")).await.unwrap();
        assert_eq!(refused.status, 400);
        // A length counts for nothing, and some clients send that of no body.
        for header in ["", "content-length: 0\r\n", "content-length: 5\r\n"] {
            assert_eq!(Wire::to(server.public).await.call(handshake(header)).await.unwrap().status, 101, "{header}");
        }
    }

    async fn a_client_that_never_reads_is_disconnected(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__SOCKETS__PER_ACCOUNT", "1")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (path, topic) = (format!("/api/projects/{project}"), format!("project:{project}"));
        let tcp = TcpSocket::new_v4().unwrap();
        tcp.set_recv_buffer_size(4096).unwrap();
        let mut deaf = tcp.connect(server.public).await.unwrap();
        let asked = format!(
            "GET /api/ws HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            ada.client.token()
        );
        deaf.write_all(asked.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        deaf.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 101");
        let frame = json!({"type": "subscribe", "topic": topic}).to_string();
        let length = u8::try_from(frame.len()).unwrap();
        assert!(length < 126);
        let mut bytes = vec![0x81, 0x80 | length, 0, 0, 0, 0];
        bytes.extend(frame.as_bytes());
        deaf.write_all(&bytes).await.unwrap();
        assert!(is_established((server.public.port(), deaf.local_addr().unwrap().port())));
        let begun = Instant::now();
        let mut number = 0;
        while Socket::tried(&ada.client, "", &[]).await.is_err() {
            number += 1;
            let description = format!("{number} {}", "x".repeat(4900));
            ada.client.patch(&path).json(json!({"description": description})).await.is(200);
            assert!(begun.elapsed() < Duration::from_secs(40), "the deaf client still has its place");
        }
        let ports = (server.public.port(), deaf.local_addr().unwrap().port());
        while is_established(ports) {
            assert!(begun.elapsed() < Duration::from_secs(40), "the server still holds the connection");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
