//! Figures that are gathered when somebody asks for them, beside those that are counted as things happen.

use metrics::gauge;

use crate::app::App;

/// Reads what is not counted as it happens: mailboxes, listeners, the database's queue, jobs that failed for good.
#[expect(clippy::cast_precision_loss, reason = "gauges are floating point")]
pub async fn gather(app: &App) {
    gauge!("colloquy_database_waiting").set(app.db.waiting() as f64);
    gauge!("colloquy_listeners").set(app.hub.listeners() as f64);
    for reading in app.watch.read() {
        for (name, value) in reading.figures() {
            gauge!(format!("colloquy_live_{name}"), "kind" => reading.kind).set(value as f64);
        }
    }
    match app.db.read(|conn| Box::pin(crate::jobs::failed_count(conn))).await {
        Ok(failed) => gauge!("colloquy_jobs_failed").set(failed as f64),
        Err(error) => tracing::warn!(%error, "failed jobs could not be counted"),
    }
}
