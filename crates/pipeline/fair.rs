//! A semaphore that serves its keys round-robin: a key with many waiters does not delay a key with few.
//!
//! ```text
//!  waiting:  A: 1 2 3 4 …   B: 1   C: 1 2      released permits go to A1, then B1, C1, A2, C2, A3 …
//! ```
//! Deliberately absent: a bound on the number of waiters. The caller has to bound that.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The semaphore. Clones share the permits.
#[derive(Debug)]
pub struct FairSemaphore<K: Eq> {
    state: Arc<Mutex<State<K>>>,
}

impl<K: Eq> Clone for FairSemaphore<K> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state) }
    }
}

#[derive(Debug)]
struct State<K: Eq> {
    free: usize,
    /// The waiting keys in round-robin order. A key without waiters has no queue here.
    queues: VecDeque<Queue<K>>,
}

#[derive(Debug)]
struct Queue<K: Eq> {
    key: K,
    waiters: VecDeque<oneshot::Sender<FairPermit<K>>>,
}

/// A permit. Dropping it passes it to the next waiter in round-robin order.
#[derive(Debug)]
pub struct FairPermit<K: Eq> {
    /// `None` once the permit has been passed on.
    semaphore: Option<FairSemaphore<K>>,
}

impl<K: Eq> FairSemaphore<K> {
    /// Creates a semaphore with `permits` permits, at least one.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        Self { state: Arc::new(Mutex::new(State { free: permits.max(1), queues: VecDeque::new() })) }
    }

    /// Waits for a permit in the queue of `key`. Dropping the future gives up the place in the queue.
    pub async fn acquire(&self, key: K) -> FairPermit<K> {
        let receiver = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return self.permit();
            }
            let (sender, receiver) = oneshot::channel();
            state.enqueue(key, sender);
            receiver
        };
        // The sender is dropped without sending only when the semaphore is dropped, and `self` keeps it alive.
        receiver.await.unwrap_or(FairPermit { semaphore: None })
    }

    fn permit(&self) -> FairPermit<K> {
        FairPermit { semaphore: Some(self.clone()) }
    }

    /// Gives a permit to the next waiter whose future still exists, or returns it to the free permits.
    fn release(&self) {
        let mut state = self.state();
        let mut permit = self.permit();
        while let Some(waiter) = state.next() {
            match waiter.send(permit) {
                Ok(()) => return,
                // The waiter was dropped. The permit must not be dropped here: that would call this function again.
                Err(returned) => permit = returned,
            }
        }
        permit.semaphore = None;
        state.free += 1;
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq> State<K> {
    fn enqueue(&mut self, key: K, waiter: oneshot::Sender<FairPermit<K>>) {
        match self.queues.iter_mut().find(|queue| queue.key == key) {
            Some(queue) => queue.waiters.push_back(waiter),
            None => self.queues.push_back(Queue { key, waiters: VecDeque::from([waiter]) }),
        }
    }

    fn next(&mut self) -> Option<oneshot::Sender<FairPermit<K>>> {
        let mut queue = self.queues.pop_front()?;
        let waiter = queue.waiters.pop_front();
        if !queue.waiters.is_empty() {
            self.queues.push_back(queue);
        }
        waiter
    }
}

impl<K: Eq> Drop for FairPermit<K> {
    fn drop(&mut self) {
        if let Some(semaphore) = self.semaphore.take() {
            semaphore.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use futures_util::FutureExt;

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = FairPermit<&'static str>>>>;

    /// Requests a permit and asserts that it is not granted at once.
    fn waiting_for(semaphore: &FairSemaphore<&'static str>, key: &'static str) -> Waiting {
        let semaphore = semaphore.clone();
        let mut waiting: Waiting = Box::pin(async move { semaphore.acquire(key).await });
        assert!((&mut waiting).now_or_never().is_none(), "{key} waits");
        waiting
    }

    #[test]
    fn whoever_asks_for_many_has_one_turn_for_each_of_the_others() {
        let semaphore = FairSemaphore::new(1);
        let mut held = semaphore.acquire("A").now_or_never();
        let mut waiting: Vec<(String, Waiting)> = Vec::new();
        for (key, number) in [("A", 1), ("A", 2), ("A", 3), ("A", 4), ("B", 1), ("C", 1), ("C", 2)] {
            waiting.push((format!("{key}{number}"), waiting_for(&semaphore, key)));
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(held.take());
            let granted: Vec<usize> = (0..waiting.len())
                .filter(|at| {
                    let permit = (&mut waiting[*at].1).now_or_never();
                    let granted = permit.is_some();
                    if granted {
                        assert!(held.is_none(), "one at a time");
                        held = permit;
                    }
                    granted
                })
                .collect();
            assert_eq!(granted.len(), 1, "somebody is next");
            order.push(waiting.remove(granted[0]).0);
        }
        assert_eq!(order, ["A1", "B1", "C1", "A2", "C2", "A3", "A4"]);
    }

    #[test]
    fn a_turn_that_is_given_up_goes_to_the_next_and_no_permit_is_lost() {
        let semaphore = FairSemaphore::new(2);
        let held = [semaphore.acquire("A").now_or_never(), semaphore.acquire("A").now_or_never()];
        let (dropped, dropped_later, mut remaining) =
            (waiting_for(&semaphore, "A"), waiting_for(&semaphore, "B"), waiting_for(&semaphore, "C"));
        drop(dropped);
        drop(held);
        // B's permit is already sent when B is dropped.
        drop(dropped_later);
        assert!((&mut remaining).now_or_never().is_some());
        let both = [semaphore.acquire("A").now_or_never(), semaphore.acquire("B").now_or_never()];
        assert!(both.iter().all(Option::is_some), "both are free again");
        assert!(semaphore.acquire("A").now_or_never().is_none());
    }
}
