//! Saves with an unknown outcome that is settled late: until then no older state is served.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use actors::hub::HubItem;
use actors::ids::Id;
use actors::live::{Topic, TopicKind, Unsaved};
use actors::meeting::{Command, Event, Meeting, MeetingEdit, State};
use actors::shell::{Arbiters, CommandError, ShellLimits};
use support::participants::joins;
use support::{Fault, Store, World, meeting, request, until};
use tokio::time::{Instant, advance};

const LATE: [Fault; 2] = [Fault::LateUnknown, Fault::LateAndHangs];

fn title(text: &str) -> Command {
    Command::Update { edit: MeetingEdit { title: Some(text.to_owned()), ..MeetingEdit::default() }, if_match: None }
}

fn world() -> World<Meeting> {
    World::new(Store::new(Event::kind), Arbiters::here().unwrap(), ShellLimits::default())
}

/// A meeting whose last save has an unknown outcome; its title was `old` before it.
async fn in_doubt(world: &World<Meeting>, fault: Fault, command: Command) -> Id<Meeting> {
    let id = world.store.insert(meeting());
    world.registry.ask(id, title("old"), request("0")).await.unwrap();
    world.store.next_save(fault);
    let unknown = world.registry.ask(id, command, request("1")).await.unwrap_err();
    assert!(matches!(unknown, CommandError::Unsaved(Unsaved::Unknown(_))), "{unknown:?}");
    id
}

#[actix::test]
async fn while_a_save_is_in_doubt_its_key_is_neither_read_nor_commanded_nor_loaded() {
    tokio::time::pause();
    for fault in LATE {
        let world = world();
        let id = in_doubt(&world, fault, title("new")).await;
        let loads = world.store.loads.load(Ordering::SeqCst);
        for _ in 0..3 {
            let before = Instant::now();
            world.registry.snapshot(id).await.unwrap_err();
            let refused = world.registry.ask(id, title("newer"), request("2")).await.unwrap_err();
            assert!(matches!(refused, CommandError::Unsaved(Unsaved::Failed(_))), "{refused:?}");
            // Each call waited for the time limit of a load, and no longer.
            assert!(before.elapsed() < Duration::from_millis(4_100), "{:?}", before.elapsed());
        }
        assert_eq!(world.store.loads.load(Ordering::SeqCst), loads);
        world.store.land();
        assert_eq!(world.registry.snapshot(id).await.unwrap().unwrap().state.title, "new");
        let seen = world.registry.ask(id, title("newer"), request("3")).await.unwrap();
        assert_eq!((seen.state.revision, seen.state.title.as_str()), (3, "newer"));
    }
}

#[actix::test]
async fn callers_who_waited_during_the_doubt_see_its_outcome() {
    tokio::time::pause();
    for (fault, lands) in [(LATE[0], true), (LATE[0], false), (LATE[1], true), (LATE[1], false)] {
        let world = world();
        let id = in_doubt(&world, fault, title("new")).await;
        let (reader, asker) = (world.registry.clone(), world.registry.clone());
        let reading = actix::spawn(async move { reader.snapshot(id).await });
        let asking = actix::spawn(async move { asker.ask(id, title("newer"), request("2")).await });
        until(|| world.figures().awake == 1).await;
        assert!(!reading.is_finished() && !asking.is_finished());
        if lands {
            world.store.land()
        } else {
            world.store.undo()
        }
        let (read, asked) = (reading.await.unwrap().unwrap().unwrap(), asking.await.unwrap().unwrap());
        // The reader may have run before or after the other task's save.
        let outcome = if lands { "new" } else { "old" };
        assert!([outcome, "newer"].contains(&read.state.title.as_str()), "{}", read.state.title);
        assert_eq!(asked.state.revision, if lands { 3 } else { 2 });
    }
}

#[actix::test]
async fn a_removed_participant_is_never_shown_as_joined_once_the_removal_may_be_saved() {
    tokio::time::pause();
    for fault in LATE {
        let world = world();
        let draft = meeting();
        let (id, by) = (draft.id, draft.created_by);
        world.store.insert(draft);
        world.registry.ask(id, Command::Start { by }, request("0")).await.unwrap();
        let who = Id::generate();
        world.registry.ask(id, joins(who, Id::generate()), request("1")).await.unwrap();
        world.store.next_save(fault);
        world.registry.ask(id, Command::Remove { participant: who, by: Some(by) }, request("2")).await.unwrap_err();
        // For every read after the unknown outcome was returned.
        for _ in 0..10 {
            assert!(world.registry.snapshot(id).await.is_err());
        }
        world.store.land();
        for _ in 0..10 {
            let seen = world.registry.snapshot(id).await.unwrap().unwrap();
            assert!(seen.state.participants.get(&who).unwrap().is_removed());
        }
    }
}

#[actix::test]
async fn a_doubt_about_one_key_does_not_affect_another() {
    tokio::time::pause();
    let world = world();
    let id = in_doubt(&world, LATE[0], title("new")).await;
    let other = world.store.insert(meeting());
    let before = Instant::now();
    world.registry.ask(other, title("other"), request("2")).await.unwrap();
    assert_eq!(world.registry.snapshot(other).await.unwrap().unwrap().state.title, "other");
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert!(world.registry.snapshot(id).await.is_err());
}

#[actix::test]
async fn subscribers_receive_a_write_that_lands_an_hour_late_without_a_further_command() {
    tokio::time::pause();
    for fault in LATE {
        let world = world();
        let id = world.store.insert(meeting());
        let mut listening = world.hub.subscribe(Topic { kind: TopicKind::Meeting, id: id.uuid() });
        listening.after(0);
        world.store.next_save(fault);
        world.registry.ask(id, title("new"), request("1")).await.unwrap_err();
        advance(Duration::from_secs(3600)).await;
        world.store.land();
        let HubItem::Event(record) = listening.next().await else { panic!("nothing was told") };
        assert_eq!((record.offset, record.kind.as_str()), (1, "meeting.updated"));
    }
}

#[actix::test]
async fn an_actor_that_must_be_awake_is_woken_when_its_doubt_is_settled() {
    tokio::time::pause();
    for fault in LATE {
        let world = world();
        let id = in_doubt(&world, fault, Command::Start { by: Id::generate() }).await;
        advance(Duration::from_secs(60)).await;
        world.store.land();
        let began = Instant::now();
        while world.figures().awake == 0 {
            assert!(began.elapsed() < Duration::from_secs(5));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let seen = world.registry.snapshot(id).await.unwrap().unwrap();
        assert!(matches!(seen.state.state, State::Live { .. }));
    }
}

#[actix::test]
async fn settling_is_retried_until_it_succeeds() {
    tokio::time::pause();
    let world = world();
    world.store.next_settlings_fail(5);
    let id = in_doubt(&world, LATE[0], title("new")).await;
    world.store.land();
    let began = Instant::now();
    while world.registry.snapshot(id).await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    assert_eq!(world.registry.snapshot(id).await.unwrap().unwrap().state.title, "new");
}
