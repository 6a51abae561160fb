//! HTTP byte by byte, for what no client library would send: half requests, odd heads, answers that are not read.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// How long anything of the server is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection.
pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
}

/// What came, whole.
#[derive(Debug)]
pub struct Received {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Wire {
    pub async fn to(server: SocketAddr) -> Self {
        Self::from(Ipv4Addr::LOCALHOST.into(), server).await.unwrap()
    }

    /// As [`Wire::to`], from one of this machine's addresses: all of 127.0.0.0/8 are its own. It takes little in advance, so
    /// that what it does not read waits at the server.
    pub async fn from(own: IpAddr, server: SocketAddr) -> std::io::Result<Self> {
        let socket = if own.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_recv_buffer_size(4096)?;
        socket.bind((own, 0).into())?;
        let stream = socket.connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::new() })
    }

    /// Sends some bytes; whether the server took them.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).await.is_ok()
    }

    /// The next answer, if one comes before the connection ends.
    pub async fn answer(&mut self) -> Option<Received> {
        timeout(PATIENCE, self.read_answer()).await.expect("an answer or an end within a minute")
    }

    /// Sends a whole request and takes its answer.
    pub async fn call(&mut self, request: impl AsRef<[u8]>) -> Option<Received> {
        // A server that refuses a request may end the connection while it is sent: its answer is there all the same.
        self.send(request).await;
        self.answer().await
    }

    async fn read_answer(&mut self) -> Option<Received> {
        let end = loop {
            if let Some(at) = self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8(self.received.drain(..end).collect()).unwrap();
        let status = head.get(9..12)?.parse().unwrap();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        let length = length.unwrap_or(0);
        while self.received.len() < length {
            self.more().await?;
        }
        Some(Received { status, body: self.received.drain(..length).collect() })
    }

    /// Reads on; `None`: the connection has ended.
    async fn more(&mut self) -> Option<()> {
        match self.stream.read_buf(&mut self.received).await {
            Ok(1..) => Some(()),
            Ok(0) | Err(_) => None,
        }
    }

    /// Waits for the end, whatever comes before it; whether it came in time.
    pub async fn ends_within(&mut self, limit: Duration) -> bool {
        let end = async {
            while self.more().await.is_some() {
                self.received.clear();
            }
        };
        timeout(limit, end).await.is_ok()
    }
}
