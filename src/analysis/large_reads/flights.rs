//! Requests for the same answer share the work. A request joins the work that has not begun yet, never one that has: what it gets
//! is no older than the request itself. So at most two are under way or waiting for each answer, however many ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use crate::http::error::ApiError;

/// The answers that are being made, by their keys.
pub struct Flights<V>(Mutex<HashMap<String, Arc<Route<V>>>>);

impl<V> Default for Flights<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// One answer: its works follow one after the other.
struct Route<V> {
    under_way: AsyncMutex<()>,
    /// The work that has not begun.
    next: Mutex<Weak<Flight<V>>>,
}

struct Flight<V> {
    landed: OnceCell<Result<V, ApiError>>,
}

impl<V: Clone> Flights<V> {
    /// Returns the answer of `make`, or that of an equal request that has begun after this one came. Where the one that makes it
    /// is cancelled, the next one that waits makes it.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn share<Making: Future<Output = Result<V, ApiError>>>(
        &self,
        key: String,
        make: impl FnOnce() -> Making,
    ) -> Result<V, ApiError> {
        let route = Arc::clone(self.routes().entry(key.clone()).or_insert_with(|| Arc::new(Route::new())));
        let leaving = Leaving { flights: self, key, route: Some(route) };
        let Some(route) = &leaving.route else { return Err(ApiError::internal("a shared answer has no route")) };
        let flight = route.join();
        let landed = flight.landed.get_or_init(|| async {
            let _turn = route.under_way.lock().await;
            route.begin(&flight);
            make().await
        });
        landed.await.clone()
    }

    fn routes(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Route<V>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Route<V> {
    fn new() -> Self {
        Self { under_way: AsyncMutex::new(()), next: Mutex::new(Weak::new()) }
    }

    fn join(&self) -> Arc<Flight<V>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.upgrade().unwrap_or_else(|| {
            let flight = Arc::new(Flight { landed: OnceCell::new() });
            *next = Arc::downgrade(&flight);
            flight
        })
    }

    /// Nobody joins it from now on.
    fn begin(&self, flight: &Arc<Flight<V>>) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if std::ptr::eq(next.as_ptr(), Arc::as_ptr(flight)) {
            *next = Weak::new();
        }
    }
}

/// Forgets a route with the last request for it, also with one that is cancelled.
struct Leaving<'a, V: Clone> {
    flights: &'a Flights<V>,
    key: String,
    route: Option<Arc<Route<V>>>,
}

impl<V: Clone> Drop for Leaving<'_, V> {
    fn drop(&mut self) {
        let mut routes = self.flights.routes();
        self.route = None;
        if routes.get(&self.key).is_some_and(|route| Arc::strong_count(route) == 1) {
            routes.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::FutureExt;
    use futures_util::future::join_all;

    use super::*;

    fn in_a_moment(made: &AtomicUsize) -> impl Future<Output = Result<usize, ApiError>> {
        let number = made.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok(number)
        }
    }

    #[tokio::test]
    async fn requests_that_come_during_the_work_share_the_next_one() {
        let (flights, made) = (Flights::default(), AtomicUsize::new(0));
        let ask = |key: &str| flights.share(key.to_owned(), || in_a_moment(&made));
        let answers = join_all((0..32).map(|_| ask("a"))).await;
        assert!(made.load(Ordering::SeqCst) <= 2, "32 requests");
        assert!(answers.iter().all(Result::is_ok));
        // One that comes while a work is under way gets none of it.
        let (first, second) = tokio::join!(ask("a"), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            ask("a").await
        });
        assert!(second.unwrap() > first.unwrap());
        let before = made.load(Ordering::SeqCst);
        drop(tokio::join!(ask("b"), ask("c")));
        assert_eq!(made.load(Ordering::SeqCst), before + 2, "other answers are others' work");
        assert!(flights.routes().is_empty());
    }

    #[tokio::test]
    async fn a_request_that_is_cancelled_leaves_its_work_to_the_next_one() {
        let (flights, made) = (Flights::default(), AtomicUsize::new(0));
        let ask = || flights.share("a".to_owned(), || in_a_moment(&made));
        let mut first = Box::pin(ask());
        assert!((&mut first).now_or_never().is_none());
        let mut second = Box::pin(ask());
        let mut third = Box::pin(ask());
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        drop(first);
        drop(second);
        assert!(third.await.is_ok());
        assert!(flights.routes().is_empty());
    }

    #[tokio::test]
    async fn an_error_is_shared_and_not_kept() {
        let flights: Flights<usize> = Flights::default();
        let refused = flights.share("a".to_owned(), || async { Err(ApiError::unavailable("no")) }).await;
        assert!(refused.is_err());
        assert_eq!(flights.share("a".to_owned(), || async { Ok(1) }).await.unwrap(), 1);
    }
}
