//! Attempts against a rate limit are counted exactly, under concurrency.

use std::time::Duration;

use actors::time::Time;
use futures_util::future::join_all;

use super::super::rate_limits::{self, Rate};
use super::super::{Db, DbError};
use super::on_both;

const TEN: Rate = Rate { class: "ten", most: 10, window: Duration::from_secs(60) };
const MANY: Rate = Rate { class: "many", most: 1000, window: Duration::from_secs(60) };

fn at(seconds: i64) -> Time {
    Time::from_millis(1_764_000_000_000 + seconds * 1000).unwrap()
}

async fn tried(db: &Db, rates: &[(Rate, &str)], now: Time) -> Option<Duration> {
    let rates: Vec<_> = rates.iter().map(|(rate, key)| (*rate, (*key).to_owned())).collect();
    let counted = db.write(move |conn| Box::pin(async move { rate_limits::count(conn, &rates, now).await }));
    counted.await.unwrap()
}

#[tokio::test]
async fn of_a_hundred_tries_at_once_exactly_the_limit_passes() {
    on_both(async |db| {
        // Alternates the order of the keys, so that locks acquired in the given order would deadlock.
        let tries = (0..100).map(|number| {
            let db = db.clone();
            async move {
                let rates = [(TEN, "a"), (MANY, "b")];
                let turned = [(MANY, "b"), (TEN, "a")];
                tried(&db, if number % 2 == 0 { &rates } else { &turned }, at(0)).await
            }
        });
        let passed = join_all(tries).await.into_iter().filter(Option::is_none).count();
        assert_eq!(passed, 10);
        assert_eq!(tried(&db, &[(TEN, "other")], at(0)).await, None, "another key is counted by itself");
    })
    .await;
}

#[tokio::test]
async fn what_a_full_class_refuses_is_counted_in_none_and_the_window_moves_on() {
    on_both(async |db| {
        let two = Rate { most: 2, ..TEN };
        assert_eq!(tried(&db, &[(two, "a")], at(0)).await, None);
        assert_eq!(tried(&db, &[(two, "a")], at(30)).await, None);
        let refused = tried(&db, &[(MANY, "a"), (two, "a")], at(40)).await;
        assert_eq!(refused, Some(Duration::from_secs(20)), "until the first has left the window");
        let counted = db.write(|conn| {
            Box::pin(async move { rate_limits::wait(conn, Rate { most: 1, ..MANY }, "a", at(40)).await })
        });
        assert_eq!(counted.await.unwrap(), Duration::ZERO, "nothing was counted in the other class");
        assert_eq!(tried(&db, &[(two, "a")], at(61)).await, None);
    })
    .await;
}

#[tokio::test]
async fn what_was_reserved_can_be_taken_back() {
    on_both(async |db| {
        let one = Rate { most: 1, ..TEN };
        let two = Rate { class: "two", ..one };
        let kept = db.write(move |conn| {
            Box::pin(async move {
                let rates = [(one, "a".to_owned()), (two, "a".to_owned())];
                let counted = rate_limits::reserve(conn, &rates, at(0)).await?.unwrap();
                rate_limits::release(conn, counted, &["two"]).await?;
                Ok::<_, DbError>(())
            })
        });
        kept.await.unwrap();
        assert_eq!(tried(&db, &[(one, "a")], at(1)).await, None);
        assert_eq!(tried(&db, &[(two, "a")], at(1)).await, Some(Duration::from_secs(59)));
        let forgotten = db.write(|conn| Box::pin(rate_limits::forget(conn, "two", "a")));
        forgotten.await.unwrap();
        assert_eq!(tried(&db, &[(two, "a")], at(1)).await, None);
    })
    .await;
}

#[tokio::test]
async fn several_of_one_key_at_once_count_as_several_or_not_at_all() {
    on_both(async |db| {
        let many = |number: usize| vec![(TEN, "a"); number];
        assert_eq!(tried(&db, &many(7), at(0)).await, None);
        assert_eq!(tried(&db, &many(4), at(10)).await, Some(Duration::from_secs(50)));
        assert_eq!(tried(&db, &many(3), at(10)).await, None);
        assert_eq!(
            tried(&db, &many(11), at(20)).await,
            Some(TEN.window),
            "there is never room for more than the limit"
        );
        assert_eq!(tried(&db, &many(8), at(61)).await, Some(Duration::from_secs(9)));
        assert_eq!(tried(&db, &many(7), at(61)).await, None);
    })
    .await;
}
