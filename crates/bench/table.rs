//! Prints the figures as a table, row by row.

use std::io::Write;
use std::time::Duration;

use super::beside::Compared;
use super::journey::Journey;
use super::load::Load;
use super::sockets::Pushes;

pub struct Table;

impl Table {
    /// `database`: what the server stores in.
    pub fn begin(time: Duration, database: &str) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let table = Self;
        table.line(&format!(
            "Colloquy on {cores} cores, shared with the clients; {} s per measurement; {database}.",
            time.as_secs()
        ));
        table.line(
            "p50 and p99 are the latency percentiles of the responses, cpu the server's processor time for each.",
        );
        table.line("");
        table.line(&format!(
            "{:28} {:>7} {:>10} {:>9} {:>9} {:>7}  {}",
            "what", "clients", "per second", "p50 ms", "p99 ms", "cpu µs", "ratio"
        ));
        table
    }

    pub fn disk(&self, syncs: f64) {
        self.line(&format!(
            "{:28} {:>7} {syncs:>10.0} {:>9.2} {:>9} {:>7}  1.00 disk",
            "4 KiB and fdatasync",
            1,
            1000.0 / syncs,
            "",
            ""
        ));
    }

    pub fn row(&self, what: &str, load: &Load, ratio: &str) {
        self.line(&format!(
            "{what:28} {:>7} {:>10.0} {:>9.2} {:>9.2} {:>7}  {ratio}",
            load.clients,
            load.per_second(),
            load.percentile(50),
            load.percentile(99),
            load.processor_micros().map_or_else(String::new, |micros| format!("{micros:.0}")),
        ));
    }

    pub fn sockets(&self, size: usize, pushes: &Pushes, before_kib: u64, idle_kib: u64) {
        let each = idle_kib.saturating_sub(before_kib) as f64 / size as f64;
        self.line("");
        self.line(&format!(
            "{size} sockets on one meeting: {:.0} pushes per second; from a PATCH until all have received it {:.1} ms \
             (median of {}; p99 {:.1} ms, slowest {:.1} ms); {:.1} µs of the server's processor time for each push",
            pushes.per_second,
            pushes.to_all_ms,
            pushes.changes,
            pushes.p99_ms,
            pushes.slowest_ms,
            pushes.processor_micros,
        ));
        self.line(&format!(
            "An idle, subscribed socket: {each:.1} KiB of the server's memory ({before_kib} → {idle_kib} KiB)"
        ));
    }

    /// Memory for `count` subscriptions besides the first of each socket.
    pub fn subscriptions(&self, count: usize, before_kib: u64, after_kib: u64) {
        let each = after_kib.saturating_sub(before_kib) as f64 / count as f64;
        self.line(&format!(
            "A further subscription of a socket: {each:.2} KiB of the server's memory ({count}: {before_kib} → \
             {after_kib} KiB)"
        ));
    }

    /// The same with a server of others; `ours`: what it is compared with.
    pub fn beside(&self, size: usize, other: &Compared, ours: &Pushes) {
        let Compared { pusher, pushes, before_kib, idle_kib } = other;
        let each = idle_kib.saturating_sub(*before_kib) as f64 / size as f64;
        self.line(&format!(
            "{size} sockets of {}: {:.0} pushes per second; {:.1} ms to all (p99 {:.1} ms); {:.1} µs of its processor \
             time for each push, {:.2} × ours; {each:.1} KiB for an idle socket",
            pusher.name(),
            pushes.per_second,
            pushes.to_all_ms,
            pushes.p99_ms,
            pushes.processor_micros,
            pushes.processor_micros / ours.processor_micros.max(f64::MIN_POSITIVE),
        ));
    }

    pub fn journey(&self, journey: &Journey) {
        self.line(&format!(
            "{} documents, {} words, to a dashboard with {} requirements: {:.2} s (reading {:.2} s, analysis {:.2} s)",
            journey.documents,
            journey.words,
            journey.requirements,
            journey.whole.as_secs_f64(),
            journey.reading.as_secs_f64(),
            journey.analysing.as_secs_f64(),
        ));
    }

    pub fn end(&self) {
        self.line("");
        self.line(
            "bare: a server that does no work and returns the same bytes. disk: durable writes one after the other;",
        );
        self.line(
            "a ratio above 1.00 comes from batching several writes. The bare server runs in the clients' process.",
        );
    }

    /// Prints a line. A closed output is ignored, so that the measurement continues.
    #[expect(clippy::unused_self, reason = "a table is what lines are printed in")]
    fn line(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}
