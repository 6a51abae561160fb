//! The attackers, each with its own IP address: hostile documents, bodies that never end, unread responses, odd
//! methods, and request heads sent byte by byte. Their responses are not checked.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::super::wire::request;
use super::documents;
use crate::api_client::answer::{DocumentAnswer, ProjectAnswer, RunAnswer};
use crate::api_client::caller::ApiClient;
use crate::api_client::sources;

/// Number of attackers of each kind.
const AUTHORS: usize = 2;
const STALLED: usize = 40;
const UNREAD: usize = 20;
const ODD: usize = 2;
const SLOW: usize = 20;
/// Duration of one attempt, after which it starts again.
const TRY: Duration = Duration::from_secs(60);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// The target, and the accounts for the attackers that need one.
pub struct Attack {
    pub server: SocketAddr,
    pub callers: Vec<ApiClient>,
}

impl Attack {
    /// Number of accounts needed.
    pub const ACCOUNTS: usize = AUTHORS + 1;

    /// Starts all attackers; they stop when the returned set is dropped.
    ///
    /// # Errors
    /// Returns a message if the preparation fails.
    pub async fn begin(self) -> Result<JoinSet<()>, String> {
        let mut all = JoinSet::new();
        let mut callers = self.callers.into_iter();
        let reader = callers.next().ok_or("there is no account")?;
        let (token, text) = (reader.token.clone().unwrap_or_default(), long_text(&reader).await?);
        for caller in callers {
            let project: ProjectAnswer = caller.post("/api/projects", &json!({ "name": "Hostile" })).await?;
            all.spawn(write_documents(caller, project.id));
        }
        let body = "x".repeat(15_000);
        let log_in = format!(
            "POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 16000\r\n\r\n{body}"
        );
        let create = format!(
            "POST /api/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: 1048576\r\n\r\n{}",
            " ".repeat(500_000)
        );
        for number in 0..STALLED {
            let started = if number % 2 == 0 { log_in.clone() } else { create.clone() };
            all.spawn(again_and_again(self.server, number, move |stream| stall(stream, started.clone())));
        }
        for number in 0..UNREAD {
            let path = if number % 2 == 0 { text.clone() } else { "/api/openapi.json".to_owned() };
            let ask = request("GET", &path, &token, "", "");
            all.spawn(again_and_again(self.server, 100 + number, move |stream| leave_unread(stream, ask.clone())));
        }
        for number in 0..ODD {
            all.spawn(again_and_again(self.server, 150 + number, odd_methods));
        }
        for number in 0..SLOW {
            all.spawn(again_and_again(self.server, 160 + number, trickle));
        }
        Ok(all)
    }
}

/// Uploads a document whose text is larger than the operating system's socket buffers, and returns the path of the
/// text.
async fn long_text(caller: &ApiClient) -> Result<String, String> {
    let project: ProjectAnswer = caller.post("/api/projects", &json!({ "name": "Long" })).await?;
    let content = "A text that nobody will read to its end.\n\n".repeat(60_000).into_bytes();
    let file = sources::SampleFile { name: "long.txt".to_owned(), content };
    let document = sources::upload(caller, &project.id, file).await?;
    let read = sources::read(caller, &project.id, &document.id).await?;
    Ok(format!("/api/projects/{}/documents/{}/text", project.id, read.id))
}

/// Uploads one hostile document after the other, and analyses those that can be read.
async fn write_documents(caller: ApiClient, project: String) {
    loop {
        for file in documents::hostile() {
            // The outcome does not matter.
            let _ = timeout(TRY, analyse(&caller, &project, file)).await;
            sleep(PAUSE).await;
        }
    }
}

async fn analyse(caller: &ApiClient, project: &str, file: sources::SampleFile) -> Result<(), String> {
    let document: DocumentAnswer = sources::upload(caller, project, file).await?;
    let read = sources::read(caller, project, &document.id).await?;
    if read.status == "READY" {
        let path = format!("/api/projects/{project}/ai/runs");
        let started: Value = caller.post(&path, &json!({ "documentIds": [document.id] })).await?;
        let id = started.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        while !caller.get::<RunAnswer>(&format!("{path}/{id}")).await?.is_over() {
            sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Repeats an attack for ever, each time over a new connection.
async fn again_and_again<F, Fut>(server: SocketAddr, number: usize, what: F)
where
    F: Fn(TcpStream) -> Fut,
    Fut: Future<Output = ()>,
{
    let own: IpAddr = Ipv4Addr::new(127, 0, 2, u8::try_from(number % 250).unwrap_or(0) + 1).into();
    loop {
        if let Ok(stream) = connect(own, server).await {
            let _ = timeout(TRY, what(stream)).await;
        }
        sleep(PAUSE).await;
    }
}

async fn connect(own: IpAddr, server: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // A small receive buffer, so that unread data waits at the server.
    socket.set_recv_buffer_size(4096)?;
    socket.bind((own, 0).into())?;
    socket.connect(server).await
}

/// Sends a body without its end, and waits.
async fn stall(mut stream: TcpStream, started: String) {
    if stream.write_all(started.as_bytes()).await.is_ok() {
        end_of(&mut stream).await;
    }
}

/// Reads and discards data until the server closes the connection.
async fn end_of(stream: &mut TcpStream) {
    let mut read = [0; 4096];
    while stream.read(&mut read).await.is_ok_and(|bytes| bytes > 0) {}
}

/// Sends a request, and does not read the response for longer than the server waits.
async fn leave_unread(mut stream: TcpStream, ask: Vec<u8>) {
    if stream.write_all(&ask).await.is_ok() {
        sleep(TRY / 2).await;
    }
}

async fn odd_methods(mut stream: TcpStream) {
    let name = "M".repeat(100_000);
    let mut read = [0; 4096];
    for _ in 0..50 {
        let ask = format!("{}{name} /health/live HTTP/1.1\r\nhost: x\r\n\r\n", rand::random::<u32>());
        if stream.write_all(ask.as_bytes()).await.is_err() || !stream.read(&mut read).await.is_ok_and(|bytes| bytes > 0)
        {
            return;
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// Sends a request head byte by byte.
async fn trickle(mut stream: TcpStream) {
    let head = "GET /health/live HTTP/1.1\r\nhost: x\r\nx-more: ";
    if stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    while stream.write_all(b"1").await.is_ok() {
        sleep(PAUSE).await;
    }
}
