//! What others do with the same work on the same machine: `ws` and Socket.IO, which push the same bytes to as many
//! sockets, and pgbench, whose clients make PostgreSQL run the two statements of a PATCH.

mod pgbench;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

pub use self::pgbench::PgBench;
use super::SETTLING;
use super::memory;
use super::sockets::{BenchSocket, Crowd, Pushes};

/// The topic that all sockets subscribe to.
const TOPIC: &str = "meeting";

/// A server that pushes.
#[derive(Debug, Clone, Copy)]
pub enum Pusher {
    Ws,
    SocketIo,
}

impl Pusher {
    pub const ALL: [Self; 2] = [Self::Ws, Self::SocketIo];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ws => "ws",
            Self::SocketIo => "socket.io",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::Ws => "ws.mjs",
            Self::SocketIo => "socket-io.mjs",
        }
    }

    fn address(self, port: u16) -> String {
        match self {
            Self::Ws => format!("ws://127.0.0.1:{port}/"),
            Self::SocketIo => format!("ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket"),
        }
    }

    /// What a socket sends, one after the answer to the other: Socket.IO's handshake, and the subscription.
    fn greeting(self) -> Vec<String> {
        match self {
            Self::Ws => vec![TOPIC.to_owned()],
            Self::SocketIo => vec!["40".to_owned(), format!("42[\"subscribe\",\"{TOPIC}\"]")],
        }
    }
}

/// What a server of others did.
pub struct Compared {
    pub pusher: Pusher,
    pub pushes: Pushes,
    pub before_kib: u64,
    pub idle_kib: u64,
}

/// The servers of `tests/figures`, with their packages, in a folder of their own.
pub struct Servers(tempfile::TempDir);

impl Servers {
    /// Installs the packages in the versions of the lock file in `from`.
    ///
    /// # Errors
    /// Returns a message if Node or npm is missing, or the packages can't be had.
    pub async fn install(from: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        for name in ["package.json", "package-lock.json", "serve.mjs", "ws.mjs", "socket-io.mjs"] {
            let (file, copy): (PathBuf, PathBuf) = (from.join(name), folder.path().join(name));
            std::fs::copy(&file, copy).map_err(|error| format!("{} can't be read: {error}", file.display()))?;
        }
        let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
        let installed = Command::new("npm").arg("ci").args(quiet).current_dir(folder.path()).output().await;
        let installed = installed.map_err(|error| format!("npm can't be run: {error}"))?;
        if !installed.status.success() {
            return Err(format!("npm ci failed: {}", String::from_utf8_lossy(&installed.stderr)));
        }
        Ok(Self(folder))
    }

    /// Has a server push a text to `size` sockets, again and again.
    ///
    /// # Errors
    /// Returns a message if the server can't be started, or a socket does not receive the text.
    pub async fn measure(&self, pusher: Pusher, size: usize, text: &str, time: Duration) -> Result<Compared, String> {
        let (server, port) = self.start(pusher).await?;
        let before_kib = memory::resident_kib(server.id())?;
        let mut crowd = Crowd::gather(size, || open(pusher, port)).await?;
        tokio::time::sleep(SETTLING).await;
        let idle_kib = memory::resident_kib(server.id())?;
        let (http, url) = (reqwest::Client::new(), format!("http://127.0.0.1:{port}/{TOPIC}"));
        let publish = |_| async {
            let answer = http.post(&url).body(text.to_owned()).send().await.map_err(|error| error.to_string())?;
            answer.error_for_status().map(drop).map_err(|error| error.to_string())
        };
        let pushes = crowd.push(server.id(), time, publish).await?;
        Ok(Compared { pusher, pushes, before_kib, idle_kib })
    }

    /// The server ends when it is dropped.
    async fn start(&self, pusher: Pusher) -> Result<(Child, u16), String> {
        #[derive(Deserialize)]
        struct Ready {
            port: u16,
        }
        let mut node = Command::new("node");
        node.arg(pusher.script()).current_dir(self.0.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = node.kill_on_drop(true).spawn().map_err(|error| format!("node can't be run: {error}"))?;
        let output = server.stdout.take().ok_or("node has no output")?;
        let line = BufReader::new(output).lines().next_line().await.map_err(|error| error.to_string())?;
        let line = line.ok_or_else(|| format!("{} ended at once.", pusher.name()))?;
        let Ready { port } =
            serde_json::from_str(&line).map_err(|error| format!("{} is not ready: {error}", pusher.name()))?;
        Ok((server, port))
    }
}

async fn open(pusher: Pusher, port: u16) -> Result<BenchSocket, String> {
    let opened = connect_async(pusher.address(port)).await;
    let (mut socket, _) = opened.map_err(|error| format!("A socket can't be opened: {error}"))?;
    if matches!(pusher, Pusher::SocketIo) {
        answered(&mut socket).await?;
    }
    for text in pusher.greeting() {
        socket.send(Message::text(text)).await.map_err(|error| error.to_string())?;
        answered(&mut socket).await?;
    }
    Ok(socket)
}

async fn answered(socket: &mut BenchSocket) -> Result<(), String> {
    match socket.next().await {
        Some(Ok(Message::Text(_))) => Ok(()),
        other => Err(format!("A socket received {other:?} before it was subscribed.")),
    }
}
