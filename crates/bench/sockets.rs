//! Many WebSocket connections that subscribe to one meeting, or to one topic of another server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use api_client::caller::ApiClient;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::processor;

/// How many sockets are opened concurrently: more would only wait in the server's accept backlog.
const OPENING: usize = 32;
/// How long all sockets may take to receive one change.
const PATIENCE: Duration = Duration::from_secs(30);

pub type BenchSocket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Sockets that are open and subscribed, and are being read.
pub struct Crowd {
    listening: JoinSet<()>,
    /// Number of events received over all sockets.
    received: Arc<AtomicUsize>,
    changed: watch::Receiver<()>,
    size: usize,
}

/// How fast events reach all sockets.
pub struct Pushes {
    pub per_second: f64,
    /// Median time in milliseconds from sending a change until the last socket has received it.
    pub to_all_ms: f64,
    pub p99_ms: f64,
    pub slowest_ms: f64,
    pub changes: usize,
    /// Processor time of the server for each push, the change itself included, in microseconds.
    pub processor_micros: f64,
}

impl Crowd {
    /// Opens `size` sockets, each of which `open` returns when it is subscribed.
    ///
    /// # Errors
    /// Returns a message if a socket can't be opened or subscribed.
    pub async fn gather<O>(size: usize, open: impl Fn() -> O) -> Result<Self, String>
    where
        O: Future<Output = Result<BenchSocket, String>> + Send + 'static,
    {
        let received = Arc::new(AtomicUsize::new(0));
        let (progress, changed) = watch::channel(());
        let progress = Arc::new(progress);
        let permits = Arc::new(Semaphore::new(OPENING));
        let mut opening = JoinSet::new();
        for _ in 0..size {
            let (opened, permits) = (open(), Arc::clone(&permits));
            opening.spawn(async move {
                let _permit = permits.acquire().await.map_err(|error| error.to_string())?;
                opened.await
            });
        }
        let mut listening = JoinSet::new();
        while let Some(opened) = opening.join_next().await {
            let socket = opened.map_err(|error| error.to_string())??;
            listening.spawn(listen(socket, Arc::clone(&received), Arc::clone(&progress)));
        }
        Ok(Self { listening, received, changed, size })
    }

    /// Makes changes, each after all sockets have received the last one. `change` makes the one of a number, from 1.
    ///
    /// # Errors
    /// Returns a message if a change is refused, or a socket ends or does not receive an event.
    pub async fn push<C>(
        &mut self,
        server: Option<u32>,
        time: Duration,
        change: impl Fn(usize) -> C,
    ) -> Result<Pushes, String>
    where
        C: Future<Output = Result<(), String>>,
    {
        let used = processor::time_used(server)?;
        let (began, mut took) = (Instant::now(), Vec::new());
        while began.elapsed() < time {
            let goal = self.received.load(Ordering::SeqCst) + self.size;
            let sent = Instant::now();
            let received = tokio::time::timeout(PATIENCE, self.receive(goal));
            let (changed, received) = tokio::join!(change(took.len() + 1), received);
            changed?;
            received.map_err(|_| format!("Not all of {} sockets received a change.", self.size))??;
            took.push(sent.elapsed().as_secs_f64() * 1000.0);
        }
        let elapsed = began.elapsed().as_secs_f64();
        let used = processor::time_used(server)?.saturating_sub(used);
        took.sort_by(f64::total_cmp);
        let pushes = (took.len() * self.size) as f64;
        Ok(Pushes {
            per_second: pushes / elapsed,
            processor_micros: used.as_secs_f64() * 1e6 / pushes.max(1.0),
            to_all_ms: took.get(took.len() / 2).copied().unwrap_or_default(),
            p99_ms: took.get(took.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default(),
            slowest_ms: took.last().copied().unwrap_or_default(),
            changes: took.len(),
        })
    }

    async fn receive(&mut self, goal: usize) -> Result<(), String> {
        while self.received.load(Ordering::SeqCst) < goal {
            tokio::select! {
                changed = self.changed.changed() => changed.map_err(|_| "All sockets ended.")?,
                _ = self.listening.join_next() => return Err("A socket ended.".to_owned()),
            }
        }
        Ok(())
    }
}

/// Changes a meeting in a way that its subscribers are told of.
///
/// # Errors
/// Returns a message if the change is refused.
pub async fn change(caller: &ApiClient, meeting_id: &str, number: usize) -> Result<(), String> {
    let path = format!("{}/api/meetings/{meeting_id}", caller.url);
    let token = caller.token.as_deref().unwrap_or_default();
    let body = json!({ "title": format!("Pushed {number}") });
    let answer = caller.http.patch(&path).bearer_auth(token).json(&body).send().await;
    let status = answer.map_err(|error| error.to_string())?.status();
    if status.is_success() { Ok(()) } else { Err(format!("A change was refused with {}.", status.as_u16())) }
}

/// Returns the text of an event that a subscriber of a meeting receives.
///
/// # Errors
/// Returns a message if the meeting can't be subscribed to or changed.
pub async fn event_text(caller: &ApiClient, meeting_id: &str) -> Result<String, String> {
    let mut socket = open(caller, meeting_id).await?;
    change(caller, meeting_id, 0).await?;
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("A socket ended before it received an event.".to_owned()),
        }
    }
}

/// Opens a socket and subscribes it to a meeting.
///
/// # Errors
/// Returns a message if the socket can't be opened or the subscription is refused.
pub fn open(caller: &ApiClient, meeting_id: &str) -> impl Future<Output = Result<BenchSocket, String>> + use<> {
    let (caller, meeting_id) = (caller.clone(), meeting_id.to_owned());
    async move {
        let mut socket = connect(&caller).await?;
        subscribe(&mut socket, &meeting_id).await?;
        Ok(socket)
    }
}

async fn connect(caller: &ApiClient) -> Result<BenchSocket, String> {
    let url = format!("{}/api/ws", caller.url.replacen("http", "ws", 1));
    let mut request = url.into_client_request().map_err(|error| error.to_string())?;
    let token = format!("Bearer {}", caller.token.as_deref().unwrap_or_default());
    request.headers_mut().insert("authorization", token.parse().map_err(|_| "The token is not a valid header value.")?);
    let opened = connect_async(request).await;
    opened.map(|(socket, _)| socket).map_err(|error| format!("A socket can't be opened: {error}"))
}

/// Subscribes a socket to a meeting.
///
/// # Errors
/// Returns a message if the subscription is refused or the socket ends.
pub async fn subscribe(socket: &mut BenchSocket, meeting_id: &str) -> Result<(), String> {
    let subscribe = json!({ "type": "subscribe", "topic": format!("meeting:{meeting_id}") });
    socket.send(Message::text(subscribe.to_string())).await.map_err(|error| error.to_string())?;
    while let Some(message) = socket.next().await {
        let message = message.map_err(|error| error.to_string())?;
        let Ok(text) = message.to_text() else { continue };
        let frame: Value = serde_json::from_str(text).unwrap_or_default();
        match frame.get("type").and_then(Value::as_str) {
            Some("subscribed") => return Ok(()),
            Some("error") => return Err(format!("A subscription was refused: {text}")),
            _ => {}
        }
    }
    Err("A socket was closed before it was subscribed.".to_owned())
}

/// Counts events until the socket ends.
async fn listen(mut socket: BenchSocket, received: Arc<AtomicUsize>, progress: Arc<watch::Sender<()>>) {
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() {
            received.fetch_add(1, Ordering::SeqCst);
            progress.send_replace(());
        }
    }
}
