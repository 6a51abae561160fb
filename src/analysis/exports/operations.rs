//! Operations on exports, one function each.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use strum::VariantArray;
use tokio::fs::File;

use super::bodies::ExportDashboard;
use super::making::MakeExport;
use super::model::{DashboardExport, DashboardExportStatus, DashboardFormat, ExportFormats, file_name};
use super::store::{self, KEPT, MAX_EXPORTS, StoredExport};
use crate::access::principal::Caller;
use crate::analysis::dashboard::operations as dashboards;
use crate::analysis::state::Analysis;
use crate::clients::printer;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::quotas::model::UploadPurpose;
use crate::{jobs, projects};

/// When to look again for a printer that is not installed.
const UNTIL_INSTALLED: Duration = Duration::from_secs(60 * 60);

/// Returns the formats that can be made: PDF where its program is installed.
pub async fn formats(state: &Analysis) -> ExportFormats {
    let has_printer = state.exports.printer.is_installed().await;
    let made = DashboardFormat::VARIANTS.iter().copied().filter(|format| format.writer().is_some() || has_printer);
    ExportFormats { formats: made.collect() }
}

/// Exports the dashboard. If the id exists already, returns that export.
///
/// # Errors
/// 404 for a run that is not in the project, or if the project was deleted in the meantime; 409 for a run without a result, or if
/// the project keeps [`MAX_EXPORTS`]; 503 for PDF where the printer is not installed; 507 where there is no room for a file.
pub async fn create(
    state: &Analysis,
    project_id: Id<ids::Project>,
    caller: Caller,
    id: Id<DashboardExport>,
    body: ExportDashboard,
    request: RequestId,
) -> Result<DashboardExport, ApiError> {
    if body.format == DashboardFormat::Pdf && !state.exports.printer.is_installed().await {
        let program = printer::PROGRAM;
        let message = format!(
            "PDF needs the program {program}: install it beside the server, or name it in the setting exports.printer. \
             HTML can be printed by any browser."
        );
        return Err(ApiError {
            retry_after: Some(UNTIL_INSTALLED),
            ..ApiError::with_message(Code::PRINTER_MISSING, message)
        });
    }
    // The job asks again once it knows the size.
    state.quotas.check(state.projects.payer(project_id).await?, UploadPurpose::Usual, 1).await?;
    let ended = state.exports.ended.subscribe();
    let now = state.now();
    let created = state.db.write(move |conn| {
        let (body, request) = (body.clone(), request.clone());
        Box::pin(async move {
            let gone = || ApiError::of(Code::NOT_FOUND);
            // Locks the project's row: exports that are counted at once can't exceed their number together.
            let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
            if let Some(export) = store::find(conn, id).await? {
                return Ok(export);
            }
            let filters = body.filters.unwrap_or_default();
            dashboards::run_with_result(conn, project_id, filters.run_id).await?;
            if store::count(conn, project_id, now).await? >= MAX_EXPORTS {
                let full = format!("A project keeps at most {MAX_EXPORTS} exports, each for 24 hours.");
                return Err(ApiError::with_message(Code::EXPORT_LIMIT_REACHED, full));
            }
            let export = StoredExport {
                id,
                project_id,
                run_id: filters.run_id,
                status: DashboardExportStatus::Preparing,
                format: body.format,
                filters,
                file_name: file_name(&project.name, body.format, now),
                sha256: None,
                size_bytes: None,
                error: None,
                created_at: now,
                expires_at: now + KEPT,
            };
            store::insert(conn, &export).await?;
            let making = MakeExport { export_id: id, exported_by: Some(caller.user_id) };
            jobs::enqueue_in_turn(conn, &project_id.to_string(), &making, now, &request).await?;
            Ok(export)
        })
    });
    let created: StoredExport = created.await?;
    if created.status != DashboardExportStatus::Preparing {
        return Ok(created.into());
    }
    state.jobs.wake();
    ended.wait(id).await;
    let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await.map_err(ApiError::from)?;
    let ended: DashboardExport = found.unwrap_or(created).into();
    Ok(ended)
}

/// Opens the file of an export.
///
/// # Errors
/// 409 while it is being made; 410 once it has expired or if it failed.
pub async fn open(state: &Analysis, export: &StoredExport) -> Result<File, ApiError> {
    match (export.status, &export.sha256) {
        (DashboardExportStatus::Preparing, _) => Err(ApiError::of(Code::EXPORT_NOT_READY)),
        (DashboardExportStatus::Ready, Some(sha256)) if export.expires_at > state.now() => {
            state.exports.files.open(sha256).await.map_err(|error| ApiError::of_stored_file(&error))
        }
        (DashboardExportStatus::Failed, _) => {
            Err(ApiError::with_message(Code::GONE, "The file could not be made. Export it again."))
        }
        _ => Err(ApiError::with_message(Code::GONE, "The file has expired. Export it again.")),
    }
}
