//! Metrics: the Prometheus recorder, and the gauges that are computed when the metrics are read. All other metrics are
//! updated as things happen. [`DESCRIBED`] has all of them, with the text that Prometheus shows.
//!
//! The recorder stores a metric for ever under each set of its labels, so every label must have a closed set of values.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use actors::mailbox_metrics::MailboxMetrics;
use metrics::gauge;
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

use crate::core::Core;
use crate::http::state::Http;
use crate::log;

/// The bucket bounds of all histograms, in seconds. They are fixed, because quantiles would be stored as sketches of
/// hundreds of KiB per route.
const SECONDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The interval at which recorded samples are folded into the histograms.
pub const UPKEEP: Duration = Duration::from_secs(5);

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// A metric: its name, its labels, and what it says.
#[derive(Debug, Clone, Copy)]
pub struct DescribedMetric {
    pub name: &'static str,
    pub kind: MetricKind,
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

const fn metric(
    name: &'static str,
    kind: MetricKind,
    labels: &'static [&'static str],
    help: &'static str,
) -> DescribedMetric {
    DescribedMetric { name, kind, labels, help }
}

/// All metrics of the server and of the pipeline as a service of its own, by name. docs/operate.md has the same table; a test
/// compares them.
pub const DESCRIBED: [DescribedMetric; 37] = {
    use MetricKind::{Counter, Gauge, Histogram};
    [
        metric(
            "colloquy_access_log_dropped_total",
            Counter,
            &[],
            "Lines of the access log that were dropped because it could not be written fast enough",
        ),
        metric(
            "colloquy_access_log_left_out_total",
            Counter,
            &["status"],
            "Refused calls without a line in the access log, because there were too many in their second",
        ),
        metric("colloquy_buffered_bytes", Gauge, &[], "Memory held by large request bodies and answers, in bytes"),
        metric(
            "colloquy_build_info",
            Gauge,
            &["version", "commit", "rustc"],
            "Always 1; the version, the commit and the compiler of this program",
        ),
        metric("colloquy_connections", Gauge, &[], "Open connections"),
        metric("colloquy_connections_cut_total", Counter, &["why"], "Connections that the server cut, by reason"),
        metric("colloquy_connections_refused_total", Counter, &[], "Connections over the limit that were refused"),
        metric("colloquy_database_reads_total", Counter, &[], "Reads of the database"),
        metric(
            "colloquy_database_statements_total",
            Counter,
            &[],
            "Statements that were sent to the database, BEGIN and COMMIT included",
        ),
        metric("colloquy_database_waiting", Gauge, &[], "Reads and writes that wait for the database"),
        metric("colloquy_jobs_failed", Gauge, &[], "Jobs that failed for good"),
        metric("colloquy_listeners", Gauge, &[], "Sockets and streams that follow a topic"),
        metric("colloquy_live_awake", Gauge, &["kind"], "Entities that have an actor or are being loaded"),
        metric(
            "colloquy_live_busy",
            Gauge,
            &["kind"],
            "Commands rejected as busy since the start: a full mailbox, a shutdown, a failed second attempt",
        ),
        metric("colloquy_live_commands", Gauge, &["kind"], "Commands that actors decided, since the start"),
        metric(
            "colloquy_live_panicked",
            Gauge,
            &["kind"],
            "Panics and inconsistent changes in actors since the start: bugs",
        ),
        metric("colloquy_live_queued", Gauge, &["kind"], "Commands that wait in mailboxes"),
        metric("colloquy_live_refused", Gauge, &["kind"], "Commands that actors refused, since the start"),
        metric(
            "colloquy_live_reloaded",
            Gauge,
            &["kind"],
            "Actors whose state may have been stale and was loaded again, since the start",
        ),
        metric(
            "colloquy_live_resent",
            Gauge,
            &["kind"],
            "Commands that were sent again because their actor stopped, since the start",
        ),
        metric(
            "colloquy_live_unsaved",
            Gauge,
            &["kind"],
            "Saves that failed, conflicted or ended with an unknown outcome, since the start",
        ),
        metric(
            "colloquy_log_lost_total",
            Counter,
            &[],
            "Lines of the log that were lost because standard error could not be written, or not fast enough",
        ),
        metric("colloquy_log_waiting", Gauge, &[], "Lines of the log that wait to be written"),
        metric("colloquy_panics_total", Counter, &[], "Panics, wherever they were: bugs"),
        metric("colloquy_pipeline_jobs_finished", Gauge, &[], "Pipeline service: finished jobs whose results are kept"),
        metric("colloquy_pipeline_jobs_processing", Gauge, &[], "Pipeline service: jobs that are being analysed"),
        metric("colloquy_pipeline_jobs_queued", Gauge, &[], "Pipeline service: jobs that wait"),
        metric("colloquy_pipeline_jobs_total", Counter, &["status"], "Pipeline service: jobs that ended, by status"),
        metric("colloquy_pipeline_stored_bytes", Gauge, &[], "Pipeline service: stored sources and results, in bytes"),
        metric(
            "colloquy_request_seconds",
            Histogram,
            &["method", "route"],
            "Time from a request's head to its answer's head",
        ),
        metric("colloquy_requests_total", Counter, &["method", "route", "status"], "Answered requests"),
        metric(
            "colloquy_search_put_off_total",
            Counter,
            &[],
            "Times that a document, a transcript or an item could not be indexed for search and was put off",
        ),
        metric("colloquy_sockets_closed_total", Counter, &["code"], "Sockets that the server closed, by close code"),
        metric("colloquy_storage_bytes", Gauge, &[], "What all projects have stored, in bytes; at most a minute old"),
        metric("colloquy_storage_free_bytes", Gauge, &[], "What is free on the disk of the data folder, in bytes"),
        metric("colloquy_storage_refused_total", Counter, &["why"], "Uploads that had no room, by what was full"),
        metric("colloquy_storage_reserve_bytes", Gauge, &[], "What is kept free on the disk, in bytes"),
    ]
};

/// The recorder of this process, which can have no other.
static INSTALLED: Mutex<Option<PrometheusHandle>> = Mutex::new(None);

/// Installs the recorder of this process, with a description of each metric, unless that was done before.
///
/// # Errors
/// Another recorder is installed already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*installed {
        return Ok(handle.clone());
    }
    let handle = recorder()?.install_recorder()?;
    *installed = Some(handle.clone());
    drop(installed);
    for DescribedMetric { name, kind, help, .. } in DESCRIBED {
        match kind {
            MetricKind::Counter => metrics::describe_counter!(name, help),
            MetricKind::Gauge => metrics::describe_gauge!(name, help),
            MetricKind::Histogram => metrics::describe_histogram!(name, help),
        }
    }
    let labels = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("COLLOQUY_COMMIT")),
        ("rustc", env!("COLLOQUY_RUSTC")),
    ];
    gauge!("colloquy_build_info", &labels).set(1.0);
    Ok(handle)
}

fn recorder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new().set_buckets(&SECONDS)
}

/// Folds recorded samples into the histograms at the given interval. Until then, or until the metrics are read, each
/// sample is stored separately.
pub async fn run_periodically(figures: PrometheusHandle, every: Duration, stopping: CancellationToken) {
    while stopping.run_until_cancelled(tokio::time::sleep(every)).await.is_some() {
        figures.run_upkeep();
    }
}

/// Sets the gauges: mailboxes, subscribers, connections, buffered bytes, the database queue, what is stored, and jobs
/// that failed for good.
#[expect(clippy::cast_precision_loss, reason = "gauges are floating point")]
pub async fn gather(core: &Core, http: &Http, watch: &MailboxMetrics) {
    metrics::counter!("colloquy_database_statements_total").absolute(core.db.statements_sent());
    gauge!("colloquy_log_waiting").set(log::waiting() as f64);
    gauge!("colloquy_database_waiting").set(core.db.waiting() as f64);
    gauge!("colloquy_listeners").set(core.hub.listeners() as f64);
    gauge!("colloquy_connections").set(http.connections.count() as f64);
    gauge!("colloquy_buffered_bytes").set(http.budget.held() as f64);
    for reading in watch.read() {
        for (name, value) in reading.figures() {
            gauge!(format!("colloquy_live_{name}"), "kind" => reading.kind).set(value as f64);
        }
    }
    let space = &core.quotas.free_space;
    gauge!("colloquy_storage_reserve_bytes").set(space.reserve() as f64);
    if let Some(free) = space.free().await {
        gauge!("colloquy_storage_free_bytes").set(free as f64);
    }
    match core.quotas.stored_lately().await {
        Ok(stored) => gauge!("colloquy_storage_bytes").set(stored as f64),
        Err(error) => tracing::warn!(%error, "what is stored could not be summed up"),
    }
    match core.db.read(|conn| Box::pin(crate::jobs::failed_count(conn))).await {
        Ok(failed) => gauge!("colloquy_jobs_failed").set(failed as f64),
        Err(error) => tracing::warn!(%error, "failed jobs could not be counted"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use std::collections::BTreeSet;

    use regex::Regex;
    use rusty_fork::rusty_fork_test;
    use tokio_util::sync::CancellationToken;

    use super::{DESCRIBED, MetricKind, recorder, run_periodically};

    /// The names of metrics in a text, without the suffixes of a histogram's series.
    fn names_in(text: &str) -> BTreeSet<String> {
        let name = Regex::new(r"\bcolloquy_[a-z_]+").unwrap();
        let names = name.find_iter(text).map(|found| {
            let found = found.as_str();
            let suffixes = ["_bucket", "_sum", "_count"];
            suffixes.iter().find_map(|suffix| found.strip_suffix(suffix)).unwrap_or(found).to_owned()
        });
        names.collect()
    }

    fn described() -> BTreeSet<String> {
        DESCRIBED.iter().map(|metric| metric.name.to_owned()).collect()
    }

    #[test]
    fn dashboard_and_alerts_name_metrics_that_exist() {
        let dashboard = include_str!("../config/grafana/colloquy.json");
        let alerts = include_str!("../config/prometheus/alerts.yml");
        for (file, least, text) in [("dashboard", 15, dashboard), ("alerts", 8, alerts)] {
            let (named, described) = (names_in(text), described());
            let unknown: Vec<_> = named.difference(&described).collect();
            assert!(unknown.is_empty(), "{file}: {unknown:?}");
            assert!(named.len() >= least, "{file}: {named:?}");
        }
        let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        assert!(dashboard["panels"].as_array().unwrap().len() >= 10);
    }

    #[test]
    fn the_manual_has_the_table_of_all_metrics() {
        let rows = DESCRIBED.iter().map(|metric| {
            let kind = match metric.kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram => "histogram",
            };
            format!("| `{}` | {kind} | {} | {} |\n", metric.name, metric.labels.join(", "), metric.help)
        });
        let table: String = rows.collect();
        let manual = include_str!("../docs/operate.md");
        assert!(manual.contains(&table), "docs/operate.md needs this table:\n{table}");
    }

    #[test]
    fn metrics_are_named_by_the_conventions_and_in_order() {
        assert!(DESCRIBED.windows(2).all(|pair| pair[0].name < pair[1].name));
        for metric in DESCRIBED {
            assert_eq!(metric.kind == MetricKind::Counter, metric.name.ends_with("_total"), "{}", metric.name);
            assert!(!metric.help.ends_with('.') && metric.help.len() > 10, "{}", metric.name);
        }
    }

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
