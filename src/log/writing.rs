//! The thread that writes the log: it gathers what waits for some milliseconds, and survives a standard error that takes
//! nothing.

use std::io::{ErrorKind, Write};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use actors::time::{Clock, Time};
use serde::Serialize;

use super::LogFormat;
use super::output::{Backlog, LogOrder};
use super::refused::RefusedCalls;

/// The name of the thread.
pub(super) const THREAD: &str = "log";
/// The target of what the log says of itself.
const TARGET: &str = "colloquy::log";
/// The lines of so long are written together.
const GATHERING: Duration = Duration::from_millis(5);
/// The bytes that are written at once, about.
const WRITTEN_BYTES: usize = 64 * 1024;

/// The state of the thread.
pub(super) struct LogWriter<W> {
    lines: LineSink<W>,
    orders: Receiver<LogOrder>,
    backlog: Arc<Backlog>,
    format: LogFormat,
    clock: Arc<dyn Clock>,
    refused: RefusedCalls,
    /// What is written next.
    batch: LogBatch,
}

#[derive(Default)]
struct LogBatch {
    text: Vec<u8>,
    /// What the text stands for in the backlog.
    lines: usize,
    bytes: usize,
    requests: usize,
    flushing: Vec<SyncSender<()>>,
}

impl<W: Write> LogWriter<W> {
    pub(super) fn new(
        sink: W,
        orders: Receiver<LogOrder>,
        backlog: Arc<Backlog>,
        format: LogFormat,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let lines = LineSink { sink, lost: 0, is_torn: false };
        Self { lines, orders, backlog, format, clock, refused: RefusedCalls::default(), batch: LogBatch::default() }
    }

    /// Writes until the output is dropped. After a panic the log goes on with the next lines.
    pub(super) fn run(mut self) {
        while std::panic::catch_unwind(AssertUnwindSafe(|| self.write_all())).is_err() {
            self.end_batch();
        }
    }

    fn write_all(&mut self) {
        loop {
            let first = match self.refused.due_at() {
                None => self.orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => self.orders.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            let now = Instant::now();
            self.note_left_out(now, false);
            match first {
                Ok(order) => self.add(order, now),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while self.batch.text.len() < WRITTEN_BYTES
                && let Ok(order) = self.orders.try_recv()
            {
                self.add(order, now);
            }
            let is_behind = self.batch.text.len() >= WRITTEN_BYTES;
            self.write_batch();
            self.end_batch();
            if !is_behind {
                std::thread::sleep(GATHERING);
            }
        }
    }

    fn add(&mut self, order: LogOrder, now: Instant) {
        match order {
            LogOrder::Text(text) => {
                self.batch.lines += 1;
                self.batch.bytes += text.len();
                self.batch.text.extend_from_slice(&text);
            }
            LogOrder::Request(line) => {
                self.batch.requests += 1;
                if self.refused.admits(line.status, now) {
                    line.append(&mut self.batch.text, self.format);
                }
            }
            LogOrder::Flush(back) => {
                self.note_left_out(now, true);
                self.batch.flushing.push(back);
            }
        }
    }

    /// Adds the line about refused calls that have none: when their second is over, or `early`.
    fn note_left_out(&mut self, now: Instant, early: bool) {
        if let Some(left_out) = self.refused.take(now, early) {
            left_out.append(&mut self.batch.text, self.clock.now(), self.format);
        }
    }

    fn write_batch(&mut self) {
        self.lines.lost += self.backlog.dropped.swap(0, Ordering::Relaxed);
        let (format, clock) = (self.format, &self.clock);
        let lost = self.lines.write(&self.batch.text, |lost| note_of_lost(lost, clock.now(), format));
        if lost > 0 {
            metrics::counter!("colloquy_log_lost_total").increment(lost);
        }
    }

    fn end_batch(&mut self) {
        let LogBatch { text, lines, bytes, requests, flushing } = &mut self.batch;
        self.backlog.lines.fetch_sub(std::mem::take(lines), Ordering::Relaxed);
        self.backlog.bytes.fetch_sub(std::mem::take(bytes), Ordering::Relaxed);
        self.backlog.requests.fetch_sub(std::mem::take(requests), Ordering::Relaxed);
        text.clear();
        text.shrink_to(2 * WRITTEN_BYTES);
        for back in flushing.drain(..) {
            // The caller may not wait any more.
            let _ = back.send(());
        }
    }
}

/// Where lines are written, and what is to be said there first.
struct LineSink<W> {
    sink: W,
    /// Lines that were lost since one was last written.
    lost: u64,
    /// Whether the last line that was written lacks its end.
    is_torn: bool,
}

impl<W: Write> LineSink<W> {
    /// Writes lines, and before them how many were lost if some were. Returns how many of `text` are lost now.
    fn write(&mut self, text: &[u8], note: impl FnOnce(u64) -> Vec<u8>) -> u64 {
        if self.lost > 0 || self.is_torn {
            let mut head = Vec::new();
            if self.is_torn {
                head.push(b'\n');
            }
            if self.lost > 0 {
                head.extend_from_slice(&note(self.lost));
            }
            if !self.write_bytes(&head).is_empty() {
                return self.lose(text);
            }
            self.lost = 0;
        }
        let rest = self.write_bytes(text);
        self.lose(rest)
    }

    fn lose(&mut self, rest: &[u8]) -> u64 {
        let lost = rest.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.lost += lost;
        lost
    }

    /// Writes as much as is taken; returns the rest. Waits while a sink that doesn't block is full.
    fn write_bytes<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let mut rest = text;
        while !rest.is_empty() {
            match self.sink.write(rest) {
                Ok(0) => break,
                Ok(written) => {
                    let (done, left) = rest.split_at_checked(written).unwrap_or((rest, &[]));
                    self.is_torn = done.last() != Some(&b'\n');
                    rest = left;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(GATHERING),
                Err(_) => break,
            }
        }
        rest
    }
}

/// A line about lines that are missing.
fn note_of_lost(lost: u64, at: Time, format: LogFormat) -> Vec<u8> {
    #[derive(Serialize)]
    struct LostLine {
        timestamp: Time,
        level: &'static str,
        message: &'static str,
        lost: u64,
        target: &'static str,
    }
    const MESSAGE: &str = "lines of the log were lost: they could not be written, or not fast enough";
    let mut line = match format {
        LogFormat::Json => {
            let line = LostLine { timestamp: at, level: "WARN", message: MESSAGE, lost, target: TARGET };
            serde_json::to_vec(&line).unwrap_or_default()
        }
        LogFormat::Text => format!("{at}  WARN {TARGET}: {MESSAGE} lost={lost}").into_bytes(),
    };
    line.push(b'\n');
    line
}
