//! Events are numbered without gaps under concurrent writers, and old ones are deleted.

use std::sync::Arc;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::Id;
use actors::live::{EventRecord, RequestId, Topic, TopicKind};
use actors::time::Time;
use diesel::ExpressionMethods;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::super::events::ChosenOffsets;
use super::super::schema::topics;
use super::super::{AtOnce, Conn, Constraint, Db, DbError, RunQueryDsl, at_once, events, sweep};
use super::{assert_is_by_index, on_both, plan, run};

fn topic() -> Topic {
    Topic { kind: TopicKind::Project, id: actors::ids::Id::<()>::generate().uuid() }
}

fn at() -> Time {
    Time::from_millis(1_764_000_000_123).unwrap()
}

fn event(topic: Topic, offset: u64) -> EventRecord {
    EventRecord { topic, offset, kind: EventKind::ProjectUpdated, data: "{}".into(), at: at(), request: "r".into() }
}

#[tokio::test]
async fn many_writers_number_a_topic_without_gaps() {
    on_both(async |db| {
        let topic = topic();
        let request: RequestId = Arc::from("r");
        let records = join_all((0..50).map(|i| {
            let (db, request) = (db.clone(), Arc::clone(&request));
            async move {
                db.write(move |conn| {
                    Box::pin(async move {
                        let records =
                            events::append(conn, topic, EventKind::ProjectUpdated, &format!("{i}"), at(), &request)
                                .await?;
                        // Every fifth is rolled back, and leaves no gap.
                        if i % 5 == 0 { Err(DbError::Busy) } else { Ok(records) }
                    })
                })
                .await
            }
        }))
        .await;
        let mut records: Vec<_> = records.into_iter().flatten().collect();
        records.sort_by_key(|records| records.offset);
        assert_eq!(records.iter().map(|records| records.offset).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
        let (head, oldest, read) = db
            .read(move |conn| {
                Box::pin(async move {
                    let head = events::head(conn, topic).await?;
                    let oldest = events::oldest(conn, topic).await?;
                    Ok::<_, DbError>((head, oldest, events::read_after(conn, topic, 10, 20).await?))
                })
            })
            .await
            .unwrap();
        assert_eq!((head.unwrap().1, oldest), (40, Some(1)));
        assert_eq!(read, records[10..30]);
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
                    Box::pin(async move { ChosenOffsets::of(&[event(topic, offset)])?.append(conn.at_once()).await })
                })
                .await
            }
        };
        append(1).await.unwrap();
        append(2).await.unwrap();
        assert!(matches!(append(2).await, Err(DbError::Violated(Constraint::Unique, _))));
    })
    .await;
}

#[tokio::test]
async fn events_are_not_appended_after_a_statement_that_failed() {
    on_both(async |db| {
        let topic = topic();
        let taken = db.write(move |conn| {
            Box::pin(async move {
                ChosenOffsets::of(&[event(topic, 1)])?.append(conn.at_once()).await?;
                let next = ChosenOffsets::of(&[event(topic, 2)])?;
                let again = diesel::insert_into(topics::table);
                let again = again.values((
                    topics::topic.eq(topic.to_string()),
                    topics::epoch.eq(Id::<events::Epoch>::generate()),
                    topics::last.eq(7),
                ));
                let (inserted, appended) = match conn {
                    Conn::Pg(pg) => {
                        let again = async { at_once!(AtOnce::Pg(pg), execute(again)).0 };
                        tokio::join!(biased; again, next.append(AtOnce::Pg(pg)))
                    }
                    Conn::Sqlite(_) => (again.execute(conn).await, next.append(conn.at_once()).await),
                };
                inserted?;
                appended
            })
        });
        assert!(matches!(taken.await, Err(DbError::Violated(Constraint::Unique, _))));
        let head = db.read(move |conn| Box::pin(events::head(conn, topic))).await.unwrap();
        assert_eq!(head, None, "the whole transaction was rolled back");
    })
    .await;
}

#[tokio::test]
async fn only_what_is_old_and_many_is_forgotten() {
    on_both(async |db| {
        let topic = topic();
        let last = u64::try_from(events::RETAINED_EVENTS).unwrap() + 2;
        let (soon, late) = db
            .write(move |conn| {
                Box::pin(async move {
                    for offset in [1, 2, 3, last] {
                        ChosenOffsets::of(&[event(topic, offset)])?.append(conn.at_once()).await?;
                    }
                    let name = topic.to_string();
                    let soon = events::forget_old(conn, &name, at() + Duration::from_secs(60), 500).await?;
                    let after = at() + events::RETAINED_FOR + Duration::from_secs(1);
                    let late = events::forget_old(conn, &name, after, 500).await?;
                    assert_eq!(events::oldest(conn, topic).await?, Some(3));
                    assert_eq!(events::forget(conn, topic, 1).await?, 1);
                    assert_eq!(
                        events::head(conn, topic).await?.map(|(_, last)| last),
                        Some(last),
                        "it goes with its last event"
                    );
                    assert_eq!(events::forget(conn, topic, 500).await?, 1);
                    assert_eq!(events::head(conn, topic).await?, None);
                    Ok::<_, DbError>((soon, late))
                })
            })
            .await
            .unwrap();
        assert_eq!((soon, late), (0, 2));
    })
    .await;
}

/// Adds a topic that ends at `last`, with events from 1 on, each at the time `at`.
async fn plant(db: &Db, topic: &str, last: i64, at: &str) {
    run(
        db,
        &format!(
            "INSERT INTO topics (topic, epoch, last) VALUES ('{topic}', {{id}}, {last}); \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) \
             INSERT INTO events (topic, position, kind, data, at, request_id) SELECT '{topic}', i, 'k', 'x', {at}, 'r' FROM n;"
        ),
    )
    .await;
}

async fn first(db: &Db, topic: Topic) -> Option<u64> {
    db.read(move |conn| Box::pin(async move { events::oldest(conn, topic).await })).await.unwrap()
}

#[tokio::test]
async fn of_long_topics_what_is_old_goes_page_by_page_and_of_short_ones_nothing() {
    on_both(async |db| {
        let [long, longer, young, short] = [topic(), topic(), topic(), topic()];
        plant(&db, &long.to_string(), 12_300, "{old}").await;
        plant(&db, &longer.to_string(), 11_000, "{old}").await;
        plant(&db, &young.to_string(), 12_300, "{young}").await;
        plant(&db, &short.to_string(), 9_999, "{old}").await;
        let page = db.write(move |conn| {
            Box::pin(async move { events::forget_old(conn, &long.to_string(), at(), sweep::PAGE).await })
        });
        assert_eq!(page.await.unwrap(), 500);
        let stopping = CancellationToken::new();
        assert_eq!(events::prune(&db, at(), &stopping).await.unwrap(), 1_800 + 1_000);
        let kept = [first(&db, long).await, first(&db, longer).await, first(&db, young).await, first(&db, short).await];
        assert_eq!(kept, [Some(2_301), Some(1_001), Some(1), Some(1)]);
        assert_eq!(events::prune(&db, at(), &stopping).await.unwrap(), 0);
        // Short topics are not even read.
        assert_is_by_index(&plan(&db, &events::LONG_TOPICS.replace("$1", "''").replace("$2", "500")).await);
    })
    .await;
}

#[tokio::test]
async fn the_next_page_of_all_events_begins_where_the_last_one_ended() {
    on_both(async |db| {
        plant(&db, "t", 10, "{old}").await;
        let sql = events::TEXTS_AFTER.replace("$1", "'t'").replace("$2", "5").replace("$3", "500");
        let steps = plan(&db, &sql).await;
        assert_is_by_index(&steps);
        // The index range uses both columns: by the first alone, each page of a long topic would scan all of it.
        let leads = |step: &String| {
            step.contains("(topic,position)>(?,?)") || step.contains(r#"ROW(topic, "position") > ROW("#)
        };
        assert!(steps.iter().any(leads), "{steps:#?}");
    })
    .await;
}
