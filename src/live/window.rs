//! Flow control: limits the data in flight to one socket.
//!
//! When a quarter of the window is in flight, or something has been for a second, a WebSocket ping with a number follows;
//! its pong confirms that everything before it has arrived. There is one ping in flight at a time: one behind each frame
//! would cost as much as the frame. While the window is full, nothing more is taken from the topics.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How long the pong of a full window may be outstanding before the client counts as too slow.
pub const SLOW: Duration = Duration::from_secs(5);

/// Frames and bytes since the socket was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Mark {
    frames: usize,
    bytes: usize,
}

struct Pinged {
    payload: Vec<u8>,
    until: Mark,
    at: Instant,
}

/// The window of one socket.
pub struct Window {
    most: Mark,
    sent: Cell<Mark>,
    arrived: Cell<Mark>,
    pinged: RefCell<Option<Pinged>>,
    pings: Cell<u64>,
    /// Makes the payload of pings unpredictable: a client that could send a pong before its ping would bypass the
    /// window.
    unguessable: RandomState,
    room: Notify,
}

impl Window {
    #[must_use]
    pub fn of(frames: usize, bytes: usize) -> Self {
        Self {
            most: Mark { frames, bytes },
            sent: Cell::default(),
            arrived: Cell::default(),
            pinged: RefCell::default(),
            pings: Cell::default(),
            unguessable: RandomState::new(),
            room: Notify::new(),
        }
    }

    /// Waits until there is space, and reserves it for a frame. A frame larger than the window, such as a snapshot,
    /// passes when nothing else occupies it.
    pub async fn admit(&self, bytes: usize) {
        while self.is_full(1) {
            self.room.notified().await;
        }
        self.count(bytes);
        if !self.is_full(1) {
            self.room.notify_one();
        }
    }

    /// Reserves space for a reply, without waiting. Returns whether the client may send more: not if it keeps sending
    /// without reading, so that twice the window is in flight.
    pub fn answer(&self, bytes: usize) -> bool {
        self.count(bytes);
        !self.is_full(2)
    }

    fn count(&self, bytes: usize) {
        let Mark { frames, bytes: before } = self.sent.get();
        self.sent.set(Mark { frames: frames + 1, bytes: before + bytes });
    }

    fn is_full(&self, times: usize) -> bool {
        let (sent, arrived) = (self.sent.get(), self.arrived.get());
        sent.frames - arrived.frames >= self.most.frames * times
            || sent.bytes - arrived.bytes >= self.most.bytes * times
    }

    /// Returns the ping to send now, if a quarter of the window is in flight and no ping is.
    pub fn ping(&self, now: Instant) -> Option<Vec<u8>> {
        let (sent, arrived) = (self.sent.get(), self.arrived.get());
        let is_due = (sent.frames - arrived.frames) * 4 >= self.most.frames
            || (sent.bytes - arrived.bytes) * 4 >= self.most.bytes;
        if is_due { self.beat(now) } else { None }
    }

    /// Whether something is in flight.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.sent.get() != self.arrived.get()
    }

    /// Returns the ping to send now, if none is in flight.
    pub fn beat(&self, now: Instant) -> Option<Vec<u8>> {
        let mut pinged = self.pinged.borrow_mut();
        if pinged.is_some() {
            return None;
        }
        let number = self.pings.get() + 1;
        self.pings.set(number);
        let payload = format!("{number}:{:016x}", self.unguessable.hash_one(number)).into_bytes();
        *pinged = Some(Pinged { payload: payload.clone(), until: self.sent.get(), at: now });
        Some(payload)
    }

    /// Confirms everything up to the ping that this pong answers. An unsolicited pong is ignored.
    pub fn pong(&self, payload: &[u8]) {
        let answered = self.pinged.borrow_mut().take_if(|pinged| pinged.payload == payload);
        if let Some(answered) = answered {
            self.arrived.set(answered.until);
            self.room.notify_one();
        }
    }

    /// Whether the window is full and its ping has been outstanding for longer than [`SLOW`].
    #[must_use]
    pub fn is_stalled(&self, now: Instant) -> bool {
        let waits = self.pinged.borrow().as_ref().is_some_and(|pinged| now.duration_since(pinged.at) > SLOW);
        waits && self.is_full(1)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::Instant;

    use super::{SLOW, Window};

    #[test]
    fn a_full_window_lets_nothing_through_until_its_pong_is_there() {
        let window = Window::of(2, 1000);
        let now = Instant::now();
        assert!(window.admit(10).now_or_never().is_some());
        let first = window.ping(now).unwrap();
        assert!(window.admit(10).now_or_never().is_some());
        assert!(window.ping(now).is_none(), "one ping is on its way");
        assert!(window.admit(10).now_or_never().is_none(), "two frames are on their way");
        window.pong(b"1:0000000000000000");
        assert!(window.admit(10).now_or_never().is_none(), "a guessed pong says nothing");
        window.pong(&first);
        assert!(window.admit(10).now_or_never().is_some(), "the first arrived, the second is on its way");
        assert!(window.admit(10).now_or_never().is_none());
        assert!(window.ping(now).is_some());
        assert!(!window.is_stalled(now + SLOW));
        assert!(window.is_stalled(now + SLOW * 2));
    }

    #[test]
    fn a_quarter_of_the_window_is_confirmed_by_one_ping() {
        let window = Window::of(8, 1000);
        let now = Instant::now();
        assert!(!window.is_in_use());
        assert!(window.admit(10).now_or_never().is_some());
        assert!(window.is_in_use());
        assert!(window.ping(now).is_none(), "an eighth");
        assert!(window.admit(10).now_or_never().is_some());
        let ping = window.ping(now).unwrap();
        window.pong(&ping);
        assert!(!window.is_in_use());
        assert!(window.admit(250).now_or_never().is_some());
        window.pong(&window.ping(now).unwrap());
        assert!(window.admit(1).now_or_never().is_some());
        // What is less is asked for once a second.
        window.pong(&window.beat(now).unwrap());
        assert!(!window.is_in_use());
    }

    #[test]
    fn what_is_larger_than_the_window_passes_alone() {
        let window = Window::of(100, 1000);
        let now = Instant::now();
        assert!(window.admit(5000).now_or_never().is_some());
        assert!(window.admit(1).now_or_never().is_none());
        window.pong(&window.ping(now).unwrap());
        assert!(window.admit(1).now_or_never().is_some());
    }

    #[test]
    fn who_asks_and_does_not_read_is_noticed() {
        let window = Window::of(2, 1000);
        assert_eq!([(); 4].map(|()| window.answer(1)), [true, true, true, false]);
    }
}
