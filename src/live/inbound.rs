//! The bytes received on a socket, with a check of the frame size: the codec would buffer a whole frame before it
//! checks the length.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};

/// The longest frame header: two bytes, eight bytes of length, four bytes of mask.
const HEADER: usize = 14;

/// How many frames may wait to be handled before more is read. What is read waits in memory, whereas what is not read
/// makes the client wait.
const MAX_WAITING: usize = 32;

/// The stream of bytes that a client sends. Clones share the same stream.
#[derive(Clone)]
pub struct Inbound {
    payload: Rc<RefCell<Payload>>,
    frames: Rc<RefCell<Frames>>,
    too_large: Rc<Cell<bool>>,
}

impl Inbound {
    #[must_use]
    pub fn of(payload: Payload, most: usize) -> Self {
        let frames = Frames::new(most);
        Self {
            payload: Rc::new(RefCell::new(payload)),
            frames: Rc::new(RefCell::new(frames)),
            too_large: Rc::default(),
        }
    }

    /// Notes that a frame was handled.
    pub fn handled(&self) {
        let mut frames = self.frames.borrow_mut();
        frames.waiting = frames.waiting.saturating_sub(1);
    }

    /// Whether the stream ended because a frame was too large.
    #[must_use]
    pub fn was_too_large(&self) -> bool {
        self.too_large.get()
    }
}

impl Stream for Inbound {
    type Item = Result<Bytes, PayloadError>;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.frames.borrow().waiting > MAX_WAITING {
            // The reader has frames to go on with, so nothing needs to wake it.
            return Poll::Pending;
        }
        let next = self.payload.borrow_mut().poll_next_unpin(cx);
        if let Poll::Ready(Some(Ok(bytes))) = &next
            && !self.frames.borrow_mut().pass(bytes)
        {
            self.too_large.set(true);
            return Poll::Ready(Some(Err(PayloadError::Overflow)));
        }
        next
    }
}

/// The position of a frame parser within the byte stream.
struct Frames {
    most: usize,
    /// The bytes received so far of the next frame's header.
    header: Vec<u8>,
    /// The number of payload bytes still to come of the current frame.
    left: u64,
    /// The number of frames that have come whole and are not handled yet.
    waiting: usize,
}

impl Frames {
    fn new(most: usize) -> Self {
        Self { most, header: Vec::with_capacity(HEADER), left: 0, waiting: 0 }
    }

    /// Consumes bytes. Returns whether all frames that begin in them are small enough.
    fn pass(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let inside = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= inside as u64;
                self.waiting += usize::from(self.left == 0);
                bytes = bytes.get(inside..).unwrap_or_default();
                continue;
            }
            self.header.push(*first);
            bytes = rest;
            if let Some(length) = length(&self.header) {
                if length > self.most as u64 {
                    return false;
                }
                self.left = length;
                self.waiting += usize::from(length == 0);
                self.header.clear();
            }
        }
        true
    }
}

/// The length of the payload, once the header is complete.
fn length(header: &[u8]) -> Option<u64> {
    let (_, rest) = header.split_first()?;
    let (second, rest) = rest.split_first()?;
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let (length, width) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 2),
        127 => (u64::from_be_bytes(*rest.first_chunk()?), 8),
        small => (u64::from(small), 0),
    };
    (rest.len() == width + mask).then_some(length)
}

#[cfg(test)]
mod tests {
    use actix_web::dev::Payload;
    use bytes::Bytes;
    use futures_util::{FutureExt, StreamExt, stream};

    use super::{Frames, Inbound, MAX_WAITING};

    fn frame(length: usize) -> Vec<u8> {
        let mut frame = vec![0x81];
        match length {
            0..126 => frame.push(0x80 | length as u8),
            126..65_536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            _ => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0xff; 4]);
        frame.extend(vec![0xff; length]);
        frame
    }

    #[test]
    fn no_more_is_read_while_many_frames_wait() {
        let many = MAX_WAITING + 8;
        let pongs = Bytes::from([0x8a, 0x80, 0, 0, 0, 0].repeat(many));
        let payload = Payload::Stream { payload: stream::repeat_with(move || Ok(pongs.clone())).boxed_local() };
        let mut inbound = Inbound::of(payload, 65_536);
        assert!(inbound.next().now_or_never().is_some());
        for _ in 0..8 {
            assert!(inbound.next().now_or_never().is_none());
            inbound.handled();
        }
        assert!(inbound.next().now_or_never().is_some());
        assert!(inbound.next().now_or_never().is_none());
    }

    #[test]
    fn frames_are_measured_however_their_bytes_arrive() {
        let fitting: Vec<u8> = [0, 1, 125, 126, 1000, 65_535, 65_536, 3].into_iter().flat_map(frame).collect();
        for size in [1, 2, 3, 7, 1000, 70_000, fitting.len()] {
            let mut frames = Frames::new(65_536);
            assert!(fitting.chunks(size).all(|bytes| frames.pass(bytes)), "in pieces of {size}");
            assert_eq!(frames.waiting, 8, "in pieces of {size}");
            let large = frame(65_537);
            let head: Vec<u8> = large.into_iter().take(14).collect();
            assert!(!head.chunks(size).all(|bytes| frames.pass(bytes)), "known by its header, in pieces of {size}");
        }
    }
}
