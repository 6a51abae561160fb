//! Recordings: every status with every command, consent while recording, imports, and the time limits.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::{Change, Live};
use actors::meeting::{
    AttachedTranscript, Attestation, Chunk, ChunkSpan, Command, ConsentAnswer, ConsentDecision, ConsentPolicy,
    ConsentScope, Digest, EndReason, Event, FailureReason, Meeting, MeetingStatus, Recording, RecordingCommand,
    RecordingContent, RecordingDraft, RecordingLimits, RecordingMimeType, RecordingRefusal, RecordingStatus, Refusal,
    Stage, TranscriptStatus, UploadMode,
};
use actors::time::Time;
use support::participants::{consent, joins};
use support::{meeting, noon};

const LIMITS: RecordingLimits = RecordingLimits {
    per_meeting: 3,
    bytes: 1000,
    longest: Duration::from_secs(12 * 3600),
    quiet: Duration::from_secs(60),
    late: Duration::from_secs(600),
    repair: Duration::from_secs(86_400),
    abandoned: Duration::from_secs(86_400),
    kept: None,
    transcribed: true,
    only_until_transcribed: false,
    transcripts_kept: None,
};

fn at(seconds: u64) -> Time {
    noon() + Duration::from_secs(seconds)
}

fn take(meeting: &Meeting, command: Command, seconds: u64) -> Meeting {
    decided(meeting, command, seconds).next
}

fn decided(meeting: &Meeting, command: Command, seconds: u64) -> Change<Meeting> {
    let change = meeting.decide(command, at(seconds)).unwrap();
    assert_eq!(change.next.revision, meeting.revision + change.events.len() as u64);
    change
}

fn refused(meeting: &Meeting, command: Command, seconds: u64) -> Refusal {
    meeting.decide(command, at(seconds)).unwrap_err()
}

fn kinds(change: &Change<Meeting>) -> Vec<&'static str> {
    change.events.iter().map(|event| event.kind().as_str()).collect()
}

fn grants() -> ConsentAnswer {
    ConsentAnswer::Grant([ConsentScope::Recording].into())
}

/// A live meeting with two people in it who consented.
struct Room {
    meeting: Meeting,
    people: [Id<ids::Participant>; 2],
}

fn room(policy: ConsentPolicy) -> Room {
    let mut meeting = Meeting { consent_policy: policy, ..meeting() };
    meeting = take(&meeting, Command::Start { by: Id::generate() }, 0);
    let people = [Id::generate(), Id::generate()];
    for who in people {
        meeting = take(&meeting, joins(who, Id::generate()), 0);
        meeting = take(&meeting, consent(who, grants()), 0);
    }
    Room { meeting, people }
}

fn start(id: Id<ids::Recording>, upload_mode: UploadMode) -> Command {
    start_of(id, upload_mode, None)
}

fn start_of(id: Id<ids::Recording>, upload_mode: UploadMode, track: Option<Id<ids::Participant>>) -> Command {
    let mime_type = RecordingMimeType::AudioWebm;
    let draft = RecordingDraft { id, track, upload_mode, mime_type, by: Id::generate(), attestation: None };
    Command::StartRecording { draft, limits: LIMITS }
}

fn about(recording: Id<ids::Recording>, command: RecordingCommand) -> Command {
    Command::Recording { recording, command, limits: LIMITS }
}

fn piece(index: u32, bytes: u64, span: Option<(u64, u64)>) -> Chunk {
    let span = span.map(|(from_ms, to_ms)| ChunkSpan { from_ms, to_ms });
    Chunk { index, file: Id::generate(), bytes, sha256: Digest::of(&index.to_string()), span }
}

/// A chunk of ten bytes and ten seconds.
fn chunk(recording: Id<ids::Recording>, index: u32) -> Command {
    let from = u64::from(index) * 10_000;
    about(recording, RecordingCommand::TakeChunk { chunk: piece(index, 10, Some((from, from + 10_000))) })
}

fn stop(recording: Id<ids::Recording>, last: Option<u32>) -> Command {
    about(recording, RecordingCommand::Stop { announced_ms: Some(30_000), last })
}

fn finish(recording: Id<ids::Recording>, duration_ms: Option<u64>) -> Command {
    finish_within(LIMITS, recording, duration_ms)
}

fn finish_within(limits: RecordingLimits, recording: Id<ids::Recording>, duration_ms: Option<u64>) -> Command {
    let content = RecordingContent { sha256: Digest::of("content"), bytes: 30, duration_ms };
    let command = RecordingCommand::Finish { outcome: Ok(content) };
    Command::Recording { recording, command, limits }
}

fn end() -> Command {
    Command::End { by: None, reason: EndReason::HostEnded, note: None }
}

fn of(meeting: &Meeting, id: Id<ids::Recording>) -> &Recording {
    meeting.recordings.get(&id).unwrap()
}

fn status(meeting: &Meeting, id: Id<ids::Recording>) -> RecordingStatus {
    of(meeting, id).status()
}

/// A recording in each status, with the time at which the command is decided.
fn in_status(wanted: RecordingStatus) -> (Meeting, Id<ids::Recording>) {
    let id = Id::generate();
    let limits = RecordingLimits { kept: Some(Duration::from_secs(5)), ..LIMITS };
    let mut meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::Chunked), 1);
    meeting = take(&meeting, chunk(id, 0), 20);
    meeting = match wanted {
        RecordingStatus::Active => meeting,
        RecordingStatus::Stopped => take(&meeting, stop(id, None), 30),
        RecordingStatus::Failed => {
            let stopped = take(&meeting, stop(id, Some(2)), 30);
            take(&stopped, Command::SweepRecordings { limits: LIMITS }, 30 + 600)
        }
        _ => take(&meeting, stop(id, Some(0)), 30),
    };
    if matches!(wanted, RecordingStatus::Ready | RecordingStatus::Expired) {
        meeting = take(&meeting, finish_within(limits, id, None), 31);
    }
    if wanted == RecordingStatus::Expired {
        meeting = take(&meeting, Command::SweepRecordings { limits }, 36);
    }
    assert_eq!(status(&meeting, id), wanted);
    (meeting, id)
}

#[test]
fn every_status_answers_every_command_as_the_table_says() {
    use RecordingStatus::{Active, Expired, Failed, Finalizing, Ready, Stopped};
    let no = |status| Err(RecordingRefusal::InvalidState { status });
    let taken = Err(RecordingRefusal::ChunkTaken);
    for wanted in [Active, Stopped, Finalizing, Ready, Failed, Expired] {
        let (meeting, id) = in_status(wanted);
        let outcome = |command: Command| match meeting.decide(command, at(700)) {
            Ok(change) if change.events.is_empty() => Ok(None),
            Ok(change) => Ok(change.next.recordings.get(&id).map(Recording::status)),
            Err(Refusal::Recording(refusal)) => Err(refusal),
            Err(other) => unreachable!("{other:?}"),
        };
        // Another chunk, the same chunk, stop, stop with its last chunk, the end of the assembly, delete.
        let expected = match wanted {
            Active => [Ok(Some(Active)), taken, Ok(Some(Stopped)), Ok(Some(Finalizing)), Ok(None)],
            Stopped => [Ok(Some(Stopped)), taken, Ok(None), Ok(Some(Finalizing)), Ok(None)],
            Finalizing => [no(Finalizing), taken, Ok(None), Ok(None), Ok(Some(Ready))],
            Ready => [no(Ready), taken, Ok(None), Ok(None), Ok(None)],
            Failed => [Ok(Some(Failed)), taken, Ok(None), Ok(None), Ok(None)],
            Expired => [no(Expired), taken, Ok(None), Ok(None), Ok(None)],
        };
        let commands = [chunk(id, 1), chunk(id, 0), stop(id, None), stop(id, Some(0)), finish(id, None)];
        for (column, (command, expected)) in commands.into_iter().zip(expected).enumerate() {
            assert_eq!(outcome(command), expected, "{wanted:?}, column {column}");
        }
        let deleted = meeting.decide(about(id, RecordingCommand::Delete), at(700));
        if wanted == Finalizing {
            assert_eq!(deleted.unwrap_err(), Refusal::Recording(RecordingRefusal::InvalidState { status: wanted }));
        } else {
            let deleted = deleted.unwrap();
            assert_eq!(kinds(&deleted), ["recording.deleted"]);
            assert!(deleted.next.recordings.is_empty());
        }
    }
}

#[test]
fn a_recording_is_assembled_once_every_chunk_up_to_the_last_is_there() {
    let id = Id::generate();
    let mut meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::Chunked), 0);
    for index in [3, 1] {
        meeting = take(&meeting, chunk(id, index), 50);
    }
    assert_eq!(of(&meeting, id).missing().collect::<Vec<_>>(), [0, 2]);
    meeting = take(&meeting, stop(id, Some(4)), 51);
    assert_eq!(of(&meeting, id).missing().collect::<Vec<_>>(), [0, 2, 4]);
    for index in [4, 0] {
        meeting = take(&meeting, chunk(id, index), 52);
    }
    assert_eq!((of(&meeting, id).received.next, status(&meeting, id)), (2, RecordingStatus::Stopped));
    let last = decided(&meeting, chunk(id, 2), 53);
    assert_eq!(kinds(&last), ["recording.chunk", "recording.stopped"]);
    assert_eq!(status(&last.next, id), RecordingStatus::Finalizing);
    let ready = decided(&last.next, finish(id, None), 54);
    assert_eq!(kinds(&ready), ["recording.ready"]);
    let content = of(&ready.next, id).content().unwrap();
    assert_eq!((content.bytes, content.duration_ms), (30, Some(30_000)), "what the client said, if nothing else tells");
    // A late outcome of another run of the job changes nothing.
    assert!(decided(&ready.next, finish(id, Some(1)), 55).events.is_empty());
}

#[test]
fn the_last_chunk_may_be_empty_and_none_may_come_behind_it() {
    let id = Id::generate();
    let mut meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::Chunked), 0);
    meeting = take(&meeting, chunk(id, 0), 20);
    let behind = RecordingRefusal::BehindTheLast { last: 0 };
    meeting = take(&meeting, chunk(id, 1), 20);
    assert_eq!(refused(&meeting, stop(id, Some(0)), 30), Refusal::Recording(behind));
    meeting = take(&meeting, stop(id, Some(2)), 30);
    let behind = RecordingRefusal::BehindTheLast { last: 2 };
    assert_eq!(refused(&meeting, chunk(id, 3), 31), Refusal::Recording(behind));
    let empty = about(id, RecordingCommand::TakeChunk { chunk: piece(2, 0, None) });
    assert_eq!(status(&take(&meeting, empty, 32), id), RecordingStatus::Finalizing);
}

#[test]
fn without_its_last_chunk_a_stopped_recording_waits_a_minute_after_the_latest() {
    let id = Id::generate();
    let sweep = || Command::SweepRecordings { limits: LIMITS };
    let mut meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::Chunked), 0);
    let ended = decided(&meeting, end(), 40);
    assert_eq!(kinds(&ended).last(), Some(&"recording.stopped"), "the end of the meeting stops its recordings");
    meeting = take(&ended.next, chunk(id, 0), 50);
    meeting = take(&meeting, chunk(id, 2), 90);
    assert!(decided(&meeting, sweep(), 149).events.is_empty());
    let swept = decided(&meeting, sweep(), 150);
    assert_eq!(status(&swept.next, id), RecordingStatus::Finalizing, "with what is there without a gap");
    assert_eq!(of(&swept.next, id).received.next, 1);

    // Nothing at all: it fails, but is taken up again when chunks come after all.
    let id = Id::generate();
    let mut meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::Chunked), 0);
    meeting = take(&take(&meeting, stop(id, None), 40), sweep(), 100);
    assert!(matches!(of(&meeting, id).stage, Stage::Failed { reason: FailureReason::NoContent, repairable: true, .. }));
    meeting = take(&meeting, chunk(id, 0), 5000);
    assert_eq!(status(&meeting, id), RecordingStatus::Stopped);
    meeting = take(&meeting, sweep(), 5060);
    assert_eq!(status(&meeting, id), RecordingStatus::Finalizing);
}

#[test]
fn missing_chunks_fail_a_recording_and_late_ones_repair_it_for_a_day() {
    let (meeting, id) = in_status(RecordingStatus::Failed);
    let sweep = || Command::SweepRecordings { limits: LIMITS };
    assert_eq!(of(&meeting, id).missing().collect::<Vec<_>>(), [1, 2]);
    let one = take(&meeting, chunk(id, 2), 80_000);
    let repaired = take(&one, chunk(id, 1), 80_001);
    assert_eq!(status(&repaired, id), RecordingStatus::Finalizing);
    assert!(decided(&one, sweep(), 30 + 86_399).events.is_empty());
    let over = take(&one, sweep(), 30 + 86_400);
    let failed = RecordingStatus::Failed;
    assert_eq!(
        refused(&over, chunk(id, 1), 90_000),
        Refusal::Recording(RecordingRefusal::InvalidState { status: failed })
    );
    assert!(decided(&over, sweep(), 1_000_000).events.is_empty());
}

#[test]
fn nothing_is_recorded_before_everyone_has_consented_and_who_joins_without_pauses_it() {
    let Room { meeting, people: [ada, _] } = room(ConsentPolicy::All);
    let late = Id::generate();
    let crowded = take(&meeting, joins(late, Id::generate()), 5);
    let id = Id::generate();
    let required = Refusal::Recording(RecordingRefusal::ConsentRequired);
    assert_eq!(refused(&crowded, start(id, UploadMode::Chunked), 6), required);

    let meeting = take(&meeting, start(id, UploadMode::Chunked), 10);
    let joined = decided(&meeting, joins(late, Id::generate()), 20);
    assert_eq!(kinds(&joined), ["participant.joined", "recording.paused"]);
    assert_eq!(of(&joined.next, id).pauses.lacking, [late].into());
    // Nobody pauses it twice; who else lacks is told.
    let both = decided(&joined.next, consent(ada, ConsentAnswer::Decline), 22);
    assert_eq!(kinds(&both), ["participant.consent", "recording.updated"]);
    let again = take(&both.next, consent(ada, grants()), 24);
    let resumed = decided(&again, consent(late, grants()), 30);
    assert_eq!(kinds(&resumed), ["participant.consent", "recording.resumed"]);
    assert_eq!(of(&resumed.next, id).pauses.all.len(), 1);

    // Paused from the 10th to the 20th second of the recording.
    let span = |from, to| about(id, RecordingCommand::TakeChunk { chunk: piece(0, 10, Some((from, to))) });
    let paused = Refusal::Recording(RecordingRefusal::Paused);
    for meeting in [&joined.next, &resumed.next] {
        assert!(meeting.decide(span(0, 10_000), at(31)).is_ok(), "wholly before");
        assert_eq!(refused(meeting, span(0, 10_001), 31), paused);
        assert_eq!(refused(meeting, span(12_000, 13_000), 31), paused);
    }
    assert_eq!(refused(&joined.next, span(20_000, 21_000), 31), paused);
    assert!(resumed.next.decide(span(20_000, 21_000), at(31)).is_ok(), "wholly after");
    assert_eq!(refused(&resumed.next, span(19_999, 21_000), 31), paused);
    let unknown = about(id, RecordingCommand::TakeChunk { chunk: piece(0, 10, None) });
    assert_eq!(refused(&resumed.next, unknown, 31), Refusal::Recording(RecordingRefusal::SpanRequired));
    // Who leaves lacks no longer.
    let left = decided(&joined.next, Command::Leave { participant: late }, 25);
    assert_eq!(kinds(&left), ["participant.left", "recording.resumed"]);
}

#[test]
fn a_pause_is_told_once_however_many_lack_consent() {
    let Room { mut meeting, people: [ada, ben] } = room(ConsentPolicy::All);
    let (mixed, track) = (Id::generate(), Id::generate());
    meeting = take(&meeting, start(mixed, UploadMode::Chunked), 10);
    meeting = take(&meeting, start_of(track, UploadMode::Chunked, Some(ada)), 10);
    let late: Vec<_> = (0..20).map(|_| Id::generate()).collect();
    let mut told = Vec::new();
    let coming = late.iter().map(|id| joins(*id, Id::generate()));
    let declining = [ada, ben].map(|id| consent(id, ConsentAnswer::Decline));
    let granting = [ada, ben].into_iter().chain(late.iter().copied()).map(|id| consent(id, grants()));
    for (second, command) in (20..).zip(coming.chain(declining).chain(granting)) {
        let change = decided(&meeting, command, second);
        let about = |event: &Event| event.recording().map(|id| (id, event.kind().as_str()));
        told.extend(change.events.iter().filter_map(about));
        meeting = change.next;
    }
    for id in [mixed, track] {
        let count = |kind: &str| told.iter().filter(|one| **one == (id, kind)).count();
        // Of 44 who changed it, the first one pauses it and the last one lets it go on.
        assert_eq!(["recording.paused", "recording.updated", "recording.resumed"].map(count), [1, 42, 1]);
        assert_eq!(of(&meeting, id).pauses.all.len(), 1);
    }
}

#[test]
fn a_withdrawal_holds_the_content_back_and_a_refusal_of_who_was_never_recorded_does_not() {
    let Room { meeting, people: [ada, ben] } = room(ConsentPolicy::All);
    let (id, late) = (Id::generate(), Id::generate());
    let mut meeting = take(&meeting, start(id, UploadMode::Chunked), 10);
    meeting = take(&meeting, chunk(id, 0), 20);
    // Somebody comes, refuses and goes: the recording was paused for as long.
    meeting = take(&meeting, joins(late, Id::generate()), 30);
    meeting = take(&meeting, consent(late, ConsentAnswer::Decline), 31);
    meeting = take(&meeting, Command::Leave { participant: late }, 32);
    meeting = take(&take(&meeting, stop(id, Some(0)), 40), finish(id, None), 41);
    assert!(meeting.withheld_for(of(&meeting, id)).is_empty());
    let ended = take(&meeting, end(), 42);
    let withdrawn = take(&ended, consent(ben, ConsentAnswer::Decline), 50);
    assert_eq!(withdrawn.withheld_for(of(&withdrawn, id)), [ben]);
    let granted = take(&withdrawn, consent(ben, grants()), 51);
    assert!(granted.withheld_for(of(&granted, id)).is_empty());
    assert!(of(&granted, id).pauses.all.len() == 1 && granted.participants.get(&ada).is_some());
}

#[test]
fn under_notice_a_refusal_stops_only_the_track_of_who_refused() {
    let Room { meeting, people: [ada, ben] } = room(ConsentPolicy::Notice);
    let (mixed, track, other) = (Id::generate(), Id::generate(), Id::generate());
    let mut meeting = take(&meeting, start(mixed, UploadMode::Chunked), 0);
    meeting = take(&meeting, start_of(track, UploadMode::Chunked, Some(ada)), 0);
    meeting = take(&meeting, start_of(other, UploadMode::Chunked, Some(ben)), 0);
    let declined = decided(&meeting, consent(ada, ConsentAnswer::Decline), 10);
    assert_eq!(kinds(&declined), ["participant.consent", "recording.paused"]);
    let paused = |id| of(&declined.next, id).pauses.is_paused();
    assert!(paused(track) && !paused(mixed) && !paused(other));
    let unknown = |id| about(id, RecordingCommand::TakeChunk { chunk: piece(0, 10, None) });
    assert!(declined.next.decide(unknown(mixed), at(11)).is_ok(), "no times are needed where nothing pauses");
    assert_eq!(refused(&declined.next, unknown(track), 11), Refusal::Recording(RecordingRefusal::SpanRequired));
    assert_eq!(declined.next.withheld_for(of(&declined.next, mixed)), [ada]);
}

#[test]
fn one_recording_of_a_kind_at_a_time_and_no_more_than_a_meeting_may_have() {
    let Room { meeting, people: [ada, ben] } = room(ConsentPolicy::All);
    let first = Id::generate();
    let mut meeting = take(&meeting, start(first, UploadMode::Chunked), 0);
    assert!(decided(&meeting, start(first, UploadMode::Chunked), 1).events.is_empty(), "a repeated request");
    let unfinished = Refusal::Recording(RecordingRefusal::Unfinished);
    assert_eq!(refused(&meeting, start(Id::generate(), UploadMode::Chunked), 1), unfinished);
    meeting = take(&meeting, start_of(Id::generate(), UploadMode::Chunked, Some(ada)), 1);
    assert_eq!(refused(&meeting, start_of(Id::generate(), UploadMode::Chunked, Some(ada)), 1), unfinished);
    meeting = take(&meeting, start_of(Id::generate(), UploadMode::Chunked, Some(ben)), 1);
    let stranger = start_of(Id::generate(), UploadMode::Chunked, Some(Id::generate()));
    assert_eq!(refused(&meeting, stranger, 1), Refusal::Recording(RecordingRefusal::NoSuchTrack));
    meeting = take(&meeting, stop(first, None), 2);
    meeting = take(&meeting, Command::SweepRecordings { limits: LIMITS }, 62);
    let more = start(Id::generate(), UploadMode::Chunked);
    assert_eq!(refused(&meeting, more, 63), Refusal::Recording(RecordingRefusal::TooMany));
}

#[test]
fn a_chunk_keeps_within_the_size_and_the_time_of_a_recording() {
    let id = Id::generate();
    let meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::Chunked), 0);
    let with = |bytes, span| about(id, RecordingCommand::TakeChunk { chunk: piece(0, bytes, span) });
    let refusals = [
        (with(1001, Some((0, 1))), RecordingRefusal::TooLarge),
        (with(10, Some((2, 1))), RecordingRefusal::SpanInvalid),
        (with(10, Some((0, 200_000))), RecordingRefusal::SpanInvalid),
        (with(10, None), RecordingRefusal::SpanRequired),
    ];
    for (command, refusal) in refusals {
        assert_eq!(refused(&meeting, command, 10), Refusal::Recording(refusal));
    }
    let long = with(10, Some((0, 13 * 3_600_000)));
    assert_eq!(refused(&meeting, long, 14 * 3600), Refusal::Recording(RecordingRefusal::TooLong));
    let swept = decided(&meeting, Command::SweepRecordings { limits: LIMITS }, 12 * 3600);
    assert_eq!(kinds(&swept), ["recording.stopped"], "it lasts no longer than a recording may");
}

#[test]
fn a_file_is_resumed_where_it_ends_and_older_uploads_add_nothing() {
    let id = Id::generate();
    let begin = |offset| about(id, RecordingCommand::BeginFile { offset, total: Some(30) });
    let part = |upload, index| about(id, RecordingCommand::TakePart { upload, part: piece(index, 10, None) });
    let mut meeting = take(&room(ConsentPolicy::All).meeting, start(id, UploadMode::SingleFile), 0);
    assert_eq!(refused(&meeting, chunk(id, 0), 1), {
        Refusal::Recording(RecordingRefusal::OtherMode { mode: UploadMode::SingleFile })
    });
    meeting = take(&meeting, begin(0), 1);
    meeting = take(&meeting, part(1, 0), 2);
    let elsewhere = RecordingRefusal::OtherOffset { bytes: 10 };
    assert_eq!(refused(&meeting, begin(20), 3), Refusal::Recording(elsewhere));
    let incomplete = RecordingRefusal::Incomplete { bytes: 10, of: 30 };
    assert_eq!(refused(&meeting, stop(id, None), 3), Refusal::Recording(incomplete));
    meeting = take(&meeting, begin(10), 3);
    assert_eq!(refused(&meeting, part(1, 1), 4), Refusal::Recording(RecordingRefusal::Superseded));
    meeting = take(&take(&meeting, part(2, 1), 4), part(2, 2), 4);
    let rewound = take(&meeting, about(id, RecordingCommand::RewindFile { upload: 2, parts: 1, bytes: 10 }), 5);
    assert_eq!((of(&rewound, id).received.next, of(&rewound, id).received.bytes), (1, 10));
    let again = take(&meeting, begin(0), 5);
    assert_eq!(of(&again, id).received.bytes, 0, "begun anew");
    assert_eq!(status(&take(&meeting, stop(id, None), 6), id), RecordingStatus::Finalizing);
    // What is given up frees its space.
    let sweep = || Command::SweepRecordings { limits: LIMITS };
    assert!(decided(&meeting, sweep(), 86_403).events.is_empty());
    assert_eq!(status(&take(&meeting, sweep(), 86_404), id), RecordingStatus::Failed);
}

#[test]
fn an_import_needs_the_consent_of_everyone_who_was_there_or_the_hosts_word() {
    let Room { meeting: live, people: [ada, _] } = room(ConsentPolicy::Notice);
    let ended = take(&live, end(), 10);
    let id = Id::generate();
    let import = take(&ended, start(id, UploadMode::SingleFile), 11);
    let withdrawn = decided(&import, consent(ada, ConsentAnswer::Decline), 12);
    assert_eq!(kinds(&withdrawn), ["participant.consent", "recording.paused"]);
    let begin = about(id, RecordingCommand::BeginFile { offset: 0, total: None });
    assert_eq!(refused(&withdrawn.next, begin, 13), Refusal::Recording(RecordingRefusal::Paused));
    let without = take(&ended, consent(ada, ConsentAnswer::Decline), 12);
    let required = Refusal::Recording(RecordingRefusal::ConsentRequired);
    assert_eq!(refused(&without, start(id, UploadMode::Chunked), 13), required);

    // Nobody ever joined: the host answers for what was recorded elsewhere.
    let meeting = take(&meeting(), Command::Start { by: Id::generate() }, 0);
    let ended = take(&meeting, end(), 1);
    let start = |by, attestation: Option<&str>| {
        let attestation = attestation.map(|text| Attestation {
            text: text.to_owned(),
            language: "en".to_owned(),
            user_agent: "a browser".to_owned(),
        });
        let (track, mime_type) = (None, RecordingMimeType::AudioWebm);
        let draft = RecordingDraft { id, track, upload_mode: UploadMode::SingleFile, mime_type, by, attestation };
        Command::StartRecording { draft, limits: LIMITS }
    };
    let host = ended.created_by;
    let needed = Refusal::Recording(RecordingRefusal::AttestationRequired);
    assert_eq!(refused(&ended, start(host, None), 2), needed);
    let stranger = start(Id::generate(), Some("All agreed."));
    assert_eq!(refused(&ended, stranger, 2), Refusal::Recording(RecordingRefusal::NotTheHost));
    let started = decided(&ended, start(host, Some("All agreed.")), 2);
    assert_eq!(kinds(&started), ["participant.consent", "recording.started"]);
    let Some(Event::Consented { entry, text, .. }) = started.events.first() else { unreachable!() };
    assert_eq!((entry.decision, entry.participant_id), (ConsentDecision::Attested, ended.host));
    assert_eq!((text.as_deref(), entry.wording.text_hash), (Some("All agreed."), Digest::of("All agreed.")));
    assert_eq!((started.next.ledger.entries, started.next.ledger.head), (1, entry.hash()));
}

#[test]
fn audio_that_is_kept_until_it_is_transcribed_expires_then_and_stays_where_that_failed() {
    let limits = RecordingLimits { only_until_transcribed: true, ..LIMITS };
    let (meeting, id) = in_status(RecordingStatus::Finalizing);
    let meeting = take(&meeting, finish_within(limits, id, None), 31);
    let told = |meeting: &Meeting, transcript: TranscriptStatus, limits: RecordingLimits, seconds: u64| {
        let command = RecordingCommand::Transcribe { transcript };
        let told = take(meeting, Command::Recording { recording: id, command, limits }, seconds);
        take(&told, Command::SweepRecordings { limits }, seconds + 1)
    };
    for unfinished in [TranscriptStatus::Processing, TranscriptStatus::WaitingForModel, TranscriptStatus::Failed] {
        assert_eq!(status(&told(&meeting, unfinished, limits, 40), id), RecordingStatus::Ready, "{unfinished}");
    }
    let done = told(&meeting, TranscriptStatus::Ready, limits, 40);
    assert_eq!(status(&done, id), RecordingStatus::Expired);
    assert_eq!(of(&done, id).transcript, TranscriptStatus::Ready);
    assert_eq!(status(&told(&meeting, TranscriptStatus::Ready, LIMITS, 40), id), RecordingStatus::Ready);
}

fn attach(id: Id<ids::Recording>, by: Id<User>, word: Option<&str>, limits: RecordingLimits) -> Command {
    let attestation = word.map(|text| Attestation {
        text: text.to_owned(),
        language: "en".to_owned(),
        user_agent: "a browser".to_owned(),
    });
    let content = RecordingContent { sha256: Digest::of("WEBVTT"), bytes: 60, duration_ms: Some(9_000) };
    let attached = AttachedTranscript { id, mime_type: RecordingMimeType::TextVtt, content, by, attestation };
    Command::AttachTranscript { attached, limits }
}

#[test]
fn a_transcript_is_attached_to_a_meeting_that_takes_or_took_place() {
    let scheduled = meeting();
    let (id, host) = (Id::generate(), scheduled.created_by);
    let attach = |limits| attach(id, host, Some("All agreed."), limits);
    let live = take(&scheduled, Command::Start { by: host }, 0);
    let ended = take(&live, end(), 1);
    let cancelled = take(&scheduled, Command::Cancel { by: host, reason: None }, 0);
    for (other, status) in [(scheduled, MeetingStatus::Scheduled), (cancelled, MeetingStatus::Cancelled)] {
        assert_eq!(refused(&other, attach(LIMITS), 2), Refusal::InvalidState { status });
    }
    for meeting in [&live, &ended] {
        let attached = decided(meeting, attach(LIMITS), 2);
        assert_eq!(kinds(&attached), ["participant.consent", "recording.ready"]);
        let recording = of(&attached.next, id);
        assert_eq!((recording.status(), recording.transcript), (RecordingStatus::Ready, TranscriptStatus::Queued));
        assert_eq!((recording.content().unwrap().bytes, recording.expires_at()), (60, None));
        assert_eq!(recording.wait(), None, "nothing is still to come");
        assert_eq!(decided(&attached.next, attach(LIMITS), 3).events, [], "repeated, it changes nothing");
        let full = RecordingLimits { per_meeting: 0, ..LIMITS };
        assert_eq!(refused(meeting, attach(full), 2), Refusal::Recording(RecordingRefusal::TooMany));
    }
    // The file is kept as long as transcripts are, whatever is said of audio.
    let kept = RecordingLimits {
        kept: Some(Duration::from_secs(1)),
        only_until_transcribed: true,
        transcripts_kept: Some(Duration::from_secs(60)),
        ..LIMITS
    };
    let ready = RecordingCommand::Transcribe { transcript: TranscriptStatus::Ready };
    let read = Command::Recording { recording: id, command: ready, limits: kept };
    let read = take(&take(&ended, attach(kept), 2), read, 3);
    for (seconds, expected) in [(61, RecordingStatus::Ready), (62, RecordingStatus::Expired)] {
        assert_eq!(status(&take(&read, Command::SweepRecordings { limits: kept }, seconds), id), expected);
    }
}

#[test]
fn a_transcript_needs_the_consent_of_everyone_who_was_there_or_the_hosts_word() {
    let id = Id::generate();
    let Room { meeting: live, people: [ada, eve] } = room(ConsentPolicy::Notice);
    let (ended, host) = (take(&live, end(), 10), live.created_by);
    let required = Refusal::Recording(RecordingRefusal::ConsentRequired);
    let word = Some("All agreed.");
    assert_eq!(refused(&ended, attach(id, host, word, LIMITS), 11), required, "they agreed to a recording alone");
    let all = || ConsentAnswer::Grant([ConsentScope::Recording, ConsentScope::Transcript].into());
    let agreed = take(&take(&ended, consent(ada, all()), 11), consent(eve, all()), 11);
    let attached = decided(&agreed, attach(id, host, None, LIMITS), 12);
    assert_eq!(kinds(&attached), ["recording.ready"]);
    assert_eq!(attached.next.withheld_for(of(&attached.next, id)), []);
    let withdrawn = take(&attached.next, consent(eve, ConsentAnswer::Decline), 13);
    assert_eq!(withdrawn.withheld_for(of(&withdrawn, id)), [eve]);

    let meeting = take(&take(&meeting(), Command::Start { by: Id::generate() }, 0), end(), 1);
    let host = meeting.created_by;
    let needed = Refusal::Recording(RecordingRefusal::AttestationRequired);
    assert_eq!(refused(&meeting, attach(id, host, None, LIMITS), 2), needed);
    let stranger = attach(id, Id::generate(), word, LIMITS);
    assert_eq!(refused(&meeting, stranger, 2), Refusal::Recording(RecordingRefusal::NotTheHost));
    let attached = decided(&meeting, attach(id, host, word, LIMITS), 2);
    let Some(Event::Consented { entry, text, .. }) = attached.events.first() else { unreachable!() };
    assert_eq!((entry.decision, text.as_deref()), (ConsentDecision::Attested, word));
}
