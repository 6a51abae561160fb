//! TCP connections: limits how many a client may have and how long each may keep the server waiting, and closes those
//! that exceed the limits.
//!
//! actix polls none of our code while a client does not read, and nothing at all between two requests, so a connection
//! can't time itself out. Instead all connections are checked once a second, and those of slow clients are closed.

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use actix_web::rt::net::TcpStream as Stream;
use actors::ids::Id;
use futures_util::task::AtomicWaker;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::code::Code;
use super::connection_limit::{ConnectionLimit, ConnectionPermit};
use super::error::ApiError;
use super::pace::{Pace, Patience};
use crate::config::Http;

/// How long a connection without a request stays open.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// After this time a connection without a request is closed even if there are unread bytes from the client: a server
/// that is this far behind does not help its clients by keeping connections open.
const MAX_IDLE: Duration = Duration::from_secs(60);
/// The interval between two checks of all connections.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How many unsent bytes the kernel buffers for a connection (TCP_NOTSENT_LOWAT). With more, a slow client would seem
/// to make no progress.
const AHEAD_BYTES: u32 = 64 * 1024;
/// The response to a client that has too many connections.
const REFUSED: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// All open connections.
pub struct Connections {
    settings: Http,
    pace: Pace,
    /// Connections, per client and in total.
    permits: ConnectionLimit<String>,
    /// Requests in flight per client behind a trusted proxy, because its connections are the proxy's.
    requests: ConnectionLimit<String>,
    open: Mutex<Vec<Weak<ConnectionShared>>>,
}

/// The connection of a request. Clones share one state.
#[derive(Clone)]
pub struct RawConnection(Arc<ConnectionShared>);

struct ConnectionShared {
    /// The stream itself, which its other half shares.
    stream: OwnedWriteHalf,
    is_refused: bool,
    stage: Mutex<ConnectionStage>,
    /// How many requests have been answered.
    answered: AtomicUsize,
    /// Whether what follows is no HTTP request: the client has asked for a WebSocket.
    is_switched: AtomicBool,
    /// The task that reads from the connection; woken when a request has been answered.
    reader: AtomicWaker,
    _permit: Option<ConnectionPermit<String>>,
}

struct ConnectionStage {
    /// How many requests are in flight: their responses have not been sent completely.
    in_flight: usize,
    /// When the last request ended, or when the connection was opened.
    idle_since: Instant,
    /// The grace period of the client while it reads the current response.
    patience: Patience,
    /// Since when the send buffer has been full. Responses without a body never start the grace period, however many
    /// there are, so this covers them.
    full_since: Option<Instant>,
}

/// A request in flight. Dropping it marks the request as answered.
pub struct RequestInFlight(RawConnection);

impl Connections {
    /// Allows `most` connections in total.
    #[must_use]
    pub fn new(settings: &Http, most: usize) -> Self {
        let each = match settings.connections_per_client {
            0 => usize::MAX,
            each => each,
        };
        Self {
            settings: settings.clone(),
            pace: Pace::of(settings),
            permits: ConnectionLimit::for_each(each).for_all(most),
            requests: ConnectionLimit::for_each(each),
            open: Mutex::default(),
        }
    }

    /// Registers a new connection, and returns what is read from it as well. One that exceeds a limit is refused and closed
    /// at once.
    #[must_use]
    pub fn of(&self, stream: Stream) -> (RawConnection, OwnedReadHalf) {
        let permit = stream.peer_addr().ok().and_then(|peer| self.permit(peer.ip().to_canonical()));
        if permit.is_none() {
            refuse(&stream);
        }
        // If the system does not support this, slow clients time out earlier.
        let _ = SockRef::from(&stream).set_tcp_notsent_lowat(AHEAD_BYTES);
        // Else a ping that follows a frame, and a frame that follows another, would wait until the client's system has
        // confirmed the first, which takes it up to 40 ms.
        let _ = stream.set_nodelay(true);
        let (reading, stream) = stream.into_split();
        let stage = ConnectionStage {
            in_flight: 0,
            idle_since: Instant::now(),
            patience: Patience::new(self.pace),
            full_since: None,
        };
        let shared = Arc::new(ConnectionShared {
            stream,
            is_refused: permit.is_none(),
            stage: Mutex::new(stage),
            answered: AtomicUsize::new(0),
            is_switched: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            _permit: permit,
        });
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&shared));
        (RawConnection(shared), reading)
    }

    /// Acquires a permit for one connection from this address. Connections of a trusted proxy carry many clients; for
    /// them the requests are limited per client.
    fn permit(&self, peer: IpAddr) -> Option<ConnectionPermit<String>> {
        if self.settings.is_trusted(peer) {
            // Each has a key of its own, so only the total limits them.
            return self.permits.acquire(format!("proxy {}", Id::<()>::generate()));
        }
        self.permits.acquire(Http::network(peer))
    }

    /// Acquires a permit for one request of a client behind a trusted proxy; `None` for other clients, whose
    /// connections are limited.
    ///
    /// # Errors
    /// 429 if the client holds all of its permits.
    pub fn request_of(
        &self,
        peer: Option<SocketAddr>,
        client: impl FnOnce() -> String,
    ) -> Result<Option<ConnectionPermit<String>>, ApiError> {
        if !peer.is_some_and(|peer| self.settings.is_trusted(peer.ip().to_canonical())) {
            return Ok(None);
        }
        self.requests.acquire(client()).map(Some).ok_or_else(too_many)
    }

    /// Returns the number of open connections.
    #[must_use]
    pub fn count(&self) -> usize {
        self.permits.held()
    }

    /// Checks all connections once a second until the server stops.
    pub async fn watch(self: Arc<Self>, stopping: CancellationToken) {
        while stopping.run_until_cancelled(tokio::time::sleep(CHECK_INTERVAL)).await.is_some() {
            self.check_all(Instant::now());
        }
    }

    fn check_all(&self, now: Instant) {
        let idle = KEEP_ALIVE + Duration::from_secs(self.settings.head_seconds);
        let mut open = Vec::new();
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|connection| {
            let connection = connection.upgrade();
            let is_open = connection.is_some();
            open.extend(connection);
            is_open
        });
        note_full(&open, now);
        for connection in open {
            if let Some(why) = connection.too_slow(idle, now) {
                metrics::counter!("colloquy_connections_cut_total", "why" => why).increment(1);
                RawConnection(connection).cut();
            }
        }
    }
}

/// Updates `full_since` of each connection with one `poll` call.
fn note_full(connections: &[Arc<ConnectionShared>], now: Instant) {
    let mut poll_fds: Vec<_> = connections
        .iter()
        .map(|connection| {
            let stream: &Stream = connection.stream.as_ref();
            PollFd::new(stream, PollFlags::OUT)
        })
        .collect();
    // If `poll` fails, the other limits still hold.
    if poll(&mut poll_fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_err() {
        return;
    }
    for (connection, poll_fd) in connections.iter().zip(poll_fds) {
        let mut stage = connection.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.full_since = if poll_fd.revents().is_empty() { stage.full_since.or(Some(now)) } else { None };
    }
}

/// The error for a client with too many connections.
#[must_use]
pub fn too_many() -> ApiError {
    ApiError {
        retry_after: Some(Duration::from_secs(5)),
        ..ApiError::with_message(Code::TOO_MANY_REQUESTS, "Too many connections. Use fewer, or reuse open ones.")
    }
}

/// Sends 429 and closes the connection. Bytes that the client has sent already are not processed: see
/// [`RawConnection::is_refused`].
fn refuse(stream: &Stream) {
    let socket = SockRef::from(stream);
    // Fails if the client is gone, which is fine.
    let _ = socket.send(REFUSED);
    let _ = socket.shutdown(Shutdown::Both);
    metrics::counter!("colloquy_connections_refused_total").increment(1);
}

impl ConnectionShared {
    fn too_slow(&self, idle: Duration, now: Instant) -> Option<&'static str> {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let why = stage.too_slow(idle, now)?;
        let is_idle = stage.in_flight == 0 && stage.full_since.is_none();
        let is_ours = is_idle && now.duration_since(stage.idle_since) < MAX_IDLE && self.waits_for_us();
        (!is_ours).then_some(why)
    }

    /// Whether the client has sent bytes that the server has not read yet.
    fn waits_for_us(&self) -> bool {
        SockRef::from(self.stream.as_ref()).peek(&mut [MaybeUninit::uninit()]).is_ok_and(|bytes| bytes > 0)
    }
}

impl ConnectionStage {
    fn too_slow(&self, idle: Duration, now: Instant) -> Option<&'static str> {
        if self.in_flight == 0 {
            if self.full_since.is_some_and(|since| now.duration_since(since) > idle) {
                return Some("answer not read");
            }
            return (now.duration_since(self.idle_since) > idle).then_some("no request");
        }
        self.patience.is_over(now).then_some("answer not read")
    }
}

impl RawConnection {
    /// Whether the connection was refused; its requests are not processed.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.0.is_refused
    }

    /// Returns how many requests have been answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.0.answered.load(Ordering::Acquire)
    }

    pub fn wake_at_answer(&self, waker: &Waker) {
        self.0.reader.register(waker);
    }

    /// Marks that what follows is no HTTP request: the client has asked for a WebSocket.
    pub fn switch(&self) {
        self.0.is_switched.store(true, Ordering::Release);
        self.0.reader.wake();
    }

    #[must_use]
    pub fn is_switched(&self) -> bool {
        self.0.is_switched.load(Ordering::Acquire)
    }

    /// Writes as much as the client has room for; waits until it has some.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let stream: &Stream = self.0.stream.as_ref();
        loop {
            ready!(stream.poll_write_ready(cx))?;
            match stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    pub fn cut(&self) {
        self.shut(Shutdown::Both);
    }

    pub fn shut(&self, how: Shutdown) {
        // Fails if the connection is closed already, which is fine.
        let _ = SockRef::from(self.0.stream.as_ref()).shutdown(how);
    }

    /// Marks the start of a request.
    #[must_use]
    pub fn begin(&self) -> RequestInFlight {
        self.stage(|stage| stage.in_flight += 1);
        RequestInFlight(self.clone())
    }

    fn stage<T>(&self, change: impl FnOnce(&mut ConnectionStage) -> T) -> T {
        change(&mut self.0.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RequestInFlight {
    /// Starts waiting for the client to read.
    pub fn wait(&self) {
        self.0.stage(|stage| stage.patience.wait(Instant::now()));
    }

    #[must_use]
    pub const fn connection(&self) -> &RawConnection {
        &self.0
    }

    /// Notes that the client has apparently read that many bytes.
    pub fn moved(&self, bytes: usize) {
        self.0.stage(|stage| stage.patience.moved(bytes, Instant::now()));
    }
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.0.stage(|stage| {
            let now = Instant::now();
            stage.in_flight = stage.in_flight.saturating_sub(1);
            stage.idle_since = now;
            stage.patience = Patience::new(stage.patience.pace());
        });
        let shared = &self.0.0;
        shared.answered.fetch_add(1, Ordering::AcqRel);
        shared.reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use super::{ConnectionStage, Connections, Instant, Patience};
    use crate::config::{Config, Http, Overrides};

    fn settings() -> Http {
        Config::layered(None, std::collections::HashMap::new(), &Overrides::default()).unwrap().http
    }

    #[test]
    fn a_client_has_so_many_connections_and_a_proxy_any_number_of_clients() {
        let proxy: IpAddr = "192.0.2.1".parse().unwrap();
        let connections =
            Connections::new(&Http { connections_per_client: 2, trusted_proxies: vec![proxy], ..settings() }, 6);
        let take = |address: &str| connections.permit(address.parse().unwrap());
        let mut held: Vec<_> = (0..2).map(|_| take("198.51.100.7").unwrap()).collect();
        assert!(take("198.51.100.7").is_none());
        held.extend(["2001:db8::1", "2001:db8::2"].map(|address| take(address).unwrap()));
        assert!(take("2001:db8::3").is_none(), "a network of IPv6 is one client");
        held.extend((0..2).map(|_| take("192.0.2.1").unwrap()));
        assert!(take("198.51.100.8").is_none() && connections.count() == 6, "there are no more for anybody");
    }

    #[test]
    fn a_line_without_a_request_is_cut_and_one_that_is_not_read_too() {
        let (now, idle) = (Instant::now(), Duration::from_secs(15));
        let pace = super::Pace::of(&settings());
        let mut stage =
            ConnectionStage { in_flight: 0, idle_since: now, patience: Patience::new(pace), full_since: None };
        assert_eq!(stage.too_slow(idle, now + idle), None);
        assert_eq!(stage.too_slow(idle, now + idle * 2), Some("no request"));
        (stage.full_since, stage.idle_since) = (Some(now), now + idle);
        assert_eq!(stage.too_slow(idle, now + idle), None);
        assert_eq!(stage.too_slow(idle, now + idle + Duration::from_secs(1)), Some("answer not read"), "idle or not");
        stage.in_flight = 1;
        assert_eq!(stage.too_slow(idle, now + idle * 2), None, "what takes us long is not the client's fault");
        stage.patience.wait(now);
        assert_eq!(stage.too_slow(idle, now + idle), Some("answer not read"));
    }
}
