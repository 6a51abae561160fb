//! Commands that wait are decided one after the other and saved together, with the same results as if each were saved
//! alone.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::hub::HubItem;
use actors::live::{Change, Live, Topic, TopicKind, Unsaved};
use actors::shell::{Arbiters, CommandError, CommandResult, ShellLimits};
use actors::time::Time;
use support::{Chance, Fault, Store, World, request, until};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// A counter. It can refuse commands while its sum is odd, and has bugs on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tally {
    key: u8,
    revision: u64,
    sum: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Add {
    /// Adds this number, with as many events.
    Some(u64),
    /// Adds only to an even sum: its refusal depends on the commands before it.
    ToEven(u64),
    Nothing,
    Panics,
    Miscounts,
}
use Add::{Miscounts, Nothing, Panics, Some as Plus, ToEven};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Odd {
    sum: u64,
}

fn topic() -> Topic {
    Topic { kind: TopicKind::Meeting, id: Uuid::from_u128(7) }
}

impl Live for Tally {
    const KIND: &'static str = "tally";
    type Key = u8;
    type Command = Add;
    type Event = u64;
    type Refusal = Odd;

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
        vec![topic()]
    }
    fn decide(&self, add: Add, _: Time) -> Result<Change<Self>, Odd> {
        let (mut next, mut events) = (self.clone(), Vec::new());
        match add {
            Panics => panic!("a bug in decide"),
            Nothing => {}
            ToEven(_) if self.sum % 2 == 1 => return Err(Odd { sum: self.sum }),
            Plus(many) | ToEven(many) => events.extend((1..=many).map(|nth| self.sum + nth)),
            Miscounts => {
                next.revision += 1;
                events.extend([1, 2]);
            }
        }
        if add != Miscounts {
            next.sum += events.len() as u64;
            next.revision += events.len() as u64;
        }
        Ok(Change { next, events })
    }
}

type Sums = Vec<Result<(u64, u64), CommandError<Odd>>>;

/// Returns revision and sum.
fn shown(answer: CommandResult<Tally>) -> Result<(u64, u64), CommandError<Odd>> {
    answer.map(|seen| (seen.state.revision, seen.state.sum))
}

fn world(limits: ShellLimits) -> World<Tally> {
    let store = Store::<Tally>::new(|_| EventKind::ProjectUpdated);
    store.insert(Tally { key: 1, revision: 0, sum: 0 });
    World::new(store, Arbiters::here().unwrap(), limits)
}

fn in_groups_of(group: usize) -> ShellLimits {
    ShellLimits { group, ..ShellLimits::default() }
}

/// Commands that wait, in their order, while the first of them, which changes something, is being saved. The request id
/// of each is its number.
struct Waiting {
    gate: Arc<Semaphore>,
    askers: Vec<JoinHandle<CommandResult<Tally>>>,
}

async fn wait_behind(world: &World<Tally>, commands: &[Add]) -> Waiting {
    world.registry.ask(1, Nothing, request("woken")).await.unwrap();
    let gate = world.store.hold();
    let mut askers = Vec::new();
    for (nth, add) in commands.iter().copied().enumerate() {
        let registry = world.registry.clone();
        askers.push(actix::spawn(async move { registry.ask(1, add, request(&nth.to_string())).await }));
        until(|| world.store.waiting.load(Ordering::SeqCst) == 1 && world.figures().queued == nth as u64).await;
    }
    Waiting { gate, askers }
}

impl Waiting {
    async fn answers(self) -> Sums {
        self.gate.add_permits(10_000);
        let mut answers = Vec::new();
        for asker in self.askers {
            answers.push(shown(asker.await.unwrap()));
        }
        answers
    }
}

/// Returns offsets and request ids as published.
fn records(world: &World<Tally>) -> Vec<(u64, String)> {
    world.store.records(topic()).into_iter().map(|records| (records.offset, records.request.to_string())).collect()
}

fn rows(requests: &[&str]) -> Vec<(u64, String)> {
    (1..).zip(requests.iter().map(|text| (*text).to_owned())).collect()
}

#[actix::test]
async fn queued_commands_are_saved_together_and_each_returns_the_state_after_its_own_change() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let mut listening = world.hub.subscribe(topic());
    listening.after(0);
    let waiting = wait_behind(&world, &[Plus(1), Plus(2), Nothing, Plus(1), Plus(3)]).await;
    let answers = waiting.answers().await;
    assert_eq!(answers, [(1, 1), (3, 3), (3, 3), (4, 4), (7, 7)].map(Ok));
    assert_eq!(world.store.saves.load(Ordering::SeqCst), 2, "the first alone, and all that waited");
    assert_eq!(records(&world), rows(&["0", "1", "1", "3", "4", "4", "4"]));
    for offset in 1..=7 {
        let HubItem::Event(records) = listening.next().await else { panic!("nothing was told") };
        assert_eq!(records.offset, offset);
    }
    let seen = world.registry.snapshot(1).await.unwrap().unwrap();
    assert_eq!((seen.state.sum, world.store.get(1).sum), (7, 7));
}

#[actix::test]
async fn a_refused_command_affects_no_other_and_is_decided_on_the_commands_before_it() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let waiting = wait_behind(&world, &[Plus(1), ToEven(1), Plus(1), ToEven(1), ToEven(5), Plus(1)]).await;
    let answers = waiting.answers().await;
    let odd = |sum| Err(CommandError::Refused(Odd { sum }));
    assert_eq!(answers, [Ok((1, 1)), odd(1), Ok((2, 2)), Ok((3, 3)), odd(3), Ok((4, 4))]);
    assert_eq!(records(&world), rows(&["0", "2", "3", "5"]));
    let figures = world.figures();
    assert_eq!((figures.refused, figures.commands, figures.queued), (2, 7, 0));
}

#[actix::test]
async fn no_command_is_refused_because_of_an_unsaved_change() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let Waiting { gate, askers } = wait_behind(&world, &[Plus(2), ToEven(1), ToEven(1), Nothing]).await;
    gate.add_permits(1);
    until(|| world.figures().queued == 0 && world.store.saves.load(Ordering::SeqCst) == 2).await;
    let mut rest = askers.into_iter();
    assert_eq!(shown(rest.next().unwrap().await.unwrap()), Ok((2, 2)));
    sleep(Duration::from_millis(500)).await;
    let rest: Vec<_> = rest.collect();
    assert!(rest.iter().all(|asker| !asker.is_finished()), "neither the change, the refusal, nor what changed nothing");
    gate.add_permits(1);
    let mut answers = Vec::new();
    for asker in rest {
        answers.push(shown(asker.await.unwrap()));
    }
    assert_eq!(answers, [Ok((3, 3)), Err(CommandError::Refused(Odd { sum: 3 })), Ok((3, 3))]);
}

#[actix::test]
async fn a_batch_that_is_not_saved_fails_as_a_whole_and_the_next_command_sees_the_stored_state() {
    tokio::time::pause();
    for fault in
        [Fault::Fails, Fault::Conflicts, Fault::Hangs, Fault::Panics, Fault::WritesUnknown, Fault::WritesAndHangs]
    {
        let world = world(ShellLimits::default());
        let mut listening = world.hub.subscribe(topic());
        listening.after(0);
        let began = Instant::now();
        world.registry.ask(1, Plus(1), request("before")).await.unwrap();
        let waiting = wait_behind(&world, &[Plus(1), Plus(1), ToEven(1), Nothing, Plus(3)]).await;
        // The first save succeeds; the second one is the batch.
        world.store.next_saves([None, Some(fault)]);
        let mut answers = waiting.answers().await.into_iter();
        assert_eq!(answers.next(), Some(Ok((2, 2))));
        for answer in answers {
            let Err(CommandError::Unsaved(unsaved)) = answer else { panic!("{fault:?}: {answer:?}") };
            let is_known = matches!(unsaved, Unsaved::Failed(_) | Unsaved::Conflict);
            assert_eq!(is_known, matches!(fault, Fault::Fails | Fault::Conflicts), "{fault:?}: {unsaved:?}");
        }
        assert!(began.elapsed() < Duration::from_millis(2_100));
        let is_written = matches!(fault, Fault::WritesUnknown | Fault::WritesAndHangs);
        // Either the whole batch is written, or nothing.
        let sum = if is_written { 6 } else { 2 };
        assert_eq!((world.store.get(1).sum, records(&world).len()), (sum, usize::try_from(sum).unwrap()), "{fault:?}");
        let next = shown(world.registry.ask(1, Plus(1), request("next")).await);
        assert_eq!(next, Ok((sum + 1, sum + 1)), "{fault:?}");
        // Subscribers receive everything that is in the table, in its order.
        for offset in 1..=sum + 1 {
            let HubItem::Event(records) = listening.next().await else { panic!("{fault:?}: nothing was told") };
            assert_eq!(records.offset, offset, "{fault:?}");
        }
        let figures = world.figures();
        assert_eq!((figures.unsaved, figures.reloaded, figures.resent, figures.queued), (1, 1, 0, 0), "{fault:?}");
    }
}

#[actix::test]
async fn commands_queued_behind_a_full_batch_that_failed_are_resent_and_saved() {
    tokio::time::pause();
    let world = world(in_groups_of(3));
    let waiting = wait_behind(&world, &[Plus(1); 9]).await;
    world.store.next_saves([None, Some(Fault::Fails)]);
    let answers = waiting.answers().await;
    let failed = || Err(CommandError::Unsaved(Unsaved::Failed("away".to_owned())));
    assert_eq!(answers.get(..4).unwrap(), [Ok((1, 1)), failed(), failed(), failed()]);
    // Five senders: their order is not deterministic.
    let mut rest: Vec<_> = answers.get(4..).unwrap().iter().map(|answer| answer.clone().unwrap().0).collect();
    rest.sort_unstable();
    assert_eq!(rest, [2, 3, 4, 5, 6]);
    assert_eq!((world.figures().resent, world.store.get(1).sum), (5, 6));
}

#[actix::test]
async fn a_bug_within_a_batch_fails_its_own_command_and_earlier_commands_are_saved() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let waiting = wait_behind(&world, &[Plus(1), Plus(1), Panics, Plus(1), Miscounts, ToEven(1), Plus(1)]).await;
    let answers = waiting.answers().await;
    let odd = Err(CommandError::Refused(Odd { sum: 3 }));
    let broken = || Err(CommandError::Broken);
    assert_eq!(answers, [Ok((1, 1)), Ok((2, 2)), broken(), Ok((3, 3)), broken(), odd, Ok((4, 4))]);
    let figures = world.figures();
    assert_eq!((figures.panicked, figures.reloaded, figures.resent), (2, 2, 0));
    assert_eq!(records(&world), rows(&["0", "1", "3", "6"]));
}

#[actix::test]
async fn a_bug_in_a_batch_that_is_not_saved_is_still_reported_as_a_bug() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let waiting = wait_behind(&world, &[Plus(1), Plus(1), Panics, Plus(1)]).await;
    world.store.next_saves([None, Some(Fault::Fails)]);
    let answers = waiting.answers().await;
    let failed = Err(CommandError::Unsaved(Unsaved::Failed("away".to_owned())));
    assert_eq!(answers, [Ok((1, 1)), failed, Err(CommandError::Broken), Ok((2, 2))]);
}

#[actix::test]
async fn a_batch_has_a_maximum_of_commands_and_events() {
    tokio::time::pause();
    let most = world(in_groups_of(8));
    wait_behind(&most, &[Plus(1); 41]).await.answers().await;
    assert_eq!((most.store.saves.load(Ordering::SeqCst), most.store.get(1).sum), (1 + 5, 41));
    let long = world(in_groups_of(8));
    wait_behind(&long, &[Plus(1), Plus(7), Plus(9), Plus(20), Plus(1), Plus(1)]).await.answers().await;
    assert_eq!(long.store.saves.load(Ordering::SeqCst), 1 + 3, "7 and 9, then 20, then the rest");
    let refused = world(in_groups_of(8));
    let mut commands = vec![ToEven(1); 30];
    commands.push(Plus(1));
    let answers = wait_behind(&refused, &commands).await.answers().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 29);
    assert_eq!(answers.last(), Some(&Ok((2, 2))), "whoever comes after many refusals has their turn");
}

#[actix::test]
async fn stopping_waits_for_the_queued_batch() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let waiting = wait_behind(&world, &[Plus(1); 6]).await;
    let stopping = actix::spawn({
        let registry = world.registry.clone();
        async move { registry.stop_all().await }
    });
    until(|| stopping.is_finished() || world.figures().busy == 0).await;
    sleep(Duration::from_millis(1)).await;
    assert_eq!(shown(world.registry.ask(1, Plus(1), request("late")).await), Err(CommandError::Busy));
    assert!(!stopping.is_finished());
    let answers = waiting.answers().await;
    assert_eq!(answers, [1, 2, 3, 4, 5, 6].map(|sum| Ok((sum, sum))));
    stopping.await.unwrap();
    assert_eq!((world.figures().awake, world.store.get(1).sum), (0, 6));
}

#[actix::test]
async fn a_caller_who_gives_up_while_the_batch_is_saved_does_not_affect_it() {
    tokio::time::pause();
    let world = world(ShellLimits::default());
    let Waiting { gate, askers } = wait_behind(&world, &[Plus(1), Plus(1), Plus(1), Plus(1)]).await;
    gate.add_permits(1);
    until(|| world.figures().queued == 0 && world.store.saves.load(Ordering::SeqCst) == 2).await;
    drop(askers);
    gate.add_permits(8);
    until(|| world.store.get(1).sum == 4).await;
    assert_eq!(shown(world.registry.ask(1, Plus(1), request("next")).await), Ok((5, 5)));
}

/// The oracle is the same shell with batches of one command.
#[actix::test]
async fn random_batches_have_the_same_results_as_single_commands() {
    tokio::time::pause();
    let (mut seeds, _) = Chance::from_env();
    for sequence in 0..150 {
        let seed = seeds.next();
        let mut chance = Chance::new(seed);
        let others = (0..chance.below(40)).map(|_| match chance.below(12) {
            0..=4 => Plus(1 + chance.below(3)),
            5..=8 => ToEven(1 + chance.below(2)),
            9 | 10 => Nothing,
            _ => *chance.pick(&[Panics, Miscounts]),
        });
        let commands: Vec<Add> = [Plus(1)].into_iter().chain(others.collect::<Vec<_>>()).collect();
        let size = 2 + usize::try_from(chance.below(12)).unwrap();
        let (together, alone) = (world(in_groups_of(size)), world(in_groups_of(1)));
        let answers = wait_behind(&together, &commands).await.answers().await;
        let expected = wait_behind(&alone, &commands).await.answers().await;
        let case = format!("sequence {sequence}, seed {seed}, groups of {size}: {commands:?}");
        assert_eq!(answers, expected, "{case}");
        assert_eq!(records(&together), records(&alone), "{case}");
        assert_eq!(together.store.get(1), alone.store.get(1), "{case}");
        let saves = |world: &World<Tally>| world.store.saves.load(Ordering::SeqCst);
        assert!(saves(&together) <= saves(&alone), "{case}");
    }
}

/// Many senders, two threads, and a store in which every third save fails in some way.
#[actix::test]
async fn under_failures_acknowledged_commands_are_stored_once_and_refused_ones_are_not() {
    let (mut chance, _) = Chance::from_env();
    let store = Store::<Tally>::new(|_| EventKind::ProjectUpdated);
    store.insert(Tally { key: 1, revision: 0, sum: 0 });
    let faults = [Fault::Fails, Fault::Conflicts, Fault::Panics, Fault::WritesUnknown, Fault::WritesAndHangs];
    store.next_saves((0..400).map(|_| chance.one_in(3).then(|| *chance.pick(&faults))).collect::<Vec<_>>());
    let limits = ShellLimits { group: 16, save: Duration::from_millis(20), ..ShellLimits::default() };
    let world = World::new(store, Arbiters::start(2).unwrap(), limits);
    let senders: Vec<_> = (0..48)
        .map(|sender| {
            let registry = world.registry.clone();
            actix::spawn(async move {
                let mut answers = Vec::new();
                for round in 0..16 {
                    let id = format!("{sender}/{round}");
                    let add = if round % 4 == 3 { ToEven(1) } else { Plus(1) };
                    answers.push((id.clone(), shown(registry.ask(1, add, request(&id)).await)));
                }
                answers
            })
        })
        .collect();
    let mut answers = Vec::new();
    for sender in senders {
        answers.extend(sender.await.unwrap());
    }
    let rows = records(&world);
    assert_eq!(rows.iter().map(|(offset, _)| *offset).collect::<Vec<_>>(), (1..=rows.len() as u64).collect::<Vec<_>>());
    let stored = world.store.get(1);
    assert_eq!((stored.revision, stored.sum), (rows.len() as u64, rows.len() as u64));
    let mut acknowledged = 0;
    for (id, answer) in answers {
        let mut written = rows.iter().filter(|(_, request)| *request == id).map(|(offset, _)| *offset);
        let (first, second) = (written.next(), written.next());
        assert_eq!(second, None, "{id} was taken twice");
        match answer {
            Ok((revision, _)) => {
                acknowledged += 1;
                assert_eq!(first, Some(revision), "{id}");
            }
            Err(CommandError::Unsaved(Unsaved::Unknown(_))) => {}
            Err(_) => assert_eq!(first, None, "{id}: {answer:?}"),
        }
    }
    println!("{acknowledged} of 768 were acknowledged, in {} saves", world.store.saves.load(Ordering::SeqCst));
    assert!(acknowledged > 0);
    world.registry.stop_all().await;
    world.arbiters.stop();
}
