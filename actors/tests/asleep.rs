//! Entities that are asleep: read from the store once, and never served older than they are.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::Ordering;

use actors::ids::Id;
use actors::meeting::{Command, Event, Meeting, MeetingEdit};
use actors::shell::ShellLimits;
use support::{Fault, Store, World, meeting, request, until};

fn title(text: &str) -> Command {
    Command::Update { edit: MeetingEdit { title: Some(text.to_owned()), ..MeetingEdit::default() }, if_match: None }
}

async fn title_of(world: &World<Meeting>, id: Id<Meeting>) -> Option<String> {
    world.registry.snapshot(id).await.unwrap().map(|meeting| meeting.state.title.clone())
}

fn loads(world: &World<Meeting>) -> usize {
    world.store.loads.load(Ordering::SeqCst)
}

#[actix::test]
async fn it_is_read_once_and_wakes_from_what_was_read() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    for _ in 0..3 {
        assert_eq!(title_of(&world, id).await.as_deref(), Some("Kick-off"));
    }
    world.registry.ask(id, title("Changed"), request("1")).await.unwrap();
    assert_eq!(loads(&world), 1);
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Changed"));
}

#[actix::test]
async fn what_does_not_exist_is_looked_for_each_time() {
    let world = World::on_paused_time(Store::new(Event::kind), ShellLimits::default());
    let absent = meeting();
    assert_eq!(title_of(&world, absent.id).await, None);
    let id = world.store.insert(absent);
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Kick-off"));
}

#[actix::test]
async fn once_its_actor_has_stopped_it_is_read_as_the_actor_left_it() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Kick-off"));
    world.registry.ask(id, title("Changed"), request("1")).await.unwrap();
    world.store.next_save(Fault::Fails);
    assert!(world.registry.ask(id, title("Not saved"), request("2")).await.is_err());
    until(|| world.figures().awake == 0).await;
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Changed"));
}

#[actix::test]
async fn another_transactions_change_is_seen_after_the_reload() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Kick-off"));
    world.store.insert(Meeting { title: "Changed elsewhere".to_owned(), ..world.store.get(id) });
    world.registry.reload(id).await;
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Changed elsewhere"));
}

#[actix::test]
async fn what_is_read_while_it_changes_is_not_kept() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    // A reader has the old state from the store, but not got it yet: the gate is behind the look-up.
    let old = world.store.get(id);
    let gate = world.store.hold();
    let registry = world.registry.clone();
    let reader = actix::spawn(async move { registry.snapshot(id).await.unwrap().unwrap().state.title.clone() });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    world.store.insert(Meeting { title: "Changed elsewhere".to_owned(), ..old.clone() });
    world.registry.reload(id).await;
    world.store.insert(old.clone());
    gate.add_permits(10);
    assert_eq!(reader.await.unwrap(), "Kick-off");
    world.store.insert(Meeting { title: "Changed elsewhere".to_owned(), ..old });
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Changed elsewhere"), "what was read before is not kept");
}

#[actix::test]
async fn a_reading_that_outlasts_an_actor_is_not_kept() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    let gate = world.store.hold();
    let registry = world.registry.clone();
    let reader = actix::spawn(async move { registry.snapshot(id).await.unwrap().unwrap().state.revision });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    let registry = world.registry.clone();
    let asker = actix::spawn(async move { registry.ask(id, title("Changed"), request("1")).await });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 2).await;
    // Both loads, the save, and what comes after.
    gate.add_permits(10);
    asker.await.unwrap().unwrap();
    reader.await.unwrap();
    world.store.next_save(Fault::Fails);
    assert!(world.registry.ask(id, title("Not saved"), request("2")).await.is_err());
    until(|| world.figures().awake == 0).await;
    assert_eq!(title_of(&world, id).await.as_deref(), Some("Changed"));
}

#[actix::test]
async fn a_reader_who_gives_up_leaves_the_next_one_to_read() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    let gate = world.store.hold();
    let registry = world.registry.clone();
    let reader = actix::spawn(async move { registry.snapshot(id).await.map(drop) });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    reader.abort();
    assert!(reader.await.is_err());
    gate.add_permits(10);
    for _ in 0..3 {
        assert_eq!(title_of(&world, id).await.as_deref(), Some("Kick-off"));
    }
    assert_eq!(loads(&world), 2, "the one that was given up, and one");
}
