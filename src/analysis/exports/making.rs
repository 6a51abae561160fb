//! The job that makes a file. Idempotent: an export that has ended is not made again, and a file that was stored before a kill is
//! stored again under the same hash.

use std::io;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{Id, User};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;
use exports::specification::Specification;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::model::{DashboardExport, DashboardExportStatus, DashboardFormat};
use super::selection::{select, selection};
use super::specification::{ExportCover, specification};
use super::store::{self, KEPT, StoredExport};
use crate::accounts;
use crate::analysis::dashboard::operations as dashboards;
use crate::analysis::dashboard::unparsed::Unparsed;
use crate::analysis::large_reads::memory::ReservedMemory;
use crate::analysis::state::Analysis;
use crate::clients::files::StoredFile;
use crate::clients::printer::PrintError;
use crate::db::{Conn, DbError, events};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;
use crate::jobs::{Handler, Job, JobError, JobOutcome, JobPayload, Turns};
use crate::projects;
use crate::projects::events::topic;
use crate::quotas::model::UploadPurpose;
use crate::quotas::permit::QuotaPermit;

/// How many files are made at once: each holds a whole dashboard in memory.
const AT_ONCE: usize = 2;

/// Makes the file of an export.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MakeExport {
    pub export_id: Id<DashboardExport>,
    /// Whose name is on the cover; `None` in jobs of former versions.
    #[serde(default)]
    pub exported_by: Option<Id<User>>,
}

impl JobPayload for MakeExport {
    const KIND: &'static str = "make-export";
    const TURNS: Turns = Turns::Fair;
}

/// Runs [`MakeExport`].
pub struct MakeExportHandler {
    pub state: Analysis,
}

#[async_trait]
impl Handler for MakeExportHandler {
    type Payload = MakeExport;

    fn concurrency(&self) -> usize {
        AT_ONCE
    }

    /// The process that sets PDF is killed then. The other writers run on a blocking thread, which ends by itself: a run has at most
    /// 20,000 items, which take seconds.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }

    async fn run(&self, job: &Job, payload: MakeExport) -> Result<(), JobError> {
        let id = payload.export_id;
        let found = self.state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let Some(export) = found? else { return Ok(()) };
        if export.status != DashboardExportStatus::Preparing {
            return Ok(());
        }
        match self.file(&export, payload.exported_by).await {
            Ok(None) => Ok(()),
            Ok(Some(file)) => {
                let size_bytes = i64::try_from(file.size).map_err(|error| error.to_string())?;
                let ready = StoredExport {
                    status: DashboardExportStatus::Ready,
                    sha256: Some(file.sha256),
                    size_bytes: Some(size_bytes),
                    ..export
                };
                self.end(ready, job.request.clone()).await?;
                drop((file.guard, file.permit));
                Ok(())
            }
            Err(Unmade::NoRoom(why)) => {
                tracing::info!(export = %id, why, "an export had no room");
                let full = StoredExport { status: DashboardExportStatus::Failed, error: Some(why), ..export };
                self.end(full, job.request.clone()).await
            }
            Err(Unmade::Again(why)) => Err(JobError::Again(why)),
            Err(Unmade::ForGood(why)) => {
                tracing::error!(export = %id, format = %export.format, why, "an export could not be made");
                self.end(failed(export), job.request.clone()).await
            }
            Err(Unmade::TooLarge) => {
                let error =
                    "The items are too large for one file. Export them in parts, with filters, or shorten the largest.";
                let failed = StoredExport { error: Some(error.to_owned()), ..failed(export) };
                self.end(failed, job.request.clone()).await
            }
        }
    }

    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<MakeExport>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let (Some(MakeExport { export_id, .. }), JobOutcome::Failed(_)) = (payload, outcome) else {
            return Ok(Vec::new());
        };
        let Some(export) = store::find(conn, export_id).await? else { return Ok(Vec::new()) };
        let record = end(conn, failed(export), now, &job.request).await?;
        Ok(record.into_iter().collect())
    }
}

/// A file that is stored, and kept from the sweep until its row is committed.
struct MadeFile {
    sha256: String,
    size: u64,
    guard: StoredFile,
    permit: QuotaPermit,
}

/// Why a file was not made.
enum Unmade {
    Again(String),
    /// A sentence for who wants the file.
    NoRoom(String),
    ForGood(String),
    /// There is more than a file takes.
    TooLarge,
}

impl From<ApiError> for Unmade {
    fn from(error: ApiError) -> Self {
        match error.code {
            Code::QUOTA_EXCEEDED | Code::STORAGE_FULL => Self::NoRoom(error.message),
            _ => Self::Again(error.to_string()),
        }
    }
}

impl From<DbError> for Unmade {
    fn from(error: DbError) -> Self {
        Self::Again(error.to_string())
    }
}

impl From<io::Error> for Unmade {
    fn from(error: io::Error) -> Self {
        Self::Again(error.to_string())
    }
}

impl MakeExportHandler {
    /// Makes the file and stores it; `None` if the project is gone.
    async fn file(&self, export: &StoredExport, by: Option<Id<User>>) -> Result<Option<MadeFile>, Unmade> {
        let Some((specification, memory)) = self.specification(export, by).await? else { return Ok(None) };
        let bytes = match export.format.writer() {
            Some(writer) => {
                let held = memory.clone();
                let written = spawn_blocking(move || {
                    let _memory = held;
                    exports::write(&specification, writer)
                });
                let written = written.await;
                let written = written.map_err(|error| Unmade::ForGood(error.to_string()))?;
                written.map_err(|fault| Unmade::ForGood(fault.to_string()))?
            }
            None => self.state.exports.printer.print(&specification).await.map_err(|error| match error {
                PrintError::Stopped => Unmade::Again(error.to_string()),
                _ => Unmade::ForGood(error.to_string()),
            })?,
        };
        // The file is all that is left.
        let _memory = memory.shrunk_to(bytes.len());
        let payer = self.state.projects.payer(export.project_id).await?;
        let size = bytes.len() as u64;
        let mut permit = self.state.quotas.begin(payer, UploadPurpose::Usual, Some(size)).await?;
        permit.cover(size).await?;
        let files = &self.state.exports.files;
        let mut incoming = files.receive().await?;
        incoming.write(&bytes).await?;
        let received = incoming.end().await?;
        let (sha256, size) = (received.sha256.clone(), received.size);
        Ok(Some(MadeFile { sha256, size, guard: files.store(received).await?, permit }))
    }

    /// Describes what is exported, with the memory for it and for the file.
    async fn specification(
        &self,
        export: &StoredExport,
        by: Option<Id<User>>,
    ) -> Result<Option<(Specification, ReservedMemory)>, Unmade> {
        let (project_id, run_id) = (export.project_id, export.run_id);
        let project = self.state.db.read(move |conn| Box::pin(projects::store::find(conn, project_id))).await?;
        let Some(project) = project else { return Ok(None) };
        let gone = || Unmade::ForGood("the result of the run is missing".to_owned());
        let stored = dashboards::stored(&self.state, project_id, run_id).await?.ok_or_else(gone)?;
        let memory = self.state.large_reads.memory.for_parsed_by_job(project_id, stored.bytes()).await;
        let parsed = stored.parse(&self.state, export.filters.items.clone(), &memory).await;
        let mut dashboard = parsed.map_err(|unparsed| match unparsed {
            Unparsed::TooLarge => Unmade::TooLarge,
            Unparsed::Failed(failed) if failed.code.status >= 503 => Unmade::Again(failed.message),
            Unparsed::Failed(failed) => Unmade::ForGood(failed.message),
        })?;
        let names = self.state.db.read(move |conn| Box::pin(store::source_names(conn, project_id))).await?;
        let account = match by {
            Some(id) => self.state.db.read(move |conn| Box::pin(accounts::store::account(conn, id))).await?,
            None => None,
        };
        let selected = selection(&export.filters, export.format, &dashboard);
        select(&mut dashboard, selected);
        let cover = ExportCover {
            exported_by: account.map(|account| account.full_name).unwrap_or_default(),
            selection: export.filters.described(selected),
        };
        let held = memory.clone();
        let described = spawn_blocking(move || {
            let _memory = held;
            specification(&project, dashboard, &names, cover)
        });
        let described = described.await;
        Ok(Some((described.map_err(|error| Unmade::ForGood(error.to_string()))?, memory)))
    }

    /// Saves how an export ended, and wakes those who wait for it.
    async fn end(&self, export: StoredExport, request: RequestId) -> Result<(), JobError> {
        let (id, now) = (export.id, self.state.now());
        let saved = self.state.db.write(move |conn| {
            let (export, request) = (export.clone(), request.clone());
            Box::pin(async move { end(conn, export, now, &request).await })
        });
        let record = saved.await?;
        self.state.hub.publish(record.into_iter().collect());
        self.state.exports.ended.wake(id);
        Ok(())
    }
}

/// What an export becomes that can't be made. Why is for the log alone: it may name paths of this machine.
fn failed(export: StoredExport) -> StoredExport {
    let error = match export.format {
        DashboardFormat::Pdf => "The PDF could not be made. Try another format, or filters that leave less.",
        _ => "The file could not be made.",
    };
    StoredExport { status: DashboardExportStatus::Failed, error: Some(error.to_owned()), ..export }
}

/// Saves how an export ended, with its event; `None` if it had ended before, or is gone.
async fn end(
    conn: &mut Conn,
    export: StoredExport,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    let export = StoredExport { expires_at: now + KEPT, ..export };
    if !store::end(conn, &export).await? {
        return Ok(None);
    }
    let topic = topic(export.project_id);
    let data = serde_json::to_string(&DashboardExport::from(export));
    let data = data.map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic, EventKind::DashboardExportCompleted, &data, now, request).await.map(Some)
}
