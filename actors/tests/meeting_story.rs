//! A meeting's life cycle: every state with every command, its data, and random sequences against an oracle.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::time::Duration;
use strum::VariantArray;

use actors::ids::Id;
use actors::live::Live;
use actors::meeting::{
    Command, EndReason, Event, Link, Meeting, MeetingEdit, MeetingRole, MeetingStatus, Participant, ParticipantStatus,
    People, Presence, Refusal, State, TimeLimits,
};
use actors::time::Time;
use support::{Chance, meeting, noon};

/// The outcome of a command: the status after it and its event, no change, or a refusal (409 or 412).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Becomes(MeetingStatus, &'static str),
    Unchanged,
    InvalidState,
    Stale,
}
use Outcome::{Becomes, InvalidState, Stale, Unchanged};

/// The columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Update,
    UpdateSame,
    UpdateMatching,
    UpdateStale,
    Start,
    End,
    Cancel,
    RoomFinished,
    SweepEarly,
    SweepLate,
    SweepLongest,
}

const COLUMNS: [Column; 11] = [
    Column::Update,
    Column::UpdateSame,
    Column::UpdateMatching,
    Column::UpdateStale,
    Column::Start,
    Column::End,
    Column::Cancel,
    Column::RoomFinished,
    Column::SweepEarly,
    Column::SweepLate,
    Column::SweepLongest,
];

/// The whole state machine, one row per state, in the order of [`COLUMNS`].
#[rustfmt::skip]
const TABLE: [(MeetingStatus, [Outcome; 11]); 4] = {
    use MeetingStatus::{Cancelled, Ended, Live, Scheduled};
    [
        (Scheduled, [Becomes(Scheduled, "meeting.updated"), Unchanged, Becomes(Scheduled, "meeting.updated"), Stale,
                     Becomes(Live, "meeting.started"), InvalidState, Becomes(Cancelled, "meeting.cancelled"),
                     Unchanged, Unchanged, Unchanged, Unchanged]),
        (Live,      [Becomes(Live, "meeting.updated"), Unchanged, Becomes(Live, "meeting.updated"), Stale,
                     Unchanged, Becomes(Ended, "meeting.ended"), InvalidState,
                     Becomes(Ended, "meeting.ended"), Unchanged, Becomes(Ended, "meeting.ended"),
                     Becomes(Ended, "meeting.ended")]),
        (Ended,     [InvalidState, InvalidState, InvalidState, Stale,
                     InvalidState, Unchanged, InvalidState,
                     Unchanged, Unchanged, Unchanged, Unchanged]),
        (Cancelled, [InvalidState, InvalidState, InvalidState, Stale,
                     InvalidState, InvalidState, Unchanged,
                     Unchanged, Unchanged, Unchanged, Unchanged]),
    ]
};

/// A sweep with these limits, in seconds, for an empty and for a live meeting.
fn sweep(empty: u64, live: u64) -> Command {
    let [connect, grace, empty, live] = [120, 30, empty, live].map(Duration::from_secs);
    Command::Sweep { limits: TimeLimits { connect, grace, empty, live } }
}

fn command(column: Column, on: &Meeting) -> Command {
    let update = |title: &str, if_match| Command::Update {
        edit: MeetingEdit { title: Some(title.to_owned()), ..MeetingEdit::default() },
        if_match,
    };
    match column {
        Column::Update => update("Another title", None),
        Column::UpdateSame => update(&on.title, None),
        Column::UpdateMatching => update("Another title", Some(on.version)),
        Column::UpdateStale => update("Another title", Some(on.version - 1)),
        Column::Start => Command::Start { by: Id::generate() },
        Column::End => Command::End { by: Some(Id::generate()), reason: EndReason::HostEnded, note: None },
        Column::Cancel => Command::Cancel { by: Id::generate(), reason: None },
        Column::RoomFinished => Command::RoomFinished,
        // Decided ten minutes after noon, for a meeting that started one minute after noon and is empty.
        Column::SweepEarly => sweep(541, 541),
        Column::SweepLate => sweep(540, 541),
        Column::SweepLongest => sweep(541, 540),
    }
}

/// Fails to compile when a command is added: then extend [`COLUMNS`] and [`TABLE`] too, or the table of `people_story`.
fn columns(command: &Command) -> &'static [Column] {
    match command {
        Command::Update { .. } => &[Column::Update, Column::UpdateSame, Column::UpdateMatching, Column::UpdateStale],
        Command::Start { .. } => &[Column::Start],
        Command::End { .. } => &[Column::End],
        Command::Cancel { .. } => &[Column::Cancel],
        Command::RoomFinished => &[Column::RoomFinished],
        Command::Sweep { .. } => &[Column::SweepEarly, Column::SweepLate, Column::SweepLongest],
        Command::Admit { .. }
        | Command::Join { .. }
        | Command::Leave { .. }
        | Command::Remove { .. }
        | Command::Consent { .. }
        | Command::See { .. }
        | Command::RemoveAdmitted { .. }
        | Command::Exclude { .. }
        | Command::Forget { .. }
        | Command::StartRecording { .. }
        | Command::AttachTranscript { .. }
        | Command::Recording { .. }
        | Command::SweepRecordings { .. } => &[],
    }
}

fn after(meeting: Meeting, command: Command, minutes: u64) -> Meeting {
    meeting.decide(command, noon() + Duration::from_secs(60 * minutes)).unwrap().next
}

/// Fails to compile when a status is added.
fn in_state(status: MeetingStatus) -> Meeting {
    let start = Command::Start { by: Id::generate() };
    match status {
        MeetingStatus::Scheduled => meeting(),
        MeetingStatus::Live => after(meeting(), start, 1),
        MeetingStatus::Ended => {
            let end = Command::End { by: None, reason: EndReason::Empty, note: None };
            after(after(meeting(), start, 1), end, 2)
        }
        MeetingStatus::Cancelled => after(meeting(), Command::Cancel { by: Id::generate(), reason: None }, 1),
    }
}

fn outcome(before: &Meeting, command: Command) -> Outcome {
    match before.decide(command, noon() + Duration::from_secs(600)) {
        Ok(change) if change.events.is_empty() => {
            assert_eq!(&change.next, before);
            Unchanged
        }
        Ok(change) => {
            let next = change.next;
            assert_eq!((next.version, next.revision), (before.version + 1, before.revision + 1));
            assert_eq!(next.updated_at, noon() + Duration::from_secs(600));
            Becomes(next.status(), change.events.first().unwrap().kind().as_str())
        }
        Err(Refusal::InvalidState { status }) => {
            assert_eq!(status, before.status());
            InvalidState
        }
        Err(Refusal::Stale { version }) => {
            assert_eq!(version, before.version);
            Stale
        }
        Err(refusal) => panic!("{refusal:?} is about people"),
    }
}

#[test]
fn every_state_answers_every_command_as_the_table_says() {
    assert_eq!(TABLE.map(|(status, _)| status).as_slice(), MeetingStatus::VARIANTS, "a row for each state");
    for (status, row) in TABLE {
        let before = in_state(status);
        assert_eq!(before.status(), status);
        for (column, expected) in COLUMNS.into_iter().zip(row) {
            let command = command(column, &before);
            assert!(columns(&command).contains(&column));
            assert_eq!(outcome(&before, command), expected, "{status} {column:?}");
        }
    }
}

#[test]
fn a_new_meeting_is_scheduled_and_its_creator_is_invited_as_host() {
    let new = meeting();
    assert_eq!((new.status(), new.version, new.revision), (MeetingStatus::Scheduled, 1, 0));
    let host = new.participants.get(&new.host).unwrap();
    assert_eq!((host.user_id, host.role, host.presence), (Some(new.created_by), MeetingRole::Host, Presence::Invited));
    assert_eq!((new.started_at(), new.ended_at(), new.end_reason()), (None, None, None));
}

#[test]
fn a_stale_if_match_is_refused_before_a_state_that_forbids_the_update() {
    let ended = in_state(MeetingStatus::Ended);
    let stale = ended.decide(command(Column::UpdateStale, &ended), noon()).unwrap_err();
    assert_eq!(stale, Refusal::Stale { version: 3 });
}

#[test]
fn an_update_keeps_what_it_does_not_name_and_all_three_fields_can_be_set_while_live() {
    let live = in_state(MeetingStatus::Live);
    let later = noon() + Duration::from_secs(3600);
    let edit = MeetingEdit {
        title: Some("Review".to_owned()),
        description: Some("All of it".to_owned()),
        scheduled_at: Some(later.into()),
    };
    let update = Command::Update { edit, if_match: Some(live.version) };
    let next = live.decide(update, noon()).unwrap().next;
    assert_eq!((next.title.as_str(), next.description.as_str(), next.scheduled_at), ("Review", "All of it", later));
    let edit = MeetingEdit { description: Some(String::new()), ..MeetingEdit::default() };
    let update = Command::Update { edit, if_match: None };
    let last = next.decide(update, noon()).unwrap().next;
    assert_eq!((last.title.as_str(), last.description.as_str(), last.scheduled_at), ("Review", "", later));
    assert_eq!(last.state, live.state);
}

#[test]
fn an_update_of_any_field_alone_is_a_change_and_a_second_time_it_is_none() {
    let scheduled = in_state(MeetingStatus::Scheduled);
    let later = noon() + Duration::from_secs(3600);
    // Fails to compile when a field is added: then add an edit of it alone.
    let MeetingEdit { title: _, description: _, scheduled_at: _ } = MeetingEdit::default();
    let edits = [
        MeetingEdit { title: Some("Review".to_owned()), ..MeetingEdit::default() },
        MeetingEdit { description: Some("All of it".to_owned()), ..MeetingEdit::default() },
        MeetingEdit { scheduled_at: Some(later.into()), ..MeetingEdit::default() },
    ];
    for edit in edits {
        let update = Command::Update { edit, if_match: None };
        let change = scheduled.decide(update.clone(), noon()).unwrap();
        assert_eq!((change.next.version, change.events.len()), (scheduled.version + 1, 1), "{update:?}");
        let again = change.next.decide(update.clone(), noon()).unwrap();
        assert_eq!((&again.next, again.events.len()), (&change.next, 0), "{update:?}");
    }
    let nothing = Command::Update { edit: MeetingEdit::default(), if_match: None };
    assert_eq!(scheduled.decide(nothing, noon()).unwrap().next, scheduled);
}

#[test]
fn when_a_meeting_ends_joined_participants_leave_and_no_others_change() {
    let mut live = in_state(MeetingStatus::Live);
    let joined_at = noon() + Duration::from_secs(90);
    let presences = [
        Presence::Invited,
        Presence::Joined { joined_at, link: Link::Up { socket: true } },
        Presence::Left { joined_at, left_at: joined_at },
        Presence::Removed { joined_at: None, left_at: None, by: None },
        Presence::Joined { joined_at, link: Link::Awaited },
    ];
    let people = presences.map(|presence| {
        let guest = Participant::invited(Id::generate(), None, "Guest".to_owned(), None, MeetingRole::Observer);
        Participant { presence, ..guest }
    });
    let ids = people.clone().map(|one| one.id);
    live.participants = People::from_iter(people);
    let by = Some(Id::generate());
    let end = Command::End { by, reason: EndReason::HostEnded, note: Some("done".to_owned()) };
    let change = live.decide(end, noon() + Duration::from_secs(120)).unwrap();
    let left_at = noon() + Duration::from_secs(120);
    let after = ids.map(|id| change.next.participants.get(&id).unwrap().presence);
    let [invited, _, left, removed, _] = presences;
    let gone = Presence::Left { joined_at, left_at };
    assert_eq!(after, [invited, gone, left, removed, gone]);
    let [_, first, _, _, second] = ids;
    let expected = [
        Event::Left { participant: first },
        Event::Left { participant: second },
        Event::Ended { by, reason: EndReason::HostEnded },
    ];
    assert_eq!(change.events, expected);
    assert_eq!((change.next.revision, change.next.version), (live.revision + 3, live.version + 1));
    let statuses = after.map(Presence::status);
    use ParticipantStatus::{Invited, Left, Removed};
    assert_eq!(statuses, [Invited, Left, Left, Removed, Left]);
    assert_eq!(
        change.next.state,
        State::Ended {
            started_at: noon() + Duration::from_secs(60),
            ended_at: left_at,
            reason: EndReason::HostEnded,
            note: Some("done".to_owned())
        }
    );
}

#[test]
fn a_meeting_that_ended_keeps_its_first_reason() {
    let ended = in_state(MeetingStatus::Ended);
    let again = after(ended.clone(), command(Column::End, &ended), 9);
    assert_eq!(again.end_reason(), Some(EndReason::Empty));
}

#[test]
fn a_clock_that_was_set_back_ends_no_meeting_before_its_start() {
    let live = in_state(MeetingStatus::Live);
    let next = live.decide(command(Column::End, &live), noon() - Duration::from_secs(3600)).unwrap().next;
    assert_eq!(next.ended_at(), next.started_at());
    assert!(next.updated_at >= live.updated_at);
}

/// The expected state of a meeting, with a different design: a list of what happened to it.
#[derive(Debug, Default)]
struct Oracle {
    title: String,
    started_at: Option<Time>,
    ended: Option<(Time, EndReason)>,
    cancelled: bool,
    changes: u64,
}

impl Oracle {
    /// Returns whether the command is expected to be accepted.
    fn is_accepted(&mut self, command: &Command, now: Time) -> bool {
        let over = self.cancelled || self.ended.is_some();
        match command {
            Command::Update { if_match: Some(version), .. } if *version != self.changes + 1 => false,
            Command::Update { edit: MeetingEdit { title, .. }, .. } => {
                if let (false, Some(title)) = (over, title)
                    && *title != self.title
                {
                    self.title.clone_from(title);
                    self.changes += 1;
                }
                !over
            }
            Command::Start { .. } => {
                if !over && self.started_at.is_none() {
                    self.started_at = Some(now);
                    self.changes += 1;
                }
                !over
            }
            Command::End { reason, .. } => {
                if self.started_at.is_some() && self.ended.is_none() {
                    self.ended = Some((now, *reason));
                    self.changes += 1;
                }
                self.started_at.is_some()
            }
            Command::Cancel { .. } => {
                if self.started_at.is_none() && !self.cancelled {
                    self.cancelled = true;
                    self.changes += 1;
                }
                self.started_at.is_none()
            }
            other => panic!("{other:?} is for the tables"),
        }
    }
}

#[test]
fn chance_finds_no_way_around_the_rules() {
    let (mut seeds, _) = Chance::from_env();
    for sequence in 0..3_000 {
        let seed = seeds.next();
        let mut chance = Chance::new(seed);
        let mut meeting = meeting();
        let mut oracle = Oracle { title: meeting.title.clone(), ..Oracle::default() };
        let mut now = noon();
        for step in 0..40 {
            now = now + Duration::from_millis(chance.below(1_000));
            // Endings are rare, so that sequences become long.
            let column = match chance.below(12) {
                0 => Column::Start,
                1 if chance.one_in(3) => Column::End,
                2 if chance.one_in(6) => Column::Cancel,
                3 => Column::UpdateSame,
                4 => Column::UpdateStale,
                5 | 6 => Column::UpdateMatching,
                _ => Column::Update,
            };
            let command = match command(column, &meeting) {
                Command::Update { if_match, .. } if column != Column::UpdateSame => {
                    let title = Some(format!("title {}", chance.below(4)));
                    Command::Update { edit: MeetingEdit { title, ..MeetingEdit::default() }, if_match }
                }
                other => other,
            };
            let case = format!("sequence {sequence}, seed {seed}, step {step}: {command:?}");
            let expected = oracle.is_accepted(&command, now);
            let before = meeting.clone();
            match meeting.decide(command, now) {
                Ok(change) => {
                    assert!(expected, "{case} was taken");
                    assert_eq!(change.next.revision, before.revision + change.events.len() as u64, "{case}");
                    meeting = change.next;
                }
                Err(_) => assert!(!expected, "{case} was refused"),
            }
            assert_eq!(meeting.title, oracle.title, "{case}");
            assert_eq!(meeting.started_at(), oracle.started_at, "{case}");
            assert_eq!(meeting.ended_at().zip(meeting.end_reason()), oracle.ended, "{case}");
            assert_eq!(meeting.status() == MeetingStatus::Cancelled, oracle.cancelled, "{case}");
            assert_eq!((meeting.version, meeting.revision), (oracle.changes + 1, oracle.changes), "{case}");
            if matches!(before.status(), MeetingStatus::Ended | MeetingStatus::Cancelled) {
                assert_eq!(meeting, before, "{case}: what is over stays as it is");
            }
        }
    }
}
