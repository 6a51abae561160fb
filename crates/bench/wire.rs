//! A minimal HTTP/1.1 client over one keep-alive connection: a client that costs more than the server it measures would
//! measure itself.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD_END: &[u8] = b"\r\n\r\n";
/// Buffer space reserved for each read.
const PIECE_BYTES: usize = 16 * 1024;

pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A response as it was received.
pub struct Answered<'a> {
    pub status: u16,
    pub head: &'a [u8],
    pub body: &'a [u8],
}

impl Wire {
    /// Connects to the server.
    ///
    /// # Errors
    /// Returns the error of the connection attempt, for example if nothing listens there.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(PIECE_BYTES) })
    }

    /// Sends a request and waits for the complete response.
    ///
    /// # Errors
    /// Fails if the connection is closed or the response is invalid or has no `Content-Length`.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Answered<'_>> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let (status, head_end, length) = loop {
            self.receive().await?;
            if let Some(at) = self.received.windows(HEAD_END.len()).position(|four| four == HEAD_END) {
                let head = self.received.get(..at).unwrap_or_default();
                let status = status_in(head).ok_or_else(|| io::Error::other("no status line"))?;
                let length = if status == 304 || status == 204 { Some(0) } else { length_in(head) };
                let length = length.ok_or_else(|| io::Error::other("a response without a length"))?;
                break (status, at + HEAD_END.len(), length);
            }
        };
        while self.received.len() < head_end + length {
            self.receive().await?;
        }
        let (head, body) = self.received.split_at(head_end);
        Ok(Answered { status, head, body })
    }

    async fn receive(&mut self) -> io::Result<()> {
        self.received.reserve(PIECE_BYTES);
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Parses the status code of a line such as `HTTP/1.1 200 OK`.
fn status_in(head: &[u8]) -> Option<u16> {
    std::str::from_utf8(head.get(9..12)?).ok()?.parse().ok()
}

fn length_in(head: &[u8]) -> Option<usize> {
    header_in(head, "content-length")?.parse().ok()
}

/// Returns a header's value.
pub fn header_in<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let lines = head.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut fields = lines.filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Formats a request; `more` are further header lines, each with its line end.
pub fn request(method: &str, path: &str, token: &str, more: &str, body: &str) -> Vec<u8> {
    let content = if body.is_empty() {
        String::new()
    } else {
        format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len())
    };
    format!("{method} {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n{more}{content}\r\n{body}")
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let head = b"HTTP/1.1 304 Not Modified\r\nETag: \"7\"\r\nContent-Length: 12";
        assert_eq!((status_in(head), length_in(head)), (Some(304), Some(12)));
        assert_eq!(header_in(head, "etag"), Some("\"7\""));
        assert_eq!(header_in(head, "date"), None);
    }

    #[test]
    fn a_request_is_whole() {
        let sent = request("PATCH", "/x", "t", "if-match: \"1\"\r\n", "{}");
        let expected = "PATCH /x HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer t\r\nif-match: \"1\"\r\n\
                        content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(String::from_utf8_lossy(&sent), expected);
    }
}
