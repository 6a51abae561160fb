//! Metrics: the Prometheus recorder, and the gauges that are computed when the metrics are read. All other metrics are
//! updated as things happen.
//!
//! The recorder stores a metric for ever under each set of its labels, so every label must have a closed set of values.

use std::time::Duration;

use actors::mailbox_metrics::MailboxMetrics;
use metrics::gauge;
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

use crate::core::Core;
use crate::http::state::Http;

/// The bucket bounds of all histograms, in seconds. They are fixed, because quantiles would be stored as sketches of
/// hundreds of KiB per route.
const SECONDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The interval at which recorded samples are folded into the histograms.
pub const UPKEEP: Duration = Duration::from_secs(5);

/// Returns a builder of the recorder.
///
/// # Errors
/// The list of bucket bounds is empty.
pub fn recorder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new().set_buckets(&SECONDS)
}

/// Folds recorded samples into the histograms at the given interval. Until then, or until the metrics are read, each
/// sample is stored separately.
pub async fn run_periodically(figures: PrometheusHandle, every: Duration, stopping: CancellationToken) {
    while stopping.run_until_cancelled(tokio::time::sleep(every)).await.is_some() {
        figures.run_upkeep();
    }
}

/// Sets the gauges: mailboxes, subscribers, connections, buffered bytes, the database queue, and jobs that failed for
/// good.
#[expect(clippy::cast_precision_loss, reason = "gauges are floating point")]
pub async fn gather(core: &Core, http: &Http, watch: &MailboxMetrics) {
    gauge!("colloquy_database_waiting").set(core.db.waiting() as f64);
    gauge!("colloquy_listeners").set(core.hub.listeners() as f64);
    gauge!("colloquy_connections").set(http.connections.count() as f64);
    gauge!("colloquy_buffered_bytes").set(http.budget.held() as f64);
    for reading in watch.read() {
        for (name, value) in reading.figures() {
            gauge!(format!("colloquy_live_{name}"), "kind" => reading.kind).set(value as f64);
        }
    }
    match core.db.read(|conn| Box::pin(crate::jobs::failed_count(conn))).await {
        Ok(failed) => gauge!("colloquy_jobs_failed").set(failed as f64),
        Err(error) => tracing::warn!(%error, "failed jobs could not be counted"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rusty_fork::rusty_fork_test;
    use tokio_util::sync::CancellationToken;

    use super::{recorder, run_periodically};

    /// The samples per round and the number of rounds: 200 MiB if every sample stayed in memory.
    const SAMPLES: u32 = 100_000;
    const ROUNDS: u32 = 100;

    fn resident_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    // In a process of its own, because all other tests share the memory of this one.
    rusty_fork_test! {
        #[test]
        fn what_is_recorded_does_not_pile_up_until_somebody_reads_it() {
            let recorder = recorder().unwrap().build_recorder();
            let (figures, stop) = (recorder.handle(), CancellationToken::new());
            let recording = async {
                let before = resident_kib();
                for _ in 0..ROUNDS {
                    metrics::with_local_recorder(&recorder, || {
                        let histogram = metrics::histogram!("seconds");
                        (0..SAMPLES).for_each(|number| histogram.record(f64::from(number % 100) / 100.0));
                    });
                    // Until the upkeep has run.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                let grown = resident_kib().saturating_sub(before);
                stop.cancel();
                grown
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let upkeep = run_periodically(figures.clone(), Duration::from_millis(1), stop.clone());
            let ((), grown) = runtime.block_on(async { tokio::join!(upkeep, recording) });
            assert!(grown < 64 * 1024, "{} samples took {grown} KiB", SAMPLES * ROUNDS);
            assert!(figures.render().contains("seconds_count "));
        }
    }
}
