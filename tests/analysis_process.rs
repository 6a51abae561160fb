//! Tests of the child process that analyses: at whichever step it is killed or cancelled, the run goes on there and ends
//! as if nothing had been.

#![expect(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;
use std::fs;
use std::io::{Seek, Write};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use actors::language::Language;
use actors::run::{AnalysisType, Node};
use async_trait::async_trait;
use pipeline::process::{Analyser, ChildLimits, Lost, OutlinedSource, Ports, RequestOutline};
use pipeline::{
    Bounds, CancelToken, CheckpointStore, EngineChoice, PipelineOutcome, PipelineResult, PortUnavailable, ProgressSink,
    SourceKind, StopRequested, TextStore,
};
use readers::{Format, Reader, ReaderLimits};
use strum::VariantArray;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colloquy");
const SPECIFICATION: &str = "# Requirements\n\nThe depot shall print a label for each parcel.\n\nAs a driver, I want to \
see my tour, so that I start in time.\n\nSearching must answer within 2 seconds.\n\n# Notes\n\nWe decided to use the \
old scanners.\n\nIf the printer fails, parcels might be lost.\n\nAna will call the supplier by Friday.\n\nWho pays for \
the labels?\n";

/// What happens to the child when it reports a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Deed {
    Kill,
    Cancel,
}

/// The caller of one run: its text, the outputs of its steps, and what is done to its child.
struct Caller {
    text: String,
    stored: Mutex<HashMap<(Node, String, String), String>>,
    saves: Mutex<Vec<Node>>,
    planned: Mutex<Option<(Node, Deed)>>,
    cancel: Mutex<CancelToken>,
}

#[async_trait]
impl TextStore for Caller {
    async fn text(&self, _: &str) -> Result<String, PortUnavailable> {
        Ok(self.text.clone())
    }
}

#[async_trait]
impl CheckpointStore for Caller {
    async fn load(&self, node: Node, hash: &str, version: &str) -> Result<Option<String>, PortUnavailable> {
        let key = (node, hash.to_owned(), version.to_owned());
        Ok(self.stored.lock().unwrap().get(&key).cloned())
    }

    async fn save(&self, node: Node, hash: &str, version: &str, output: &str) -> Result<(), PortUnavailable> {
        self.saves.lock().unwrap().push(node);
        self.stored.lock().unwrap().insert((node, hash.to_owned(), version.to_owned()), output.to_owned());
        Ok(())
    }
}

#[async_trait]
impl ProgressSink for Caller {
    async fn progressed(&self, node: Node, _: u8, _: &str) -> Result<(), StopRequested> {
        let deed = self.planned.lock().unwrap().take_if(|(at, _)| *at == node);
        match deed {
            Some((_, Deed::Kill)) => children().into_iter().for_each(kill),
            Some((_, Deed::Cancel)) => self.cancel.lock().unwrap().cancel(),
            None => {}
        }
        Ok(())
    }
}

impl Caller {
    async fn new() -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(SPECIFICATION.as_bytes()).unwrap();
        file.rewind().unwrap();
        let text =
            Reader::new(PROGRAM.into(), ReaderLimits::default()).read(Format::Markdown, file).await.unwrap().json;
        let cancel = Mutex::new(CancelToken::new());
        Self { text, stored: Mutex::default(), saves: Mutex::default(), planned: Mutex::default(), cancel }
    }

    /// Runs an attempt, to whose child this happens.
    async fn attempt(&self, planned: Option<(Node, Deed)>) -> Result<PipelineOutcome, Lost> {
        let cancel = CancelToken::new();
        *self.cancel.lock().unwrap() = cancel.clone();
        *self.planned.lock().unwrap() = planned;
        let outline = RequestOutline {
            job_id: "job".to_owned(),
            attempt: 1,
            analysis_type: AnalysisType::Full,
            language: Language::Auto,
            bounds: Bounds::default(),
            engine: EngineChoice::default(),
            glossary: Vec::new(),
            sources: vec![OutlinedSource {
                id: "a".to_owned(),
                kind: SourceKind::Document,
                name: "wishes.md".to_owned(),
                unreadable: None,
            }],
        };
        let limits = ChildLimits { memory_mib: 1024, wall: Duration::from_secs(60) };
        let ports = Ports { texts: self, checkpoints: self, progress_sink: self };
        Analyser::new(PROGRAM.into(), limits).analyse(&outline, ports, &cancel).await
    }
}

/// Returns the processes that analyse for this one.
fn children() -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_own = |pid: &u32| {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let parent = read("status").lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok());
        parent == Some(std::process::id()) && read("cmdline").split('\0').nth(1) == Some("analyse")
    };
    pids.filter(is_own).collect()
}

fn kill(pid: u32) {
    let sent = Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "{pid}");
}

/// Returns the result without the time that it took.
fn result(outcome: Result<PipelineOutcome, Lost>) -> PipelineResult {
    let Ok(PipelineOutcome::Completed(mut result)) = outcome else { panic!("{outcome:?}") };
    result.metrics.processing_ms = 0;
    *result
}

#[tokio::test]
async fn killed_or_cancelled_at_any_step_a_run_goes_on_there_and_ends_the_same() {
    let whole = result(Caller::new().await.attempt(None).await);
    assert!(whole.requirements.len() >= 3 && !whole.risks.is_empty() && !whole.action_items.is_empty(), "{whole:?}");
    let steps = Node::VARIANTS.iter().copied().filter(|node| !matches!(node, Node::Queued | Node::Done));
    for node in steps {
        for deed in [Deed::Kill, Deed::Cancel] {
            let caller = Caller::new().await;
            let ended = caller.attempt(Some((node, deed))).await;
            match deed {
                Deed::Kill => assert!(ended.is_err(), "{node:?}: {ended:?}"),
                Deed::Cancel => assert_eq!(ended, Ok(PipelineOutcome::Cancelled), "{node:?}"),
            }
            assert_eq!(children(), Vec::<u32>::new(), "{node:?} {deed:?}");
            let resumed = result(caller.attempt(None).await);
            assert_eq!(resumed, whole, "{node:?} {deed:?}");
            // No finished step is worked again.
            let mut saves = caller.saves.lock().unwrap().clone();
            let all = saves.len();
            saves.sort();
            saves.dedup();
            assert_eq!((saves.len(), all), (10, 10), "{node:?} {deed:?}");
        }
    }
}
