//! A subscriber receives all events of a topic in order, or is notified that it lags; a slow one does not affect the
//! others.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::hub::{EventLog, Hub, HubItem, HubLimits, Subscription};
use actors::ids::Id;
use actors::live::{EventRecord, Spawner, StoreUnavailable, Topic, TopicKind};
use actors::shell::Arbiters;
use async_trait::async_trait;
use support::{Chance, noon};
use tokio::time::Instant;

/// An event table whose reads can fail or take time.
#[derive(Default)]
struct Table {
    rows: Mutex<Vec<EventRecord>>,
    away: Mutex<bool>,
    /// How long a read takes after it has seen the rows.
    takes: Mutex<Duration>,
    reads: AtomicUsize,
}

#[async_trait]
impl EventLog for Table {
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<EventRecord>, StoreUnavailable> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        if *self.away.lock().unwrap() {
            return Err(StoreUnavailable("away".to_owned()));
        }
        let is_next = |row: &&EventRecord| row.topic == topic && row.offset > after;
        let seen = self.rows.lock().unwrap().iter().filter(is_next).take(limit).cloned().collect();
        let takes = *self.takes.lock().unwrap();
        tokio::time::sleep(takes).await;
        Ok(seen)
    }
}

struct World {
    hub: Hub,
    table: Arc<Table>,
    topic: Topic,
}

fn world(limits: HubLimits) -> World {
    tokio::time::pause();
    let table = Arc::new(Table::default());
    let tasks: Arc<dyn Spawner> = Arc::new(Arbiters::here().unwrap());
    let hub = Hub::new(Arc::clone(&table) as Arc<dyn EventLog>, tasks, limits);
    World { hub, table, topic: Topic { kind: TopicKind::Project, id: Id::<()>::generate().uuid() } }
}

impl World {
    fn record_at(&self, offset: u64) -> EventRecord {
        let (kind, data) = (EventKind::ProjectUpdated, offset.to_string().into());
        EventRecord { topic: self.topic, offset, kind, data, at: noon(), request: "request".into() }
    }

    fn publish(&self, offset: u64) {
        self.hub.publish(vec![self.record_at(offset)]);
    }
}

async fn received(listening: &mut Subscription, count: usize) -> Vec<u64> {
    let mut offsets = Vec::new();
    for _ in 0..count {
        match listening.next().await {
            HubItem::Event(record) => offsets.push(record.offset),
            other => panic!("{other:?} after {offsets:?}"),
        }
    }
    offsets
}

#[actix::test]
async fn a_subscriber_that_is_too_slow_lags_and_the_others_receive_everything() {
    let world = world(HubLimits { buffer: 8, ..HubLimits::default() });
    let (mut slow, mut quick) = (world.hub.subscribe(world.topic), world.hub.subscribe(world.topic));
    slow.after(0);
    quick.after(0);
    for offset in 1..=100 {
        world.publish(offset);
        assert_eq!(received(&mut quick, 1).await, [offset]);
    }
    assert_eq!(received(&mut slow, 8).await, (1..=8).collect::<Vec<_>>());
    assert_eq!(slow.next().await, HubItem::Lagged);
    assert_eq!(slow.next().await, HubItem::Lagged);
    assert_eq!(world.hub.listeners(), 1);
    // It resumes: missed events from the table, later ones from this subscription.
    let mut again = world.hub.subscribe(world.topic);
    again.after(100);
    world.publish(101);
    assert_eq!(received(&mut again, 1).await, [101]);
    assert_eq!(received(&mut quick, 1).await, [101]);
}

#[actix::test]
async fn events_published_in_any_order_are_received_in_the_order_of_their_offsets() {
    let world = world(HubLimits { buffer: 2_000, ..HubLimits::default() });
    let (mut chance, _) = Chance::from_env();
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(0);
    let mut next = 1;
    for _ in 0..200 {
        let mut some: Vec<u64> = (next..next + 1 + chance.below(8)).collect();
        next += some.len() as u64;
        // Some events are published twice.
        some.push(*chance.pick(&some));
        chance.shuffle(&mut some);
        some.iter().for_each(|offset| world.publish(*offset));
    }
    let count = usize::try_from(next - 1).unwrap();
    assert_eq!(received(&mut listening, count).await, (1..next).collect::<Vec<_>>());
    assert_eq!(world.table.reads.load(Ordering::SeqCst), 0);
}

#[actix::test]
async fn a_gap_is_filled_from_the_table_after_a_short_while() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(4);
    *world.table.rows.lock().unwrap() = (1..=7).map(|offset| world.record_at(offset)).collect();
    let before = Instant::now();
    world.publish(7);
    assert_eq!(received(&mut listening, 3).await, [5, 6, 7]);
    assert!(before.elapsed() >= Duration::from_millis(50) && before.elapsed() < Duration::from_millis(60));
    world.publish(6);
    world.publish(8);
    assert_eq!(received(&mut listening, 1).await, [8]);
}

#[actix::test]
async fn an_event_that_comes_late_fills_the_gap_by_itself() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(0);
    world.publish(2);
    world.publish(1);
    assert_eq!(received(&mut listening, 2).await, [1, 2]);
}

#[actix::test]
async fn an_unavailable_table_is_read_again_and_subscribers_lag_when_that_keeps_failing() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(0);
    *world.table.away.lock().unwrap() = true;
    world.publish(2);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(world.table.reads.load(Ordering::SeqCst) >= 2);
    *world.table.away.lock().unwrap() = false;
    *world.table.rows.lock().unwrap() = vec![world.record_at(1), world.record_at(2)];
    assert_eq!(received(&mut listening, 2).await, [1, 2]);
    *world.table.away.lock().unwrap() = true;
    world.publish(4);
    assert_eq!(listening.next().await, HubItem::Lagged, "never a silent hole");
}

#[actix::test]
async fn what_is_held_back_for_a_missing_event_is_bounded() {
    let world = world(HubLimits { held: 16, ..HubLimits::default() });
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(0);
    (2..=18).for_each(|offset| world.publish(offset));
    assert_eq!(listening.next().await, HubItem::Lagged);
}

#[actix::test]
async fn an_event_published_between_subscribing_and_the_snapshot_is_received_once_or_in_the_snapshot() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    for offset in [6, 5, 7] {
        world.publish(offset);
    }
    // The snapshot that was taken in the meantime contains the first two events.
    listening.after(6);
    assert_eq!(received(&mut listening, 1).await, [7]);
}

#[actix::test]
async fn a_subscriber_without_a_start_offset_receives_from_the_first_event_in_order() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    world.publish(12);
    world.publish(11);
    assert_eq!(received(&mut listening, 2).await, [11, 12]);
}

#[actix::test]
async fn an_older_subscriber_that_starts_later_receives_everything_or_lags() {
    let world = world(HubLimits::default());
    let mut older = world.hub.subscribe(world.topic);
    let mut newer = world.hub.subscribe(world.topic);
    newer.after(9);
    world.publish(9);
    world.publish(10);
    assert_eq!(received(&mut newer, 1).await, [10]);
    older.after(7);
    assert_eq!(older.next().await, HubItem::Lagged, "8 and 9 were never released here");
}

#[actix::test]
async fn doubt_reads_the_table_though_nothing_was_published() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(3);
    world.hub.doubt(&[world.topic]);
    // The event is written only later: a save that outlived its time limit.
    tokio::time::sleep(Duration::from_secs(2)).await;
    *world.table.rows.lock().unwrap() = vec![world.record_at(4)];
    assert_eq!(received(&mut listening, 1).await, [4]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let reads = world.table.reads.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.table.reads.load(Ordering::SeqCst), reads, "doubt ends");
}

#[actix::test]
async fn a_read_requested_during_a_read_is_a_second_read() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    listening.after(3);
    *world.table.takes.lock().unwrap() = Duration::from_secs(1);
    world.hub.reread_all();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(world.table.reads.load(Ordering::SeqCst), 1, "it has seen that there is nothing");
    *world.table.rows.lock().unwrap() = vec![world.record_at(4)];
    world.hub.reread_all();
    let offsets = tokio::time::timeout(Duration::from_secs(60), received(&mut listening, 1)).await;
    assert_eq!(offsets.unwrap(), [4]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.table.reads.load(Ordering::SeqCst), 2);
}

#[actix::test]
async fn a_read_waits_until_the_start_offset_is_known() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    world.hub.reread_all();
    tokio::time::sleep(Duration::from_secs(10)).await;
    *world.table.rows.lock().unwrap() = vec![world.record_at(4)];
    listening.after(3);
    let offsets = tokio::time::timeout(Duration::from_secs(60), received(&mut listening, 1)).await;
    assert_eq!(offsets.unwrap(), [4]);
}

#[actix::test]
async fn topics_are_independent_and_one_without_subscribers_costs_nothing() {
    let world = world(HubLimits::default());
    let other = Topic { kind: TopicKind::Run, ..world.topic };
    let mut listening = world.hub.subscribe(other);
    listening.after(0);
    (1..=5).for_each(|offset| world.publish(offset));
    world.hub.publish(vec![EventRecord { topic: other, ..world.record_at(1) }]);
    let HubItem::Event(record) = listening.next().await else { panic!("nothing was told") };
    assert_eq!((record.topic, record.offset), (other, 1));
    drop(listening);
    assert_eq!(world.hub.listeners(), 0);
    world.publish(9);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.table.reads.load(Ordering::SeqCst), 0);
}

#[actix::test]
async fn when_the_hub_is_dropped_its_subscriptions_close() {
    let world = world(HubLimits::default());
    let mut listening = world.hub.subscribe(world.topic);
    drop(world);
    assert_eq!(listening.next().await, HubItem::Closed);
}
