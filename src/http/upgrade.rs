//! Connections whose client asks for a WebSocket (or sends CONNECT, which is refused). They are not left to actix's HTTP
//! dispatcher: it keeps two buffers of 8 KB, has a task of its own woken for each frame, and polls no body while its client
//! does not read, so that a session could not notice anything meanwhile.
//!
//! ```text
//!   request with `Upgrade: websocket` --> app --101--> session: always polled, and its bytes written as the client reads
//!                                          `---else--> response, then the end of the connection
//! ```

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_codec::{Encoder, Framed, FramedParts};
use actix_http::body::{BoxBody, MessageBody};
use actix_http::error::PayloadError;
use actix_http::h1::{Codec, Message};
use actix_http::{BoxedPayloadStream, ConnectionType, Payload, Request, Response, StatusCode};
use actix_service::Service;
use bytes::{Buf, Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::timeout;

use super::raw_connection::RawConnection;
use super::throttled_stream::ThrottledStream;

/// How much is read from a connection at once.
const READ_BYTES: usize = 4096;
/// How much of a response that opens no session is taken before it is written.
const RESPONSE_BYTES: usize = 16 * 1024;
/// The timeout for ending a connection; after it the connection is aborted.
const END: Duration = Duration::from_secs(2);
/// At the end the input is read until it pauses for this long: with unread bytes the operating system would discard what
/// was sent, including the close frame of a WebSocket.
const QUIET: Duration = Duration::from_millis(250);

/// Serves such a request and what follows it, until the connection ends.
///
/// # Errors
/// Returns the error of a connection that failed.
pub async fn serve<S, B>(app: &S, request: Request, framed: Framed<ThrottledStream, Codec>) -> io::Result<()>
where
    S: Service<Request>,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody + 'static,
{
    let FramedParts { io, mut codec, read_buf, write_buf, .. } = framed.into_parts();
    let connection = io.connection.clone();
    connection.switch();
    // Copied, as even an empty rest would keep the whole buffer that the head was read into; so would the variable.
    let mut incoming = IncomingBytes::new(io, Bytes::copy_from_slice(&read_buf));
    drop(read_buf);
    let payload: BoxedPayloadStream = Box::pin(incoming.clone());
    let (request, _) = request.replace_payload(Payload::Stream { payload });
    let answered = app.call(request).await;
    let answered = answered.map_or_else(Into::into, |response| response.into().map_into_boxed_body());
    let (mut head, body) = answered.into_parts();
    let is_session = head.status() == StatusCode::SWITCHING_PROTOCOLS;
    if !is_session {
        head.head_mut().set_connection_type(ConnectionType::Close);
    }
    // What was left of earlier responses precedes the head.
    let mut unsent = write_buf;
    codec.encode(Message::Item((head, body.size())), &mut unsent)?;
    let codec = (!is_session).then(|| Box::new(codec));
    let mut outgoing = OutgoingBytes { connection, unsent, frames: VecDeque::new(), body: Some(body), codec };
    std::future::poll_fn(|cx| outgoing.poll(cx)).await?;
    let ended = timeout(END, async {
        let (written, ()) = tokio::join!(std::future::poll_fn(|cx| outgoing.poll_write(cx)), incoming.until_quiet());
        written
    });
    match ended.await {
        Ok(written) => {
            outgoing.connection.shut(Shutdown::Write);
            written
        }
        Err(_late) => {
            outgoing.connection.cut();
            Ok(())
        }
    }
}

/// What the client sends. Clones share it.
#[derive(Clone)]
struct IncomingBytes(Rc<RefCell<IncomingBytesParts>>);

struct IncomingBytesParts {
    stream: ThrottledStream,
    /// What came together with the head of the request.
    first: Bytes,
}

impl IncomingBytes {
    fn new(stream: ThrottledStream, first: Bytes) -> Self {
        Self(Rc::new(RefCell::new(IncomingBytesParts { stream, first })))
    }

    /// Discards input until it pauses or ends.
    async fn until_quiet(&mut self) {
        while timeout(QUIET, self.next()).await.is_ok_and(|more| more.is_some_and(|more| more.is_ok())) {}
    }
}

impl Stream for IncomingBytes {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut parts = self.0.borrow_mut();
        if !parts.first.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut parts.first))));
        }
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut read = ReadBuf::uninit(&mut space);
        ready!(Pin::new(&mut parts.stream).poll_read(cx, &mut read))?;
        let read = read.filled();
        Poll::Ready((!read.is_empty()).then(|| Ok(Bytes::copy_from_slice(read))))
    }
}

/// What is sent to the client.
struct OutgoingBytes {
    connection: RawConnection,
    /// The head, and what is encoded of a response.
    unsent: BytesMut,
    /// What the client has had no room for. A session bounds how much that is.
    frames: VecDeque<Bytes>,
    /// `None` at its end.
    body: Option<BoxBody>,
    /// Encodes the body of a response. `None`: that of a session is sent as it is.
    codec: Option<Box<Codec>>,
}

impl OutgoingBytes {
    /// Sends the body until its end. At that of a session some bytes may still wait.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let is_idle = self.take(cx)?.is_pending();
            let is_written = self.poll_write(cx)?.is_ready();
            match self.body {
                None if is_written || self.codec.is_none() => return Poll::Ready(Ok(())),
                Some(_) if is_written && !is_idle => {}
                _ => return Poll::Pending,
            }
        }
    }

    /// Takes what the body has: all of a session, and only some of a response, as its client's pace is measured by when more
    /// is taken.
    fn take(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(body) = &mut self.body
            && (self.codec.is_none() || self.unsent.len() < RESPONSE_BYTES)
        {
            let piece = ready!(Pin::new(body).poll_next(cx)).transpose();
            let piece = piece.map_err(|error| io::Error::other(error.to_string()))?;
            if piece.is_none() {
                self.body = None;
            }
            match &mut self.codec {
                Some(codec) => codec.encode(Message::Chunk(piece), &mut self.unsent)?,
                None => self.frames.extend(piece.filter(|frame| !frame.is_empty())),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what is there.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let written = ready!(self.connection.poll_write(cx, &self.unsent))?;
            self.unsent.advance(written);
        }
        // Its memory is needed no more.
        self.unsent = BytesMut::new();
        while let Some(frame) = self.frames.front_mut() {
            let written = ready!(self.connection.poll_write(cx, frame))?;
            frame.advance(written);
            if frame.is_empty() {
                self.frames.pop_front();
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashMap;
    use std::convert::Infallible;
    use std::rc::Rc;

    use actix_codec::{Decoder, Framed};
    use actix_http::body::{BodyStream, BoxBody};
    use actix_http::h1::{Codec, Message};
    use actix_http::{Request, Response, StatusCode};
    use actix_service::fn_service;
    use bytes::{Bytes, BytesMut};
    use futures_util::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    use super::serve;
    use crate::config::{Config, Overrides};
    use crate::http::raw_connection::Connections;
    use crate::http::throttled_stream::ThrottledStream;

    const HEAD: &str = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

    /// Serves a request for a WebSocket, whose client has sent more behind it.
    async fn served(answer: Response<BoxBody>) -> (TcpStream, JoinHandle<std::io::Result<()>>) {
        let http = Config::layered(None, HashMap::new(), &Overrides::default()).unwrap().http;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        client.write_all(&[7; 10_000]).await.unwrap();
        let (connection, reading) = Connections::new(&http, 16).of(listener.accept().await.unwrap().0);
        let mut codec = Codec::default();
        let Ok(Some(Message::Item(request))) = codec.decode(&mut BytesMut::from(HEAD)) else { panic!("{HEAD}") };
        let framed = Framed::new(ThrottledStream::new(reading, connection), codec);
        let answer = Rc::new(Cell::new(Some(answer)));
        let app = fn_service(move |_: Request| {
            let answer = answer.take().unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        let serving = actix_web::rt::spawn(async move { serve::<_, BoxBody>(&app, request, framed).await });
        (client, serving)
    }

    fn session(frames: impl futures_util::Stream<Item = Bytes> + 'static) -> Response<BoxBody> {
        let frames = futures_util::StreamExt::map(frames, Ok::<_, Infallible>);
        let mut answer = Response::build(StatusCode::SWITCHING_PROTOCOLS);
        answer.upgrade("websocket").body(BodyStream::new(frames)).map_into_boxed_body()
    }

    /// Everything up to the end of the connection, after the head; and the head.
    async fn received(client: &mut TcpStream) -> (String, Vec<u8>) {
        let mut all = Vec::new();
        client.read_to_end(&mut all).await.unwrap();
        let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let body = all.split_off(end);
        (String::from_utf8(all).unwrap(), body)
    }

    #[actix_web::test]
    async fn a_refusal_comes_whole_and_ends_the_connection() {
        let body = "x".repeat(100_000);
        let (mut client, serving) =
            served(Response::build(StatusCode::CONFLICT).body(body.clone()).map_into_boxed_body()).await;
        let (head, came) = received(&mut client).await;
        assert!(head.starts_with("HTTP/1.1 409 ") && head.contains("connection: close"), "{head}");
        assert!(came == body.as_bytes());
        drop(client);
        serving.await.unwrap().unwrap();
    }

    #[actix_web::test]
    async fn the_frames_of_a_session_come_as_they_are_and_then_its_end() {
        let (mut client, serving) = served(session(stream::iter(["one", "", "two"].map(Bytes::from)))).await;
        let (head, came) = received(&mut client).await;
        assert!(head.starts_with("HTTP/1.1 101 ") && head.contains("upgrade: websocket"), "{head}");
        assert_eq!(came, b"onetwo");
        drop(client);
        serving.await.unwrap().unwrap();
    }

    #[actix_web::test]
    async fn a_session_goes_on_while_its_client_does_not_read() {
        let (tell, all_taken) = oneshot::channel();
        let frame = Bytes::from(vec![1; 1024 * 1024]);
        let frames = stream::iter((0..32).map(move |_| frame.clone()));
        let end = stream::once(async move {
            tell.send(()).unwrap();
            Bytes::from_static(b"end")
        });
        let (mut client, serving) = served(session(futures_util::StreamExt::chain(frames, end))).await;
        all_taken.await.unwrap();
        let (_, came) = received(&mut client).await;
        assert_eq!((came.len(), &came[came.len() - 3..]), (32 * 1024 * 1024 + 3, &b"end"[..]));
        serving.await.unwrap().unwrap();
    }

    #[actix_web::test]
    async fn a_client_that_does_not_read_the_end_is_cut() {
        let frames = stream::iter((0..32).map(|_| Bytes::from(vec![1; 1024 * 1024])));
        let (mut client, serving) = served(session(frames)).await;
        serving.await.unwrap().unwrap();
        let mut all = Vec::new();
        // The rest is lost, however the system reports that.
        let _ = client.read_to_end(&mut all).await;
        assert!(all.len() < 32 * 1024 * 1024);
    }
}
