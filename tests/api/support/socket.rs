//! A client of the WebSocket `/api/ws`, and a parser of event streams.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::client::Client;
use super::frames;

const LIMIT: Duration = Duration::from_secs(20);

/// An open socket.
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    /// Opens a socket with the access token in the `Authorization` header, as clients other than browsers do. Panics
    /// when the server refuses it.
    pub async fn open(client: &Client) -> Self {
        Self::tried(client, "", &[]).await.unwrap_or_else(|(status, body)| panic!("no socket: {status} {body}"))
    }

    /// Opens a socket with a query and headers; without a query the client's token is sent too. Returns status and body
    /// when the server refuses it.
    pub async fn tried(client: &Client, query: &str, headers: &[(&'static str, &str)]) -> Result<Self, (u16, Value)> {
        let url = format!("{}/api/ws{query}", client.base().replacen("http", "ws", 1));
        let mut request = url.into_client_request().unwrap();
        if query.is_empty() {
            request.headers_mut().insert("authorization", format!("Bearer {}", client.token()).parse().unwrap());
        }
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((stream, _)) => Ok(Self { stream }),
            Err(Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err((response.status().as_u16(), serde_json::from_slice(body).unwrap_or(Value::Null)))
            }
            Err(error) => panic!("no socket: {error}"),
        }
    }

    pub async fn send(&mut self, frame: Value) {
        self.send_raw(Message::text(frame.to_string())).await;
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.stream.send(message).await.unwrap();
    }

    /// As [`Socket::send_raw`], but returns the error: for a server that may close the socket meanwhile.
    pub async fn tried_raw(&mut self, message: Message) -> Result<(), Error> {
        self.stream.send(message).await
    }

    /// Returns the next text frame. Panics when none comes within 20 s, or when the socket closes.
    pub async fn next(&mut self) -> Value {
        self.next_within(LIMIT).await.expect("a frame within 20 s")
    }

    /// Returns the next text frame, or `None` when none comes within `limit`. Panics when the socket closes.
    pub async fn next_within(&mut self, limit: Duration) -> Option<Value> {
        let frame = async {
            loop {
                match self.stream.next().await {
                    Some(Ok(Message::Text(text))) => return described(&text),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    other => panic!("no frame but {other:?}"),
                }
            }
        };
        tokio::time::timeout(limit, frame).await.ok()
    }

    /// Subscribes to a topic and returns the next frame, which is the response.
    pub async fn subscribe(&mut self, topic: &str) -> Value {
        self.send(json!({"type": "subscribe", "topic": topic})).await;
        self.next().await
    }

    /// Subscribes to a topic from the position where another socket ended, and returns the next frame.
    pub async fn resume(&mut self, topic: &str, epoch: &Value, offset: u64) -> Value {
        let since = json!({"epoch": epoch, "offset": offset});
        self.send(json!({"type": "subscribe", "topic": topic, "since": since})).await;
        self.next().await
    }

    /// Reads until the server closes the socket, for at most 20 s; returns the close code, if any, and the frames
    /// before it.
    pub async fn closed(mut self) -> (Option<u16>, Vec<Value>) {
        let mut received = Vec::new();
        let reading = async {
            loop {
                match self.stream.next().await {
                    Some(Ok(Message::Text(text))) => received.push(described(&text)),
                    Some(Ok(Message::Close(frame))) => return frame.map(|frame| u16::from(frame.code)),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        };
        let code = tokio::time::timeout(LIMIT, reading).await.expect("a close within 20 s");
        if let Some(code) = code {
            frames::check_close(code);
        }
        (code, received)
    }
}

/// Parses a frame. Panics unless the AsyncAPI document describes it.
fn described(text: &str) -> Value {
    let frame = serde_json::from_str(text).unwrap();
    frames::check(&frame);
    frame
}

/// An event of an event stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: u64,
    pub event: String,
    pub data: Value,
}

/// Parses a body of `text/event-stream`, without its comments. Panics on an incomplete event, and on one that the
/// AsyncAPI document does not describe.
pub fn events(body: &str) -> Vec<Event> {
    let blocks = body.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    let parsed = blocks.map(|block| {
        let field = |name: &str| {
            let found = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            found.unwrap_or_else(|| panic!("no {name} in {block:?}"))
        };
        let data = serde_json::from_str(field("data")).unwrap();
        frames::check_data(field("event"), &data);
        Event { id: field("id").parse().unwrap(), event: field("event").to_owned(), data }
    });
    parsed.collect()
}
