//! Tests of presence: connections open and close, and reports about them come late, twice and in any order.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::Live;
use actors::meeting::{
    Command, EndReason, Event, Link, MediaSession, Meeting, MeetingStatus, Observation, Participant, ParticipantStatus,
    Presence, State,
};
use actors::time::Time;
use support::participants::{EMPTY, GRACE, joins, sweep};
use support::{Chance, meeting, noon};

fn at(seconds: u64) -> Time {
    noon() + Duration::from_secs(seconds)
}

fn take(meeting: &Meeting, command: Command, seconds: u64) -> Meeting {
    meeting.decide(command, at(seconds)).unwrap().next
}

/// A meeting that is live since noon, with one participant who joined then.
fn joined() -> (Meeting, Id<ids::Participant>) {
    let who = Id::generate();
    let live = take(&meeting(), Command::Start { by: Id::generate() }, 0);
    (take(&live, joins(who, Id::generate()), 0), who)
}

fn socket(participant: Id<ids::Participant>, is_open: bool) -> Command {
    Command::See { seen: vec![Observation::Socket { participant, is_open, ago: Duration::ZERO }] }
}

fn media(participant: Id<ids::Participant>, name: &str, began: u64, is_open: bool) -> Observation {
    let session = MediaSession { began_at: at(began), name: name.to_owned(), is_open };
    Observation::Media { participant, session, ago: Duration::ZERO }
}

fn see(seen: Observation) -> Command {
    Command::See { seen: vec![seen] }
}

fn is(meeting: &Meeting, who: Id<ids::Participant>) -> &Participant {
    meeting.participants.get(&who).unwrap()
}

fn link(meeting: &Meeting, who: Id<ids::Participant>) -> Option<Link> {
    match is(meeting, who).presence {
        Presence::Joined { link, .. } => Some(link),
        Presence::Invited | Presence::Left { .. } | Presence::Removed { .. } => None,
    }
}

#[test]
fn a_participant_who_never_connects_has_left_after_two_minutes_and_may_join_again() {
    let (meeting, who) = joined();
    let user = is(&meeting, who).user_id.unwrap();
    assert!(!is(&meeting, who).is_connected());
    assert!(meeting.decide(socket(who, false), at(1)).unwrap().events.is_empty(), "that there is no socket is no news");
    assert!(meeting.decide(sweep(), at(119)).unwrap().events.is_empty());
    let change = meeting.decide(sweep(), at(120)).unwrap();
    assert_eq!(change.events, [Event::Left { participant: who }]);
    assert_eq!(change.next.state, State::Live { started_at: at(0), empty_since: Some(at(120)) });
    assert!(change.next.decide(sweep(), at(121)).unwrap().events.is_empty(), "safe to repeat");
    // Nobody keeps a meeting alive by an entry alone.
    let ended = take(&change.next, sweep(), 120 + EMPTY.as_secs());
    assert_eq!(ended.end_reason(), Some(EndReason::Empty));
    let back = take(&change.next, joins(who, user), 200);
    assert_eq!(link(&back, who), Some(Link::Awaited));
    assert!(back.decide(sweep(), at(319)).unwrap().events.is_empty(), "the time begins anew");
    assert_eq!(is(&take(&back, sweep(), 320), who).status(), ParticipantStatus::Left);
    let connected = take(&back, socket(who, true), 319);
    assert!(connected.decide(sweep(), at(10_000)).unwrap().events.is_empty());
}

#[test]
fn a_waiting_host_who_never_connects_stops_waiting() {
    let scheduled = meeting();
    let host = scheduled.host;
    let waiting = take(&scheduled, joins(host, scheduled.created_by), 1);
    assert!(waiting.decide(sweep(), at(120)).unwrap().events.is_empty());
    let swept = take(&waiting, sweep(), 121);
    assert_eq!((is(&swept, host).status(), swept.status()), (ParticipantStatus::Left, MeetingStatus::Scheduled));
}

#[test]
fn a_loss_that_is_reported_late_counts_from_when_it_was_seen() {
    let (meeting, who) = joined();
    let meeting = take(&meeting, socket(who, true), 5);
    let lost = |ago| {
        let seen = vec![Observation::Socket { participant: who, is_open: false, ago: Duration::from_secs(ago) }];
        link(&take(&meeting, Command::See { seen }, 10), who)
    };
    assert_eq!(lost(4), Some(Link::Lost { since: at(6) }));
    assert_eq!(lost(400), Some(Link::Lost { since: at(0) }), "not before they joined");
}

#[test]
fn a_participant_disconnected_for_thirty_seconds_has_left_and_not_before() {
    let (meeting, who) = joined();
    let meeting = take(&meeting, socket(who, true), 1);
    assert!(is(&meeting, who).is_connected());
    let meeting = take(&meeting, socket(who, false), 10);
    assert_eq!(link(&meeting, who), Some(Link::Lost { since: at(10) }));
    assert!(is(&meeting, who).is_joined() && !is(&meeting, who).is_connected());
    assert!(meeting.decide(sweep(), at(39)).unwrap().events.is_empty());
    let change = meeting.decide(sweep(), at(40)).unwrap();
    assert_eq!(change.events, [Event::Left { participant: who }]);
    let left = Presence::Left { joined_at: at(0), left_at: at(40) };
    assert_eq!(is(&change.next, who).presence, left);
    assert!(change.next.decide(sweep(), at(41)).unwrap().events.is_empty(), "safe to repeat");
}

#[test]
fn a_participant_who_reconnects_within_the_grace_never_left() {
    let (meeting, who) = joined();
    let meeting = take(&meeting, socket(who, true), 1);
    let meeting = take(&meeting, socket(who, false), 10);
    let meeting = take(&meeting, socket(who, true), 39);
    assert!(meeting.decide(sweep(), at(60)).unwrap().events.is_empty());
    assert_eq!(is(&meeting, who).presence.joined_at(), Some(at(0)));
    let lost_again = take(&meeting, socket(who, false), 100);
    assert_eq!(link(&lost_again, who), Some(Link::Lost { since: at(100) }), "the grace begins anew");
}

#[test]
fn a_participant_with_one_open_connection_is_connected() {
    let (meeting, who) = joined();
    let meeting = take(&meeting, socket(who, true), 1);
    let meeting = take(&meeting, see(media(who, "A", 2, true)), 2);
    let meeting = take(&meeting, socket(who, false), 3);
    assert_eq!(link(&meeting, who), Some(Link::Up { socket: false }));
    let meeting = take(&meeting, see(media(who, "A", 2, false)), 4);
    assert_eq!(link(&meeting, who), Some(Link::Lost { since: at(4) }));
    let meeting = take(&meeting, socket(who, true), 5);
    assert_eq!(link(&meeting, who), Some(Link::Up { socket: true }));
}

#[test]
fn media_server_events_lead_to_the_same_state_in_any_order_and_repeated() {
    let (meeting, who) = joined();
    // Two connections with the second still open; the same with both closed; and one of which only the end was
    // reported.
    let tellings = [
        vec![media(who, "A", 1, true), media(who, "A", 1, false), media(who, "B", 5, true)],
        vec![media(who, "A", 1, true), media(who, "A", 1, false), media(who, "B", 5, true), media(who, "B", 5, false)],
        vec![media(who, "A", 1, false)],
    ];
    let (mut seeds, _) = Chance::from_env();
    for telling in tellings {
        let tell = |all: &[Observation]| {
            all.iter().fold(meeting.clone(), |meeting, seen| take(&meeting, see(seen.clone()), 9))
        };
        let in_order = tell(&telling);
        for _ in 0..200 {
            let mut chance = Chance::new(seeds.next());
            let mut shuffled = telling.clone();
            shuffled.extend((0..3).map(|_| chance.pick(&telling).clone()));
            chance.shuffle(&mut shuffled);
            let after = tell(&shuffled);
            assert_eq!(is(&after, who), is(&in_order, who), "{shuffled:?}");
        }
    }
}

#[test]
fn events_about_a_former_stay_do_not_affect_the_current_one() {
    let (meeting, who) = joined();
    let user = is(&meeting, who).user_id.unwrap();
    let meeting = take(&meeting, see(media(who, "A", 1, true)), 1);
    let meeting = take(&meeting, Command::Leave { participant: who }, 2);
    assert!(meeting.decide(see(media(who, "A", 1, false)), at(3)).unwrap().events.is_empty());
    let meeting = take(&meeting, joins(who, user), 4);
    let late = meeting.decide(see(media(who, "A", 1, false)), at(5)).unwrap();
    assert!(late.events.is_empty());
    let late = meeting.decide(see(media(who, "A", 1, true)), at(5)).unwrap();
    assert!(late.events.is_empty());
    assert_eq!(link(&meeting, who), Some(Link::Awaited), "nothing has begun to run out");
}

#[test]
fn many_observations_are_applied_at_once_and_unknown_participants_are_ignored() {
    let (meeting, first) = joined();
    let second = Id::generate();
    let meeting = take(&meeting, joins(second, Id::generate()), 0);
    let open = |participant| Observation::Socket { participant, is_open: true, ago: Duration::ZERO };
    let seen = vec![open(first), open(Id::generate()), open(second), open(first), media(first, "A", 1, true)];
    let change = meeting.decide(Command::See { seen }, at(1)).unwrap();
    let expected = [Event::Changed { participant: first }, Event::Changed { participant: second }];
    assert_eq!(change.events, expected, "each is told of once");
    assert_eq!(change.next.revision, meeting.revision + 2);
}

#[test]
fn a_meeting_ends_after_fifteen_empty_minutes_and_each_join_restarts_the_timeout() {
    let began = take(&meeting(), Command::Start { by: Id::generate() }, 0);
    assert!(began.decide(sweep(), at(899)).unwrap().events.is_empty());
    let ended = began.decide(sweep(), at(900)).unwrap();
    assert_eq!(ended.events, [Event::Ended { by: None, reason: EndReason::Empty }]);
    let (who, user) = (Id::generate(), Id::generate());
    let busy = take(&take(&began, joins(who, user), 800), socket(who, true), 801);
    assert!(busy.decide(sweep(), at(5_000)).unwrap().events.is_empty());
    let empty = take(&busy, Command::Leave { participant: who }, 1_000);
    assert_eq!(empty.state, State::Live { started_at: at(0), empty_since: Some(at(1_000)) });
    assert!(empty.decide(sweep(), at(1_899)).unwrap().events.is_empty());
    assert_eq!(take(&empty, sweep(), 1_900).status(), MeetingStatus::Ended);
}

#[test]
fn a_late_sweep_first_lets_disconnected_participants_leave_and_then_counts_the_meeting_as_empty() {
    let (meeting, who) = joined();
    let meeting = take(&meeting, socket(who, true), 1);
    let meeting = take(&meeting, socket(who, false), 2);
    let swept = take(&meeting, sweep(), 3_600);
    assert_eq!(is(&swept, who).status(), ParticipantStatus::Left);
    assert_eq!(swept.state, State::Live { started_at: at(0), empty_since: Some(at(3_600)) });
    let ended = take(&swept, sweep(), 3_600 + EMPTY.as_secs());
    assert_eq!(ended.end_reason(), Some(EndReason::Empty));
}

#[test]
fn a_waiting_host_who_disconnects_stops_waiting() {
    let scheduled = meeting();
    let host = scheduled.host;
    let waiting = take(&scheduled, joins(host, scheduled.created_by), 1);
    let waiting = take(&waiting, socket(host, true), 2);
    let waiting = take(&waiting, socket(host, false), 3);
    let swept = take(&waiting, sweep(), 3 + GRACE.as_secs());
    assert_eq!((is(&swept, host).status(), swept.status()), (ParticipantStatus::Left, MeetingStatus::Scheduled));
}

#[test]
fn after_a_clock_is_set_back_no_wait_grows_by_more_than_the_difference() {
    let (meeting, who) = joined();
    let meeting = take(&meeting, socket(who, true), 100);
    let before_noon = noon() - Duration::from_secs(3_600);
    let lost = meeting.decide(socket(who, false), before_noon).unwrap().next;
    assert_eq!(link(&lost, who), Some(Link::Lost { since: at(0) }), "not before they joined");
}
