//! Events are numbered without gaps, whoever writes at the same time, and old ones are forgotten.

use std::sync::Arc;
use std::time::Duration;

use actors::live::{RequestId, Topic, TopicKind};
use actors::time::Time;
use futures_util::future::join_all;

use super::super::{Constraint, Failed, events};
use super::on_both;

fn topic() -> Topic {
    Topic { kind: TopicKind::Project, id: actors::ids::Id::<()>::draw().uuid() }
}

fn at() -> Time {
    Time::from_millis(1_764_000_000_123).unwrap()
}

#[tokio::test]
async fn many_writers_number_a_topic_without_gaps() {
    on_both(async |db| {
        let topic = topic();
        let request: RequestId = Arc::from("r");
        let told = join_all((0..50).map(|i| {
            let (db, request) = (db.clone(), Arc::clone(&request));
            async move {
                db.write(move |conn| {
                    Box::pin(async move {
                        let told = events::append(conn, topic, "t.changed", &format!("{i}"), at(), &request).await?;
                        // Every fifth is undone, and leaves no gap.
                        if i % 5 == 0 { Err(Failed::Busy) } else { Ok(told) }
                    })
                })
                .await
            }
        }))
        .await;
        let mut told: Vec<_> = told.into_iter().flatten().collect();
        told.sort_by_key(|told| told.offset);
        assert_eq!(told.iter().map(|told| told.offset).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
        let (head, oldest, read) = db
            .read(move |conn| {
                Box::pin(async move {
                    let head = events::head(conn, topic).await?;
                    let oldest = events::oldest(conn, topic).await?;
                    Ok::<_, Failed>((head, oldest, events::read_after(conn, topic, 10, 20).await?))
                })
            })
            .await
            .unwrap();
        assert_eq!((head.unwrap().1, oldest), (40, Some(1)));
        assert_eq!(read, told[10..30]);
    })
    .await;
}

#[tokio::test]
async fn an_offset_is_given_once() {
    on_both(async |db| {
        let topic = topic();
        let append = move |offset| {
            let db = db.clone();
            async move {
                db.write(move |conn| {
                    Box::pin(async move {
                        events::append_at(conn, topic, offset, "t.changed", "{}", at(), &Arc::from("r")).await
                    })
                })
                .await
            }
        };
        assert_eq!(append(1).await.unwrap().offset, 1);
        assert_eq!(append(2).await.unwrap().offset, 2);
        assert!(matches!(append(2).await, Err(Failed::Violated(Constraint::Unique, _))));
    })
    .await;
}

#[tokio::test]
async fn only_what_is_old_and_many_is_forgotten() {
    on_both(async |db| {
        let topic = topic();
        let last = u64::try_from(events::KEPT_EVENTS).unwrap() + 2;
        let request: RequestId = Arc::from("r");
        let (soon, late) = db
            .write(move |conn| {
                Box::pin(async move {
                    for offset in [1, 2, 3, last] {
                        events::append_at(conn, topic, offset, "t.changed", "{}", at(), &request).await?;
                    }
                    let soon = events::forget_old(conn, topic, at() + Duration::from_secs(60)).await?;
                    let late =
                        events::forget_old(conn, topic, at() + events::KEPT_FOR + Duration::from_secs(1)).await?;
                    assert_eq!(events::oldest(conn, topic).await?, Some(3));
                    events::forget(conn, topic).await?;
                    assert_eq!(events::head(conn, topic).await?, None);
                    Ok::<_, Failed>((soon, late))
                })
            })
            .await
            .unwrap();
        assert_eq!((soon, late), (0, 2));
    })
    .await;
}
