//! Graceful shutdown of the server (R15).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{ServerSetup, User};

/// A PATCH request whose body is sent in part.
struct Begun {
    stream: TcpStream,
    rest: String,
}

fn begin(ada: &User, address: std::net::SocketAddr, path: &str) -> Begun {
    let body = r#"{"title":"In flight"}"#;
    let (first, rest) = body.split_at(5);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(
        stream,
        "PATCH {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{first}",
        ada.client.token(),
        body.len()
    )
    .unwrap();
    stream.flush().unwrap();
    Begun { stream, rest: rest.to_owned() }
}

impl Begun {
    fn finish(mut self) -> String {
        self.stream.write_all(self.rest.as_bytes()).unwrap();
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

on_both! {
    async fn on_termination_it_is_unready_at_once_finishes_requests_in_flight_and_exits(setup: ServerSetup) {
        let mut server = setup.start(&[]);
        let ada = server.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let begun = begin(&ada, server.public, &meeting);
        tokio::time::sleep(Duration::from_millis(300)).await;
        let stopped_at = Instant::now();
        server.terminate();
        tokio::time::sleep(Duration::from_millis(500)).await;
        // Either nothing listens any longer, or the response is 503.
        if let Ok(answer) = server.client().get("/health/ready").tried().await {
            answer.refused(503, "ServiceUnavailable");
        }
        assert!(server.wait(Duration::ZERO).is_none(), "it waits for the request in flight");
        let answer = begun.finish();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("In flight"), "{answer}");
        let ended = server.wait(Duration::from_secs(15)).expect("it ends");
        assert!(ended.success() && stopped_at.elapsed() < Duration::from_secs(15), "{ended} after {:?}", stopped_at.elapsed());
        drop(server);
        let started = Instant::now();
        let server = setup.start(&[]);
        assert!(started.elapsed() < Duration::from_secs(8), "the lease was given back");
        let read = ada.at(&server).client.get(&meeting).await.is(200);
        assert_eq!(read.data()["title"], "In flight");
    }

    async fn requests_that_never_end_are_cut_off_after_the_drain_period(setup: ServerSetup) {
        let mut server = setup.start(&[("COLLOQUY__SERVER__DRAIN_SECONDS", "1")]);
        let ada = server.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let _begun = begin(&ada, server.public, &meeting);
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.terminate();
        assert!(server.wait(Duration::from_secs(10)).expect("it ends").success());
    }
}
