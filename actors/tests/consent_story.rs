//! Tests of consent as evidence: what the ledger records, what it proves, and which recordings it permits.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::Live;
use actors::meeting::{
    Command, ConsentAnswer, ConsentDecision, ConsentPolicy, ConsentScope, Digest, Event, Ledger, LedgerEntry, Meeting,
    MeetingStatus, Refusal,
};
use actors::time::Time;
use support::participants::{consent, joins, wording};
use support::{meeting, noon};

fn at(seconds: u64) -> Time {
    noon() + Duration::from_secs(seconds)
}

fn take(meeting: &Meeting, command: Command, seconds: u64) -> Meeting {
    meeting.decide(command, at(seconds)).unwrap().next
}

fn all() -> BTreeSet<ConsentScope> {
    [ConsentScope::Recording, ConsentScope::Transcript, ConsentScope::AiAnalysis].into()
}

fn grants() -> ConsentAnswer {
    ConsentAnswer::Grant(all())
}

/// A live meeting with `count` participants who joined.
fn with(count: usize) -> (Meeting, Vec<Id<ids::Participant>>) {
    let live = take(&meeting(), Command::Start { by: Id::generate() }, 0);
    let ids: Vec<_> = (0..count).map(|_| Id::generate()).collect();
    let joined = ids.iter().fold(live, |meeting, id| take(&meeting, joins(*id, Id::generate()), 0));
    (joined, ids)
}

/// Returns the entry that a command adds to the ledger.
fn entry(meeting: &Meeting, command: Command, seconds: u64) -> (Meeting, LedgerEntry) {
    let change = meeting.decide(command, at(seconds)).unwrap();
    let [Event::Consented { entry, .. }] = change.events.as_slice() else { panic!("{:?}", change.events) };
    (change.next, (**entry).clone())
}

#[test]
fn a_grant_a_withdrawal_and_another_grant_are_each_recorded() {
    let (meeting, ids) = with(1);
    let [who] = ids.as_slice() else { panic!() };
    let (meeting, first) = entry(&meeting, consent(*who, grants()), 1);
    let (meeting, second) = entry(&meeting, consent(*who, ConsentAnswer::Decline), 2);
    let (meeting, third) = entry(&meeting, consent(*who, ConsentAnswer::Grant([ConsentScope::Recording].into())), 3);
    let decisions = [&first, &second, &third].map(|entry| (entry.number, entry.decision, entry.scopes.len()));
    use ConsentDecision::{Granted, Withdrawn};
    assert_eq!(decisions, [(1, Granted, 3), (2, Withdrawn, 0), (3, Granted, 1)]);
    assert_eq!((first.previous, second.previous, third.previous), (Digest::NONE, first.hash(), second.hash()));
    assert_eq!(meeting.ledger, Ledger { entries: 3, head: third.hash() });
    let current = meeting.participants.get(who).unwrap().consent.clone().unwrap();
    assert_eq!((current.decision, current.at), (Granted, at(3)));
    assert!(current.grants(ConsentScope::Recording) && !current.grants(ConsentScope::Transcript));
}

#[test]
fn a_repeated_consent_answer_is_not_recorded_again() {
    let (meeting, ids) = with(1);
    let [who] = ids.as_slice() else { panic!() };
    let refused = take(&meeting, consent(*who, ConsentAnswer::Decline), 1);
    assert!(refused.decide(consent(*who, ConsentAnswer::Decline), at(2)).unwrap().events.is_empty());
    let granted = take(&refused, consent(*who, grants()), 3);
    assert!(granted.decide(consent(*who, grants()), at(4)).unwrap().events.is_empty());
    let newer = Command::Consent {
        participant: *who,
        answer: grants(),
        wording: wording("2.en"),
        user_agent: "a browser".to_owned(),
    };
    let (newer, entry) = entry(&granted, newer, 5);
    assert_eq!((entry.number, entry.wording.version.as_str()), (3, "2.en"), "to other words it is another answer");
    let withdrawn = take(&newer, consent(*who, ConsentAnswer::Decline), 6);
    assert!(withdrawn.decide(consent(*who, ConsentAnswer::Decline), at(7)).unwrap().events.is_empty());
    let current = withdrawn.participants.get(who).unwrap().consent.clone().unwrap();
    assert_eq!(current.wording.version, "2.en", "what is taken back is what was granted");
}

#[test]
fn a_consent_can_be_withdrawn_after_leaving_after_being_removed_and_after_the_end() {
    for last in 0..3 {
        let (meeting, ids) = with(1);
        let [who] = ids.as_slice() else { panic!() };
        let granted = take(&meeting, consent(*who, grants()), 1);
        let after = match last {
            0 => Command::Leave { participant: *who },
            1 => Command::Remove { participant: *who, by: None },
            _ => Command::End { by: None, reason: actors::meeting::EndReason::Empty, note: None },
        };
        let (_, entry) = entry(&take(&granted, after, 2), consent(*who, ConsentAnswer::Decline), 3);
        assert_eq!(entry.decision, ConsentDecision::Withdrawn);
    }
}

#[test]
fn a_participant_who_never_joined_cannot_consent() {
    let (meeting, _) = with(0);
    let host = consent(meeting.host, grants());
    assert_eq!(meeting.decide(host, at(1)).unwrap_err(), Refusal::NeverJoined);
    let nobody = consent(Id::generate(), grants());
    assert_eq!(meeting.decide(nobody, at(1)).unwrap_err(), Refusal::NoSuchParticipant);
}

#[test]
fn a_participant_who_waits_for_the_start_cannot_consent_yet() {
    let scheduled = meeting();
    let waiting = take(&scheduled, joins(scheduled.host, scheduled.created_by), 1);
    let refusal = waiting.decide(consent(scheduled.host, grants()), at(2)).unwrap_err();
    assert_eq!(refusal, Refusal::InvalidState { status: MeetingStatus::Scheduled });
}

#[test]
fn a_ledger_that_was_edited_cut_extended_or_reordered_is_detected() {
    let (mut meeting, ids) = with(4);
    let mut entries = Vec::new();
    for (nth, who) in ids.iter().chain(&ids).enumerate() {
        let answer = if nth < 4 { grants() } else { ConsentAnswer::Decline };
        let written;
        (meeting, written) = entry(&meeting, consent(*who, answer), nth as u64);
        entries.push(written);
    }
    let head = meeting.ledger;
    assert!(LedgerEntry::chain(&entries, head) && LedgerEntry::chain(&[], Ledger::EMPTY));
    for nth in 0..entries.len() {
        let edits: [fn(&mut LedgerEntry); 9] = [
            |entry| entry.decision = ConsentDecision::Refused,
            |entry| {
                if !entry.scopes.remove(&ConsentScope::Recording) {
                    entry.scopes.insert(ConsentScope::Recording);
                }
            },
            |entry| entry.wording.version = "9.en".to_owned(),
            |entry| entry.wording.language = "ar".to_owned(),
            |entry| entry.wording.text_hash = Digest::of("other words"),
            |entry| entry.participant_id = Id::generate(),
            |entry| entry.meeting_id = Id::generate(),
            |entry| entry.at = entry.at + Duration::from_millis(1),
            |entry| entry.user_agent_hash = Digest::of("another browser"),
        ];
        for edit in edits {
            let mut edited = entries.clone();
            edit(edited.get_mut(nth).unwrap());
            assert!(!LedgerEntry::chain(&edited, head), "entry {nth} was edited: {edited:?}");
        }
        let mut cut = entries.clone();
        cut.remove(nth);
        assert!(!LedgerEntry::chain(&cut, head));
        let mut doubled = entries.clone();
        doubled.insert(nth, entries.get(nth).unwrap().clone());
        assert!(!LedgerEntry::chain(&doubled, head));
        let mut swapped = entries.clone();
        swapped.swap(nth, (nth + 1) % entries.len());
        assert!(!LedgerEntry::chain(&swapped, head));
    }
    // If the ledger is rewritten as a whole, its head no longer matches a record that was handed out before.
    let rewritten: Vec<_> = entries.iter().take(7).cloned().collect();
    let other = Ledger { entries: 7, head: rewritten.last().unwrap().hash() };
    assert!(LedgerEntry::chain(&rewritten, other) && other.head != head.head);
}

#[test]
fn a_hash_can_be_recomputed_from_the_published_record() {
    let (meeting, ids) = with(1);
    let [who] = ids.as_slice() else { panic!() };
    let (meeting, entry) = entry(
        &meeting,
        consent(*who, ConsentAnswer::Grant([ConsentScope::Recording, ConsentScope::AiAnalysis].into())),
        1,
    );
    let lines = [
        "colloquy-consent-1".to_owned(),
        "0".repeat(64),
        meeting.id.to_string(),
        "1".to_owned(),
        who.to_string(),
        "GRANTED".to_owned(),
        "RECORDING,AI_ANALYSIS".to_owned(),
        "1.en".to_owned(),
        "en".to_owned(),
        Digest::of("1.en").to_string(),
        "2026-01-01T12:00:01.000Z".to_owned(),
        Digest::of("a browser").to_string(),
    ];
    let text: String = lines.map(|line| line + "\n").concat();
    assert_eq!(entry.hash(), Digest::of(&text));
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((Digest::of("abc").to_string().as_str(), known.parse()), (known, Ok(Digest::of("abc"))));
    for wrong in ["", "abc", &"g".repeat(64), &known.replacen('b', "é", 1)] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}

#[test]
fn under_all_recording_is_forbidden_until_every_present_participant_has_consented() {
    let (meeting, ids) = with(3);
    let [first, second, third] = ids.as_slice() else { panic!() };
    assert_eq!(meeting.may_record(), Err(ids.clone()));
    let meeting = take(&meeting, consent(*first, grants()), 1);
    let meeting = take(&meeting, consent(*second, ConsentAnswer::Decline), 2);
    assert_eq!(meeting.may_record(), Err(vec![*second, *third]));
    let meeting = take(&meeting, Command::Leave { participant: *second }, 3);
    let meeting = take(&meeting, consent(*third, grants()), 4);
    assert_eq!(meeting.may_record(), Ok(()), "who left has no say in what is said now");
    assert_eq!(meeting.may_import(), Err(vec![*second]), "but in what was said before");
    let user = meeting.participants.get(second).unwrap().user_id.unwrap();
    let meeting = take(&meeting, joins(*second, user), 5);
    assert_eq!(meeting.may_record(), Err(vec![*second]), "whoever comes back without it stops it");
    let meeting = take(&meeting, consent(*second, grants()), 6);
    let meeting = take(&meeting, consent(*first, ConsentAnswer::Decline), 7);
    assert_eq!(meeting.may_record(), Err(vec![*first]), "and so does whoever takes it back");
}

#[test]
fn under_notice_a_refused_consent_does_not_forbid_recording() {
    let (mut meeting, ids) = with(2);
    meeting.consent_policy = ConsentPolicy::Notice;
    let [first, _] = ids.as_slice() else { panic!() };
    let meeting = take(&meeting, consent(*first, ConsentAnswer::Decline), 1);
    assert_eq!(meeting.may_record(), Ok(()));
    assert_eq!(meeting.may_import(), Err(ids), "what was recorded otherwise needs everyone's grant");
}

#[test]
fn after_a_clock_is_set_back_no_consent_is_dated_before_the_one_it_changes() {
    let (meeting, ids) = with(1);
    let [who] = ids.as_slice() else { panic!() };
    let meeting = take(&meeting, consent(*who, grants()), 100);
    let (_, entry) = entry(&meeting, consent(*who, ConsentAnswer::Decline), 50);
    assert_eq!(entry.at, at(100));
}
