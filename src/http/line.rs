//! The connections: how many a client may have, how long each may keep the server waiting, and a way to cut one from outside.
//!
//! The HTTP server polls nothing of ours while a client does not read, and nothing at all between two requests, so what has to
//! end can't end itself: all lines are looked at once a second, and those whose client is too slow are cut.

use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Waker;
use std::time::Duration;

use actix_web::rt::net::TcpStream as Stream;
use actors::ids::Id;
use futures_util::task::AtomicWaker;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::code::Code;
use super::failure::Failure;
use super::pace::{Pace, Patience};
use super::places::{Place, Places};
use crate::config::Http;

/// How long a connection is kept without a request.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// After so long a connection without a request is cut even if there is something of it to read: a server that is that busy
/// does its clients no favour.
const LONGEST: Duration = Duration::from_secs(60);
/// How often all are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// What the system takes of an answer beyond what is on its way: with more, a slow client would seem to stand still.
const AHEAD_BYTES: u32 = 64 * 1024;
/// What is said to a client that has too many connections already.
const REFUSED: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// All connections.
pub struct Lines {
    settings: Http,
    pace: Pace,
    /// Of each client.
    places: Places<String>,
    /// Requests under way, of each client behind a proxy: the connections are the proxy's.
    requests: Places<String>,
    open: Mutex<Vec<Weak<Shared>>>,
}

/// The connection that a request came by.
#[derive(Clone)]
pub struct Line(Arc<Shared>);

struct Shared {
    /// `None`: refused.
    stream: Option<TcpStream>,
    stage: Mutex<Stage>,
    /// Requests that were answered.
    answered: AtomicUsize,
    /// Whether it is a socket by now.
    is_switched: AtomicBool,
    /// Wakes who reads, when one more is answered.
    reader: AtomicWaker,
    _place: Option<Place<String>>,
}

struct Stage {
    /// Requests whose answers are not out yet.
    under_way: usize,
    /// When the last one ended, or the connection began.
    idle_since: Instant,
    /// With whoever reads the present answer.
    patience: Patience,
    /// Since when nothing more can be passed on. Answers without a body have no patience of their own, however many there are.
    full_since: Option<Instant>,
}

/// A request that has not been answered whole yet.
pub struct UnderWay(Line);

impl Lines {
    /// For `most` connections in all.
    #[must_use]
    pub fn new(settings: &Http, most: usize) -> Self {
        let each = match settings.connections_per_client {
            0 => usize::MAX,
            each => each,
        };
        Self {
            settings: settings.clone(),
            pace: Pace::of(settings),
            places: Places::for_each(each).for_all(most),
            requests: Places::for_each(each),
            open: Mutex::default(),
        }
    }

    /// The line of a new connection, for its requests. One that is too many is refused and ended at once.
    #[must_use]
    pub fn of(&self, stream: &Stream) -> Line {
        let place = stream.peer_addr().ok().and_then(|peer| self.place(peer.ip().to_canonical()));
        let own = stream.as_fd().try_clone_to_owned().map(TcpStream::from);
        let (stream, place) = match (own, place) {
            (Ok(own), Some(place)) => (Some(own), Some(place)),
            // Without a descriptor to spare it could not be cut later.
            _ => {
                refuse(stream);
                (None, None)
            }
        };
        if let Some(stream) = &stream {
            // Where the system can't, slow clients have less time.
            let _ = SockRef::from(stream).set_tcp_notsent_lowat(AHEAD_BYTES);
        }
        let stage =
            Stage { under_way: 0, idle_since: Instant::now(), patience: Patience::new(self.pace), full_since: None };
        let shared = Arc::new(Shared {
            stream,
            stage: Mutex::new(stage),
            answered: AtomicUsize::new(0),
            is_switched: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            _place: place,
        });
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&shared));
        Line(shared)
    }

    /// A place for one connection more of that address. Those of a proxy are many clients': they are counted as requests.
    fn place(&self, peer: IpAddr) -> Option<Place<String>> {
        if self.settings.is_trusted(peer) {
            // Each a client of its own: they count against all alone.
            return self.places.take(format!("proxy {}", Id::<()>::draw()));
        }
        self.places.take(Http::network(peer))
    }

    /// A place for one request more, where the client is behind a proxy: other clients have their connections.
    ///
    /// # Errors
    /// 429: it has them all.
    pub fn request_of(&self, peer: Option<SocketAddr>, client: &str) -> Result<Option<Place<String>>, Failure> {
        if !peer.is_some_and(|peer| self.settings.is_trusted(peer.ip().to_canonical())) {
            return Ok(None);
        }
        self.requests.take(client.to_owned()).map(Some).ok_or_else(too_many)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.taken()
    }

    /// Looks at all of them again and again.
    pub async fn watch(self: Arc<Self>, stopping: CancellationToken) {
        while stopping.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
            self.look(Instant::now());
        }
    }

    fn look(&self, now: Instant) {
        let idle = KEEP_ALIVE + Duration::from_secs(self.settings.head_seconds);
        let mut open = Vec::new();
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|line| {
            let line = line.upgrade();
            let is_open = line.is_some();
            open.extend(line);
            is_open
        });
        note_full(&open, now);
        for line in open {
            if let Some(why) = line.too_slow(idle, now) {
                metrics::counter!("colloquy_connections_cut_total", "why" => why).increment(1);
                Line(line).cut();
            }
        }
    }
}

/// Notes of each whether anything more can be passed on.
fn note_full(lines: &[Arc<Shared>], now: Instant) {
    let streams = lines.iter().filter_map(|line| line.stream.as_ref().map(|stream| (line, stream)));
    let (lines, mut asked): (Vec<_>, Vec<_>) =
        streams.map(|(line, stream)| (line, PollFd::new(stream, PollFlags::OUT))).unzip();
    // Where the system doesn't say, the other bounds hold.
    if poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_err() {
        return;
    }
    for (line, asked) in lines.into_iter().zip(asked) {
        let mut stage = line.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.full_since = if asked.revents().is_empty() { stage.full_since.or(Some(now)) } else { None };
    }
}

/// What a client is told that has too many connections.
#[must_use]
pub fn too_many() -> Failure {
    Failure {
        retry_after: Some(Duration::from_secs(5)),
        ..Failure::saying(Code::TOO_MANY_REQUESTS, "Too many connections. Use fewer, or the same again.")
    }
}

/// Says why, and ends it. What was sent already is not looked at: see [`Line::is_refused`].
fn refuse(stream: &Stream) {
    let socket = SockRef::from(stream);
    // Nobody there to hear it is fine.
    let _ = socket.send(REFUSED);
    let _ = socket.shutdown(Shutdown::Both);
    metrics::counter!("colloquy_connections_refused_total").increment(1);
}

impl Shared {
    fn too_slow(&self, idle: Duration, now: Instant) -> Option<&'static str> {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let why = stage.too_slow(idle, now)?;
        let is_idle = stage.under_way == 0 && stage.full_since.is_none();
        let is_ours = is_idle && now.duration_since(stage.idle_since) < LONGEST && self.waits_for_us();
        (!is_ours).then_some(why)
    }

    /// Whether the client has sent what the server has not come to read yet.
    fn waits_for_us(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.peek(&mut [0]).is_ok_and(|bytes| bytes > 0))
    }
}

impl Stage {
    fn too_slow(&self, idle: Duration, now: Instant) -> Option<&'static str> {
        if self.under_way == 0 {
            if self.full_since.is_some_and(|since| now.duration_since(since) > idle) {
                return Some("answer not read");
            }
            return (now.duration_since(self.idle_since) > idle).then_some("no request");
        }
        self.patience.is_over(now).then_some("answer not read")
    }
}

impl Line {
    /// Whether it was one too many: nothing is done for it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.0.stream.is_none()
    }

    /// How many requests were answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.0.answered.load(Ordering::Acquire)
    }

    pub fn wake_at_answer(&self, waker: &Waker) {
        self.0.reader.register(waker);
    }

    /// From here on it is a socket's.
    pub fn switch(&self) {
        self.0.is_switched.store(true, Ordering::Release);
        self.0.reader.wake();
    }

    #[must_use]
    pub fn is_switched(&self) -> bool {
        self.0.is_switched.load(Ordering::Acquire)
    }

    pub fn cut(&self) {
        if let Some(stream) = &self.0.stream {
            // Cut already is fine.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// A request has come.
    #[must_use]
    pub fn begin(&self) -> UnderWay {
        self.stage(|stage| stage.under_way += 1);
        UnderWay(self.clone())
    }

    fn stage<T>(&self, change: impl FnOnce(&mut Stage) -> T) -> T {
        change(&mut self.0.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl UnderWay {
    /// The client is to read.
    pub fn wait(&self) {
        self.0.stage(|stage| stage.patience.wait(Instant::now()));
    }

    #[must_use]
    pub const fn line(&self) -> &Line {
        &self.0
    }

    /// It has read so many bytes, or so it seems.
    pub fn moved(&self, bytes: usize) {
        self.0.stage(|stage| stage.patience.moved(bytes, Instant::now()));
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.stage(|stage| {
            let now = Instant::now();
            stage.under_way = stage.under_way.saturating_sub(1);
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

    use super::{Instant, Lines, Patience, Stage};
    use crate::config::{Config, Http, Overrides};

    fn settings() -> Http {
        Config::layered(None, std::collections::HashMap::new(), &Overrides::default()).unwrap().http
    }

    #[test]
    fn a_client_has_so_many_connections_and_a_proxy_any_number_of_clients() {
        let proxy: IpAddr = "192.0.2.1".parse().unwrap();
        let lines = Lines::new(&Http { connections_per_client: 2, trusted_proxies: vec![proxy], ..settings() }, 6);
        let take = |address: &str| lines.place(address.parse().unwrap());
        let mut held: Vec<_> = (0..2).map(|_| take("198.51.100.7").unwrap()).collect();
        assert!(take("198.51.100.7").is_none());
        held.extend(["2001:db8::1", "2001:db8::2"].map(|address| take(address).unwrap()));
        assert!(take("2001:db8::3").is_none(), "a network of IPv6 is one client");
        held.extend((0..2).map(|_| take("192.0.2.1").unwrap()));
        assert!(take("198.51.100.8").is_none() && lines.count() == 6, "there are no more for anybody");
    }

    #[test]
    fn a_line_without_a_request_is_cut_and_one_that_is_not_read_too() {
        let (now, idle) = (Instant::now(), Duration::from_secs(15));
        let pace = super::Pace::of(&settings());
        let mut stage = Stage { under_way: 0, idle_since: now, patience: Patience::new(pace), full_since: None };
        assert_eq!(stage.too_slow(idle, now + idle), None);
        assert_eq!(stage.too_slow(idle, now + idle * 2), Some("no request"));
        (stage.full_since, stage.idle_since) = (Some(now), now + idle);
        assert_eq!(stage.too_slow(idle, now + idle), None);
        assert_eq!(stage.too_slow(idle, now + idle + Duration::from_secs(1)), Some("answer not read"), "idle or not");
        stage.under_way = 1;
        assert_eq!(stage.too_slow(idle, now + idle * 2), None, "what takes us long is not the client's fault");
        stage.patience.wait(now);
        assert_eq!(stage.too_slow(idle, now + idle), Some("answer not read"));
    }
}
