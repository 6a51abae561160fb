//! Attackers that need no account, each with its own IP address: bodies that never end, unread responses, odd methods, and
//! request heads sent byte by byte.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

/// Duration of one attempt, after which it starts again.
pub const TRY: Duration = Duration::from_secs(60);
/// Pause between two attempts.
pub const PAUSE: Duration = Duration::from_secs(1);

/// Repeats an attack for ever, each time over a new connection.
pub async fn again_and_again<F, Fut>(server: SocketAddr, number: usize, what: F)
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
pub async fn stall(mut stream: TcpStream, started: String) {
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
pub async fn leave_unread(mut stream: TcpStream, ask: Vec<u8>) {
    if stream.write_all(&ask).await.is_ok() {
        sleep(TRY / 2).await;
    }
}

pub async fn odd_methods(mut stream: TcpStream) {
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
pub async fn trickle(mut stream: TcpStream) {
    let head = "GET /health/live HTTP/1.1\r\nhost: x\r\nx-more: ";
    if stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    while stream.write_all(b"1").await.is_ok() {
        sleep(PAUSE).await;
    }
}
