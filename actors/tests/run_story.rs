//! A run's life cycle: every state with every command, progress that never falls, and random sequences against an
//! oracle.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use actors::ids::Id;
use actors::live::Live;
use actors::run::{AiRunStatus, Command, Event, MAX_BEGINS, Node, Refusal, Run, RunWarning};
use actors::time::Time;
use strum::VariantArray;
use support::{Chance, noon, run};

/// The outcome of a command: the status after it and its event, no change, a 409 refusal, or an old attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Becomes(AiRunStatus, &'static str),
    Unchanged,
    InvalidState,
    OldAttempt,
}
use Outcome::{Becomes, InvalidState, OldAttempt, Unchanged};

/// The columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Begin,
    Progress,
    Complete,
    CompletePartly,
    Reject,
    Fail,
    Cancel,
    Retry,
    RetrySameJob,
}

const COLUMNS: [Column; 9] = [
    Column::Begin,
    Column::Progress,
    Column::Complete,
    Column::CompletePartly,
    Column::Reject,
    Column::Fail,
    Column::Cancel,
    Column::Retry,
    Column::RetrySameJob,
];

/// The whole state machine, one row per state, in the order of [`COLUMNS`].
#[rustfmt::skip]
const TABLE: [(AiRunStatus, [Outcome; 9]); 7] = {
    use AiRunStatus::{Cancelled, Completed, Failed, Partial, Processing, Queued, Rejected};
    const RETRIED: Outcome = Becomes(Queued, "run.retried");
    [
        (Queued,     [Becomes(Processing, "run.progressed"), InvalidState, InvalidState, InvalidState, InvalidState,
                      InvalidState, Becomes(Cancelled, "run.cancelled"), InvalidState, Unchanged]),
        (Processing, [Becomes(Processing, "run.progressed"), Becomes(Processing, "run.progressed"), Becomes(Completed, "run.completed"),
                      Becomes(Partial, "run.partial"), Becomes(Rejected, "run.rejected"), Becomes(Failed, "run.failed"),
                      Becomes(Cancelled, "run.cancelled"), InvalidState, Unchanged]),
        (Completed,  [InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState,
                      InvalidState, Unchanged]),
        (Partial,    [InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState,
                      RETRIED, Unchanged]),
        (Rejected,   [InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState,
                      InvalidState, Unchanged]),
        (Failed,     [InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState,
                      RETRIED, Unchanged]),
        (Cancelled,  [InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState, InvalidState,
                      RETRIED, Unchanged]),
    ]
};

fn failed_source() -> RunWarning {
    let (code, message) = (RunWarning::SOURCE_FAILED.to_owned(), "can't be read".to_owned());
    RunWarning { code, message, source_id: Some(Id::<()>::generate().uuid()) }
}

fn other_warning() -> RunWarning {
    RunWarning { code: "LanguageGuessed".to_owned(), message: "taken for English".to_owned(), source_id: None }
}

#[test]
fn a_run_that_leaves_something_out_is_partial() {
    for code in [
        RunWarning::SOURCE_FAILED,
        RunWarning::SOURCE_TOO_LONG,
        RunWarning::TOO_MANY_ITEMS,
        RunWarning::MODEL_UNAVAILABLE,
        RunWarning::MODEL_ANSWER_CUT,
    ] {
        assert!(RunWarning { code: code.to_owned(), ..failed_source() }.reports_gap(), "{code}");
    }
    assert!(!other_warning().reports_gap());
}

fn command(column: Column, on: &Run, attempt: u32) -> Command {
    match column {
        Column::Begin => Command::Begin { attempt },
        Column::Progress => {
            Command::Progress { attempt, node: Node::QualityChecks, progress: 88, message: "checking".to_owned() }
        }
        Column::Complete => Command::Complete { attempt, warnings: vec![other_warning()] },
        Column::CompletePartly => Command::Complete { attempt, warnings: vec![other_warning(), failed_source()] },
        Column::Reject => Command::Reject { attempt, reason: "empty".to_owned() },
        Column::Fail => Command::Fail { attempt, message: "out of memory".to_owned() },
        Column::Cancel => Command::Cancel { by: Id::generate() },
        Column::Retry => Command::Retry { job_id: Id::generate() },
        Column::RetrySameJob => Command::Retry { job_id: on.ai_job_id },
    }
}

/// Fails to compile when a command is added: then extend [`COLUMNS`] and [`TABLE`] too.
fn columns(command: &Command) -> &'static [Column] {
    match command {
        Command::Begin { .. } => &[Column::Begin],
        Command::Progress { .. } => &[Column::Progress],
        Command::Complete { .. } => &[Column::Complete, Column::CompletePartly],
        Command::Reject { .. } => &[Column::Reject],
        Command::Fail { .. } => &[Column::Fail],
        Command::Cancel { .. } => &[Column::Cancel],
        Command::Retry { .. } => &[Column::Retry, Column::RetrySameJob],
    }
}

fn names_its_attempt(column: Column) -> bool {
    !matches!(column, Column::Cancel | Column::Retry | Column::RetrySameJob)
}

fn at(seconds: u64) -> Time {
    noon() + Duration::from_secs(seconds)
}

/// Returns the run after the commands of these columns, one second apart.
fn after(mut run: Run, columns: &[Column]) -> Run {
    for (second, column) in (1..).zip(columns) {
        run = run.decide(command(*column, &run, run.attempt), at(second)).unwrap().next;
    }
    run
}

/// Fails to compile when a status is added.
fn in_state(status: AiRunStatus) -> Run {
    let steps: &[Column] = match status {
        AiRunStatus::Queued => &[],
        AiRunStatus::Processing => &[Column::Begin],
        AiRunStatus::Completed => &[Column::Begin, Column::Complete],
        AiRunStatus::Partial => &[Column::Begin, Column::CompletePartly],
        AiRunStatus::Rejected => &[Column::Begin, Column::Reject],
        AiRunStatus::Failed => &[Column::Begin, Column::Fail],
        AiRunStatus::Cancelled => &[Column::Begin, Column::Cancel],
    };
    after(run(), steps)
}

fn outcome(before: &Run, command: Command) -> Outcome {
    match before.decide(command, at(600)) {
        Ok(change) if change.events.is_empty() => {
            assert_eq!(&change.next, before);
            Unchanged
        }
        Ok(change) => {
            assert_eq!((change.next.revision, change.next.updated_at), (before.revision + 1, at(600)));
            Becomes(change.next.status(), change.events.first().unwrap().kind().as_str())
        }
        Err(Refusal::InvalidState { status }) => {
            assert_eq!(status, before.status());
            InvalidState
        }
        Err(Refusal::OldAttempt { current }) => {
            assert_eq!(current, before.attempt);
            OldAttempt
        }
    }
}

#[test]
fn every_state_answers_every_command_as_the_table_says() {
    assert_eq!(TABLE.map(|(status, _)| status).as_slice(), AiRunStatus::VARIANTS, "a row for each state");
    for (status, row) in TABLE {
        let before = in_state(status);
        assert_eq!(before.status(), status);
        for (column, expected) in COLUMNS.into_iter().zip(row) {
            let command = command(column, &before, before.attempt);
            assert!(columns(&command).contains(&column));
            assert_eq!(outcome(&before, command), expected, "{status} {column:?}");
        }
    }
}

#[test]
fn in_every_state_a_command_of_another_attempt_is_refused() {
    for status in AiRunStatus::VARIANTS {
        let second = Run { attempt: 2, ..in_state(*status) };
        for column in COLUMNS.into_iter().filter(|column| names_its_attempt(*column)) {
            for attempt in [1, 3] {
                assert_eq!(outcome(&second, command(column, &second, attempt)), OldAttempt, "{status} {column:?}");
            }
        }
    }
}

#[test]
fn a_new_run_is_queued_with_its_first_event() {
    let new = run();
    assert_eq!(
        (new.status(), new.node(), new.progress, new.attempt, new.revision),
        (AiRunStatus::Queued, Node::Queued, 0, 1, 1)
    );
    assert_eq!((new.started_at(), new.completed_at(), new.error_message()), (None, None, None));
    assert_eq!(Event::Queued.kind().as_str(), "run.queued");
}

#[test]
fn nodes_start_at_the_progress_of_the_interface() {
    let table: Vec<_> = Node::VARIANTS.iter().map(|node| (node.into_str(), node.progress())).collect();
    assert_eq!(
        table,
        [
            ("queued", 0),
            ("prepare_sources", 5),
            ("transcribe_recordings", 10),
            ("build_source_index", 25),
            ("extract_requirements", 35),
            ("classify_requirements", 50),
            ("evidence_grounding", 60),
            ("generate_user_stories", 70),
            ("quality_checks", 85),
            ("summarize", 92),
            ("finalize", 97),
            ("done", 100),
        ]
    );
    assert!(Node::VARIANTS.iter().all(|node| !node.label().is_empty() && node.into_str().parse() == Ok(*node)));
    assert_eq!(Node::ExtractRequirements.label(), "Extracting requirements");
}

#[test]
fn progress_never_decreases_nor_reaches_a_hundred_before_the_end() {
    let begun = after(run(), &[Column::Begin]);
    assert_eq!((begun.progress, begun.node()), (5, Node::PrepareSources));
    let progress =
        |node, progress, message: &str| Command::Progress { attempt: 1, node, progress, message: message.to_owned() };
    let here = begun.decide(progress(Node::ExtractRequirements, 41, "41 of 100"), at(2)).unwrap().next;
    assert_eq!((here.progress, here.node(), here.message.as_str()), (41, Node::ExtractRequirements, "41 of 100"));
    let lower = here.decide(progress(Node::ExtractRequirements, 36, "again"), at(3)).unwrap().next;
    assert_eq!((lower.progress, lower.message.as_str()), (41, "again"));
    let earlier = here.decide(progress(Node::PrepareSources, 99, "resumed"), at(3)).unwrap();
    assert!(earlier.events.is_empty(), "an earlier node tells nothing new");
    let same = here.decide(progress(Node::ExtractRequirements, 41, "41 of 100"), at(3)).unwrap();
    assert!(same.events.is_empty());
    let silent = here.decide(progress(Node::Summarize, 0, "  "), at(3)).unwrap().next;
    assert_eq!((silent.progress, silent.message.as_str()), (92, "Summarizing"), "the node's start and label");
    let eager = here.decide(progress(Node::Done, 255, "all but"), at(3)).unwrap().next;
    assert_eq!((eager.progress, eager.node(), eager.status()), (99, Node::Finalize, AiRunStatus::Processing));
}

#[test]
fn an_ended_run_keeps_its_progress_and_only_success_sets_a_hundred() {
    let here = after(run(), &[Column::Begin, Column::Progress]);
    for (column, progress, node, error) in [
        (Column::Complete, 100, Node::Done, None),
        (Column::CompletePartly, 100, Node::Done, None),
        (Column::Reject, 88, Node::QualityChecks, Some("empty")),
        (Column::Fail, 88, Node::QualityChecks, Some("out of memory")),
        (Column::Cancel, 88, Node::QualityChecks, None),
    ] {
        let ended = here.decide(command(column, &here, 1), at(60)).unwrap().next;
        assert_eq!((ended.progress, ended.node(), ended.error_message()), (progress, node, error), "{column:?}");
        assert_eq!((ended.started_at(), ended.completed_at()), (Some(at(1)), Some(at(60))), "{column:?}");
        assert!(ended.is_over() && !ended.stays_awake() && !ended.message.is_empty());
    }
    let mute = here.decide(Command::Fail { attempt: 1, message: String::new() }, at(60)).unwrap().next;
    assert!(!mute.error_message().unwrap().is_empty());
    let unbegun = run().decide(Command::Cancel { by: Id::generate() }, at(60)).unwrap().next;
    assert_eq!((unbegun.started_at(), unbegun.completed_at(), unbegun.node()), (None, Some(at(60)), Node::Queued));
}

#[test]
fn a_retry_restarts_the_run_under_its_id_and_repeating_it_changes_nothing() {
    let partial = in_state(AiRunStatus::Partial);
    let job_id = Id::generate();
    let retried = partial.decide(Command::Retry { job_id }, at(9)).unwrap().next;
    assert_eq!((retried.id, retried.attempt, retried.ai_job_id), (partial.id, 2, job_id));
    assert_eq!((retried.status(), retried.progress, retried.node()), (AiRunStatus::Queued, 0, Node::Queued));
    assert_eq!((retried.started_at(), retried.completed_at(), retried.error_message()), (None, None, None));
    assert!(retried.warnings.is_empty() && !retried.message.is_empty());
    let again = retried.decide(Command::Retry { job_id }, at(10)).unwrap();
    assert!(again.events.is_empty());
    let late = retried.decide(command(Column::Progress, &retried, 1), at(10)).unwrap_err();
    assert_eq!(late, Refusal::OldAttempt { current: 2 });
}

#[test]
fn an_attempt_begun_five_times_without_ending_fails_and_a_retry_resets_the_count() {
    let often = after(run(), &[Column::Begin; MAX_BEGINS as usize]);
    assert_eq!((often.status(), often.taken_up), (AiRunStatus::Processing, 5));
    let here = after(often, &[Column::Progress]);
    let failed = here.decide(Command::Begin { attempt: 1 }, at(60)).unwrap().next;
    assert_eq!((failed.status(), failed.node(), failed.progress), (AiRunStatus::Failed, Node::QualityChecks, 88));
    assert!(failed.error_message().unwrap().contains("five times"));
    let retried = failed.decide(Command::Retry { job_id: Id::generate() }, at(61)).unwrap().next;
    assert_eq!((retried.status(), retried.taken_up), (AiRunStatus::Queued, 0));
    let again = retried.decide(Command::Begin { attempt: 2 }, at(62)).unwrap().next;
    assert_eq!((again.status(), again.taken_up), (AiRunStatus::Processing, 1));
}

/// The expected state of a run, with a different design.
#[derive(Debug, Default)]
struct Oracle {
    begun: u32,
    over: Option<Column>,
    attempts: u32,
    highest: u8,
    events: u64,
}

impl Oracle {
    /// Returns whether the command is expected to be accepted; `None` if it names an old attempt.
    fn is_accepted(&mut self, column: Column, attempt: u32) -> Option<bool> {
        if names_its_attempt(column) && attempt != self.attempts {
            return None;
        }
        let taken = match column {
            Column::RetrySameJob => return Some(true),
            Column::Retry => {
                let can =
                    matches!(self.over, Some(Column::Begin | Column::Fail | Column::Cancel | Column::CompletePartly));
                if can {
                    *self = Self { attempts: self.attempts + 1, events: self.events, ..Self::default() };
                }
                can
            }
            Column::Begin => {
                let can = self.over.is_none();
                self.begun += u32::from(can);
                can
            }
            Column::Cancel => self.over.is_none(),
            _ => self.over.is_none() && self.begun > 0,
        };
        let too_often = column == Column::Begin && self.begun > MAX_BEGINS;
        let ends = too_often || !matches!(column, Column::Begin | Column::Progress | Column::Retry);
        if taken && ends {
            self.over = Some(column);
        }
        Some(taken)
    }
}

#[test]
fn chance_finds_no_way_around_the_rules() {
    let (mut seeds, _) = Chance::from_env();
    for sequence in 0..3_000 {
        let seed = seeds.next();
        let mut chance = Chance::new(seed);
        let mut run = run();
        let mut oracle = Oracle { attempts: 1, events: 1, ..Oracle::default() };
        let mut now = noon();
        for step in 0..60 {
            now = now + Duration::from_millis(chance.below(1_000));
            let column = if chance.one_in(2) { Column::Progress } else { *chance.pick(&COLUMNS) };
            let attempt = if chance.one_in(8) { run.attempt.saturating_sub(1) } else { run.attempt };
            let asked = match command(column, &run, attempt) {
                Command::Progress { attempt, .. } => {
                    let (node, progress) = (*chance.pick(Node::VARIANTS), u8::try_from(chance.below(256)).unwrap());
                    let message = if chance.one_in(4) { String::new() } else { format!("{node}") };
                    Command::Progress { attempt, node, progress, message }
                }
                other => other,
            };
            let case = format!("sequence {sequence}, seed {seed}, step {step}: {asked:?}");
            let expected = oracle.is_accepted(column, attempt);
            let before = run.clone();
            match before.decide(asked, now) {
                Ok(change) => {
                    assert_eq!(expected, Some(true), "{case} was taken");
                    oracle.events += change.events.len() as u64;
                    run = change.next;
                }
                Err(Refusal::OldAttempt { .. }) => assert_eq!(expected, None, "{case}"),
                Err(Refusal::InvalidState { .. }) => assert_eq!(expected, Some(false), "{case}"),
            }
            assert_eq!((run.attempt, run.revision), (oracle.attempts, oracle.events), "{case}");
            assert!(run.progress >= oracle.highest && run.progress <= 100, "{case}: progress fell");
            oracle.highest = run.progress;
            let succeeded = matches!(oracle.over, Some(Column::Complete | Column::CompletePartly));
            assert_eq!(run.progress == 100, succeeded, "{case}");
            assert_eq!(run.is_over(), oracle.over.is_some(), "{case}");
            assert_eq!(run.completed_at().is_some(), run.is_over(), "{case}");
            assert_eq!(run.stays_awake(), !run.is_over(), "{case}");
            assert!(!run.message.trim().is_empty(), "{case}");
            if run.attempt == before.attempt {
                assert!(run.node() >= before.node(), "{case}: the node went back");
            }
            if matches!(before.status(), AiRunStatus::Completed | AiRunStatus::Rejected) {
                assert_eq!(run, before, "{case}: what is over for good stays as it is");
            }
        }
    }
}
