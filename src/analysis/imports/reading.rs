//! The job that has the file of an import read and proposes what it would change.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::exchange::{GroundHead, GroundItem, write_line};
use super::model::{ImportCompleted, ImportReport, ImportStatus, ItemImport};
use super::planner::{ImportPlanner, PlannedImport, Unplanned};
use super::store::{self, StoredImport};
use crate::analysis::items::store::spooling::items_bytes;
use crate::analysis::items::store::{self as items, Item};
use crate::analysis::large_reads::memory::{MAX_PARSED_BYTES, ReservedMemory};
use crate::analysis::proposals::store::drafts::{Drafter, forget_page_of_import, insert_drafts, publish_import};
use crate::analysis::state::Analysis;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError, events};
use crate::jobs::{Handler, Job, JobError, JobOutcome, JobPayload, Turns};
use crate::projects;
use crate::projects::events::topic;
use crate::projects::item_kind::ItemKind;

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
    pub planner: ImportPlanner,
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

    /// Each has a process of its own, which holds a file and all items of a project in memory.
    fn concurrency(&self) -> usize {
        1
    }

    /// The largest file that is accepted is read within a minute.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }

    async fn run(&self, job: &Job, ReadImport { import_id }: ReadImport) -> Result<(), JobError> {
        let found = self.state.db.read(move |conn| Box::pin(store::find(conn, import_id))).await;
        let found = found?;
        let Some(StoredImport { import, sha256: Some(sha256), .. }) = found else { return Ok(()) };
        let ended = match self.propose(&import, &sha256).await {
            Ok(None) => return Ok(()),
            Ok(Some(report)) => ItemImport { status: ImportStatus::Ready, report: Some(report), ..import },
            Err(Unread::Again(why)) => return Err(JobError::Again(why)),
            Err(Unread::ForGood(why)) => failed(import, why),
        };
        let (request, now) = (job.request.clone(), self.state.now());
        let saved = self.state.db.write(move |conn| {
            let (ended, request) = (ended.clone(), request.clone());
            Box::pin(async move { end(conn, &ended, now, &request).await })
        });
        let record = saved.await?;
        self.state.hub.publish(record.into_iter().collect());
        self.state.imports.ended.wake(import_id);
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

impl From<Unplanned> for Unread {
    fn from(unplanned: Unplanned) -> Self {
        match unplanned {
            Unplanned::Refused(why) => Self::ForGood(why),
            Unplanned::Interrupted(why) => Self::Again(why),
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Again(error.to_string())
    }
}

impl ReadImportHandler {
    /// Has the file read and writes the drafts of what it would change; `None` if the project is gone.
    async fn propose(&self, import: &ItemImport, sha256: &str) -> Result<Option<ImportReport>, Unread> {
        let folder = self.state.config.server.data.clone();
        let memory = self.memory(import).await?;
        let Some(input) = self.input(import, sha256, folder.clone()).await? else { return Ok(None) };
        // From here on the child has it all.
        drop(memory);
        let planned = self.planner.plan(import.format, input, tempfile::tempfile_in(folder)?).await?;
        // Those of a try that was cut off.
        let id = import.id.uuid();
        let stopping = self.state.tasks.stopping();
        in_pages(&self.state.db, &stopping, move |conn| Box::pin(forget_page_of_import(conn, id, PAGE))).await?;
        if stopping.is_cancelled() {
            return Err(Unread::Again("the server is stopping".to_owned()));
        }
        self.draft(import, planned).await.map(Some)
    }

    /// Reserves memory for the project's items, before they are read.
    async fn memory(&self, import: &ItemImport) -> Result<ReservedMemory, Unread> {
        let project_id = import.project_id;
        let bytes = self.state.db.read(move |conn| Box::pin(items_bytes(conn, project_id))).await?;
        if bytes > MAX_PARSED_BYTES {
            let why =
                "The items of the project are too large to be compared with a file. Shorten the largest ones first.";
            return Err(Unread::ForGood(why.to_owned()));
        }
        Ok(self.state.large_reads.memory.for_parsed_by_job(project_id, bytes).await)
    }

    /// What the child reads: what the file is compared with, and the file. It has no name, so that nothing of it is left by a server
    /// that is killed. Items are read page by page: what changes meanwhile is found when a proposal is accepted, as any later change.
    async fn input(&self, import: &ItemImport, sha256: &str, folder: PathBuf) -> Result<Option<File>, Unread> {
        let (project_id, run_id, now) = (import.project_id, import.run_id, self.state.now());
        let begun = self.state.db.read(move |conn| {
            Box::pin(async move {
                if projects::store::find(conn, project_id).await?.is_none() {
                    return Ok(None);
                }
                let mut ground = BufWriter::new(tempfile::tempfile_in(folder).map_err(unwritten)?);
                write_line(&mut ground, &GroundHead { run_id, now }).map_err(unwritten)?;
                Ok::<_, DbError>(Some(ground))
            })
        });
        let Some(mut ground) = begun.await? else { return Ok(None) };
        for kind in [ItemKind::Requirement, ItemKind::UserStory] {
            let mut after = Some(0);
            while let Some(number) = after {
                let read = self.state.db.read(move |conn| Box::pin(items::after(conn, project_id, kind, number, PAGE)));
                let page: Vec<Item> = read.await?;
                after = page.last().map(|last| last.number);
                let written = spawn_blocking(move || {
                    for Item { text_key, body, .. } in page {
                        let item: GroundItem = (kind, text_key, body);
                        write_line(&mut ground, &item)?;
                    }
                    Ok::<_, io::Error>(ground)
                });
                ground = written.await.map_err(|error| Unread::Again(error.to_string()))??;
            }
        }
        let mut file = self.state.imports.files.open(sha256).await?.into_std().await;
        let appended = spawn_blocking(move || {
            ground.write_all(b"\n")?;
            let mut input = ground.into_inner().map_err(io::IntoInnerError::into_error)?;
            io::copy(&mut file, &mut input)?;
            input.rewind()?;
            Ok::<_, io::Error>(input)
        });
        Ok(Some(appended.await.map_err(|error| Unread::Again(error.to_string()))??))
    }

    /// Writes the proposals, some at a time; returns what is reported.
    async fn draft(&self, import: &ItemImport, mut planned: PlannedImport) -> Result<ImportReport, Unread> {
        let drafter =
            Drafter { project_id: import.project_id, run_id: import.run_id, import_id: Some(import.id.uuid()) };
        loop {
            let read = spawn_blocking(move || planned.next_drafts().map(|drafts| (drafts, planned)));
            let read = read.await.map_err(|error| Unread::Again(error.to_string()))?;
            let (drafts, rest) = read.map_err(Unread::Again)?;
            planned = rest;
            if drafts.is_empty() {
                return Ok(planned.report);
            }
            let now = self.state.now();
            for target in [ItemKind::Requirement, ItemKind::UserStory] {
                let of_target = drafts.iter().filter(|(of, _)| *of == target);
                let some: Vec<_> = of_target.map(|(_, draft)| draft.clone()).collect();
                if some.is_empty() {
                    continue;
                }
                let inserted = self.state.db.write(move |conn| {
                    let some = some.clone();
                    Box::pin(async move { insert_drafts(conn, drafter, target, some, now).await })
                });
                inserted.await?;
            }
        }
    }
}

fn unwritten(error: io::Error) -> DbError {
    DbError::Broken(format!("what an import is compared with can't be written down: {error}"))
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
