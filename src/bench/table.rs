//! Prints the figures as a table, row by row.

use std::io::Write;
use std::time::Duration;

use super::journey::Journey;
use super::load::Load;
use super::sockets::Pushes;

pub struct Table;

impl Table {
    pub fn begin(time: Duration) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let table = Self;
        table.line(&format!("Colloquy on {cores} cores, which the clients share; {} s each; SQLite.", time.as_secs()));
        table.line("Of each 100 answers, 50 took at most p50, 99 at most p99.");
        table.line("");
        table.line(&format!(
            "{:28} {:>7} {:>10} {:>9} {:>9}  {}",
            "what", "clients", "a second", "p50 ms", "p99 ms", "ratio"
        ));
        table
    }

    pub fn disk(&self, syncs: f64) {
        self.line(&format!(
            "{:28} {:>7} {syncs:>10.0} {:>9.2} {:>9}  1.00 disk",
            "4 KiB and fdatasync",
            1,
            1000.0 / syncs,
            ""
        ));
    }

    pub fn row(&self, what: &str, load: &Load, ratio: &str) {
        self.line(&format!(
            "{what:28} {:>7} {:>10.0} {:>9.2} {:>9.2}  {ratio}",
            load.clients,
            load.per_second(),
            load.percentile(50),
            load.percentile(99),
        ));
    }

    pub fn sockets(&self, size: usize, pushes: &Pushes, before_kib: u64, idle_kib: u64) {
        let each = idle_kib.saturating_sub(before_kib) as f64 / size as f64;
        self.line("");
        self.line(&format!(
            "{size} sockets on one meeting: {:.0} pushes a second; from a PATCH until all have heard {:.1} ms \
             (median of {}; slowest {:.1} ms)",
            pushes.per_second, pushes.to_all_ms, pushes.changes, pushes.slowest_ms,
        ));
        self.line(&format!(
            "An idle, subscribed socket: {each:.1} KiB of the server's memory ({before_kib} → {idle_kib} KiB)"
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
            "bare: a server without any work of its own, giving the same bytes. disk: durable writes one by one;",
        );
        self.line("more than 1.00 comes from making several durable at once. The bare server runs among the clients.");
    }

    /// Prints a line. A closed output is ignored, so that the measurement continues.
    #[expect(clippy::unused_self, reason = "a table is what lines are printed in")]
    fn line(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}
