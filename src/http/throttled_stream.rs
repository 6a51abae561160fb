//! A TCP stream that limits how many pipelined requests reach the HTTP parser.
//!
//! actix parses all request heads that have arrived before it sends the first response, and each parsed head takes some
//! kilobytes: 128 KiB of the smallest ones become 30 MB. So this stream passes on a few heads at a time, as earlier
//! requests are answered; the rest waits in the kernel's receive buffer.

use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;

use super::raw_connection::RawConnection;

/// The most requests that have been passed on and are not answered yet.
const MAX_AHEAD: usize = 16;
/// How much of a header line is stored. The names and values that determine a body's length are shorter.
const LINE_BYTES: usize = 256;

/// A connection that passes on at most `MAX_AHEAD` unanswered requests.
pub struct ThrottledStream {
    reading: OwnedReadHalf,
    pub connection: RawConnection,
    heads: Heads,
    /// Bytes that have arrived and may not be passed on yet.
    held: BytesMut,
}

impl ThrottledStream {
    #[must_use]
    pub fn new(reading: OwnedReadHalf, connection: RawConnection) -> Self {
        Self { reading, connection, heads: Heads::default(), held: BytesMut::new() }
    }
}

impl AsyncRead for ThrottledStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        if this.connection.is_switched() {
            // The bytes that follow belong to the WebSocket protocol.
            if this.held.is_empty() {
                return Pin::new(&mut this.reading).poll_read(cx, out);
            }
            let here = this.held.len().min(out.remaining());
            out.put_slice(&this.held.split_to(here));
            return Poll::Ready(Ok(()));
        }
        // Registered before the count is read: a response that ends right after it then still wakes this task.
        this.connection.wake_at_answer(cx.waker());
        let room = MAX_AHEAD.saturating_sub(this.heads.whole.saturating_sub(this.connection.answered()));
        // The body of the last request passed on may still follow.
        if room == 0 && this.heads.at == HeadState::Head {
            return Poll::Pending;
        }
        if !this.held.is_empty() {
            let most = this.held.len().min(out.remaining());
            let passed = this.heads.pass(this.held.get(..most).unwrap_or_default(), room);
            out.put_slice(this.held.get(..passed).unwrap_or_default());
            this.held.advance(passed);
            return Poll::Ready(Ok(()));
        }
        let before = out.filled().len();
        ready!(Pin::new(&mut this.reading).poll_read(cx, out))?;
        let come = out.filled().get(before..).unwrap_or_default();
        let passed = this.heads.pass(come, room);
        this.held.extend_from_slice(come.get(passed..).unwrap_or_default());
        out.set_filled(before + passed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ThrottledStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.connection.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.connection.shut(Shutdown::Write);
        Poll::Ready(Ok(()))
    }
}

/// A minimal HTTP/1 scanner that tracks its position in the client's bytes and counts the heads. It rejects nothing:
/// reporting malformed HTTP is left to the server.
#[derive(Default)]
struct Heads {
    whole: usize,
    at: HeadState,
    /// The beginning of the current line.
    text: Vec<u8>,
    /// The Content-Length of the current head.
    length: u64,
    is_chunked: bool,
    /// Whether the current head has a line yet. Empty lines may precede a head.
    is_started: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
enum HeadState {
    #[default]
    Head,
    Body(u64),
    /// The line with the length of a chunk.
    Chunk,
    /// The line that ends a chunk.
    ChunkEnd,
    Trailer,
}

impl Heads {
    /// Returns how many of these bytes may be passed on until `room` more heads are complete.
    fn pass(&mut self, bytes: &[u8], room: usize) -> usize {
        let last = self.whole + room;
        let mut passed = 0;
        while let Some(rest) = bytes.get(passed..).filter(|rest| !rest.is_empty()) {
            if self.whole == last && self.at == HeadState::Head {
                break;
            }
            if let HeadState::Body(left) = self.at {
                let here = left.min(rest.len() as u64);
                passed += here as usize;
                self.at = self.after_body(left - here);
                continue;
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            passed += line.len() + usize::from(end.is_some());
            let more = LINE_BYTES.saturating_sub(self.text.len()).min(line.len());
            let kept = line.get(..more).unwrap_or_default();
            // Nearly all lines come whole.
            if end.is_some() && self.text.is_empty() {
                self.ended(kept.strip_suffix(b"\r").unwrap_or(kept));
                continue;
            }
            self.text.extend_from_slice(kept);
            if end.is_some() {
                let text = std::mem::take(&mut self.text);
                self.ended(text.strip_suffix(b"\r").unwrap_or(&text));
            }
        }
        passed
    }

    fn after_body(&self, left: u64) -> HeadState {
        match left {
            0 if self.is_chunked => HeadState::ChunkEnd,
            0 => HeadState::Head,
            left => HeadState::Body(left),
        }
    }

    /// Processes a complete line.
    fn ended(&mut self, line: &[u8]) {
        match self.at {
            HeadState::Head if !line.is_empty() => {
                self.is_started = true;
                self.header(line);
            }
            HeadState::Head if self.is_started => {
                self.whole += 1;
                self.is_started = false;
                let length = std::mem::take(&mut self.length);
                self.at = match length {
                    _ if self.is_chunked => HeadState::Chunk,
                    0 => HeadState::Head,
                    length => HeadState::Body(length),
                };
            }
            HeadState::Chunk => {
                let digits = line.split(|byte| !byte.is_ascii_hexdigit()).next().unwrap_or_default();
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                self.at = match u64::from_str_radix(digits, 16).unwrap_or(0) {
                    0 => HeadState::Trailer,
                    size => HeadState::Body(size),
                };
            }
            HeadState::ChunkEnd => self.at = HeadState::Chunk,
            HeadState::Trailer if line.is_empty() => {
                self.is_chunked = false;
                self.at = HeadState::Head;
            }
            HeadState::Head | HeadState::Trailer | HeadState::Body(_) => {}
        }
    }

    fn header(&mut self, line: &[u8]) {
        let Some((name, value)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':')) else { return };
        if name.eq_ignore_ascii_case("content-length") {
            self.length = value.trim().parse().unwrap_or(0);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.is_chunked = value.to_ascii_lowercase().contains("chunked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HeadState, Heads};

    const GET: &[u8] = b"GET / HTTP/1.1\r\nhost:\r\n\r\n";

    /// Asserts that the number of bytes passed on does not depend on the size of the pieces.
    fn passes(sent: &[u8], room: usize, passed: usize, heads: usize) {
        for size in [1, 2, 3, 7, 64, sent.len()] {
            let (mut counted, mut all) = (Heads::default(), 0);
            while all < sent.len() {
                let piece = &sent[all..(all + size).min(sent.len())];
                let here = counted.pass(piece, room - counted.whole);
                all += here;
                if here < piece.len() {
                    break;
                }
            }
            assert_eq!((all, counted.whole), (passed, heads), "in pieces of {size}");
        }
    }

    #[test]
    fn so_many_heads_are_passed_on_and_bodies_are_none() {
        passes(&GET.repeat(20), 16, GET.len() * 16, 16);
        passes(&GET.repeat(16), 16, GET.len() * 16, 16);
        passes(&b"GET / HTTP/1.1\nhost:\n\n".repeat(20), 3, 22 * 3, 3);
        let body = b"\r\n\r\nGET / HTTP/1.1\r\n\r\n".repeat(50);
        let sized = [format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat();
        passes(&[&sized[..], &sized, GET].concat(), 2, sized.len() * 2, 2);
        let mut chunked = b"POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n".to_vec();
        chunked.extend_from_slice(format!("{:x};x=y\r\n", body.len()).as_bytes());
        chunked.extend_from_slice(&body);
        chunked.extend_from_slice(b"\r\n0\r\ntrailer: x\r\n\r\n");
        passes(&[&chunked[..], GET, GET].concat(), 2, chunked.len() + GET.len(), 2);
        passes(&[b"\r\n\r\n", GET, GET].concat(), 1, GET.len() + 4, 1);
    }

    #[test]
    fn what_is_no_http_is_passed_on_and_holds_little() {
        let mut heads = Heads::default();
        assert_eq!(heads.pass(&[b'x'; 100_000], 1), 100_000);
        assert!(heads.text.len() <= super::LINE_BYTES && heads.at == HeadState::Head);
        passes(b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\nGET", 5, 44, 1);
        passes(b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\nGET", 5, 56, 1);
    }
}
