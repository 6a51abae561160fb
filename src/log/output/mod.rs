//! The queue of the log: takes lines from any thread, without waiting, for the one thread that writes them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use actors::time::Clock;

use super::LogFormat;
use super::access::AccessLine;
use super::writing::LogWriter;

/// How many bytes of lines may wait: some ten thousand lines.
const WAITING_BYTES: usize = 4 * 1024 * 1024;
/// How many answered requests may wait beside them, so that a flood of these leaves room for what the server has to say.
const WAITING_REQUESTS: usize = 4096;

/// An order to the thread.
pub(super) enum LogOrder {
    /// Whole lines, each with its end.
    Text(Vec<u8>),
    Request(AccessLine),
    /// Everything before is to be written.
    Flush(SyncSender<()>),
}

/// What is on its way: said, and not written yet.
#[derive(Default)]
pub(super) struct Backlog {
    pub lines: AtomicUsize,
    pub bytes: AtomicUsize,
    pub requests: AtomicUsize,
    /// Lines that were dropped since the thread last asked.
    pub dropped: AtomicU64,
}

/// The log's output. It goes on until this is dropped and everything is written.
pub(super) struct LogOutput {
    orders: Sender<LogOrder>,
    backlog: Arc<Backlog>,
}

impl LogOutput {
    /// Starts the thread, which writes to `sink`.
    ///
    /// # Errors
    /// The thread can't be started.
    pub(super) fn start(
        sink: impl Write + Send + 'static,
        format: LogFormat,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let (orders, received) = channel();
        let backlog = Arc::<Backlog>::default();
        let writer = LogWriter::new(sink, received, Arc::clone(&backlog), format, clock);
        std::thread::Builder::new().name(super::writing::THREAD.to_owned()).spawn(move || writer.run())?;
        Ok(Self { orders, backlog })
    }

    /// Has lines written. They are dropped where too many bytes wait already.
    pub(super) fn take(&self, text: &[u8]) {
        let (bytes, backlog) = (text.len(), &self.backlog);
        if backlog.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > WAITING_BYTES {
            backlog.bytes.fetch_sub(bytes, Ordering::Relaxed);
            backlog.dropped.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("colloquy_log_lost_total").increment(1);
            return;
        }
        backlog.lines.fetch_add(1, Ordering::Relaxed);
        // The thread lives as long as this.
        let _ = self.orders.send(LogOrder::Text(text.to_vec()));
    }

    /// Has an answered request written. It is dropped where too many wait already.
    pub(super) fn take_request(&self, line: AccessLine) {
        let backlog = &self.backlog;
        if backlog.requests.fetch_add(1, Ordering::Relaxed) >= WAITING_REQUESTS {
            backlog.requests.fetch_sub(1, Ordering::Relaxed);
            backlog.dropped.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("colloquy_access_log_dropped_total").increment(1);
            return;
        }
        let _ = self.orders.send(LogOrder::Request(line));
    }

    /// Waits until everything that was taken before is written, for at most `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let (written, all) = sync_channel(1);
        if self.orders.send(LogOrder::Flush(written)).is_ok() {
            // Nobody reads the log any more if this fails.
            let _ = all.recv_timeout(limit);
        }
    }

    /// How many lines wait, those of requests included.
    pub(super) fn waiting(&self) -> usize {
        self.backlog.lines.load(Ordering::Relaxed) + self.backlog.requests.load(Ordering::Relaxed)
    }
}

/// What tracing formats: it writes an event as a whole, with the end of its line.
impl Write for &LogOutput {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.take(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
