//! Tests of the parent's handling of children that send too much, too little, invalid data, or nothing, without the
//! real program.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::frame::{self, Header};
use super::parent::{Conversation, ConversationError};
use super::*;
use crate::engine::{EngineKind, ModelUse};
use crate::ports::{
    CheckpointStore, NoCheckpoints, NoProgressSink, PortUnavailable, ProgressSink, StopRequested, TextStore,
};
use crate::request::CancelToken;
use crate::run::PipelineOutcome;

fn outline() -> RequestOutline {
    let (analysis_type, language) = (AnalysisType::Full, Language::Auto);
    let source = |id: &str, unreadable| OutlinedSource {
        id: id.to_owned(),
        kind: SourceKind::Document,
        name: format!("{id}.txt"),
        unreadable,
    };
    let torn = UnreadableSource { code: "Torn".to_owned(), message: "It is torn.".to_owned() };
    let sources = vec![source("a", None), source("b", Some(torn)), source("c", None)];
    let bounds = Bounds::default();
    let engine = EngineChoice::default();
    RequestOutline {
        job_id: "job".to_owned(),
        attempt: 1,
        analysis_type,
        language,
        bounds,
        engine,
        glossary: Vec::new(),
        sources,
    }
}

struct Texts;

#[async_trait]
impl TextStore for Texts {
    async fn text(&self, source_id: &str) -> Result<String, PortUnavailable> {
        Ok(format!("{{\"of\":\"{source_id}\"}}"))
    }
}

/// A progress sink and checkpoint store that records what it is given.
#[derive(Default)]
struct Recorder {
    reported: Mutex<Vec<(Node, u8)>>,
    saved: Mutex<Vec<(Node, String)>>,
}

#[async_trait]
impl ProgressSink for Recorder {
    async fn progressed(&self, node: Node, progress: u8, _: &str) -> Result<(), StopRequested> {
        self.reported.lock().unwrap().push((node, progress));
        if node == Node::Finalize { Err(StopRequested) } else { Ok(()) }
    }
}

#[async_trait]
impl CheckpointStore for Recorder {
    async fn load(&self, node: Node, _: &str, _: &str) -> Result<Option<String>, PortUnavailable> {
        Ok((node == Node::PrepareSources).then(|| "[1]".to_owned()))
    }
    async fn save(&self, node: Node, _: &str, _: &str, output: &str) -> Result<(), PortUnavailable> {
        self.saved.lock().unwrap().push((node, output.to_owned()));
        Ok(())
    }
}

fn ports(recorder: &Recorder) -> Ports<'_> {
    Ports { texts: &Texts, checkpoints: recorder, progress_sink: recorder }
}

/// Runs a conversation with a child that is played by `child_side`, and returns its outcome.
async fn converse<F: Future<Output = ()>>(
    recorder: &Recorder,
    child_side: impl FnOnce(DuplexStream) -> F,
) -> Result<PipelineOutcome, ConversationError> {
    let (parent, child) = duplex(1 << 20);
    let (output, input) = tokio::io::split(parent);
    let mut conversation = Conversation::new(ports(recorder), None);
    let outline = outline();
    let (outcome, ()) = tokio::join!(conversation.run(&outline, input, output), child_side(child));
    outcome
}

/// Reads the request, as a child does first.
async fn receive_request(child: &mut DuplexStream) {
    let (start, body): (ToChild, Vec<u8>) = frame::read(child).await.unwrap();
    assert!(matches!(start, ToChild::Start));
    let outline: RequestOutline = serde_json::from_slice(&body).unwrap();
    assert_eq!(outline.sources.len(), 3);
    for id in ["a", "c"] {
        let (text, body): (ToChild, Vec<u8>) = frame::read(child).await.unwrap();
        assert!(matches!(text, ToChild::Text));
        assert_eq!(String::from_utf8(body).unwrap(), format!("{{\"of\":\"{id}\"}}"), "as it is stored, one by one");
    }
}

async fn exchange(child: &mut DuplexStream, message: FromChild, body: &[u8]) -> ToChild {
    frame::write(child, &message, body).await.unwrap();
    let (answer, _): (ToChild, Vec<u8>) = frame::read(child).await.unwrap();
    answer
}

fn save(node: Node) -> FromChild {
    FromChild::Save { node, input_hash: "h".to_owned(), engine_version: "v".to_owned() }
}

fn load(node: Node) -> FromChild {
    FromChild::Load { node, input_hash: "h".to_owned(), engine_version: "v".to_owned() }
}

#[tokio::test]
async fn questions_are_answered_until_the_outcome_comes() {
    let recorder = Recorder::default();
    let rejected = PipelineOutcome::Rejected { reason: "nothing".to_owned(), warnings: Vec::new() };
    let outcome = converse(&recorder, |mut child| {
        let rejected = rejected.clone();
        async move {
            receive_request(&mut child).await;
            let node = Node::PrepareSources;
            assert!(matches!(
                exchange(&mut child, FromChild::Progress { node, progress: 5 }, b"").await,
                ToChild::Done
            ));
            assert!(matches!(
                exchange(&mut child, FromChild::Progress { node, progress: 6 }, b"").await,
                ToChild::Done
            ));
            assert!(matches!(exchange(&mut child, load(node), b"").await, ToChild::Found));
            let node = Node::BuildSourceIndex;
            assert!(matches!(exchange(&mut child, load(node), b"").await, ToChild::Missing));
            assert!(matches!(exchange(&mut child, save(node), b"[2]").await, ToChild::Done));
            let end = serde_json::to_vec(&rejected).unwrap();
            frame::write(&mut child, &FromChild::End, &end).await.unwrap();
        }
    });
    assert_eq!(outcome.await.unwrap(), rejected);
    assert_eq!(
        *recorder.reported.lock().unwrap(),
        [(Node::PrepareSources, 5)],
        "and no more often than the minimum interval"
    );
    assert_eq!(*recorder.saved.lock().unwrap(), [(Node::BuildSourceIndex, "[2]".to_owned())]);
}

#[tokio::test]
async fn a_watcher_that_says_stop_ends_the_conversation() {
    let recorder = Recorder::default();
    let outcome = converse(&recorder, |mut child| async move {
        receive_request(&mut child).await;
        frame::write(&mut child, &FromChild::Progress { node: Node::Finalize, progress: 97 }, b"").await.unwrap();
        let _ = child.read_u8().await;
    });
    assert_eq!(outcome.await.unwrap(), PipelineOutcome::Cancelled);
}

#[tokio::test]
async fn what_is_no_word_of_a_child_ends_the_conversation() {
    let frame_of = |header: &[u8], announced: u32, body: &[u8]| {
        let mut bytes = u32::try_from(header.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend_from_slice(&announced.to_be_bytes());
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(body);
        bytes
    };
    let saved = serde_json::to_vec(&save(Node::BuildSourceIndex)).unwrap();
    let progress = serde_json::to_vec(&FromChild::Progress { node: Node::Finalize, progress: 1 }).unwrap();
    let cases: [(&str, Vec<u8>); 7] = [
        ("a line of text", b"Segmentation fault, or so\n".to_vec()),
        ("a header without an end", vec![0xff; 64]),
        ("a header that is no JSON", frame_of(b"{{{{", 0, b"")),
        ("an outcome that is none", frame_of(b"\"End\"", 2, b"[]")),
        ("an outcome of four gigabytes", frame_of(b"\"End\"", u32::MAX, b"")),
        ("a checkpoint that is too long", frame_of(&saved, u32::try_from(CHECKPOINT_BYTES).unwrap() + 1, b"")),
        ("progress with a body", frame_of(&progress, 1, b"x")),
    ];
    for (name, bytes) in cases {
        let recorder = Recorder::default();
        let outcome = converse(&recorder, |mut child| async move {
            receive_request(&mut child).await;
            child.write_all(&bytes).await.unwrap();
            let _ = child.read_u8().await;
        });
        let error = outcome.await.unwrap_err();
        assert!(matches!(error, ConversationError::InvalidMessage(_)), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn a_child_keeps_each_node_once_and_never_goes_back() {
    let cases = [
        [save(Node::BuildSourceIndex), save(Node::BuildSourceIndex)],
        [save(Node::Summarize), save(Node::BuildSourceIndex)],
        [load(Node::Summarize), load(Node::Summarize)],
        [
            FromChild::Progress { node: Node::Summarize, progress: 92 },
            FromChild::Progress { node: Node::PrepareSources, progress: 5 },
        ],
    ];
    for [first, second] in cases {
        let recorder = Recorder::default();
        let outcome = converse(&recorder, |mut child| async move {
            receive_request(&mut child).await;
            exchange(&mut child, first, b"").await;
            frame::write(&mut child, &second, b"").await.unwrap();
            let _ = child.read_u8().await;
        });
        assert!(matches!(outcome.await, Err(ConversationError::InvalidMessage(_))));
    }
}

#[test]
fn a_request_names_its_engine_and_one_that_names_none_wants_the_embedded_one() {
    let usage = ModelUse { name: "m".to_owned(), chunk_characters: 900, answer_tokens: 100 };
    let engine = EngineChoice { kind: EngineKind::Fallback, model: Some(usage) };
    let mut written = serde_json::to_value(RequestOutline { engine: engine.clone(), ..outline() }).unwrap();
    let read: RequestOutline = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(read.engine, engine);
    written.as_object_mut().unwrap().remove("engine").unwrap();
    let read: RequestOutline = serde_json::from_value(written).unwrap();
    assert_eq!(read.engine.kind, EngineKind::Embedded);
}

#[tokio::test]
async fn a_child_whose_engine_asks_no_model_may_not_ask_one() {
    let recorder = Recorder::default();
    let outcome = converse(&recorder, |mut child| async move {
        receive_request(&mut child).await;
        frame::write(&mut child, &FromChild::Ask, b"[]").await.unwrap();
        let _ = child.read_u8().await;
    });
    assert!(matches!(outcome.await, Err(ConversationError::InvalidMessage(_))));
}

#[tokio::test]
async fn half_a_frame_is_a_child_that_is_gone() {
    let end = serde_json::to_vec(&PipelineOutcome::Cancelled).unwrap();
    let mut whole = Vec::new();
    frame::write_blocking(&mut whole, &FromChild::End, &end).unwrap();
    for length in 0..whole.len() {
        let half = whole[..length].to_vec();
        let recorder = Recorder::default();
        let outcome = converse(&recorder, |mut child| async move {
            receive_request(&mut child).await;
            child.write_all(&half).await.unwrap();
        });
        assert!(matches!(outcome.await, Err(ConversationError::Closed)), "{length} bytes");
    }
}

#[test]
fn a_frame_reads_as_it_was_written_on_both_sides() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut bytes = Vec::new();
    frame::write_blocking(&mut bytes, &save(Node::Summarize), "Größe".as_bytes()).unwrap();
    let (message, body): (FromChild, _) = runtime.block_on(frame::read(&mut bytes.as_slice())).unwrap();
    assert!(matches!(message, FromChild::Save { node: Node::Summarize, .. }));
    assert_eq!((body.as_slice(), message.body_bytes()), ("Größe".as_bytes(), CHECKPOINT_BYTES));
    let mut rewritten = Vec::new();
    runtime.block_on(frame::write(&mut rewritten, &message, &body)).unwrap();
    assert_eq!(rewritten, bytes);
    let (_, again): (FromChild, _) = frame::read_blocking(&mut rewritten.as_slice()).unwrap();
    assert_eq!(again, body);
}

/// Creates a program that executes the script and ignores its arguments.
fn program(script: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("child");
    // Another process writes the file: if this one had it open for writing, a child started by another test at that
    // moment would inherit the descriptor, and executing the file would fail.
    let mut writing = Command::new("sh");
    writing.args(["-c", "printf '#!/bin/sh\n%s\n' \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", script]).arg(&path);
    assert!(writing.status().unwrap().success());
    (folder, path)
}

async fn analysed(script: &str, wall: Duration) -> Result<PipelineOutcome, Lost> {
    let (_folder, path) = program(script);
    let analyser = Analyser::new(path, ChildLimits { memory_mib: 64, wall });
    let ports = Ports { texts: &Texts, checkpoints: &NoCheckpoints, progress_sink: &NoProgressSink };
    analyser.analyse(&outline(), ports, &CancelToken::new()).await
}

#[tokio::test]
async fn what_a_child_did_to_itself_fails_the_run_and_what_nobody_knows_is_tried_again() {
    let long = Duration::from_secs(60);
    let reported = |outcome: Result<PipelineOutcome, Lost>| match outcome {
        Ok(PipelineOutcome::Failed { node: Node::PrepareSources, message }) => message,
        other => panic!("{other:?}"),
    };
    let memory = reported(analysed("echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$", long).await);
    assert!(memory.contains("more memory than it may have"), "{memory}");
    let stack = reported(analysed("echo 'thread x has overflowed its stack' >&2; kill -ABRT $$", long).await);
    assert!(stack.contains("nested too deeply"), "{stack}");
    let time = reported(analysed("kill -XCPU $$", long).await);
    assert!(time.contains("took longer"), "{time}");
    for script in ["kill -KILL $$", "kill -SEGV $$", "exit 0", "exit 1", "exec >&-; exec sleep 60", "echo nonsense"] {
        let lost = analysed(script, long).await;
        assert!(lost.is_err(), "{script}: {lost:?}");
    }
}

#[tokio::test]
async fn a_child_that_says_nothing_has_its_time_and_no_more() {
    let began = Instant::now();
    let outcome = analysed("exec sleep 60", Duration::from_millis(300)).await;
    assert!(matches!(outcome, Ok(PipelineOutcome::Failed { .. })), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(30), "it was killed");
}

#[tokio::test]
async fn a_cancel_kills_the_child_whatever_it_does() {
    let (_folder, path) = program("exec sleep 60");
    let analyser = Analyser::new(path, ChildLimits { memory_mib: 64, wall: Duration::from_secs(60) });
    let ports = Ports { texts: &Texts, checkpoints: &NoCheckpoints, progress_sink: &NoProgressSink };
    let cancel = CancelToken::new();
    let (outline, began) = (outline(), Instant::now());
    let (outcome, ()) = tokio::join!(analyser.analyse(&outline, ports, &cancel), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!(outcome, Ok(PipelineOutcome::Cancelled));
    assert!(began.elapsed() < Duration::from_secs(30), "it was killed");
}
