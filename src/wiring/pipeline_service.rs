//! Builds and runs the pipeline as a service of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use actix_web::{HttpResponse, web};
use actors::time::{Clock, SystemClock};
use metrics::gauge;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;

use super::background::{keep_up, watch_connections};
use super::listen::{self, Served};
use super::states::check_mounted;
use super::{BACKGROUND_END, Background, analysers, bind, make_folder, others, signal};
use crate::access::service_key::ServiceKey;
use crate::config::Config;
use crate::http::budget::Budget;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::mounted::Need;
use crate::http::raw_connection::Connections;
use crate::http::spool::Spools;
use crate::http::state::{Http, HttpParts};
use crate::pipeline_jobs::folder::JobFolder;
use crate::pipeline_jobs::state::{INTAKES, PipelineJobs, PipelineJobsParts};
use crate::pipeline_jobs::table::{JobTable, TableLimits};
use crate::pipeline_jobs::worker;
use crate::tasks::Tasks;
use crate::{log, metrics as figures, routes};

/// Serves the pipeline until the process receives SIGTERM or SIGINT.
///
/// # Errors
/// Returns a message if the service can't start.
pub async fn serve_pipeline(config: Config) -> Result<(), String> {
    let key = config.pipeline.key.reveal();
    if key.is_empty() {
        return Err("pipeline.key: the pipeline service does not start without a service key".to_owned());
    }
    let key = ServiceKey::new(key);
    make_folder(&config.server.data)?;
    let listener = bind(config.pipeline.listen)?;
    let (background, tasks) = Background::start()?;
    let http = Http::new(HttpParts {
        connections: Arc::new(Connections::new(&config.http, others::connections(config.http.connections))),
        budget: Budget::of(config.http.buffered_bytes),
        spools: Spools::at(config.server.data.clone(), config.storage.reserve_mib),
        settings: config.http.clone(),
    });
    let recorder = figures::install().map_err(|error| error.to_string())?;
    let jobs = jobs(&config, &tasks)?;
    let swept = jobs.clone();
    tasks.spawn_loop("the sweep of jobs", move || worker::sweep(swept.clone()));
    watch_connections(&tasks, &http.connections);
    keep_up(&tasks, &recorder);

    let mounted = [Need::of::<Http>(), Need::of::<Tasks>(), Need::of::<ServiceKey>(), Need::of::<PipelineJobs>()];
    check_mounted(&mounted, &routes::pipeline())?;
    let beside = {
        let (http, tasks, jobs) = (http.clone(), tasks.clone(), jobs.clone());
        move |service: &mut ServiceConfig| {
            service.app_data(http.clone()).app_data(tasks.clone()).app_data(key.clone()).app_data(jobs.clone());
            mount_probes(service, jobs.clone(), recorder.clone());
        }
    };
    let bound = listen::listen(Served {
        listener: &listener,
        workers: config.server.workers,
        drain_seconds: config.server.drain_seconds,
        connections: Arc::clone(&http.connections),
        is_public: false,
        app_url: String::new(),
        is_counted: false,
        operations: routes::pipeline,
        beside: Arc::new(beside),
    })?;
    drop(listener);
    log::print(&format!("Pipeline listens on http://{}", bound.address));
    let handle = bound.server.handle();
    actix_web::rt::spawn(bound.server);
    let reason = signal().await;
    tracing::info!(reason, "stopping");
    tasks.stopping().cancel();
    handle.stop(true).await;
    if !tasks.end(BACKGROUND_END).await {
        tracing::warn!("jobs did not stop in time; they continue at the next start");
    }
    drop(background);
    Ok(())
}

/// Loads the jobs, and goes on with those that are unfinished.
fn jobs(config: &Config, tasks: &Tasks) -> Result<PipelineJobs, String> {
    let root = config.server.data.join("pipeline");
    let unusable = |root: &Path, error: std::io::Error| format!("{} can't be used: {error}", root.display());
    let settings = &config.pipeline;
    let limits = TableLimits {
        queue: settings.queue,
        kept: settings.kept,
        keep: Duration::from_secs(settings.keep_seconds),
        bytes: settings.store_bytes,
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let folder = JobFolder::open(root.clone())?;
    let (table, unfinished) = JobTable::load(folder, limits, clock).map_err(|error| unusable(&root, error))?;
    let jobs = PipelineJobs::new(PipelineJobsParts {
        table,
        analyser: analysers::analyser(&config.analysis)?,
        reader: analysers::reader(&config.analysis)?,
        permits: Arc::new(Semaphore::new(analysers::at_once(&config.analysis))),
        intakes: Arc::new(Semaphore::new(INTAKES)),
        readings: Arc::new(Semaphore::new(1)),
        tasks: tasks.clone(),
        job_bytes: settings.job_bytes,
        document_bytes: config.limits.document_bytes as u64,
    });
    tracing::info!(unfinished = unfinished.len(), "the jobs of an earlier start go on");
    unfinished.into_iter().for_each(|id| worker::begin(&jobs, id));
    Ok(jobs)
}

/// Liveness, readiness and metrics, which need no key: they show nothing of a job.
fn mount_probes(service: &mut ServiceConfig, jobs: PipelineJobs, recorder: PrometheusHandle) {
    let live = || async { HttpResponse::NoContent().finish() };
    let tasks = jobs.tasks.clone();
    let ready = move || {
        let is_stopping = tasks.stopping().is_cancelled();
        async move {
            if is_stopping {
                return Err(ApiError::of(Code::SERVICE_UNAVAILABLE));
            }
            Ok(HttpResponse::NoContent().finish())
        }
    };
    let read = move || {
        let (jobs, recorder) = (jobs.clone(), recorder.clone());
        async move {
            gather(&jobs).await;
            HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(recorder.render())
        }
    };
    service.route("/health/live", web::get().to(live));
    service.route("/health/ready", web::get().to(ready));
    service.route("/metrics", web::get().to(read));
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floating point")]
async fn gather(jobs: &PipelineJobs) {
    gauge!("colloquy_log_waiting").set(log::waiting() as f64);
    let counts = jobs.table.counts().await;
    gauge!("colloquy_pipeline_jobs_queued").set(counts.queued as f64);
    gauge!("colloquy_pipeline_jobs_processing").set(counts.processing as f64);
    gauge!("colloquy_pipeline_jobs_finished").set(counts.finished as f64);
    gauge!("colloquy_pipeline_stored_bytes").set(counts.bytes as f64);
}
