//! Tests of whole runs: properties that hold for any input, any moment of a kill or cancellation, and any engine.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actors::language::Language;
use actors::run::{AnalysisType, Node};
use async_trait::async_trait;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use readers::{CueText, Format, SourceText, TrackCue, TrackText, read, slice, woven, written};
use strum::VariantArray;

use super::engine::{Corpus, Finding, Items};
use super::loop_control::{Halted, LoopControl};
use super::ports::{CheckpointStore, NoCheckpoints, NoProgressSink, PortUnavailable, ProgressSink, StopRequested};
use super::request::ReadySource;
use super::result::CheckedItems;
use super::result::{
    Citation, PipelineResult, Priority, RequirementDraft, RequirementType, ResultStatus, Summary, UserStoryDraft,
};
use super::{
    Bounds, CancelToken, Embedded, Engine, PipelineOutcome, Request, Source, SourceKind, Workers, run, run_with,
};

pub const SPECIFICATION: &str = "# Booking\n\n## Functions\n\nThe system shall let a patient book an appointment. \
    When an appointment is cancelled, the system must offer the free slot to the next patient.\n\n\
    The system should:\n\n- send a reminder by mail 48 hours before the appointment\n- show a calendar of all rooms\n\n\
    ## Performance\n\nThe search shall answer within 2 seconds.\n\n## Risks\n\n\
    There is a risk that the old data is too poor to be taken over.\n\n## Open questions\n\nWho pays for text messages?\n\n\
    ## Decisions\n\nThe team decided on 3 May 2027 to start with one clinic.\n";

pub const TALK: &str = "WEBVTT\n\n00:00:01.000 --> 00:00:05.000\n<v Ana>The app has to show the 🚑 list\n\n\
    00:00:05.200 --> 00:00:09.000\n<v Ana>of new referrals on the first day.</v>\n\n\
    00:00:09.500 --> 00:00:12.000\n<v Bo>I'll send the sample export by 4 June 2027.</v>\n\n\
    00:00:12.500 --> 00:00:15.000\n<v Bo>The system should play music while people wait.</v>\n\n\
    00:00:15.500 --> 00:00:17.000\n<v Ana>No, scratch that.</v>\n\n\
    00:00:17.500 --> 00:00:20.000\n<v Ana>We decided to start with one clinic.</v>\n";

pub fn text(format: Format, words: &str) -> Arc<SourceText> {
    Arc::new(read(format, words.as_bytes()).unwrap())
}

pub fn request(sources: Vec<Source>) -> Request {
    let (analysis_type, language) = (AnalysisType::Full, Language::Auto);
    Request { job_id: "job".to_owned(), attempt: 1, analysis_type, language, sources, bounds: Bounds::default() }
}

pub fn both() -> Request {
    request(vec![
        Source::document("d1", "spec.md", text(Format::Markdown, SPECIFICATION)),
        Source::recording("r1", "talk.vtt", text(Format::Vtt, TALK)),
    ])
}

pub async fn outcome(request: Request) -> PipelineOutcome {
    run(request, &NoCheckpoints, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await
}

pub fn result(outcome: PipelineOutcome) -> PipelineResult {
    match outcome {
        PipelineOutcome::Completed(result) | PipelineOutcome::Partial(result, _) => {
            let mut result = *result;
            result.metrics.processing_ms = 0;
            result
        }
        other => panic!("no result: {other:?}"),
    }
}

fn bytes(result: &PipelineResult) -> String {
    serde_json::to_string(result).unwrap()
}

fn references(result: &PipelineResult) -> Vec<&Citation> {
    let mut all: Vec<&Citation> = result.requirements.iter().flat_map(|item| &item.sources).collect();
    all.extend(result.user_stories.iter().flat_map(|item| &item.sources));
    all.extend(result.risks.iter().flat_map(|item| &item.sources));
    all.extend(result.open_questions.iter().flat_map(|item| &item.sources));
    all.extend(result.action_items.iter().flat_map(|item| &item.sources));
    all.extend(result.decisions.iter().flat_map(|item| &item.sources));
    all
}

pub fn every_item_has_a_source(result: &PipelineResult) -> bool {
    result.requirements.iter().all(|item| !item.sources.is_empty())
        && result.user_stories.iter().all(|item| !item.sources.is_empty())
        && result.risks.iter().all(|item| !item.sources.is_empty())
        && result.open_questions.iter().all(|item| !item.sources.is_empty())
        && result.action_items.iter().all(|item| !item.sources.is_empty())
        && result.decisions.iter().all(|item| !item.sources.is_empty())
}

/// A checkpoint store in memory that records the saved nodes.
#[derive(Default)]
struct Memory {
    kept: Mutex<HashMap<(Node, String, String), String>>,
    saves: Mutex<Vec<Node>>,
}

#[async_trait]
impl CheckpointStore for Memory {
    async fn load(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
    ) -> Result<Option<String>, PortUnavailable> {
        let key = (node, input_hash.to_owned(), engine_version.to_owned());
        Ok(self.kept.lock().unwrap().get(&key).cloned())
    }

    async fn save(&self, node: Node, hash: &str, version: &str, output: &str) -> Result<(), PortUnavailable> {
        self.saves.lock().unwrap().push(node);
        self.kept.lock().unwrap().insert((node, hash.to_owned(), version.to_owned()), output.to_owned());
        Ok(())
    }
}

/// A checkpoint store that is always unavailable.
struct Away;

#[async_trait]
impl CheckpointStore for Away {
    async fn load(&self, _: Node, _: &str, _: &str) -> Result<Option<String>, PortUnavailable> {
        Err(PortUnavailable("away".to_owned()))
    }

    async fn save(&self, _: Node, _: &str, _: &str, _: &str) -> Result<(), PortUnavailable> {
        Err(PortUnavailable("away".to_owned()))
    }
}

/// A progress sink that requests a stop when the node `last` reports progress, and records every report.
#[derive(Default)]
struct Until {
    last: Option<Node>,
    reported: Mutex<Vec<(Node, u8)>>,
}

#[async_trait]
impl ProgressSink for Until {
    async fn progressed(&self, node: Node, progress: u8, _: &str) -> Result<(), StopRequested> {
        self.reported.lock().unwrap().push((node, progress));
        if self.last == Some(node) { Err(StopRequested) } else { Ok(()) }
    }
}

/// The embedded engine with one injected fault.
struct Faulty {
    fault: Fault,
    armed: AtomicBool,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Panic,
    Slow,
    Forge,
    Hang,
}

impl Faulty {
    fn new(fault: Fault) -> Arc<Self> {
        Arc::new(Self { fault, armed: AtomicBool::new(true) })
    }
}

impl Engine for Faulty {
    fn version(&self) -> &str {
        "faulty"
    }

    fn find(&self, corpus: &Corpus, control: &LoopControl) -> Result<Vec<Finding>, Halted> {
        let armed = self.armed.load(Ordering::SeqCst);
        match self.fault {
            Fault::Panic if armed => panic!("a rule went wrong"),
            Fault::Slow => std::thread::sleep(Duration::from_millis(1_800)),
            Fault::Hang => loop {
                std::thread::sleep(Duration::from_millis(5));
                control.report(1, 2)?;
            },
            _ => {}
        }
        Embedded::default().find(corpus, control)
    }

    fn classify(&self, b: &Corpus, s: &[ReadySource], f: &[Finding], control: &LoopControl) -> Result<Items, Halted> {
        let mut items = Embedded::default().classify(b, s, f, control)?;
        if self.fault == Fault::Forge {
            items.requirements[0].sources[0].quote.push('!');
            items.requirements[1].sources[0].start_offset += 1;
            items.risks[0].sources[0].end_offset = usize::MAX;
            items.decisions[0].sources[0].source_id = "another".to_owned();
        }
        Ok(items)
    }

    fn stories(&self, requirements: &[RequirementDraft], control: &LoopControl) -> Result<Vec<UserStoryDraft>, Halted> {
        Embedded::default().stories(requirements, control)
    }

    fn check(
        &self,
        requirements: &[RequirementDraft],
        stories: &[UserStoryDraft],
        control: &LoopControl,
    ) -> Result<CheckedItems, Halted> {
        Embedded::default().check(requirements, stories, control)
    }

    fn summarize(
        &self,
        b: &Corpus,
        s: &[ReadySource],
        i: &Items,
        n: usize,
        control: &LoopControl,
    ) -> Result<Summary, Halted> {
        Embedded::default().summarize(b, s, i, n, control)
    }
}

#[tokio::test]
async fn documents_and_a_talk_become_traced_items() {
    let result = result(outcome(both()).await);
    let statements: Vec<&str> = result.requirements.iter().map(|item| item.statement.as_str()).collect();
    assert_eq!(
        statements,
        [
            "The system shall let a patient book an appointment.",
            "When an appointment is cancelled, the system must offer the free slot to the next patient.",
            "The system should send a reminder by mail 48 hours before the appointment",
            "The system should show a calendar of all rooms",
            "The search shall answer within 2 seconds.",
            "The app has to show the 🚑 list of new referrals on the first day.",
        ]
    );
    assert_eq!(result.requirements[0].priority, Priority::High);
    assert_eq!(result.requirements[2].priority, Priority::Medium);
    assert_eq!(result.requirements[4].kind, RequirementType::NonFunctional);
    assert_eq!(result.requirements[0].sources[0].section.as_deref(), Some("Booking › Functions"));
    let spoken = &result.requirements[5].sources[0];
    assert_eq!((spoken.kind, spoken.speaker.as_deref()), (SourceKind::Recording, Some("Ana")));
    assert_eq!((spoken.start_ms, spoken.end_ms), (Some(1_000), Some(9_000)));
    assert_eq!(result.action_items.len(), 1);
    assert_eq!(result.action_items[0].assignee.as_deref(), Some("Bo"));
    assert_eq!(result.action_items[0].due_date.as_deref(), Some("2027-06-04"));
    assert_eq!((result.risks.len(), result.open_questions.len()), (1, 1));
    assert_eq!(result.decisions.len(), 2);
    assert_eq!(result.status, ResultStatus::Completed);
    assert_eq!((result.metrics.sources, result.metrics.minutes), (2, 1));
    assert!(every_item_has_a_source(&result));
    let story = &result.user_stories[0];
    assert_eq!(story.description, "As a patient, I want to book an appointment.");
    assert_eq!((story.benefit.clone(), story.requirement_keys[0].clone()), (None, result.requirements[0].key.clone()));
}

#[tokio::test]
async fn the_same_input_gives_the_same_bytes() {
    let first = result(outcome(both()).await);
    for _ in 0..3 {
        assert_eq!(bytes(&first), bytes(&result(outcome(both()).await)));
    }
}

#[tokio::test]
async fn a_run_killed_at_any_node_goes_on_there_and_ends_the_same() {
    let whole = bytes(&result(outcome(both()).await));
    for (at, node) in Node::VARIANTS.iter().copied().enumerate().take(Node::VARIANTS.len() - 1).skip(1) {
        let memory = Memory::default();
        let until = Until { last: Some(node), ..Until::default() };
        let workers = Workers::new(1);
        let killed = run(both(), &memory, &until, CancelToken::new(), &workers).await;
        assert_eq!(killed, PipelineOutcome::Cancelled, "{node:?}");
        assert_eq!(memory.saves.lock().unwrap().len(), at - 1, "{node:?}");
        let resumed = run(both(), &memory, &NoProgressSink, CancelToken::new(), &workers).await;
        assert_eq!(bytes(&result(resumed)), whole, "{node:?}");
        let saves = memory.saves.lock().unwrap();
        assert_eq!(saves.len(), 10, "no finished node is worked again: {saves:?}");
    }
}

#[tokio::test]
async fn a_checkpoint_of_other_words_is_not_used() {
    let memory = Memory::default();
    let workers = Workers::new(1);
    run(both(), &memory, &NoProgressSink, CancelToken::new(), &workers).await;
    let other = request(vec![Source::document("d1", "spec.md", text(Format::Markdown, "The tool must print a list."))]);
    let fresh = result(run(other, &memory, &NoProgressSink, CancelToken::new(), &workers).await);
    assert_eq!(fresh.requirements.len(), 1);
}

#[tokio::test]
async fn a_store_that_is_away_costs_no_run() {
    let whole = bytes(&result(outcome(both()).await));
    let away = run(both(), &Away, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await;
    assert_eq!(bytes(&result(away)), whole);
}

#[tokio::test]
async fn a_cancel_ends_even_a_node_under_way_within_a_second() {
    let cancel = CancelToken::new();
    let later = cancel.clone();
    let started = Instant::now();
    let canceller = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        later.cancel();
    };
    let workers = Workers::new(1);
    let running = run_with(Faulty::new(Fault::Hang), both(), &NoCheckpoints, &NoProgressSink, cancel, &workers);
    let (outcome, ()) = tokio::join!(running, canceller);
    assert_eq!(outcome, PipelineOutcome::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(1));
    // The permit is free again: the node noticed the cancellation.
    let next = run(both(), &NoCheckpoints, &NoProgressSink, CancelToken::new(), &workers).await;
    assert!(matches!(next, PipelineOutcome::Completed(_)));
}

#[tokio::test]
async fn a_panic_in_a_node_fails_its_run_alone() {
    let workers = Workers::new(1);
    let faulty = Faulty::new(Fault::Panic);
    let memory = Memory::default();
    let failed = run_with(faulty.clone(), both(), &memory, &NoProgressSink, CancelToken::new(), &workers).await;
    let PipelineOutcome::Failed { node, message } = failed else { panic!("{failed:?}") };
    assert_eq!(node, Node::ExtractRequirements);
    assert_eq!(message, "The step “Extracting requirements” failed because of an internal error.", "no internals");
    // A retry resumes after the stored checkpoints.
    faulty.armed.store(false, Ordering::SeqCst);
    let retried = run_with(faulty, both(), &memory, &NoProgressSink, CancelToken::new(), &workers).await;
    assert!(matches!(retried, PipelineOutcome::Completed(_)));
    assert_eq!(memory.saves.lock().unwrap().len(), 10);
}

#[tokio::test]
async fn a_slow_node_tells_at_least_every_second_and_progress_never_falls() {
    let progress_sink = Until::default();
    let slow = Faulty::new(Fault::Slow);
    let done = run_with(slow, both(), &NoCheckpoints, &progress_sink, CancelToken::new(), &Workers::new(1)).await;
    assert!(matches!(done, PipelineOutcome::Completed(_)));
    let reported = progress_sink.reported.lock().unwrap();
    assert!(reported.iter().filter(|(node, _)| *node == Node::ExtractRequirements).count() >= 3, "{reported:?}");
    assert!(reported.windows(2).all(|pair| pair[0].1 <= pair[1].1 && pair[0].0 <= pair[1].0), "{reported:?}");
    let starts: Vec<(Node, u8)> = Node::VARIANTS[1..11].iter().map(|node| (*node, node.progress())).collect();
    assert!(starts.iter().all(|start| reported.contains(start)), "{reported:?}");
}

#[tokio::test]
async fn what_an_engine_makes_up_is_dropped_and_counted() {
    let honest = result(outcome(both()).await);
    let forge = Faulty::new(Fault::Forge);
    let forged = run_with(forge, both(), &NoCheckpoints, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await;
    let forged = result(forged);
    assert_eq!(forged.requirements.len(), honest.requirements.len() - 2);
    assert_eq!((forged.risks.len(), forged.decisions.len()), (0, honest.decisions.len() - 1));
    assert_eq!(forged.metrics.ungrounded, 4);
    assert!(forged.warnings.iter().any(|warning| warning.code == "UngroundedItemsDropped"));
    assert_eq!(forged.status, ResultStatus::Completed);
}

#[tokio::test]
async fn nothing_to_read_is_rejected_with_a_reason() {
    let PipelineOutcome::Rejected { reason, .. } = outcome(request(vec![])).await else { panic!() };
    assert_eq!(reason, "There is nothing to analyse: no source was given.");
    let empty = Source::document("d1", "empty.txt", text(Format::Text, " \n 12 \n"));
    let PipelineOutcome::Rejected { reason, warnings } = outcome(request(vec![empty])).await else { panic!() };
    assert_eq!(reason, "There is nothing to analyse. empty.txt: there is no text in it.");
    assert_eq!((warnings[0].code.as_str(), warnings[0].source_id.as_deref()), ("EmptySource", Some("d1")));
}

#[tokio::test]
async fn an_unreadable_source_among_good_ones_makes_it_partial() {
    let mut request = both();
    request.sources.insert(0, Source::unreadable("x", SourceKind::Document, "x.pdf", "Encrypted", "It is locked."));
    let PipelineOutcome::Partial(partial, warnings) = outcome(request).await else { panic!() };
    assert_eq!(partial.status, ResultStatus::Partial);
    assert_eq!(warnings[0].code, "Encrypted");
    assert_eq!(warnings[0].message, "x.pdf: It is locked.");
    assert_eq!(warnings[0].source_id.as_deref(), Some("x"));
    assert_eq!(partial.requirements.len(), result(outcome(both()).await).requirements.len());
}

#[tokio::test]
async fn nothing_in_an_item_grows_with_what_stands_around_it() {
    let words = "word ".repeat(2_000);
    let spec = format!(
        "# {words}\n\n## Part\n\nThe system must log in users.\n\nThe {words} system shall:\n\n- print a list\n"
    );
    let result = result(outcome(request(vec![Source::document("d", "x.md", text(Format::Markdown, &spec))])).await);
    assert!(!result.requirements.is_empty());
    for item in &result.requirements {
        assert!(serde_json::to_string(item).unwrap().len() < 10_000, "{item:?}");
        let section = item.sources[0].section.as_deref().unwrap();
        assert!(section.starts_with("word word") && section.ends_with("… › Part"), "{section}");
    }
}

#[tokio::test]
async fn the_same_text_twice_is_one_requirement_with_two_sources() {
    let again = SPECIFICATION.replace("appointment.", "appointment .").replace("2 seconds.", "2 seconds");
    let twice = request(vec![
        Source::document("d1", "spec.md", text(Format::Markdown, SPECIFICATION)),
        Source::document("d2", "spec.txt", text(Format::Markdown, &again)),
    ]);
    let result = result(outcome(twice).await);
    assert_eq!(result.requirements.len(), 5);
    for requirement in &result.requirements {
        assert!(requirement.sources.iter().any(|source| source.source_id == "d2"), "{requirement:?}");
    }
    assert!(result.quality.duplicates >= 5);
}

#[tokio::test]
async fn an_analysis_type_gives_its_parts_only() {
    let of = |analysis_type| Request { analysis_type, ..both() };
    let minutes = result(outcome(of(AnalysisType::MeetingMinutes)).await);
    assert!(minutes.requirements.is_empty() && minutes.user_stories.is_empty() && !minutes.action_items.is_empty());
    let requirements = result(outcome(of(AnalysisType::Requirements)).await);
    assert!(!requirements.requirements.is_empty() && requirements.user_stories.is_empty());
    assert!(requirements.action_items.is_empty() && !requirements.risks.is_empty());
    let stories = result(outcome(of(AnalysisType::UserStories)).await);
    assert!(!stories.user_stories.is_empty() && stories.risks.is_empty() && stories.decisions.is_empty());
}

#[tokio::test]
async fn a_written_story_is_a_requirement_and_a_story_whole() {
    let told = [
        "As a clerk, I want to know which visits were cancelled, so that I don't have to call anybody.",
        "As a nurse, I want the list in Table 3.3.2.",
        "As an auditor, I don't want to see names, so that I stay neutral.",
    ];
    let words = told.map(|story| format!("- {story}\n")).concat();
    let source = Source::document("d", "backlog.md", text(Format::Markdown, &words));
    let result = result(outcome(request(vec![source])).await);
    let statements: Vec<&str> = result.requirements.iter().map(|one| one.statement.as_str()).collect();
    assert_eq!(statements, told);
    let stories: Vec<&str> = result.user_stories.iter().map(|story| story.description.as_str()).collect();
    assert_eq!(stories, told);
    let first = &result.user_stories[0];
    assert_eq!((first.role.as_deref(), first.goal.as_str()), (Some("clerk"), "know which visits were cancelled"));
    assert_eq!(first.benefit.as_deref(), Some("I don't have to call anybody"));
}

#[test]
fn names_and_progress_are_those_of_the_interface() {
    let reported: Vec<(&str, u8)> = Node::VARIANTS.iter().map(|node| (node.into_str(), node.progress())).collect();
    assert_eq!(
        reported,
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
    for node in Node::VARIANTS {
        assert_eq!(serde_json::to_value(node).unwrap(), node.into_str());
        assert_eq!(node.label(), node.into_str().parse::<actors::run::Node>().unwrap().label());
        assert_eq!((node.progress_within(0), node.progress_within(5_000) >= node.progress()), (node.progress(), true));
    }
    assert_eq!(Node::BuildSourceIndex.progress_within(1_000), 34);
}

#[test]
fn a_long_text_takes_time_in_proportion() {
    let paragraph = format!("{}\n\n", SPECIFICATION.replace('\n', " "));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let timed = |times: usize| {
        let source = text(Format::Text, &paragraph.repeat(times));
        let started = Instant::now();
        runtime.block_on(outcome(request(vec![Source::document("d", "long.txt", source)])));
        started.elapsed()
    };
    let (small, large) = (timed(300), timed(1_200));
    assert!(large < small * 9 + Duration::from_millis(200), "{small:?} {large:?}");
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "The system shall show the 👩‍⚕️ list. ",
        "Users must be able to re\u{301}serve a room. ",
        "I'll send it by 3 May 2027. ",
        "We decided to use é and ü. ",
        "There is a risk that 🚑 is late. ",
        "\n\n",
        "\n- ",
        " | ",
        "What if it fails? ",
        "يجب أن يعمل النظام. ",
        "e.g. ",
        "# Head\n\n",
        "The system shall:\n\n",
        "\t",
        "\u{0}",
        "\r\n",
    ]);
    prop_oneof![4 => fixed.prop_map(str::to_owned), 1 => "\\PC{0,12}"]
}

proptest! {
    // Inputs that failed once are kept beside this file and tried first.
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::with_cases(96)
    })]

    #[test]
    fn every_quote_stands_at_its_offsets(pieces in prop::collection::vec(piece(), 0..40), format in 0..3_usize) {
        let words: String = pieces.concat();
        let format = [Format::Text, Format::Markdown, Format::Csv][format];
        let Ok(read) = read(format, words.as_bytes()) else { return Ok(()) };
        let source = Arc::new(read);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(outcome(request(vec![Source::document("d", "x", Arc::clone(&source))])));
        match outcome {
            // Partial: in another language.
            PipelineOutcome::Completed(result) | PipelineOutcome::Partial(result, _) => {
                prop_assert!(every_item_has_a_source(&result));
                prop_assert_eq!(result.metrics.ungrounded, 0);
                for reference in references(&result) {
                    let there = slice(&source.text, reference.start_offset, reference.end_offset);
                    prop_assert_eq!(there, Some(reference.quote.as_str()));
                }
            }
            PipelineOutcome::Rejected { .. } => {}
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[tokio::test]
async fn what_is_found_in_a_woven_text_cites_its_own_source() {
    let said = |source_id: &str, speaker: &str, cues: &[(u64, &str)]| {
        let cue = |(begins_at, words): &(u64, &str)| TrackCue {
            begins_at: *begins_at,
            ends_at: begins_at + 900,
            is_double: false,
            cue: CueText {
                start_ms: begins_at - 500,
                end_ms: begins_at + 400,
                speaker: Some(speaker.to_owned()),
                words: (*words).to_owned(),
                origin: None,
            },
        };
        TrackText { source_id: source_id.to_owned(), cues: cues.iter().map(cue).collect() }
    };
    let (ana, bo) = (
        [(1_000, "The app has to show the list"), (2_000, "of new referrals."), (9_000, "It must print it too.")],
        [(3_000, "The system shall send a 🚑 reminder by mail."), (5_000, "I'll send the sample by 4 June 2027.")],
    );
    let tracks = || vec![said("r1", "Ana", &ana), said("r2", "Bo", &bo)];
    let alone: HashMap<String, SourceText> = tracks()
        .into_iter()
        .map(|track| (track.source_id, written(track.cues.into_iter().map(|cue| cue.cue).collect()).unwrap()))
        .collect();
    let source = Source::recording("m1", "the meeting", Arc::new(woven(tracks()).unwrap()));
    let found = result(outcome(request(vec![source])).await);
    let cited: HashSet<&str> = references(&found).iter().map(|citation| citation.source_id.as_str()).collect();
    assert_eq!(cited, HashSet::from(["r1", "r2"]));
    for citation in references(&found) {
        let own = &alone[&citation.source_id];
        assert_eq!(slice(&own.text, citation.start_offset, citation.end_offset), Some(citation.quote.as_str()));
        let place = own.place_of(&citation.quote, citation.start_offset).unwrap();
        assert_eq!(
            (place.start_ms, place.end_ms, place.speaker),
            (citation.start_ms, citation.end_ms, citation.speaker.clone())
        );
    }
}
