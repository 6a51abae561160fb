//! Random commands to a meeting that is recorded, checked against an oracle with a different design: it keeps what was
//! said at which second, and derives from that what may be stored.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::Live;
use actors::meeting::{
    Chunk, ChunkSpan, Command, ConsentAnswer, ConsentPolicy, ConsentScope, Digest, EndReason, Event, Meeting,
    RecordingCommand, RecordingContent, RecordingDraft, RecordingEvent, RecordingLimits, RecordingMimeType,
    RecordingRefusal, RecordingStatus, Refusal, UploadMode,
};
use actors::time::Time;
use support::participants::{consent, joins};
use support::{Chance, meeting, noon};

const SEQUENCES: u64 = 3000;
const STEPS: usize = 60;
const PEOPLE: usize = 4;
const CHUNKS: u32 = 12;
const LIMITS: RecordingLimits = RecordingLimits {
    per_meeting: 10,
    bytes: 1_000_000,
    longest: Duration::from_secs(3600),
    quiet: Duration::from_secs(20),
    late: Duration::from_secs(40),
    repair: Duration::from_secs(80),
    abandoned: Duration::from_secs(100),
    kept: Some(Duration::from_secs(30)),
    transcribed: true,
    only_until_transcribed: false,
    transcripts_kept: None,
};

/// What is known of a person: whether they are in the meeting, and what they last answered.
#[derive(Debug, Clone, Copy, Default)]
struct Person {
    is_in: bool,
    grants: bool,
}

/// What was uploaded, and at which seconds everyone in the meeting consented.
#[derive(Debug, Default)]
struct Oracle {
    people: [Person; PEOPLE],
    /// Whether recording was allowed, from each second on.
    allowed: Vec<(u64, bool)>,
    stored: BTreeMap<u32, u8>,
    stopped: Option<u64>,
    last: Option<u32>,
}

impl Oracle {
    fn may_record(&self) -> bool {
        self.people.iter().all(|one| !one.is_in || one.grants)
    }

    /// Notes what holds from now on, while the recording runs.
    fn note(&mut self, second: u64) {
        if self.stopped.is_none() {
            self.allowed.push((second, self.may_record()));
        }
    }

    /// Whether all of a span was allowed. What holds from its first second on is what was noted last at it; within it not
    /// even a moment may be forbidden.
    fn was_allowed(&self, from: u64, to: u64) -> bool {
        let at =
            |second: u64| self.allowed.iter().rev().find(|(since, _)| *since <= second).is_none_or(|(_, may)| *may);
        at(from) && self.allowed.iter().all(|(second, may)| *may || *second <= from || *second >= to)
    }

    fn next(&self) -> u32 {
        (0..).find(|index| !self.stored.contains_key(index)).unwrap()
    }

    fn is_complete(&self) -> bool {
        self.last.is_some_and(|last| self.next() > last)
    }
}

fn at(seconds: u64) -> Time {
    noon() + Duration::from_secs(seconds)
}

/// A chunk of a second or several, whose bytes differ by `version`.
fn chunk(index: u32, version: u8, from: u64, to: u64) -> Chunk {
    Chunk {
        index,
        file: Id::generate(),
        bytes: 10,
        sha256: Digest::of(&format!("{index} {version}")),
        span: Some(ChunkSpan { from_ms: from * 1000, to_ms: to * 1000 }),
    }
}

struct Room {
    meeting: Meeting,
    recording: Id<ids::Recording>,
    people: Vec<(Id<ids::Participant>, Id<User>)>,
}

fn room() -> Room {
    let meeting = Meeting { consent_policy: ConsentPolicy::All, ..meeting() };
    let meeting = meeting.decide(Command::Start { by: Id::generate() }, at(0)).unwrap().next;
    let recording = Id::generate();
    let (track, mime_type) = (None, RecordingMimeType::AudioWebm);
    let upload_mode = UploadMode::Chunked;
    let draft = RecordingDraft { id: recording, track, upload_mode, mime_type, by: Id::generate(), attestation: None };
    let meeting = meeting.decide(Command::StartRecording { draft, limits: LIMITS }, at(0)).unwrap().next;
    Room { meeting, recording, people: (0..PEOPLE).map(|_| (Id::generate(), Id::generate())).collect() }
}

fn sequence(seed: u64) -> (usize, usize) {
    let mut chance = Chance::new(seed);
    let mut room = room();
    let mut oracle = Oracle::default();
    oracle.note(0);
    let (mut second, mut refusals, mut stored) = (0, 0, 0);
    for _ in 0..STEPS {
        second += chance.below(3);
        let who = usize::try_from(chance.below(PEOPLE as u64)).unwrap();
        let (participant, user) = room.people[who];
        let about = |command| Command::Recording { recording: room.recording, command, limits: LIMITS };
        let status = room.meeting.recordings.get(&room.recording).unwrap().status();
        let is_live = room.meeting.over_at().is_none();
        let (command, expected): (Command, Result<(), RecordingRefusal>) = match chance.below(10) {
            0 | 1 if is_live => {
                oracle.people[who].is_in = true;
                oracle.note(second);
                (joins(participant, user), Ok(()))
            }
            2 if oracle.people[who].is_in && is_live => {
                oracle.people[who].is_in = false;
                oracle.note(second);
                (Command::Leave { participant }, Ok(()))
            }
            3 | 4 if room.meeting.participants.get(&participant).is_some() => {
                let grants = chance.below(3) > 0;
                oracle.people[who].grants = grants;
                if is_live {
                    oracle.note(second);
                }
                let answer = if grants {
                    ConsentAnswer::Grant([ConsentScope::Recording].into())
                } else {
                    ConsentAnswer::Decline
                };
                (consent(participant, answer), Ok(()))
            }
            5 if chance.below(6) == 0 => {
                let last = (chance.below(2) == 0).then(|| u32::try_from(chance.below(u64::from(CHUNKS))).unwrap());
                let behind =
                    oracle.stored.keys().next_back().filter(|highest| last.is_some_and(|last| last < **highest));
                let takes = match status {
                    RecordingStatus::Active => true,
                    RecordingStatus::Stopped => oracle.last.is_none() && last.is_some(),
                    RecordingStatus::Failed => {
                        let recording = room.meeting.recordings.get(&room.recording).unwrap();
                        recording.is_repairable() && oracle.last.is_none() && last.is_some()
                    }
                    _ => false,
                };
                let expected = match (takes, behind, last) {
                    (true, Some(_), Some(last)) => Err(RecordingRefusal::BehindTheLast { last }),
                    _ => Ok(()),
                };
                if takes && expected.is_ok() {
                    oracle.stopped = oracle.stopped.or(Some(second));
                    oracle.last = oracle.last.or(last);
                }
                (about(RecordingCommand::Stop { announced_ms: None, last }), expected)
            }
            6 if chance.below(20) == 0 && is_live => {
                oracle.stopped = oracle.stopped.or(Some(second));
                oracle.people = oracle.people.map(|one| Person { is_in: false, ..one });
                (Command::End { by: None, reason: EndReason::HostEnded, note: None }, Ok(()))
            }
            7 => (Command::SweepRecordings { limits: LIMITS }, Ok(())),
            8 if status == RecordingStatus::Finalizing => {
                let content = RecordingContent { sha256: Digest::of("whole"), bytes: 10, duration_ms: None };
                (about(RecordingCommand::Finish { outcome: Ok(content) }), Ok(()))
            }
            _ => {
                let index = u32::try_from(chance.below(u64::from(CHUNKS))).unwrap();
                let from = chance.below(second.min(oracle.stopped.unwrap_or(u64::MAX)) + 1);
                let to = from + 1 + chance.below(3);
                let piece = chunk(index, u8::try_from(chance.below(2)).unwrap(), from, to);
                let recording = room.meeting.recordings.get(&room.recording).unwrap();
                let takes = match status {
                    RecordingStatus::Active | RecordingStatus::Stopped => true,
                    RecordingStatus::Failed => recording.is_repairable(),
                    _ => false,
                };
                let expected = if oracle.stored.contains_key(&index) {
                    Err(RecordingRefusal::ChunkTaken)
                } else if !takes {
                    Err(RecordingRefusal::InvalidState { status })
                } else if oracle.last.is_some_and(|last| index > last) {
                    Err(RecordingRefusal::BehindTheLast { last: oracle.last.unwrap() })
                } else if !oracle.was_allowed(from, to) {
                    Err(RecordingRefusal::Paused)
                } else {
                    Ok(())
                };
                if expected.is_ok() {
                    oracle.stored.insert(index, 0);
                }
                (about(RecordingCommand::TakeChunk { chunk: piece }), expected)
            }
        };
        let said = format!("seed {seed}, second {second}: {command:?} on {oracle:?}");
        match (room.meeting.decide(command, at(second)), expected) {
            (Ok(change), Ok(())) => {
                let taken = change
                    .events
                    .iter()
                    .filter(|event| matches!(event, Event::Recording { what: RecordingEvent::ChunkStored(_), .. }));
                stored += taken.count();
                let told = |what: RecordingEvent| {
                    let about = |event: &&Event| matches!(event, Event::Recording { what: is, .. } if *is == what);
                    change.events.iter().filter(about).count()
                };
                let paused = |meeting: &Meeting| meeting.recordings.get(&room.recording).unwrap().pauses.is_paused();
                let begins = !paused(&room.meeting) && paused(&change.next);
                assert_eq!(told(RecordingEvent::Paused), usize::from(begins), "{said}");
                assert_eq!(change.next.revision, room.meeting.revision + change.events.len() as u64);
                room.meeting = change.next;
            }
            (Err(Refusal::Recording(refusal)), Err(expected)) => {
                assert_eq!(refusal, expected, "{said}");
                refusals += 1;
            }
            (other, expected) => {
                let other = other.map(|change| change.events);
                unreachable!(
                    "{other:?} instead of {expected:?}: {said}, pauses {:?}",
                    room.meeting.recordings.get(&room.recording).unwrap().pauses
                )
            }
        }
        let recording = room.meeting.recordings.get(&room.recording).unwrap();
        assert_eq!(recording.received.next, oracle.next(), "{said}");
        assert_eq!(usize::try_from(recording.received.count()).unwrap(), oracle.stored.len(), "{said}");
        let is_paused = oracle.stopped.is_none() && !oracle.may_record();
        let is_stopped_by_itself = recording.status() != RecordingStatus::Active;
        assert_eq!(recording.pauses.is_paused(), is_paused && !is_stopped_by_itself, "{said}");
        if recording.status() == RecordingStatus::Ready {
            assert!(oracle.last.is_none() || oracle.is_complete(), "{said}");
        }
    }
    (stored, refusals)
}

#[test]
fn chunks_pauses_and_ends_are_what_the_oracle_says_in_any_order() {
    let (mut stored, mut refusals) = (0, 0);
    for seed in 0..SEQUENCES {
        let (took, refused) = sequence(seed);
        stored += took;
        refusals += refused;
    }
    println!("{SEQUENCES} sequences of {STEPS} steps: {stored} chunks stored, {refusals} commands refused");
    assert!(stored > 5000 && refusals > 5000, "{stored} {refusals}");
}
