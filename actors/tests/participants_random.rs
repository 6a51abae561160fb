//! Random commands to a meeting with several participants, checked against an oracle with a different design: it
//! records what happened in a diary and derives the expected state from that.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::Live;
use actors::meeting::{
    Command, ConsentAnswer, ConsentDecision, ConsentScope, EndReason, Event, LedgerEntry, MediaSession, Meeting,
    MeetingRole, MeetingStatus, Observation, ParticipantStatus,
};
use actors::time::Time;
use support::participants::{CONNECT, EMPTY, GRACE, MAX_LIVE, consent, newcomer, sweep};
use support::{Chance, meeting, noon};

const MAX_EACH: usize = 5;
const PEOPLE: usize = 7;

/// What was done, by or to which person (by number).
#[derive(Debug, Clone, PartialEq, Eq)]
enum Done {
    Started,
    Over,
    Admitted(usize, Id<ids::Invitation>),
    Joined(usize),
    Left(usize),
    Removed(usize),
    Socket(usize, bool),
    Media(usize, u64, bool),
    Answered(usize, bool),
    Forgotten(usize),
}

/// A diary with the time of each entry, and what can be derived from it.
#[derive(Debug, Default)]
struct Diary(Vec<(Time, Done)>);

impl Diary {
    fn has(&self, done: &Done) -> bool {
        self.0.iter().any(|(_, other)| other == done)
    }

    fn is_live(&self) -> bool {
        self.has(&Done::Started) && !self.has(&Done::Over)
    }

    fn is_open(&self) -> bool {
        !self.has(&Done::Over)
    }

    /// A person's status: the last entry that changed it.
    fn status(&self, who: usize) -> Option<ParticipantStatus> {
        let mut status = None;
        for (_, done) in &self.0 {
            status = match (done, status) {
                (Done::Admitted(one, _), None | Some(ParticipantStatus::Removed)) if *one == who => {
                    Some(ParticipantStatus::Invited)
                }
                (Done::Joined(one), _) if *one == who => Some(ParticipantStatus::Joined),
                (Done::Left(one), _) if *one == who => Some(ParticipantStatus::Left),
                (Done::Removed(one), _) if *one == who => Some(ParticipantStatus::Removed),
                (Done::Over | Done::Forgotten(_), Some(ParticipantStatus::Joined))
                    if *done == Done::Over || *done == Done::Forgotten(who) =>
                {
                    Some(ParticipantStatus::Left)
                }
                _ => status,
            };
        }
        status
    }

    fn is_in(&self, who: usize) -> bool {
        self.status(who) == Some(ParticipantStatus::Joined)
    }

    fn occupied(&self) -> usize {
        let has = |who: &usize| self.status(*who).is_some_and(|status| status != ParticipantStatus::Removed);
        (0..PEOPLE).filter(has).count()
    }

    fn anybody(&self) -> bool {
        (0..PEOPLE).any(|who| self.is_in(who))
    }

    fn ever_joined(&self, who: usize) -> bool {
        self.has(&Done::Joined(who))
    }

    /// The invitation by which a person was last admitted.
    fn invitation(&self, who: usize) -> Option<Id<ids::Invitation>> {
        self.0.iter().rev().find_map(|(_, done)| match done {
            Done::Admitted(one, invitation) if *one == who => Some(*invitation),
            _ => None,
        })
    }

    /// The entries since a person last joined.
    fn stay(&self, who: usize) -> &[(Time, Done)] {
        let since = self.0.iter().rposition(|(_, done)| *done == Done::Joined(who)).unwrap();
        self.0.get(since..).unwrap()
    }

    /// Whether the media connection that began last, of those reported, is open.
    fn media_is_open(&self, who: usize, until: usize) -> bool {
        let connections = || {
            self.0.iter().take(until).filter_map(|(_, done)| match done {
                Done::Media(one, began, open) if *one == who => Some((*began, *open)),
                _ => None,
            })
        };
        let Some(newest) = connections().map(|(began, _)| began).max() else { return false };
        let ends_by_leaving = || {
            // Leaving closes the connection: what was open then is no longer open.
            let first = self
                .0
                .iter()
                .position(|(_, done)| matches!(done, Done::Media(one, began, _) if *one == who && *began == newest));
            let first = first.unwrap();
            self.0.iter().take(until).skip(first).any(|(_, done)| match done {
                Done::Left(one) | Done::Removed(one) | Done::Forgotten(one) => *one == who,
                Done::Over => true,
                _ => false,
            })
        };
        connections().filter(|(began, _)| *began == newest).all(|(_, open)| open) && !ends_by_leaving()
    }

    /// Whether a person who is in the meeting is connected after the first `until` entries.
    fn is_connected(&self, who: usize, until: usize) -> bool {
        let start = self.0.len() - self.stay(who).len();
        let socket = self.0.iter().take(until).skip(start).rev().find_map(|(_, done)| match done {
            Done::Socket(one, open) if *one == who => Some(*open),
            _ => None,
        });
        socket.unwrap_or(false) || self.media_is_open(who, until)
    }

    /// Since when a person who is in the meeting is disconnected.
    fn lost_since(&self, who: usize) -> Option<Time> {
        let start = self.0.len() - self.stay(who).len();
        if self.is_connected(who, self.0.len()) {
            return None;
        }
        // The first instant after their last connection; or of the first report, if that was about a connection that
        // had already ended.
        let mut lost = None;
        let mut newest = self
            .0
            .iter()
            .take(start)
            .filter_map(|(_, done)| match done {
                Done::Media(one, began, _) if *one == who => Some(*began),
                _ => None,
            })
            .max();
        for at in start..self.0.len() {
            let (time, done) = self.0.get(at).unwrap();
            let is_news = match done {
                Done::Media(one, began, _) if *one == who => {
                    let is_newer = newest.is_none_or(|newest| *began > newest);
                    newest = newest.max(Some(*began));
                    is_newer
                }
                _ => false,
            };
            if self.is_connected(who, at + 1) {
                lost = None;
            } else if lost.is_none() && (is_news || (at > start && self.is_connected(who, at))) {
                lost = Some(*time);
            }
        }
        lost
    }

    /// Until when a person who is in the meeting and not connected stays: who never was connected has more time.
    fn stays_until(&self, who: usize) -> Option<Time> {
        if self.is_connected(who, self.0.len()) {
            return None;
        }
        let joined_at = || self.stay(who).first().map(|(time, _)| *time + CONNECT);
        self.lost_since(who).map(|since| since + GRACE).or_else(joined_at)
    }

    fn answer(&self, who: usize) -> Option<ConsentDecision> {
        let answers = self.0.iter().filter_map(|(_, done)| match done {
            Done::Answered(one, yes) if *one == who => Some(*yes),
            _ => None,
        });
        answers.fold(None, |before, yes| match (before, yes) {
            (_, true) => Some(ConsentDecision::Granted),
            (Some(ConsentDecision::Granted), false) => Some(ConsentDecision::Withdrawn),
            (Some(before), false) => Some(before),
            (None, false) => Some(ConsentDecision::Refused),
        })
    }

    /// Since when the meeting is empty.
    fn empty_since(&self) -> Option<Time> {
        if !self.is_live() || self.anybody() {
            return None;
        }
        let mut since = None;
        for length in 1..=self.0.len() {
            let before = Diary(self.0.get(..length).unwrap().to_vec());
            since = match (before.is_live() && !before.anybody(), since) {
                (true, None) => before.0.last().map(|(time, _)| *time),
                (true, since) => since,
                (false, _) => None,
            };
        }
        since
    }
}

/// A person who may join: the host, two with accounts, and guests.
struct Person {
    id: Id<ids::Participant>,
    user: Option<Id<User>>,
}

struct Story {
    meeting: Meeting,
    diary: Diary,
    people: Vec<Person>,
    now: Time,
    ledger: Vec<LedgerEntry>,
}

impl Story {
    fn new() -> Self {
        let meeting = meeting();
        let host = Person { id: meeting.host, user: Some(meeting.created_by) };
        let others = (1..PEOPLE).map(|nth| Person { id: Id::generate(), user: (nth < 3).then(Id::generate) });
        let mut diary = Diary::default();
        diary.0.push((noon(), Done::Admitted(0, Id::generate())));
        Self { meeting, diary, people: [host].into_iter().chain(others).collect(), now: noon(), ledger: Vec::new() }
    }

    fn person(&self, who: usize) -> &Person {
        self.people.get(who).unwrap()
    }

    /// Generates a random step: the command, whether the oracle expects it to be accepted, and the diary entries if it
    /// is.
    fn happens(&self, chance: &mut Chance) -> (Command, bool, Vec<Done>) {
        let who = usize::try_from(chance.below(PEOPLE as u64)).unwrap();
        let Person { id, user } = *self.person(who);
        let diary = &self.diary;
        let status = diary.status(who);
        let newcomer = newcomer(id, user, "Grace");
        match chance.below(16) {
            0 => {
                let start = Command::Start { by: Id::generate() };
                (start, diary.is_open(), (!diary.has(&Done::Started)).then_some(Done::Started).into_iter().collect())
            }
            1 if chance.one_in(8) => {
                let end = Command::End { by: None, reason: EndReason::HostEnded, note: None };
                let done = diary.is_live().then_some(Done::Over);
                (end, diary.has(&Done::Started), done.into_iter().collect())
            }
            2 | 3 => {
                let again = diary.invitation(who).filter(|_| chance.one_in(3) && who > 0);
                let invitation = again.unwrap_or_else(Id::generate);
                let admit = Command::Admit { newcomer, role: MeetingRole::Observer, invitation, most: MAX_EACH };
                let is_out = status == Some(ParticipantStatus::Removed);
                let needs_capacity = status.is_none() || is_out;
                let may =
                    diary.is_open() && !(is_out && again.is_some()) && (!needs_capacity || diary.occupied() < MAX_EACH);
                (admit, may, vec![Done::Admitted(who, invitation)])
            }
            4..=7 => {
                let join = Command::Join { newcomer, display_name: None, most: MAX_EACH };
                let is_participant = status.is_some() && status != Some(ParticipantStatus::Removed);
                let may_come = is_participant || (status.is_none() && user.is_some() && diary.occupied() < MAX_EACH);
                let is_time = diary.is_live() || (who == 0 && diary.is_open());
                let done = (!diary.is_in(who)).then_some(Done::Joined(who));
                (join, may_come && is_time, done.into_iter().collect())
            }
            8 => {
                let may = matches!(status, Some(ParticipantStatus::Joined | ParticipantStatus::Left));
                let done = diary.is_in(who).then_some(Done::Left(who));
                (Command::Leave { participant: id }, may, done.into_iter().collect())
            }
            9 if chance.one_in(2) => {
                let done = (status != Some(ParticipantStatus::Removed)).then_some(Done::Removed(who));
                let remove = Command::Remove { participant: id, by: None };
                (remove, status.is_some() && who > 0, done.into_iter().collect())
            }
            9 if let Some(user) = user => {
                let done = match status {
                    Some(ParticipantStatus::Joined) if who == 0 => Some(Done::Left(who)),
                    None | Some(ParticipantStatus::Removed) => None,
                    Some(_) => Some(Done::Removed(who)).filter(|_| who > 0 && diary.is_open()),
                };
                (Command::Exclude { user }, true, done.into_iter().collect())
            }
            10 | 11 => {
                let is_open = chance.one_in(2);
                let seen = vec![Observation::Socket { participant: id, is_open, ago: Duration::ZERO }];
                let done = diary.is_in(who).then_some(Done::Socket(who, is_open));
                (Command::See { seen }, true, done.into_iter().collect())
            }
            12 => {
                let (began, is_open) = (chance.below(4), chance.one_in(2));
                let began_at = noon() + Duration::from_secs(began);
                let session = MediaSession { began_at, name: "PA".to_owned(), is_open };
                let done = diary.is_in(who).then_some(Done::Media(who, began, is_open));
                (
                    Command::See { seen: vec![Observation::Media { participant: id, session, ago: Duration::ZERO }] },
                    true,
                    done.into_iter().collect(),
                )
            }
            13 => {
                let yes = chance.one_in(2);
                let answer =
                    if yes { ConsentAnswer::Grant([ConsentScope::Recording].into()) } else { ConsentAnswer::Decline };
                let is_time = diary.has(&Done::Started);
                (consent(id, answer), diary.ever_joined(who) && is_time, vec![Done::Answered(who, yes)])
            }
            14 if chance.one_in(4) && user.is_some() => {
                let forget = Command::Forget { participant: id, name: "Somebody".to_owned() };
                let done = status.is_some().then_some(Done::Forgotten(who));
                (forget, true, done.into_iter().collect())
            }
            _ => (sweep(), true, self.swept()),
        }
    }

    /// What a sweep does according to the diary.
    fn swept(&self) -> Vec<Done> {
        let overdue =
            |who: &usize| self.diary.is_in(*who) && self.diary.stays_until(*who).is_some_and(|until| self.now >= until);
        let started = self.diary.0.iter().find(|(_, done)| *done == Done::Started).map(|(time, _)| *time);
        if started.is_some_and(|started| self.now >= started + MAX_LIVE) && self.diary.is_live() {
            return vec![Done::Over];
        }
        let lost: Vec<_> = (0..PEOPLE).filter(overdue).map(Done::Left).collect();
        let is_over = self.diary.empty_since().is_some_and(|since| self.now >= since + EMPTY);
        if lost.is_empty() && is_over { vec![Done::Over] } else { lost }
    }

    fn agrees(&self, step: &str) {
        let Self { meeting, diary, .. } = self;
        let status = match (diary.has(&Done::Started), diary.has(&Done::Over)) {
            (false, _) => MeetingStatus::Scheduled,
            (true, false) => MeetingStatus::Live,
            (true, true) => MeetingStatus::Ended,
        };
        assert_eq!(meeting.status(), status, "{step}");
        for (who, person) in self.people.iter().enumerate() {
            let participant = meeting.participants.get(&person.id);
            assert_eq!(participant.map(|one| one.status()), diary.status(who), "{step}: {who}");
            let Some(participant) = participant else { continue };
            if diary.is_in(who) {
                let connected = diary.is_connected(who, diary.0.len());
                assert_eq!(participant.is_connected(), connected, "{step}: {who}");
            } else {
                assert!(!participant.is_connected());
            }
            let decision = participant.consent.as_ref().map(|consent| consent.decision);
            assert_eq!(decision, diary.answer(who), "{step}: {who}");
        }
        let asked = |who: &usize| diary.is_in(*who) && diary.answer(*who) != Some(ConsentDecision::Granted);
        let mut lacking: Vec<_> = (0..PEOPLE).filter(asked).map(|who| self.person(who).id).collect();
        lacking.sort_unstable();
        assert_eq!(meeting.may_record().err().unwrap_or_default(), lacking, "{step}");
        assert_eq!(meeting.participants.get(&meeting.host).map(|host| host.role), Some(MeetingRole::Host), "{step}");
        assert!(LedgerEntry::chain(&self.ledger, meeting.ledger), "{step}");
    }
}

/// Whether an event may follow a participant's previous status: for example, the first event of a participant can't be
/// that they left.
fn follows(before: Option<ParticipantStatus>, event: &Event, after: ParticipantStatus) -> bool {
    use ParticipantStatus::{Invited, Joined, Left, Removed};
    match event.kind().as_str() {
        "participant.joined" => before != Some(Joined) && before != Some(Removed) && after == Joined,
        "participant.left" => before == Some(Joined) && after == Left,
        "participant.removed" => before != Some(Removed) && after == Removed,
        "participant.consent" => before == Some(after),
        "participant.updated" => before == Some(after) || (before != Some(Joined) && after == Invited),
        _ => false,
    }
}

#[test]
fn random_commands_never_violate_the_rules_for_participants() {
    let (mut seeds, _) = Chance::from_env();
    let mut taken = 0;
    for sequence in 0..600 {
        let seed = seeds.next();
        let mut chance = Chance::new(seed);
        let mut story = Story::new();
        for step in 0..80 {
            let pause = if chance.one_in(20) { 900_000 } else { 20_000 };
            story.now = story.now + Duration::from_millis(chance.below(pause));
            let (command, expected, done) = story.happens(&mut chance);
            let case = format!("sequence {sequence}, seed {seed}, step {step}: {command:?}\n{:#?}", story.diary);
            let before = story.meeting.clone();
            match before.decide(command, story.now) {
                Err(refusal) => assert!(!expected, "{case}\nwas refused: {refusal:?}"),
                Ok(change) => {
                    assert!(expected, "{case}\nwas taken");
                    taken += 1;
                    assert_eq!(change.next.revision, before.revision + change.events.len() as u64, "{case}");
                    for event in &change.events {
                        if let Event::Consented { entry, .. } = event {
                            story.ledger.push((**entry).clone());
                        }
                        if let Some(who) = event.participant() {
                            let was = before.participants.get(&who).map(|one| one.status());
                            let is = change.next.participants.get(&who).unwrap().status();
                            assert!(follows(was, event, is), "{case}\n{event:?} of {was:?}, now {is:?}");
                        }
                    }
                    if change.events.is_empty() {
                        assert_eq!(change.next, before, "{case}");
                    }
                    story.meeting = change.next;
                    story.diary.0.extend(done.into_iter().map(|done| (story.now, done)));
                }
            }
            story.agrees(&case);
        }
    }
    println!("{taken} commands were taken");
}
