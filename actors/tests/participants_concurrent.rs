//! Many participants of one meeting at the same time: the published events match the final state, in any order of
//! arrival.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::live::{Live, Topic, TopicKind};
use actors::meeting::{
    Command, ConsentAnswer, ConsentScope, EndReason, Event, Meeting, MeetingStatus, Observation, ParticipantStatus,
    Refusal, State,
};
use actors::shell::{Arbiters, CommandError, ShellLimits};
use support::participants::{EMPTY, consent, joins, sweep};
use support::{Store, World, meeting, noon, request};

fn live() -> Meeting {
    meeting().decide(Command::Start { by: Id::generate() }, noon()).unwrap().next
}

fn kinds(world: &World<Meeting>, id: Id<Meeting>) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    let records = world.store.records(Topic { kind: TopicKind::Meeting, id: id.uuid() });
    let first = records.first().map_or(1, |records| records.offset);
    for (records, offset) in records.iter().zip(first..) {
        assert_eq!(records.offset, offset, "offsets have no gap");
        *kinds.entry(records.kind.to_string()).or_default() += 1;
    }
    kinds
}

#[actix::test]
async fn concurrent_joins_leaves_and_removals_end_in_one_status_and_every_event_is_published() {
    let store = Store::new(Event::kind);
    let id = store.insert(live());
    let world = World::new(store, Arbiters::start(2).unwrap(), ShellLimits::default());
    let people: Vec<(Id<ids::Participant>, _)> = (0..16).map(|_| (Id::generate(), Id::generate())).collect();
    let tasks: Vec<_> = people
        .iter()
        .flat_map(|(who, user)| (0..12).map(move |nth| (*who, *user, nth)))
        .map(|(who, user, nth)| {
            let registry = world.registry.clone();
            actix::spawn(async move {
                let command = match nth % 6 {
                    0..=2 => joins(who, user),
                    3 => Command::Leave { participant: who },
                    4 => consent(who, ConsentAnswer::Grant([ConsentScope::Recording].into())),
                    _ if nth == 11 => Command::Remove { participant: who, by: None },
                    _ => Command::See {
                        seen: vec![Observation::Socket { participant: who, is_open: true, ago: Duration::ZERO }],
                    },
                };
                registry.ask(id, command, request("race")).await
            })
        })
        .collect();
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) | Err(CommandError::Refused(_)) => {}
            Err(failure) => panic!("{failure:?}"),
        }
    }
    let kinds = kinds(&world, id);
    let kind = |name: &str| kinds.get(name).copied().unwrap_or(0);
    let stored = world.store.get(id);
    assert_eq!(stored.participants.len(), 17, "each has one place, with the host");
    let is = |status| stored.participants.values().filter(|one| one.status() == status).count();
    // Participants who were removed while in the meeting have no event for leaving.
    assert!(kind("participant.joined") >= kind("participant.left") + is(ParticipantStatus::Joined));
    assert_eq!(kind("participant.removed"), is(ParticipantStatus::Removed));
    assert_eq!(kind("participant.consent") as u64, stored.ledger.entries);
    world.registry.stop_all().await;
    world.arbiters.stop();
}

#[actix::test]
async fn two_hosts_who_start_and_end_at_once_start_it_once_and_end_it_once() {
    for _ in 0..20 {
        let store = Store::new(Event::kind);
        let id = store.insert(meeting());
        let world = World::new(store, Arbiters::start(2).unwrap(), ShellLimits::default());
        let hosts: Vec<_> = (0..16)
            .map(|nth| {
                let registry = world.registry.clone();
                actix::spawn(async move {
                    let by = Id::generate();
                    let end = Command::End { by: Some(by), reason: EndReason::HostEnded, note: None };
                    let command = if nth % 2 == 0 { Command::Start { by } } else { end };
                    registry.ask(id, command, request("race")).await.map(|seen| seen.state.status())
                })
            })
            .collect();
        for host in hosts {
            match host.await.unwrap() {
                Ok(MeetingStatus::Live | MeetingStatus::Ended) => {}
                // An end before the start, or a start after the end.
                Err(CommandError::Refused(Refusal::InvalidState {
                    status: MeetingStatus::Scheduled | MeetingStatus::Ended,
                })) => {}
                other => panic!("{other:?}"),
            }
        }
        let kinds = kinds(&world, id);
        assert_eq!(kinds.get("meeting.started"), Some(&1));
        assert!(kinds.get("meeting.ended").is_none_or(|ends| *ends == 1));
        world.registry.stop_all().await;
        world.arbiters.stop();
    }
}

#[actix::test]
async fn five_hundred_concurrent_joins_are_all_accepted_and_saved_in_batches() {
    let store = Store::new(Event::kind);
    let id = store.insert(live());
    let world = World::new(store, Arbiters::here().unwrap(), ShellLimits::default());
    // The first command is being saved while all the others arrive.
    let gate = world.store.hold();
    gate.add_permits(1);
    world.registry.ask(id, Command::Start { by: Id::generate() }, request("wake")).await.unwrap();
    let tasks: Vec<_> = (0..499)
        .map(|_| {
            let registry = world.registry.clone();
            actix::spawn(async move {
                registry.ask(id, joins(Id::generate(), Id::generate()), request("join")).await.map(drop)
            })
        })
        .collect();
    support::until(|| world.figures().queued >= 435 && world.store.waiting.load(Ordering::SeqCst) == 1).await;
    let began = Instant::now();
    gate.add_permits(499);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let saves = world.store.saves.load(Ordering::SeqCst);
    println!("499 joins in {saves} saves, each rendered as a whole meeting by the test's store: {:?}", began.elapsed());
    assert!(saves <= 10, "{saves}");
    assert_eq!(world.figures().busy, 0);
    assert_eq!(world.store.get(id).participants.joined().count(), 499);
    assert_eq!(kinds(&world, id).get("participant.joined"), Some(&499));
    world.registry.stop_all().await;
}

#[actix::test]
async fn ten_thousand_expired_meetings_are_ended_after_a_start() {
    let store = Store::new(Event::kind);
    let ids: Vec<_> = (0..10_000).map(|_| store.insert(live())).collect();
    let world = World::new(store, Arbiters::start(2).unwrap(), ShellLimits::default());
    world.clock.move_on(EMPTY + Duration::from_secs(1));
    let started = Instant::now();
    // As at start-up: all meetings are being woken while the first sweep goes through them.
    let waking = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.wake_all().await }
    });
    for at_once in ids.chunks(64) {
        let sweeps: Vec<_> = at_once
            .iter()
            .map(|id| {
                let (registry, id) = (world.registry.clone(), *id);
                actix::spawn(async move {
                    registry.ask(id, sweep(), request("sweep")).await.map(|seen| seen.state.status())
                })
            })
            .collect();
        for swept in sweeps {
            assert_eq!(swept.await.unwrap().unwrap(), MeetingStatus::Ended);
        }
    }
    waking.await.unwrap().unwrap();
    println!("10,000 ended after {:?}", started.elapsed());
    assert!(ids.iter().all(|id| matches!(world.store.get(*id).state, State::Ended { .. })));
    world.registry.stop_all().await;
    world.arbiters.stop();
}
