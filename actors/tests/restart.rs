//! Tests of what stops an actor, and that the next command is decided on the stored state.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::Id;
use actors::live::{Change, Live, RequestId, Topic, TopicKind, Unsaved};
use actors::meeting::{Command, EndReason, Event, MeetingEdit, State};
use actors::registry::WakeSummary;
use actors::shell::{Arbiters, CommandError, ShellLimits};
use actors::time::{Clock, Time};
use support::{Fault, Store, World, meeting, request, until};
use tokio::time::{Instant, advance};

fn title(text: &str) -> Command {
    Command::Update { edit: MeetingEdit { title: Some(text.to_owned()), ..MeetingEdit::default() }, if_match: None }
}

#[actix::test]
async fn after_a_failed_save_the_command_has_no_effect_and_the_next_one_sees_the_stored_state() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.store.next_save(Fault::Fails);
    let failed = world.registry.ask(id, title("lost"), request("1")).await.unwrap_err();
    assert_eq!(failed, CommandError::Unsaved(Unsaved::Failed("away".to_owned())));
    let seen = world.registry.snapshot(id).await.unwrap().unwrap();
    assert_eq!((seen.state.revision, seen.state.title.as_str()), (0, "Kick-off"));
    let seen = world.registry.ask(id, title("kept"), request("2")).await.unwrap();
    assert_eq!((seen.state.revision, seen.state.title.as_str()), (1, "kept"));
    let figures = world.figures();
    assert_eq!((figures.unsaved, figures.reloaded, figures.awake), (1, 1, 1));
}

#[actix::test]
async fn a_save_that_hangs_times_out_after_two_seconds_with_an_unknown_outcome() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.store.next_save(Fault::Hangs);
    let before = Instant::now();
    let failed = world.registry.ask(id, title("lost"), request("1")).await.unwrap_err();
    assert!(matches!(failed, CommandError::Unsaved(Unsaved::Unknown(_))), "{failed:?}");
    assert!(before.elapsed() >= Duration::from_secs(2) && before.elapsed() < Duration::from_millis(2_100));
    let seen = world.registry.ask(id, title("kept"), request("2")).await.unwrap();
    assert_eq!((seen.state.revision, seen.state.title.as_str()), (1, "kept"));
}

#[actix::test]
async fn an_unconfirmed_write_is_seen_by_the_next_command_and_received_by_subscribers() {
    tokio::time::pause();
    for fault in [Fault::WritesUnknown, Fault::WritesAndHangs] {
        unknown_but_written(fault).await;
    }
}

async fn unknown_but_written(fault: Fault) {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::new(store, Arbiters::here().unwrap(), ShellLimits::default());
    let topic = meeting_topic(id.uuid());
    let mut listening = world.hub.subscribe(topic);
    listening.after(world.registry.snapshot(id).await.unwrap().unwrap().state.revision);
    world.store.next_save(fault);
    let failed = world.registry.ask(id, Command::Start { by: Id::generate() }, request("1")).await.unwrap_err();
    assert!(matches!(failed, CommandError::Unsaved(Unsaved::Unknown(_))), "{failed:?}");
    // There is no further command, and yet the subscriber receives the event, from the table.
    let actors::hub::HubItem::Event(record) = listening.next().await else { panic!("nothing was told") };
    assert_eq!((record.offset, record.kind.as_str()), (1, "meeting.started"));
    let seen = world.registry.ask(id, title("next"), request("2")).await.unwrap();
    assert_eq!(seen.state.revision, 2);
    assert!(matches!(seen.state.state, State::Live { .. }));
    let actors::hub::HubItem::Event(record) = listening.next().await else { panic!("nothing was told") };
    assert_eq!((record.offset, record.kind.as_str()), (2, "meeting.updated"));
}

#[actix::test]
async fn after_a_conflict_the_next_command_sees_the_stored_state() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.store.next_save(Fault::Conflicts);
    let failed = world.registry.ask(id, title("lost"), request("1")).await.unwrap_err();
    assert_eq!(failed, CommandError::Unsaved(Unsaved::Conflict));
    assert!(world.registry.ask(id, title("kept"), request("2")).await.is_ok());
    assert_eq!(world.store.loads.load(Ordering::SeqCst), 2);
}

#[actix::test]
async fn a_panic_in_the_journal_is_a_save_with_an_unknown_outcome() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.store.next_save(Fault::Panics);
    let failed = world.registry.ask(id, title("lost"), request("1")).await.unwrap_err();
    assert!(matches!(failed, CommandError::Unsaved(Unsaved::Unknown(_))), "{failed:?}");
    assert!(world.registry.ask(id, title("kept"), request("2")).await.is_ok());
}

#[actix::test]
async fn commands_queued_behind_a_failed_save_are_resent_once_and_the_failed_command_never() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(id, title("woken"), request("0")).await.unwrap();
    let gate = world.store.hold();
    world.store.next_save(Fault::Fails);
    let mut askers = Vec::new();
    // The others arrive while the first is being saved, otherwise they would be saved with it.
    for (queued, text) in (0..).zip(["first", "second", "third"]) {
        let registry = world.registry.clone();
        askers.push(actix::spawn(async move { registry.ask(id, title(text), request(text)).await }));
        until(|| world.figures().queued == queued && world.store.waiting.load(Ordering::SeqCst) == 1).await;
    }
    gate.add_permits(16);
    let mut answers = Vec::new();
    for asker in askers {
        answers.push(asker.await.unwrap());
    }
    assert_eq!(answers.remove(0).unwrap_err(), CommandError::Unsaved(Unsaved::Failed("away".to_owned())));
    // Two senders: their order is not deterministic.
    let mut revisions: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().state.revision).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, [2, 3]);
    let mut requests: Vec<_> =
        world.store.records(meeting_topic(id.uuid())).into_iter().map(|record| record.request).collect();
    requests.sort();
    assert_eq!(requests, ["0", "second", "third"].map(RequestId::from));
    assert_eq!(world.figures().resent, 2);
}

#[actix::test]
async fn while_the_store_hangs_no_command_waits_much_longer_than_two_seconds() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(id, title("woken"), request("0")).await.unwrap();
    for _ in 0..8 {
        world.store.next_save(Fault::Hangs);
    }
    let before = Instant::now();
    let askers: Vec<_> = (0..8)
        .map(|_| {
            let registry = world.registry.clone();
            actix::spawn(async move { (registry.ask(id, title("x"), request("x")).await, Instant::now()) })
        })
        .collect();
    for asker in askers {
        let (answer, at) = asker.await.unwrap();
        assert!(matches!(answer, Err(CommandError::Unsaved(Unsaved::Unknown(_)) | CommandError::Busy)), "{answer:?}");
        assert!(at - before < Duration::from_millis(2_100));
    }
}

#[actix::test]
async fn an_unavailable_store_fails_the_load_and_a_missing_row_is_not_found() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    for fault in [Fault::Fails, Fault::Hangs, Fault::Panics] {
        world.store.next_load(fault);
        let failed = world.registry.ask(id, title("x"), request("x")).await.unwrap_err();
        assert!(matches!(failed, CommandError::Unsaved(Unsaved::Failed(_))), "{failed:?}");
    }
    assert_eq!(world.registry.ask(Id::generate(), title("x"), request("x")).await.unwrap_err(), CommandError::Missing);
    assert!(world.registry.snapshot(Id::generate()).await.unwrap().is_none());
    assert!(world.registry.ask(id, title("x"), request("x")).await.is_ok());
    assert_eq!(world.figures().awake, 1, "what could not be woken leaves no entry");
}

#[actix::test]
async fn an_idle_actor_stops_and_that_of_a_live_meeting_does_not() {
    let store = Store::new(Event::kind);
    let (sleepy, live) = (store.insert(meeting()), store.insert(meeting()));
    let world = World::on_paused_time(store, ShellLimits { idle: Duration::from_secs(60), ..ShellLimits::default() });
    world.registry.ask(sleepy, title("x"), request("x")).await.unwrap();
    world.registry.ask(live, Command::Start { by: Id::generate() }, request("x")).await.unwrap();
    assert_eq!(world.figures().awake, 2);
    advance(Duration::from_secs(95)).await;
    until(|| world.figures().awake == 1).await;
    let loads = world.store.loads.load(Ordering::SeqCst);
    world.registry.ask(live, title("y"), request("y")).await.unwrap();
    assert_eq!(world.store.loads.load(Ordering::SeqCst), loads, "the live one was awake");
    let woken = world.registry.ask(sleepy, title("y"), request("y")).await.unwrap();
    assert_eq!((woken.state.revision, world.store.loads.load(Ordering::SeqCst)), (2, loads + 1));
}

#[actix::test]
async fn the_number_of_awake_actors_is_bounded() {
    let store = Store::new(Event::kind);
    let ids: Vec<_> = (0..3).map(|_| store.insert(meeting())).collect();
    let world = World::on_paused_time(store, ShellLimits { awake: 2, ..ShellLimits::default() });
    let mut answers = Vec::new();
    for id in ids {
        answers.push(world.registry.ask(id, title("x"), request("x")).await.map(|_| ()));
    }
    assert_eq!(answers, [Ok(()), Ok(()), Err(CommandError::Busy)]);
}

#[actix::test]
async fn stopping_waits_for_saves_in_progress_and_refuses_later_commands() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(id, title("woken"), request("0")).await.unwrap();
    let gate = world.store.hold();
    let asker = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.ask(id, title("under way"), request("1")).await }
    });
    until(|| world.store.waiting.load(Ordering::SeqCst) == 1).await;
    let stopping = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.stop_all().await }
    });
    tokio::task::yield_now().await;
    assert_eq!(world.registry.ask(id, title("late"), request("2")).await.unwrap_err(), CommandError::Busy);
    assert!(!stopping.is_finished());
    gate.add_permits(8);
    assert_eq!(asker.await.unwrap().unwrap().state.revision, 2);
    stopping.await.unwrap();
    assert_eq!((world.figures().awake, world.store.get(id).revision), (0, 2));
}

#[actix::test]
async fn ten_thousand_live_meetings_are_awake_soon_after_a_start_and_the_others_are_not() {
    let store = Store::new(Event::kind);
    let by = Id::generate();
    for _ in 0..10_000 {
        let live = meeting().decide(Command::Start { by }, support::noon()).unwrap().next;
        store.insert(live);
    }
    let last = store.insert(meeting());
    let world = World::new(store, Arbiters::start(2).unwrap(), ShellLimits::default());
    let started = std::time::Instant::now();
    let waking = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.wake_all().await }
    });
    world.registry.ask(last, title("first command"), request("1")).await.unwrap();
    let first = started.elapsed();
    assert_eq!(waking.await.unwrap().unwrap(), WakeSummary { due: 10_000, awake: 10_000 });
    let all = started.elapsed();
    println!("first command after {first:?}, 10,000 awake after {all:?}");
    // The bounds for the application as a whole; a real store needs most of that time.
    assert!(first < Duration::from_millis(1_500) && all < Duration::from_secs(4), "{first:?} {all:?}");
    assert_eq!(world.figures().awake, 10_001);
    world.registry.stop_all().await;
    assert_eq!(world.figures().awake, 0);
    world.arbiters.stop();
}

#[actix::test]
async fn what_could_not_be_loaded_at_a_start_is_retried_until_it_is_awake() {
    let store = Store::new(Event::kind);
    for _ in 0..3 {
        store.insert(meeting().decide(Command::Start { by: Id::generate() }, support::noon()).unwrap().next);
    }
    for fault in [Fault::Fails, Fault::Hangs, Fault::Panics] {
        let world = World::new(Arc::clone(&store), Arbiters::here().unwrap(), ShellLimits::default());
        store.next_load(fault);
        assert_eq!(world.registry.wake_all().await.unwrap(), WakeSummary { due: 3, awake: 0 }, "{fault:?}");
        until(|| world.figures().awake == 0).await;
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::time::resume();
        assert_eq!(world.figures().awake, 3, "{fault:?}");
        world.registry.stop_all().await;
    }
}

#[actix::test]
async fn an_actor_that_must_be_awake_is_woken_again_after_a_failure() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(id, Command::Start { by: Id::generate() }, request("1")).await.unwrap();
    world.store.next_save(Fault::Fails);
    world.store.next_load(Fault::Fails);
    world.registry.ask(id, title("lost"), request("2")).await.unwrap_err();
    assert_eq!(world.store.loads.load(Ordering::SeqCst), 1);
    // On paused time: the first attempt fails because the store is unavailable, the second one wakes the entity.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((world.store.loads.load(Ordering::SeqCst), world.figures().awake), (3, 1));
    assert_eq!(world.registry.snapshot(id).await.unwrap().unwrap().state.revision, 1);
}

#[actix::test]
async fn times_come_from_the_clock_that_was_given() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    world.clock.move_on(Duration::from_secs(60));
    world.registry.ask(id, Command::Start { by: Id::generate() }, request("1")).await.unwrap();
    world.clock.move_on(Duration::from_secs(60));
    let end = Command::End { by: None, reason: EndReason::Empty, note: None };
    let seen = world.registry.ask(id, end, request("2")).await.unwrap();
    let span = seen.state.ended_at().unwrap().since(seen.state.started_at().unwrap());
    assert_eq!((span, seen.state.updated_at), (Duration::from_secs(60), world.clock.now()));
}

#[actix::test]
async fn a_snapshot_is_rendered_once_and_replaced_by_the_next_save() {
    let store = Store::new(Event::kind);
    let id = store.insert(meeting());
    let world = World::on_paused_time(store, ShellLimits::default());
    let first = world.registry.ask(id, title("first"), request("1")).await.unwrap();
    let bytes = first.rendered(|meeting| meeting.title.clone().into_bytes());
    let again = world.registry.snapshot(id).await.unwrap().unwrap();
    assert!(Arc::ptr_eq(&bytes, &again.rendered(|_| panic!("rendered twice"))));
    world.registry.ask(id, title("second"), request("2")).await.unwrap();
    let second = world.registry.snapshot(id).await.unwrap().unwrap();
    assert_eq!(&*second.rendered(|meeting| meeting.title.clone().into_bytes()), b"second");
}

/// An entity with bugs: one command panics, one miscounts its events.
#[derive(Debug, Clone)]
struct Buggy {
    key: u8,
    revision: u64,
}

#[derive(Debug, Clone, Copy)]
enum Bug {
    None,
    Panics,
    Miscounts,
}

impl Live for Buggy {
    const KIND: &'static str = "buggy";
    type Key = u8;
    type Command = Bug;
    type Event = Bug;
    type Refusal = ();

    fn key(&self) -> u8 {
        self.key
    }
    fn revision(&self) -> u64 {
        self.revision
    }
    fn stays_awake(&self) -> bool {
        false
    }
    fn topics(&self) -> Vec<Topic> {
        Vec::new()
    }
    fn decide(&self, bug: Bug, _: Time) -> Result<Change<Self>, ()> {
        let mut next = self.clone();
        match bug {
            Bug::None => next.revision += 1,
            Bug::Miscounts => next.revision += 2,
            Bug::Panics => panic!("a bug in decide"),
        }
        Ok(Change { next, events: vec![bug] })
    }
}

#[actix::test]
async fn a_panic_in_decide_fails_its_own_command_and_none_queued_behind_it() {
    let store = Store::<Buggy>::new(|_| EventKind::ProjectUpdated);
    store.insert(Buggy { key: 1, revision: 0 });
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(1, Bug::None, request("0")).await.unwrap();
    let gate = world.store.hold();
    let mut askers = Vec::new();
    for (queued, bug) in (0..).zip([Bug::None, Bug::Panics, Bug::None, Bug::Miscounts, Bug::None]) {
        let registry = world.registry.clone();
        let asking = async move { registry.ask(1, bug, request("bug")).await.map(|seen| seen.state.revision) };
        askers.push(actix::spawn(asking));
        until(|| world.figures().queued == queued && world.store.waiting.load(Ordering::SeqCst) == 1).await;
    }
    gate.add_permits(64);
    let mut answers = Vec::new();
    for asker in askers {
        answers.push(asker.await.unwrap());
    }
    assert_eq!(answers, [Ok(2), Err(CommandError::Broken), Ok(3), Err(CommandError::Broken), Ok(4)]);
    let figures = world.figures();
    assert_eq!((figures.panicked, figures.reloaded, figures.resent), (2, 2, 0));
}

#[actix::test]
async fn an_unavailable_store_after_a_bug_stops_the_actor() {
    let store = Store::<Buggy>::new(|_| EventKind::ProjectUpdated);
    store.insert(Buggy { key: 1, revision: 0 });
    let world = World::on_paused_time(store, ShellLimits::default());
    world.registry.ask(1, Bug::None, request("0")).await.unwrap();
    world.store.next_load(Fault::Fails);
    assert_eq!(world.registry.ask(1, Bug::Panics, request("1")).await.unwrap_err(), CommandError::Broken);
    until(|| world.figures().awake == 0).await;
    assert_eq!(world.registry.ask(1, Bug::None, request("2")).await.unwrap().state.revision, 2);
}

fn meeting_topic(id: uuid::Uuid) -> Topic {
    Topic { kind: TopicKind::Meeting, id }
}
