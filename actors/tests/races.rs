//! Concurrent callers: one writer at a time, no update lost or applied twice, one loader per key.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actors::ids::Id;
use actors::live::{Topic, TopicKind};
use actors::meeting::{Command, Event, MeetingEdit, State};
use actors::shell::{Arbiters, CommandError, ShellLimits};
use support::{Store, World, meeting, request, until};

fn title(text: String) -> Command {
    Command::Update { edit: MeetingEdit { title: Some(text), ..MeetingEdit::default() }, if_match: None }
}

#[actix::test]
async fn of_64_writers_each_is_acknowledged_once_and_the_revisions_have_no_gap() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::new(store, Arbiters::start(2).unwrap(), ShellLimits::default());
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let registry = world.registry.clone();
            actix::spawn(async move {
                let mut seen = Vec::new();
                for round in 0..8 {
                    let asked = registry.ask(id, title(format!("{writer}/{round}")), request("race")).await.unwrap();
                    seen.push((asked.state.revision, asked.state.title.clone()));
                }
                seen
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for writer in writers {
        let seen = writer.await.unwrap();
        assert!(seen.is_sorted(), "one writer's own updates were taken in its order");
        acknowledged.extend(seen);
    }
    acknowledged.sort();
    let revisions: Vec<_> = acknowledged.iter().map(|(revision, _)| *revision).collect();
    assert_eq!(revisions, (1..=512).collect::<Vec<_>>());
    let titles: BTreeSet<_> = acknowledged.iter().map(|(_, title)| title).collect();
    assert_eq!(titles.len(), 512, "each answer carries the sender's own change");
    let rows = world.store.records(Topic { kind: TopicKind::Meeting, id: id.uuid() });
    assert_eq!(rows.iter().map(|row| row.offset).collect::<Vec<_>>(), revisions);
    let stored = world.store.get(id);
    assert_eq!((stored.revision, stored.version), (512, 513));
    assert_eq!(Some(&stored.title), acknowledged.last().map(|(_, title)| title));
    assert_eq!(world.store.loads.load(Ordering::SeqCst), 1);
    world.registry.stop_all().await;
    world.arbiters.stop();
}

#[actix::test]
async fn of_64_who_start_a_meeting_one_starts_it_and_all_see_the_same_start() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::new(store, Arbiters::start(2).unwrap(), ShellLimits::default());
    let starters: Vec<_> = (0..64)
        .map(|_| {
            let registry = world.registry.clone();
            actix::spawn(async move {
                registry.ask(id, Command::Start { by: Id::generate() }, request("start")).await.unwrap()
            })
        })
        .collect();
    for starter in starters {
        let seen = starter.await.unwrap();
        assert_eq!(seen.state.state, State::Live { started_at: support::noon(), empty_since: Some(support::noon()) });
        assert_eq!(seen.state.revision, 1);
    }
    assert_eq!(world.store.saves.load(Ordering::SeqCst), 1);
    world.registry.stop_all().await;
    world.arbiters.stop();
}

#[actix::test]
async fn when_64_callers_ask_at_once_the_actor_is_loaded_once() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let gate = store.hold();
    let world = World::on_paused_time(store, ShellLimits::default());
    let askers: Vec<_> = (0..64)
        .map(|n| {
            let registry = world.registry.clone();
            actix::spawn(async move { registry.ask(id, title(n.to_string()), request("ask")).await })
        })
        .collect();
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    gate.add_permits(65);
    for asker in askers {
        assert!(asker.await.unwrap().is_ok());
    }
    assert_eq!(world.store.loads.load(Ordering::SeqCst), 1);
}

#[actix::test]
async fn a_full_mailbox_refuses_commands_at_once_and_accepts_them_again_later() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits { mailbox: 4, ..ShellLimits::default() });
    world.registry.ask(id, title("woken".to_owned()), request("0")).await.unwrap();
    let gate = world.store.hold();
    let askers: Vec<_> = (0..32)
        .map(|n| {
            let registry = world.registry.clone();
            actix::spawn(async move { registry.ask(id, title(n.to_string()), request("full")).await })
        })
        .collect();
    until(|| world.figures().busy > 0 && world.store.waiting.load(Ordering::SeqCst) == 1).await;
    gate.add_permits(64);
    let mut taken = 0;
    for asker in askers {
        match asker.await.unwrap() {
            Ok(_) => taken += 1,
            Err(failure) => assert_eq!(failure, CommandError::Busy),
        }
    }
    assert!((4..=6).contains(&taken), "{taken} of 32 found room in a mailbox of 4");
    assert_eq!(world.store.get(id).revision, 1 + taken);
    assert!(world.registry.ask(id, title("later".to_owned()), request("later")).await.is_ok());
    assert_eq!(world.figures().queued, 0);
}

#[actix::test]
async fn a_caller_who_gives_up_before_its_command_is_decided_changes_nothing() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(id, title("woken".to_owned()), request("0")).await.unwrap();
    let gate = world.store.hold();
    let first = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.ask(id, title("first".to_owned()), request("1")).await }
    });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    let second = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.ask(id, title("second".to_owned()), request("2")).await }
    });
    until(|| world.figures().queued == 1).await;
    second.abort();
    assert!(second.await.unwrap_err().is_cancelled());
    gate.add_permits(8);
    first.await.unwrap().unwrap();
    let third = world.registry.ask(id, title("third".to_owned()), request("3")).await.unwrap();
    assert_eq!((third.state.revision, third.state.title.as_str()), (3, "third"));
}

#[actix::test]
async fn a_caller_who_gives_up_while_its_command_is_saved_does_not_affect_it() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(id, title("woken".to_owned()), request("0")).await.unwrap();
    let gate = world.store.hold();
    let asker = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.ask(id, title("kept".to_owned()), request("1")).await }
    });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    asker.abort();
    assert!(asker.await.unwrap_err().is_cancelled());
    gate.add_permits(8);
    until(|| world.store.get(id).revision == 2).await;
    let seen = world.registry.ask(id, title("next".to_owned()), request("2")).await.unwrap();
    assert_eq!(seen.state.revision, 3);
}

#[actix::test]
async fn of_two_registries_on_one_store_one_gets_a_conflict_and_then_sees_the_other_write() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let one = World::on_paused_time(std::sync::Arc::clone(&store), ShellLimits::default());
    let other = World::new(store, one.arbiters.clone(), ShellLimits::default());
    one.registry.ask(id, title("one".to_owned()), request("1")).await.unwrap();
    other.registry.ask(id, title("other".to_owned()), request("2")).await.unwrap();
    let lost = one.registry.ask(id, title("lost".to_owned()), request("3")).await.unwrap_err();
    assert_eq!(lost, CommandError::Unsaved(actors::live::Unsaved::Conflict));
    let seen = one.registry.ask(id, title("again".to_owned()), request("4")).await.unwrap();
    assert_eq!((seen.state.revision, seen.state.title.as_str()), (3, "again"));
}

#[actix::test]
async fn an_actor_that_keeps_going_idle_loses_no_command_and_applies_none_twice() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world =
        World::new(store, Arbiters::start(2).unwrap(), ShellLimits { idle: Duration::ZERO, ..ShellLimits::default() });
    let askers: Vec<_> = (0..8)
        .map(|asker| {
            let registry = world.registry.clone();
            actix::spawn(async move {
                let mut acknowledged = Vec::new();
                for round in 0..500 {
                    if round % 100 == 99 {
                        // Long enough for the entity's actor to stop as idle, whether or not it does.
                        tokio::time::sleep(Duration::from_millis(3)).await;
                    }
                    match registry.ask(id, title(format!("{asker}/{round}")), request("sleepy")).await {
                        Ok(seen) => acknowledged.push(seen.state.revision),
                        Err(failure) => assert_eq!(failure, CommandError::Busy),
                    }
                }
                acknowledged
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for asker in askers {
        acknowledged.extend(asker.await.unwrap());
    }
    acknowledged.sort_unstable();
    assert_eq!(acknowledged, (1..=world.store.get(id).revision).collect::<Vec<_>>());
    println!("{} loads, {:?}", world.store.loads.load(Ordering::SeqCst), world.figures());
    world.registry.stop_all().await;
    world.arbiters.stop();
}

#[actix::test]
async fn the_futures_of_a_registry_are_send() {
    fn on_any_thread<T: Send>(promise: T) -> T {
        promise
    }
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    let mut listening = world.hub.subscribe(Topic { kind: TopicKind::Meeting, id: id.uuid() });
    assert!(on_any_thread(world.registry.snapshot(id)).await.is_ok());
    assert!(on_any_thread(world.registry.wake_all()).await.is_ok());
    assert!(on_any_thread(world.registry.ask(id, title("x".to_owned()), request("x"))).await.is_ok());
    on_any_thread(listening.next()).await;
    on_any_thread(world.registry.stop_all()).await;
}
