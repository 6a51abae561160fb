//! Raw HTTP over TCP, for what no client library sends: partial requests, malformed headers, responses that are not
//! read.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// How long to wait for a response.
const PATIENCE: Duration = Duration::from_secs(60);

/// A TCP connection to the server.
pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A complete response.
#[derive(Debug)]
pub struct Received {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Wire {
    pub async fn to(server: SocketAddr) -> Self {
        Self::from(Ipv4Addr::LOCALHOST.into(), server).await.unwrap()
    }

    /// As [`Wire::to`], from one of this machine's addresses, which all of 127.0.0.0/8 are. The receive buffer is 4
    /// KiB, so that unread data stays at the server.
    pub async fn from(own: IpAddr, server: SocketAddr) -> std::io::Result<Self> {
        let socket = if own.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_recv_buffer_size(4096)?;
        socket.bind((own, 0).into())?;
        let stream = socket.connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::new() })
    }

    /// Sends bytes and returns whether the connection accepted them.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).await.is_ok()
    }

    /// Returns the next response, or `None` when the connection ends before one. Panics after 60 s.
    pub async fn answer(&mut self) -> Option<Received> {
        timeout(PATIENCE, self.read_answer()).await.expect("an answer or an end within a minute")
    }

    /// Sends a whole request and returns its response.
    pub async fn call(&mut self, request: impl AsRef<[u8]>) -> Option<Received> {
        // A server that refuses a request may close the connection while it is sent; its response can be read
        // nevertheless.
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

    /// Reads more bytes; returns `None` when the connection has ended.
    async fn more(&mut self) -> Option<()> {
        match self.stream.read_buf(&mut self.received).await {
            Ok(1..) => Some(()),
            Ok(0) | Err(_) => None,
        }
    }

    /// Discards input until the connection ends; returns whether it ended within `limit`.
    pub async fn ends_within(&mut self, limit: Duration) -> bool {
        let end = async {
            while self.more().await.is_some() {
                self.received.clear();
            }
        };
        timeout(limit, end).await.is_ok()
    }
}
