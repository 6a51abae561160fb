//! The figures of the requests of one method and route.
//!
//! Every label has a closed set of values: a metric whose label is chosen by an unauthenticated client would be stored
//! for ever.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::time::Duration;

use metrics::{Counter, Histogram};

/// The figures of one method and route. Each is looked up when it is first counted, and kept.
pub struct RouteFigures {
    pub method: &'static str,
    /// The path with its parameters in braces; `none` for a request that no route takes.
    pub route: Cow<'static, str>,
    seconds: OnceCell<Histogram>,
    /// By the status.
    answers: RefCell<Vec<(u16, Counter)>>,
}

impl RouteFigures {
    #[must_use]
    pub fn new(method: &'static str, route: Cow<'static, str>) -> Self {
        Self { method, route, seconds: OnceCell::new(), answers: RefCell::default() }
    }

    /// Counts a request that was answered.
    pub fn count(&self, status: u16, took: Duration) {
        let labels = || [("method", self.method.to_owned()), ("route", self.route.clone().into_owned())];
        let seconds = self.seconds.get_or_init(|| metrics::histogram!("colloquy_request_seconds", &labels()));
        seconds.record(took.as_secs_f64());
        let mut answers = self.answers.borrow_mut();
        if let Some((_, counter)) = answers.iter().find(|(known, _)| *known == status) {
            return counter.increment(1);
        }
        let [method, route] = labels();
        let counter = metrics::counter!("colloquy_requests_total", &[method, route, ("status", status.to_string())]);
        counter.increment(1);
        answers.push((status, counter));
    }
}
