//! Participants who join and leave: every status of a participant with every command, and the rules that the table does
//! not show.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::{Change, Live};
use actors::meeting::{
    Command, ConsentAnswer, ConsentScope, EndReason, Event, Link, MediaSession, Meeting, MeetingRole, MeetingStatus,
    Newcomer, Observation, Participant, ParticipantStatus, People, Presence, Refusal, State,
};
use actors::time::Time;
use support::participants::{GRACE, MAX_LIVE, MAX_PARTICIPANTS, as_guest, consent, joins, newcomer, sweep};
use support::{meeting, noon};

/// The outcome of a command for one participant: their status after it and the first event, no change, or the refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    To(ParticipantStatus, &'static str),
    Same,
    No(Refusal),
}
use Outcome::{No, Same, To};

/// The status of the participant that the command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    Nobody,
    Invited,
    Joined,
    Left,
    Removed,
}

const MEMBERSHIPS: [Membership; 5] =
    [Membership::Nobody, Membership::Invited, Membership::Joined, Membership::Left, Membership::Removed];

/// The rows of the table: commands about a participant whose role does not lead the meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    Join,
    Leave,
    Remove,
    RemoveAdmitted,
    AdmitByTheSameInvitation,
    AdmitByAnother,
    Grant,
    Decline,
    SeeSocket,
    SeeNoSocket,
    SeeMedia,
    SweepAfterGrace,
    Forget,
    Exclude,
}

fn end(status: MeetingStatus) -> Outcome {
    No(Refusal::InvalidState { status })
}

/// One row for each command and state, in the order of [`MEMBERSHIPS`].
#[rustfmt::skip]
fn table() -> Vec<(Row, MeetingStatus, [Outcome; 5])> {
    use ParticipantStatus::{Invited, Joined, Left, Removed};
    use MeetingStatus::{Cancelled, Ended, Live, Scheduled};
    let unknown = No(Refusal::NoSuchParticipant);
    let never = No(Refusal::NeverJoined);
    let out = No(Refusal::Removed);
    let mut rows = Vec::new();
    for status in [Scheduled, Live, Ended, Cancelled] {
        let no = end(status);
        rows.push((Row::Join, status, match status {
            Live => [To(Joined, "participant.joined"), To(Joined, "participant.joined"), Same, To(Joined, "participant.joined"), out],
            _ => [no, no, no, no, out],
        }));
        rows.push((Row::Leave, status, [unknown, never, To(Left, "participant.left"), Same, out]));
        let removed = To(Removed, "participant.removed");
        rows.push((Row::Remove, status, [unknown, removed, removed, removed, Same]));
        rows.push((Row::RemoveAdmitted, status, [Same, removed, removed, removed, Same]));
        let let_in = To(Invited, "participant.updated");
        rows.push((Row::AdmitByTheSameInvitation, status, match status {
            Scheduled | Live => [let_in, Same, Same, Same, out],
            _ => [no, no, no, no, no],
        }));
        rows.push((Row::AdmitByAnother, status, match status {
            Scheduled | Live => {
                [let_in, let_in, To(Joined, "participant.updated"), To(Left, "participant.updated"), let_in]
            }
            _ => [no, no, no, no, no],
        }));
        for row in [Row::Grant, Row::Decline] {
            rows.push((row, status, match status {
                Live | Ended => {
                    let kind = "participant.consent";
                    [unknown, never, To(Joined, kind), To(Left, kind), To(Removed, kind)]
                }
                _ => [unknown, never, no, no, no],
            }));
        }
        for row in [Row::SeeSocket, Row::SeeMedia] {
            rows.push((row, status, [Same, Same, To(Joined, "participant.updated"), Same, Same]));
        }
        rows.push((Row::SeeNoSocket, status, [Same; 5]));
        rows.push((Row::SweepAfterGrace, status, [Same, Same, To(Left, "participant.left"), Same, Same]));
        let updated = "participant.updated";
        rows.push((Row::Exclude, status, match status {
            Scheduled | Live => [Same, removed, removed, removed, Same],
            Ended | Cancelled => [Same; 5],
        }));
        rows.push((
            Row::Forget,
            status,
            [Same, To(Invited, updated), To(Left, "participant.left"), To(Left, updated), To(Removed, updated)],
        ));
    }
    rows
}

struct Cast {
    meeting: Meeting,
    who: Id<ids::Participant>,
    user: Id<User>,
    invitation: Id<ids::Invitation>,
}

/// A meeting in a state, with one participant in a status.
fn cast(status: MeetingStatus, membership: Membership, link: Link) -> Cast {
    let mut meeting = meeting();
    meeting.state = match status {
        MeetingStatus::Scheduled => State::Scheduled,
        MeetingStatus::Live => State::Live { started_at: noon(), empty_since: None },
        MeetingStatus::Ended => {
            State::Ended { started_at: noon(), ended_at: noon(), reason: EndReason::HostEnded, note: None }
        }
        MeetingStatus::Cancelled => State::Cancelled { cancelled_at: noon(), by: Id::generate(), reason: None },
    };
    let (who, user, invitation) = (Id::generate(), Id::generate(), Id::generate());
    let (joined_at, left_at) = (noon(), noon());
    let presence = match membership {
        Membership::Nobody => return Cast { meeting, who, user, invitation },
        Membership::Invited => Presence::Invited,
        Membership::Joined => Presence::Joined { joined_at, link },
        Membership::Left => Presence::Left { joined_at, left_at },
        Membership::Removed => Presence::Removed { joined_at: Some(joined_at), left_at: Some(left_at), by: None },
    };
    let email = Some("grace@example.org".to_owned());
    let person = Participant {
        presence,
        invitation: Some(invitation),
        first_joined_at: (membership != Membership::Invited).then_some(joined_at),
        ..Participant::invited(who, Some(user), "Grace".to_owned(), email, MeetingRole::Participant)
    };
    meeting.participants = People::from_iter(meeting.participants.values().cloned().chain([person]));
    Cast { meeting, who, user, invitation }
}

fn command(row: Row, cast: &Cast) -> Command {
    let Cast { who, user, invitation, .. } = *cast;
    let newcomer = newcomer(who, Some(user), "Grace");
    let admit = |invitation| Command::Admit {
        newcomer: newcomer.clone(),
        role: MeetingRole::Participant,
        invitation,
        most: MAX_PARTICIPANTS,
    };
    let media = MediaSession { began_at: noon(), name: "PA_1".to_owned(), is_open: true };
    match row {
        Row::Join => Command::Join { newcomer, display_name: None, most: MAX_PARTICIPANTS },
        Row::Leave => Command::Leave { participant: who },
        Row::Remove => Command::Remove { participant: who, by: Some(Id::generate()) },
        Row::RemoveAdmitted => Command::RemoveAdmitted { invitation },
        Row::AdmitByTheSameInvitation => admit(invitation),
        Row::AdmitByAnother => admit(Id::generate()),
        Row::Grant => consent(who, ConsentAnswer::Grant([ConsentScope::Recording].into())),
        Row::Decline => consent(who, ConsentAnswer::Decline),
        Row::SeeSocket => {
            Command::See { seen: vec![Observation::Socket { participant: who, is_open: true, ago: Duration::ZERO }] }
        }
        Row::SeeNoSocket => {
            Command::See { seen: vec![Observation::Socket { participant: who, is_open: false, ago: Duration::ZERO }] }
        }
        Row::SeeMedia => {
            Command::See { seen: vec![Observation::Media { participant: who, session: media, ago: Duration::ZERO }] }
        }
        Row::SweepAfterGrace => sweep(),
        Row::Exclude => Command::Exclude { user },
        Row::Forget => Command::Forget { participant: who, name: "Somebody".to_owned() },
    }
}

/// Fails to compile when a command is added: then extend the table too, or that of `meeting_story`.
fn rows(command: &Command) -> &'static [Row] {
    match command {
        Command::Join { .. } => &[Row::Join],
        Command::Leave { .. } => &[Row::Leave],
        Command::Remove { .. } => &[Row::Remove],
        Command::RemoveAdmitted { .. } => &[Row::RemoveAdmitted],
        Command::Admit { .. } => &[Row::AdmitByTheSameInvitation, Row::AdmitByAnother],
        Command::Consent { .. } => &[Row::Grant, Row::Decline],
        Command::See { .. } => &[Row::SeeSocket, Row::SeeNoSocket, Row::SeeMedia],
        Command::Sweep { .. } => &[Row::SweepAfterGrace],
        Command::Exclude { .. } => &[Row::Exclude],
        Command::Forget { .. } => &[Row::Forget],
        Command::Update { .. }
        | Command::Start { .. }
        | Command::End { .. }
        | Command::Cancel { .. }
        | Command::RoomFinished
        | Command::StartRecording { .. }
        | Command::AttachTranscript { .. }
        | Command::Recording { .. }
        | Command::SweepRecordings { .. } => &[],
    }
}

fn outcome(cast: &Cast, command: Command) -> Outcome {
    let before = &cast.meeting;
    match before.decide(command, noon() + GRACE) {
        Err(refusal) => No(refusal),
        Ok(change) if change.events.is_empty() => {
            assert_eq!(&change.next, before);
            Same
        }
        Ok(change) => {
            check(before, &change);
            let after = change.next.participants.get(&cast.who).unwrap();
            let first = change.events.first().unwrap();
            assert_eq!(first.participant(), Some(cast.who));
            To(after.status(), first.kind().as_str())
        }
    }
}

/// What is true of every change to participants.
fn check(before: &Meeting, change: &Change<Meeting>) {
    let next = &change.next;
    assert_eq!(next.revision, before.revision + change.events.len() as u64);
    assert_eq!((next.version, next.updated_at), (before.version, before.updated_at), "people don't touch the ETag");
    let mut changed: Vec<_> = next.participants.changed_since(&before.participants).map(|one| one.id).collect();
    let mut named: Vec<_> = change.events.iter().filter_map(Event::participant).collect();
    changed.sort_unstable();
    named.sort_unstable();
    assert_eq!(changed, named, "who changed is told of, once, and nobody else");
    assert!(before.participants.len() <= next.participants.len(), "nobody is dropped");
}

#[test]
fn every_participant_status_handles_every_command_as_the_table_says() {
    for (row, status, outcomes) in table() {
        for (membership, expected) in MEMBERSHIPS.into_iter().zip(outcomes) {
            // Nobody is in a meeting that has ended or was cancelled.
            if membership == Membership::Joined && matches!(status, MeetingStatus::Ended | MeetingStatus::Cancelled) {
                continue;
            }
            let link = if row == Row::SweepAfterGrace { Link::Lost { since: noon() } } else { Link::Awaited };
            let cast = cast(status, membership, link);
            let command = command(row, &cast);
            assert!(rows(&command).contains(&row));
            assert_eq!(outcome(&cast, command), expected, "{row:?} in {status} at {membership:?}");
        }
    }
}

fn at(seconds: u64) -> Time {
    noon() + Duration::from_secs(seconds)
}

fn live() -> Meeting {
    take(&meeting(), Command::Start { by: Id::generate() }, 0)
}

fn take(meeting: &Meeting, command: Command, seconds: u64) -> Meeting {
    meeting.decide(command, at(seconds)).unwrap().next
}

fn refused(meeting: &Meeting, command: Command, seconds: u64) -> Refusal {
    meeting.decide(command, at(seconds)).unwrap_err()
}

fn host(meeting: &Meeting) -> Newcomer {
    newcomer(meeting.host, Some(meeting.created_by), "Ada")
}

fn is(meeting: &Meeting, who: Id<ids::Participant>) -> &Participant {
    meeting.participants.get(&who).unwrap()
}

#[test]
fn only_hosts_and_co_hosts_may_wait_in_a_meeting_before_it_starts() {
    let mut scheduled = meeting();
    let (co_host, guest) = (Id::generate(), Id::generate());
    for (id, role) in [(co_host, MeetingRole::CoHost), (guest, MeetingRole::Observer)] {
        let newcomer = newcomer(id, None, "Grace");
        scheduled =
            take(&scheduled, Command::Admit { newcomer, role, invitation: Id::generate(), most: MAX_PARTICIPANTS }, 1);
    }
    let invalid = Refusal::InvalidState { status: MeetingStatus::Scheduled };
    assert_eq!(refused(&scheduled, as_guest(guest), 2), invalid);
    assert_eq!(refused(&scheduled, joins(Id::generate(), Id::generate()), 2), invalid);
    let waiting = take(&scheduled, as_guest(co_host), 2);
    assert!(is(&waiting, co_host).is_joined());
    let waiting =
        take(&waiting, Command::Join { newcomer: host(&waiting), display_name: None, most: MAX_PARTICIPANTS }, 3);
    assert!(is(&waiting, waiting.host).is_joined());
    let began = take(&waiting, Command::Start { by: waiting.created_by }, 4);
    assert_eq!(began.state, State::Live { started_at: at(4), empty_since: None }, "it began with people in it");
    let change = waiting.decide(Command::Cancel { by: Id::generate(), reason: None }, at(5)).unwrap();
    assert_eq!(
        change.events.iter().map(|event| event.kind().as_str()).collect::<Vec<_>>(),
        ["participant.left", "participant.left", "meeting.cancelled"]
    );
    let left = take(&waiting, Command::Leave { participant: waiting.host }, 5);
    assert_eq!(is(&left, left.host).status(), ParticipantStatus::Left);
}

#[test]
fn a_host_who_loses_project_access_leaves_but_stays_the_host() {
    let meeting = live();
    let user = meeting.created_by;
    assert!(meeting.decide(Command::Exclude { user }, at(1)).unwrap().events.is_empty(), "they are not here");
    let joined =
        take(&meeting, Command::Join { newcomer: host(&meeting), display_name: None, most: MAX_PARTICIPANTS }, 1);
    let change = joined.decide(Command::Exclude { user }, at(2)).unwrap();
    assert_eq!(change.events.iter().map(|event| event.kind().as_str()).collect::<Vec<_>>(), ["participant.left"]);
    assert_eq!(is(&change.next, meeting.host).status(), ParticipantStatus::Left);
    assert_eq!(change.next.host, meeting.host);
}

#[test]
fn a_live_meeting_ends_after_the_longest_duration_even_with_participants() {
    let who = Id::generate();
    let connected = Observation::Socket { participant: who, is_open: true, ago: Duration::ZERO };
    let meeting = take(&live(), joins(who, Id::generate()), 1);
    let meeting = take(&meeting, Command::See { seen: vec![connected] }, 2);
    let day = MAX_LIVE.as_secs();
    assert!(meeting.decide(sweep(), at(day - 1)).unwrap().events.is_empty());
    let change = meeting.decide(sweep(), at(day)).unwrap();
    assert_eq!(
        change.events.iter().map(|event| event.kind().as_str()).collect::<Vec<_>>(),
        ["participant.left", "meeting.ended"]
    );
    assert_eq!(change.next.end_reason(), Some(EndReason::System));
}

#[test]
fn a_guest_without_an_account_joins_only_by_an_invitation() {
    let meeting = live();
    let guest = Id::generate();
    assert_eq!(refused(&meeting, as_guest(guest), 1), Refusal::NoSuchParticipant);
    let invitation = Id::generate();
    let newcomer = newcomer(guest, None, "Grace");
    let invited =
        take(&meeting, Command::Admit { newcomer, role: MeetingRole::Observer, invitation, most: MAX_PARTICIPANTS }, 1);
    let joined = take(&invited, as_guest(guest), 2);
    let expected = Presence::Joined { joined_at: at(2), link: Link::Awaited };
    assert_eq!((is(&joined, guest).presence, is(&joined, guest).role), (expected, MeetingRole::Observer));
}

#[test]
fn a_project_member_is_one_participant_however_they_join() {
    let meeting = live();
    let user = Id::generate();
    let first = take(&meeting, joins(Id::generate(), user), 1);
    let again = first.decide(joins(Id::generate(), user), at(2)).unwrap();
    assert!(again.events.is_empty(), "another id that was drawn for them changes nothing");
    let newcomer = newcomer(Id::generate(), Some(user), "Grace");
    let command =
        Command::Admit { newcomer, role: MeetingRole::CoHost, invitation: Id::generate(), most: MAX_PARTICIPANTS };
    let invited = take(&first, command, 3);
    assert_eq!(invited.participants.len(), 2, "with the host");
    let one = invited.participants.of_user(user).unwrap();
    assert_eq!((one.role, one.is_joined()), (MeetingRole::CoHost, true));
}

#[test]
fn a_guest_who_logs_in_stays_the_same_participant_with_that_account() {
    let (guest, user) = (Id::generate(), Id::generate());
    let admit = |user, invitation| Command::Admit {
        newcomer: newcomer(guest, user, "Grace"),
        role: MeetingRole::Participant,
        invitation,
        most: MAX_PARTICIPANTS,
    };
    let invitation = Id::generate();
    let meeting = take(&live(), admit(None, invitation), 1);
    let meeting = take(&meeting, admit(Some(user), invitation), 2);
    assert_eq!(is(&meeting, guest).user_id, Some(user));
    assert_eq!(meeting.participants.of_user(user).map(|one| one.id), Some(guest));
}

#[test]
fn a_removed_participant_cannot_rejoin_without_another_invitation() {
    let cast = cast(MeetingStatus::Live, Membership::Joined, Link::Awaited);
    let removed = take(&cast.meeting, command(Row::Remove, &cast), 1);
    assert_eq!(refused(&removed, command(Row::Join, &cast), 2), Refusal::Removed);
    assert_eq!(refused(&removed, command(Row::AdmitByTheSameInvitation, &cast), 2), Refusal::Removed);
    let back = take(&removed, command(Row::AdmitByAnother, &cast), 3);
    assert_eq!(is(&back, cast.who).presence, Presence::Invited);
    assert_eq!(is(&back, cast.who).first_joined_at, Some(noon()), "that they were heard is not forgotten");
    assert!(is(&take(&back, command(Row::Join, &cast), 4), cast.who).is_joined());
}

#[test]
fn the_host_cannot_be_removed_and_stays_the_host_when_they_leave_or_are_invited_otherwise() {
    let meeting = live();
    let joined =
        take(&meeting, Command::Join { newcomer: host(&meeting), display_name: None, most: MAX_PARTICIPANTS }, 1);
    let remove = Command::Remove { participant: joined.host, by: Some(Id::generate()) };
    assert_eq!(refused(&joined, remove, 2), Refusal::LastHost);
    let left = take(&joined, Command::Leave { participant: joined.host }, 3);
    let admit = Command::Admit {
        newcomer: host(&left),
        role: MeetingRole::Observer,
        invitation: Id::generate(),
        most: MAX_PARTICIPANTS,
    };
    let after = take(&left, admit, 4);
    assert_eq!((after.host, is(&after, after.host).role), (meeting.host, MeetingRole::Host));
}

#[test]
fn a_meeting_admits_its_maximum_and_removing_a_participant_frees_a_place() {
    let mut meeting = live();
    let most = 3;
    let join =
        |user| Command::Join { newcomer: newcomer(Id::generate(), Some(user), "Grace"), display_name: None, most };
    let users: [Id<User>; 3] = [Id::generate(), Id::generate(), Id::generate()];
    let [first, second, third] = users;
    meeting = take(&meeting, join(first), 1);
    meeting = take(&meeting, join(second), 1);
    assert_eq!(refused(&meeting, join(third), 2), Refusal::Full, "the host has a place, present or not");
    let newcomer = newcomer(Id::generate(), None, "Guest");
    let admit = Command::Admit { newcomer, role: MeetingRole::Observer, invitation: Id::generate(), most };
    assert_eq!(refused(&meeting, admit, 2), Refusal::Full);
    let who = meeting.participants.of_user(first).unwrap().id;
    meeting = take(&meeting, Command::Leave { participant: who }, 3);
    assert_eq!(refused(&meeting, join(third), 4), Refusal::Full, "who left may come back");
    meeting = take(&meeting, Command::Remove { participant: who, by: None }, 5);
    meeting = take(&meeting, join(third), 6);
    assert_eq!(meeting.participants.capacity_used(), 3);
}

#[test]
fn a_display_name_can_be_set_at_each_join_and_during_the_meeting() {
    let meeting = live();
    let user = Id::generate();
    let called = |name: Option<&str>| Command::Join {
        newcomer: newcomer(Id::generate(), Some(user), "Grace"),
        display_name: name.map(str::to_owned),
        most: MAX_PARTICIPANTS,
    };
    let name = |meeting: &Meeting| meeting.participants.of_user(user).unwrap().display_name.clone();
    let joined = take(&meeting, called(Some("Amazing Grace")), 1);
    assert_eq!(name(&joined), "Amazing Grace");
    let change = joined.decide(called(Some("G. Hopper")), at(2)).unwrap();
    assert_eq!(change.events.first().map(|event| event.kind().as_str()), Some("participant.updated"));
    assert_eq!(name(&change.next), "G. Hopper");
    assert!(change.next.decide(called(None), at(3)).unwrap().events.is_empty());
}

#[test]
fn a_deleted_account_leaves_a_participant_without_a_name() {
    let cast = cast(MeetingStatus::Live, Membership::Joined, Link::Up { socket: true });
    let consented = take(&cast.meeting, command(Row::Grant, &cast), 1);
    let change = consented.decide(command(Row::Forget, &cast), at(2)).unwrap();
    assert_eq!(change.events, [Event::Forgotten { participant: cast.who, left: true }]);
    let one = is(&change.next, cast.who);
    assert_eq!((one.display_name.as_str(), one.email.as_deref()), ("Somebody", None));
    assert_eq!((one.user_id, one.status()), (Some(cast.user), ParticipantStatus::Left));
    assert!(one.grants(ConsentScope::Recording), "what they agreed to is evidence");
    assert!(!format!("{:?}", change.next).contains("Grace"));
    let again = change.next.decide(command(Row::Forget, &cast), at(3)).unwrap();
    assert!(again.events.is_empty());
}

#[test]
fn after_a_clock_is_set_back_no_participant_leaves_before_they_joined() {
    let cast = cast(MeetingStatus::Live, Membership::Left, Link::Awaited);
    let joined = take(&cast.meeting, command(Row::Join, &cast), 100);
    let left = take(&joined, command(Row::Leave, &cast), 50);
    assert_eq!(is(&left, cast.who).presence, Presence::Left { joined_at: at(100), left_at: at(100) });
}

#[test]
fn five_hundred_participants_join_at_the_same_cost_each() {
    let mut meeting = live();
    let newcomers: Vec<_> = (0..499).map(|_| joins(Id::generate(), Id::generate())).collect();
    let began = std::time::Instant::now();
    for command in newcomers {
        meeting = take(&meeting, command, 1);
    }
    let all = began.elapsed();
    let last = joins(Id::generate(), Id::generate());
    assert_eq!(refused(&meeting, last, 2), Refusal::Full);
    println!("499 joins were decided in {all:?}; {} bytes a participant", size_of::<Participant>());
    let began = std::time::Instant::now();
    let end = Command::End { by: None, reason: EndReason::HostEnded, note: None };
    let change = meeting.decide(end, at(3)).unwrap();
    println!("and the end, {} events, in {:?}", change.events.len(), began.elapsed());
    assert_eq!(change.events.len(), 500);
    if cfg!(not(debug_assertions)) {
        assert!(all < Duration::from_millis(100), "{all:?}");
    }
}

#[test]
fn a_revoked_invitation_removes_everyone_whom_it_admitted_but_the_host() {
    let meeting = live();
    let (invitation, other) = (Id::generate(), Id::generate());
    let (guest, user, host) =
        (Id::generate(), Id::<User>::generate(), meeting.participants.get(&meeting.host).unwrap());
    let admit = |newcomer, invitation| Command::Admit {
        newcomer,
        role: MeetingRole::Participant,
        invitation,
        most: MAX_PARTICIPANTS,
    };
    let elsewhere = newcomer(Id::generate(), Some(user), "Grace");
    let mut meeting = take(&meeting, admit(newcomer(guest, None, "Guest"), invitation), 1);
    meeting = take(&meeting, admit(elsewhere.clone(), other), 2);
    // The member, and then the host, follow the guest's link too.
    meeting = take(&meeting, admit(elsewhere, invitation), 3);
    meeting = take(&meeting, admit(newcomer(guest, host.user_id, "Ada"), invitation), 4);
    let change = meeting.decide(Command::RemoveAdmitted { invitation }, at(5)).unwrap();
    assert_eq!(change.events.len(), 2, "{:?}", change.events);
    let member = change.next.participants.of_user(user).unwrap();
    assert!(is(&change.next, guest).is_removed() && member.is_removed());
    assert!(!is(&change.next, meeting.host).is_removed());
    let again = change.next.decide(Command::RemoveAdmitted { invitation }, at(6)).unwrap();
    assert!(again.events.is_empty());
    assert!(meeting.decide(Command::RemoveAdmitted { invitation: other }, at(5)).unwrap().events.is_empty());
}
