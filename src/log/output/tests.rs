//! The log's output before sinks that fail, block, tear lines and panic.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actors::time::{SystemClock, Time};
use serde_json::Value;

use super::super::LogFormat;
use super::super::access::AccessLine;
use super::super::refused::LOGGED;
use super::{LogOutput, WAITING_BYTES, WAITING_REQUESTS};

const LONG: Duration = Duration::from_secs(30);

/// What a sink does with a write.
enum Take {
    All,
    /// So many bytes; then the disk is full.
    Some(usize),
    Nothing,
    /// As a descriptor that doesn't block.
    NotNow,
    Panic,
}

/// A sink that does what it is told, and then takes all.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<(Vec<u8>, Vec<Take>)>>);

impl Sink {
    fn told(takes: impl IntoIterator<Item = Take>) -> Self {
        let mut takes: Vec<Take> = takes.into_iter().collect();
        takes.reverse();
        Self(Arc::new(Mutex::new((Vec::new(), takes))))
    }

    fn text(&self) -> String {
        let state = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        String::from_utf8(state.0.clone()).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        let taken = match state.1.pop() {
            None | Some(Take::All) => bytes.len(),
            Some(Take::Some(most)) => {
                state.1.push(Take::Nothing);
                most.min(bytes.len())
            }
            Some(Take::Nothing) => return Err(ErrorKind::StorageFull.into()),
            Some(Take::NotNow) => return Err(ErrorKind::WouldBlock.into()),
            Some(Take::Panic) => panic!("by intention"),
        };
        state.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn output(sink: impl Write + Send + 'static) -> LogOutput {
    LogOutput::start(sink, LogFormat::Json, Arc::new(SystemClock)).unwrap()
}

/// Has each line written on its own.
fn say(output: &LogOutput, lines: &[&str]) {
    for line in lines {
        output.take(format!("{line}\n").as_bytes());
        output.flush(LONG);
    }
}

fn request(status: u16) -> AccessLine {
    AccessLine {
        at: Time::from_millis(1_800_000_000_000).unwrap(),
        request_id: "id".into(),
        method: "GET",
        route: "/health/live".into(),
        status,
        micros: 1,
        missing_origin: None,
        missing_in: None,
    }
}

/// The number of lines that a line says are missing.
fn lost(line: &str) -> u64 {
    let value: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&value["level"], &value["target"]), (&"WARN".into(), &"colloquy::log".into()), "{line}");
    value["lost"].as_u64().unwrap()
}

#[test]
fn lines_that_a_full_disk_refuses_are_counted_and_said_once_there_is_room() {
    // Three lines, and two attempts to say that some are missing.
    let sink = Sink::told([Take::All, Take::Nothing, Take::Nothing, Take::Nothing]);
    let output = output(sink.clone());
    say(&output, &["a", "b", "c", "d", "e", "f"]);
    let lines = sink.lines();
    assert_eq!((lines.len(), &*lines[0], &*lines[2], &*lines[3]), (4, "a", "e", "f"), "{lines:?}");
    assert_eq!(lost(&lines[1]), 3);
    assert_eq!(output.waiting(), 0);
}

#[test]
fn a_line_that_was_torn_is_ended_and_counts_as_lost() {
    let sink = Sink::told([Take::Some(3)]);
    let output = output(sink.clone());
    say(&output, &["abcdef", "g"]);
    let lines = sink.lines();
    assert_eq!((lines.len(), &*lines[0], &*lines[2]), (3, "abc", "g"), "{lines:?}");
    assert_eq!(lost(&lines[1]), 1);
}

#[test]
fn a_descriptor_that_does_not_block_is_waited_for() {
    let sink = Sink::told([Take::NotNow, Take::NotNow, Take::All]);
    say(&output(sink.clone()), &["a", "b"]);
    assert_eq!(sink.lines(), ["a", "b"]);
}

#[test]
fn a_panic_while_writing_does_not_end_the_log() {
    let sink = Sink::told([Take::Panic]);
    let output = output(sink.clone());
    say(&output, &["a", "b"]);
    assert_eq!(sink.lines(), ["b"]);
    assert_eq!(output.waiting(), 0);
}

/// A sink that takes nothing until it is told, as a pipe that nobody reads.
struct Pipe {
    begun: Sender<()>,
    go_on: Receiver<()>,
    written: Sink,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.begun.send(());
        // Taken for ever once the test has dropped the other end.
        let _ = self.go_on.recv();
        self.written.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn while_nobody_reads_nobody_waits_and_what_is_held_is_bounded() {
    let ((begun, has_begun), (go, go_on), written) = (channel(), channel(), Sink::default());
    let output = output(Pipe { begun, go_on, written: written.clone() });
    output.take(b"first\n");
    has_begun.recv().unwrap();
    let line = format!("{}\n", "x".repeat(1023));
    let most = WAITING_BYTES / line.len();
    for _ in 0..2 * most {
        output.take(line.as_bytes());
    }
    for _ in 0..2 * WAITING_REQUESTS {
        output.take_request(request(200));
    }
    // The line that is being written, and one that had no room for its last bytes beside it.
    let held = output.waiting();
    assert!((most + WAITING_REQUESTS - 1..=most + WAITING_REQUESTS).contains(&held), "{held} lines are held");
    let began = Instant::now();
    output.flush(Duration::from_millis(10));
    assert!(began.elapsed() < LONG / 2, "the end of the program waits no longer than it is to");
    drop(go);
    output.flush(LONG);
    assert_eq!(output.waiting(), 0);
    let lines = written.lines();
    let (notes, others): (Vec<&String>, Vec<&String>) = lines.iter().partition(|line| line.contains("colloquy::log"));
    assert_eq!((notes.len(), others.len()), (1, held), "all that was held is written");
    assert_eq!(lost(notes[0]) as usize, 1 + 2 * most + 2 * WAITING_REQUESTS - held);
}

#[test]
fn lines_of_many_threads_stay_whole_and_none_is_missing() {
    let sink = Sink::default();
    let output = Arc::new(output(sink.clone()));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let output = &output;
            scope.spawn(move || {
                for number in 0..500 {
                    output.take(format!("{thread} {number} {}\n", "x".repeat(number)).as_bytes());
                    output.take_request(request(200));
                }
            });
        }
    });
    output.flush(LONG);
    let lines = sink.lines();
    let own: Vec<&String> = lines.iter().filter(|line| !line.starts_with('{')).collect();
    assert_eq!((lines.len(), own.len()), (8 * 500 * 2, 8 * 500));
    for line in own {
        let mut parts = line.split(' ').skip(1);
        let number: usize = parts.next().unwrap().parse().unwrap();
        assert_eq!(parts.next().unwrap().len(), number);
    }
}

#[test]
fn a_flood_of_refused_calls_leaves_two_lines_more_than_is_logged_and_all_others_stay() {
    let sink = Sink::default();
    let output = output(sink.clone());
    for _ in 0..20 {
        for _ in 0..100 {
            output.take_request(request(404));
        }
        output.take_request(request(200));
        output.take_request(request(503));
    }
    output.flush(LONG);
    let lines: Vec<Value> = sink.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |status: u16| lines.iter().filter(|line| line["status"] == status).count();
    assert_eq!((of(200), of(503)), (20, 20));
    // A slow machine may take more than a second for them.
    assert!((LOGGED as usize..2000).contains(&of(404)), "{} refused calls are logged", of(404));
    let left_out: u64 = lines.iter().filter_map(|line| line["statuses"]["404"].as_u64()).sum();
    assert_eq!(left_out as usize + of(404), 2000, "each is logged or counted");
}
