//! Statements that are sent without waiting for each other's answers, which on PostgreSQL is one round trip for all of them.
//! They run in the order in which they were sent; in a transaction, when one fails those after it fail as well.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures_util::future::MaybeDone;

/// Sends statements at once, by an [`super::AtOnce`], and returns a tuple of their results.
///
/// `at_once!(conn, execute(statement), load(query))`.
macro_rules! at_once {
    ($conn:expr, $($run:ident($statement:expr)),+) => {
        match $conn {
            $crate::db::AtOnce::Pg(pg) => {
                tokio::join!(biased; $(diesel_async::RunQueryDsl::$run($statement, &mut &*pg)),+)
            }
            $crate::db::AtOnce::Sqlite(lite) => {
                ($(lite.run(|conn| diesel::RunQueryDsl::$run($statement, conn)).await,)+)
            }
        }
    };
}
pub(crate) use at_once;

/// Runs futures at once, which begin in their order. (`join_all` begins many in another one.)
pub(super) async fn in_order<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<MaybeDone<F>>>> =
        futures.into_iter().map(|future| Box::pin(MaybeDone::Future(future))).collect();
    poll_fn(|context| {
        let pending = all.iter_mut().filter_map(|one| one.as_mut().poll(context).is_pending().then_some(())).count();
        if pending == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    all.iter_mut().filter_map(|one| one.as_mut().take_output()).collect()
}

/// Rows for one statement: at most so many.
const PART: usize = 64;

/// Divides rows into parts whose sizes are powers of two: a statement that takes one of them has seven forms, few enough
/// to stay prepared.
pub(super) fn kept_parts<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = PART.min(1 << rows.len().checked_ilog2()?);
        let (part, rest) = rows.split_at(size);
        rows = rest;
        Some(part)
    })
}
