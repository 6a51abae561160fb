//! The job that reads the file of an import and proposes what it would change.

use std::collections::HashSet;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;
use exports::import::{ImportFault, Imported, read_reqif, read_xlsx};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::model::{ImportCompleted, ImportFormat, ImportStatus, ItemImport};
use super::planning::{ImportGround, ImportPlan, plan};
use super::store::{self, StoredImport};
use crate::analysis::dashboard::operations as dashboards;
use crate::analysis::proposals::model::ProposalTarget;
use crate::analysis::proposals::store::drafts::{
    Drafter, ProposalDraft, forget_page_of_import, insert_drafts, publish_import,
};
use crate::analysis::state::Analysis;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError, events};
use crate::http::error::ApiError;
use crate::jobs::{Handler, Job, JobError, JobOutcome, JobPayload, Turns};
use crate::projects;
use crate::projects::events::topic;

/// How many proposals are written in one transaction.
const BATCH: usize = 200;

/// Reads the file of an import.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadImport {
    pub import_id: Id<ItemImport>,
}

impl JobPayload for ReadImport {
    const KIND: &'static str = "read-import";
    const TURNS: Turns = Turns::Fair;
}

/// Runs [`ReadImport`].
pub struct ReadImportHandler {
    pub state: Analysis,
}

/// Why nothing is proposed.
enum Unread {
    Again(String),
    /// A sentence for the person who uploaded the file.
    ForGood(String),
}

impl From<DbError> for Unread {
    fn from(error: DbError) -> Self {
        Self::Again(error.to_string())
    }
}

#[async_trait]
impl Handler for ReadImportHandler {
    type Payload = ReadImport;

    /// Each holds a file, and all items of a project, in memory.
    fn concurrency(&self) -> usize {
        1
    }

    /// The largest file that is accepted is read within a minute.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }

    async fn run(&self, job: &Job, ReadImport { import_id }: ReadImport) -> Result<(), JobError> {
        let found = self.state.db.read(move |conn| Box::pin(store::find(conn, import_id))).await;
        let found = found.map_err(|error: DbError| error.to_string())?;
        let Some(StoredImport { import, sha256: Some(sha256), .. }) = found else { return Ok(()) };
        let ended = match self.propose(&import, &sha256).await {
            Ok(None) => return Ok(()),
            Ok(Some(plan)) => ItemImport { status: ImportStatus::Ready, report: Some(plan.report), ..import },
            Err(Unread::Again(why)) => return Err(JobError::Again(why)),
            Err(Unread::ForGood(why)) => failed(import, why),
        };
        let (request, now) = (job.request.clone(), self.state.now());
        let saved = self.state.db.write(move |conn| {
            let (ended, request) = (ended.clone(), request.clone());
            Box::pin(async move { end(conn, &ended, now, &request).await })
        });
        let record = saved.await.map_err(|error: DbError| error.to_string())?;
        self.state.hub.publish(record.into_iter().collect());
        self.state.imports.ended.tell(import_id);
        Ok(())
    }

    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<ReadImport>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let (Some(ReadImport { import_id }), JobOutcome::Failed(_)) = (payload, outcome) else {
            return Ok(Vec::new());
        };
        let Some(stored) = store::find(conn, import_id).await? else { return Ok(Vec::new()) };
        let why = "The file could not be read for a reason that is not its own. Upload it again.";
        let record = end(conn, &failed(stored.import, why.to_owned()), now, &job.request).await?;
        Ok(record.into_iter().collect())
    }
}

impl ReadImportHandler {
    /// Reads the file and writes the drafts of what it would change; `None` if the project is gone.
    async fn propose(&self, import: &ItemImport, sha256: &str) -> Result<Option<ImportPlan>, Unread> {
        let imported = self.read(sha256, import.format).await?;
        let Some(ground) = self.ground(import).await? else { return Ok(None) };
        let planned = spawn_blocking(move || plan(&ground, &imported)).await;
        let planned = planned.map_err(|error| Unread::Again(error.to_string()))?;
        let mut planned = planned.map_err(Unread::ForGood)?;
        // Those of a try that was cut off.
        let id = import.id.uuid();
        let stopping = self.state.tasks.stopping();
        in_pages(&self.state.db, &stopping, move |conn| Box::pin(forget_page_of_import(conn, id, PAGE))).await?;
        if stopping.is_cancelled() {
            return Err(Unread::Again("the server is stopping".to_owned()));
        }
        self.draft(import, std::mem::take(&mut planned.drafts)).await?;
        Ok(Some(planned))
    }

    async fn read(&self, sha256: &str, format: ImportFormat) -> Result<Imported, Unread> {
        let again = |error: std::io::Error| Unread::Again(error.to_string());
        let mut file = self.state.imports.files.open(sha256).await.map_err(again)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).await.map_err(again)?;
        let read = spawn_blocking(move || match format {
            ImportFormat::Xlsx => read_xlsx(&bytes),
            ImportFormat::Reqif => read_reqif(&bytes),
        });
        let read = read.await.map_err(|error| Unread::Again(error.to_string()))?;
        read.map_err(|fault: ImportFault| Unread::ForGood(fault.to_string()))
    }

    /// Reads what the file is compared with, as of one moment.
    async fn ground(&self, import: &ItemImport) -> Result<Option<ImportGround>, Unread> {
        let (project_id, run_id, now) = (import.project_id, import.run_id, self.state.now());
        let read = async move |conn: &mut Conn| {
            let Some(project) = projects::store::find(conn, project_id).await? else { return Ok(None) };
            let dashboard = dashboards::stored(conn, project_id, Some(run_id)).await?;
            Ok::<_, DbError>(Some((project, dashboard, store::all_items(conn, project_id).await?)))
        };
        let found = self.state.db.read(move |conn| Box::pin(conn.transaction(read))).await?;
        let Some((project, dashboard, items)) = found else { return Ok(None) };
        let shown = spawn_blocking(move || {
            let Some(dashboard) = dashboard else { return Ok(HashSet::new()) };
            let dashboard = dashboard.parse()?;
            let requirements = dashboard.requirements.iter().map(|one| one.id);
            Ok(requirements.chain(dashboard.user_stories.iter().map(|one| one.id)).collect::<HashSet<Uuid>>())
        });
        let shown = shown.await.map_err(|error| Unread::Again(error.to_string()))?;
        let shown = shown.map_err(|error: ApiError| Unread::Again(error.message))?;
        Ok(Some(ImportGround { project, items, shown, run_id, now }))
    }

    async fn draft(&self, import: &ItemImport, drafts: Vec<(ProposalTarget, ProposalDraft)>) -> Result<(), Unread> {
        let drafter =
            Drafter { project_id: import.project_id, run_id: import.run_id, import_id: Some(import.id.uuid()) };
        let (mut requirements, mut stories) = (Vec::new(), Vec::new());
        for (target, draft) in drafts {
            match target {
                ProposalTarget::Requirement => requirements.push(draft),
                ProposalTarget::UserStory => stories.push(draft),
            }
        }
        for (target, drafts) in [(ProposalTarget::Requirement, requirements), (ProposalTarget::UserStory, stories)] {
            for some in drafts.chunks(BATCH) {
                let (some, now) = (some.to_vec(), self.state.now());
                let inserted = self.state.db.write(move |conn| {
                    let some = some.clone();
                    Box::pin(async move { insert_drafts(conn, drafter, target, some, now).await })
                });
                inserted.await?;
            }
        }
        Ok(())
    }
}

fn failed(import: ItemImport, why: String) -> ItemImport {
    ItemImport { status: ImportStatus::Failed, report: None, error_message: Some(why), ..import }
}

/// Saves how an import ended, with its event, and publishes what it proposes; `None` if it had ended before, or is gone.
async fn end(
    conn: &mut Conn,
    import: &ItemImport,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    let project_id: Id<ids::Project> = import.project_id;
    if projects::store::find_to_change(conn, project_id).await?.is_none() || !store::end(conn, import).await? {
        return Ok(None);
    }
    if import.status == ImportStatus::Ready {
        publish_import(conn, project_id, import.id.uuid()).await?;
    }
    let data = serde_json::to_string(&ImportCompleted::from(import));
    let data = data.map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(project_id), EventKind::ImportCompleted, &data, now, request).await.map(Some)
}
