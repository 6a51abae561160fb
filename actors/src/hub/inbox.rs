//! The events that wait for one subscriber. It takes little memory while it is empty, as most are most of the time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::HubItem;
use crate::live::EventRecord;

/// For how many events an empty inbox keeps memory.
const MAX_KEPT: usize = 8;

/// Shared by the hub, which puts events in, and the subscription, which takes them out.
#[derive(Default)]
pub struct Inbox(Mutex<InboxContent>);

#[derive(Default)]
struct InboxContent {
    events: VecDeque<Arc<EventRecord>>,
    end: Option<InboxEnd>,
    /// Of the subscriber, while it waits.
    waker: Option<Waker>,
}

/// What follows the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxEnd {
    Lagged,
    Closed,
}

impl Inbox {
    fn waiting(&self) -> MutexGuard<'_, InboxContent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an event in. Returns whether the subscription goes on: it ends if `most` events wait already.
    pub fn put(&self, record: &Arc<EventRecord>, most: usize) -> bool {
        let mut waiting = self.waiting();
        if waiting.end.is_none() {
            if waiting.events.len() < most {
                waiting.events.push_back(Arc::clone(record));
            } else {
                waiting.end = Some(InboxEnd::Lagged);
            }
        }
        let (goes_on, waker) = (waiting.end.is_none(), waiting.waker.take());
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
        goes_on
    }

    /// Ends the subscription after the events that wait, unless it has ended.
    pub fn end(&self, end: InboxEnd) {
        let mut waiting = self.waiting();
        waiting.end.get_or_insert(end);
        let waker = waiting.waker.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the subscription at once: an event is missing before those that wait.
    pub fn lag(&self) {
        let mut waiting = self.waiting();
        waiting.events = VecDeque::new();
        waiting.end = Some(InboxEnd::Lagged);
    }

    /// Takes the next event out.
    pub fn poll_take(&self, cx: &Context<'_>) -> Poll<HubItem> {
        let mut waiting = self.waiting();
        if let Some(record) = waiting.events.pop_front() {
            if waiting.events.is_empty() && waiting.events.capacity() > MAX_KEPT {
                waiting.events = VecDeque::new();
            }
            return Poll::Ready(HubItem::Event(record));
        }
        match waiting.end {
            Some(InboxEnd::Lagged) => Poll::Ready(HubItem::Lagged),
            Some(InboxEnd::Closed) => Poll::Ready(HubItem::Closed),
            None => {
                match &mut waiting.waker {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}
