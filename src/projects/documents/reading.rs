//! The job handler that parses documents, in a child process that may crash.
//!
//! Idempotent: a document that is READY or FAILED is left alone; one that a killed server left PROCESSING is parsed
//! again. An error in the document makes it FAILED at once; an error of the server is retried. Projects take turns.

use std::io;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::language::Language;
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;
use readers::{Format, ReadDocument, Reader, UnreadableReason};
use serde::{Deserialize, Serialize};

use super::events::record_event;
use super::model::{Document, DocumentStatus};
use super::store as documents;
use super::versions::store;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;
use crate::jobs::{self, Handler, Job, JobError, JobOutcome, JobPayload, Turns};
use crate::projects::state::Projects;
use crate::quotas::model::UploadPurpose;
use crate::quotas::permit::QuotaPermit;

/// Why a document is not read whose stored file was changed, as a sentence for the user who uploaded it.
const CHANGED: &str = "The stored file was changed after it was uploaded. Upload the document again.";

/// Why a document is not read for whose text the disk has no room, as a sentence for the user who uploaded it.
const NO_STORAGE: &str = "There is no room for its text: the server is short of storage. Upload it again later.";

/// Parses a version of a document.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParseDocument {
    document_id: Id<ids::Document>,
    /// Missing in jobs of before there were versions.
    #[serde(default = "first_version")]
    version: i64,
}

const fn first_version() -> i64 {
    1
}

impl JobPayload for ParseDocument {
    const KIND: &'static str = "read-document";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues parsing a version of a document, to run after the transaction has committed and when it is the project's turn.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(conn: &mut Conn, document: &Document, now: Time, request: &RequestId) -> Result<(), DbError> {
    let project = document.project_id.to_string();
    let payload = ParseDocument { document_id: document.id, version: document.version };
    jobs::enqueue_in_turn(conn, &project, &payload, now, request).await.map(|_| ())
}

/// Runs [`ParseDocument`].
pub struct ParseDocumentHandler {
    pub state: Projects,
    pub reader: Reader,
}

#[async_trait]
impl Handler for ParseDocumentHandler {
    type Payload = ParseDocument;

    /// As many as there are parser processes, so that turns between projects are decided only by the queue.
    fn concurrency(&self) -> usize {
        self.state.config.analysis.readers
    }

    /// The process that parses has limits of its own, and a text is saved in seconds.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, job: &Job, payload: ParseDocument) -> Result<(), JobError> {
        let started = self.begin(&payload, job).await?;
        let Some(document) = started else { return Ok(()) };
        let read = self.read(&document).await?;
        let (read, permit) = self.permitted(&document, read, job).await?;
        self.end(payload, read, job).await?;
        drop(permit);
        Ok(())
    }

    /// Marks a document as FAILED when its job has failed for good: nothing would retry it.
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<ParseDocument>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let (JobOutcome::Failed(fault), Some(payload)) = (outcome, payload) else { return Ok(Vec::new()) };
        tracing::error!(
            fault,
            document = %payload.document_id,
            "the document could not be read and is marked as failed"
        );
        let message = "The document could not be read because of an internal error. Upload it again.".to_owned();
        let record = save_outcome(conn, &payload, Err(message), now, &job.request).await?;
        Ok(record.into_iter().collect())
    }
}

impl ParseDocumentHandler {
    /// Marks the version as PROCESSING and returns it; `None` if there is nothing to do.
    async fn begin(&self, payload: &ParseDocument, job: &Job) -> Result<Option<Document>, DbError> {
        let (now, request) = (self.state.now(), job.request.clone());
        let ParseDocument { document_id: id, version } = *payload;
        let started = self.state.db.write(move |conn| {
            Box::pin(async move {
                let found = store::find(conn, id, version).await?.filter(|document| document.status.is_open());
                let Some(mut document) = found else { return Ok::<_, DbError>((None, None)) };
                if document.status == DocumentStatus::Processing {
                    return Ok((Some(document), None));
                }
                document.status = DocumentStatus::Processing;
                if !store::update(conn, &document, DocumentStatus::Pending).await? {
                    return Ok((None, None));
                }
                let record = record_update(conn, id, now, &request).await?;
                Ok((Some(document), record))
            })
        });
        let (document, record) = started.await?;
        self.state.hub.publish(record.into_iter().collect());
        Ok(document)
    }

    /// Parses the document. The inner error is the reason why it cannot be read, written for the user who uploaded it;
    /// the outer error is a fault of the server.
    async fn read(&self, document: &Document) -> Result<Result<ReadDocument, String>, String> {
        let format = Format::of_mime_type(&document.mime_type).ok_or("its type is not supported")?;
        let content = match self.state.files.open(&document.sha256).await {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::error!(document = %document.id, %error, "a stored document was changed");
                return Ok(Err(CHANGED.to_owned()));
            }
            Err(error) => return Err(format!("its content can't be read: {error}")),
        };
        match self.reader.read(format, content.into_std().await).await {
            Err(unreadable) if unreadable.reason == UnreadableReason::Interrupted => Err(unreadable.message),
            read => Ok(read.map_err(|unreadable| unreadable.message)),
        }
    }

    /// Asks for room for the text. A document whose text has none within the quotas is not readable; a disk that is nearly
    /// full is waited for until the last attempt.
    async fn permitted(
        &self,
        document: &Document,
        read: Result<ReadDocument, String>,
        job: &Job,
    ) -> Result<(Result<ReadDocument, String>, Option<QuotaPermit>), String> {
        let Ok(found) = read else { return Ok((read, None)) };
        let permit = async {
            let payer = self.state.payer(document.project_id).await?;
            let bytes = found.json.len() as u64;
            let mut permit = self.state.quotas.begin(payer, UploadPurpose::Usual, Some(bytes)).await?;
            permit.cover(bytes).await?;
            Ok::<_, ApiError>(permit)
        };
        match permit.await {
            Ok(permit) => Ok((Ok(found), Some(permit))),
            Err(full) if full.code == Code::QUOTA_EXCEEDED => {
                Ok((Err(format!("There is no room for its text. {} Then upload it again.", full.message)), None))
            }
            Err(full) if full.code == Code::STORAGE_FULL && job.is_last_attempt() => {
                Ok((Err(NO_STORAGE.to_owned()), None))
            }
            // The project was deleted meanwhile.
            Err(gone) if gone.code == Code::NOT_FOUND => Ok((Ok(found), None)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Stores the outcome.
    async fn end(&self, payload: ParseDocument, read: Result<ReadDocument, String>, job: &Job) -> Result<(), String> {
        let (now, request) = (self.state.now(), job.request.clone());
        let ended = self
            .state
            .db
            .write(move |conn| Box::pin(async move { save_outcome(conn, &payload, read, now, &request).await }));
        let record = ended.await?;
        self.state.hub.publish(record.into_iter().collect());
        Ok(())
    }
}

async fn save_outcome(
    conn: &mut Conn,
    &ParseDocument { document_id: id, version }: &ParseDocument,
    read: Result<ReadDocument, String>,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    // Comes first, since it locks the row: a concurrent deletion waits, or has already happened.
    let Some(present) = store::find_to_change(conn, id).await? else { return Ok(None) };
    // Finished by another execution of this job.
    let found = store::find(conn, id, version).await?.filter(|document| document.status.is_open());
    let Some(mut document) = found else { return Ok(None) };
    let before = document.status;
    let text = match read {
        Ok(found) => {
            document.status = DocumentStatus::Ready;
            document.page_count = Some(count(found.pages)).filter(|pages| *pages > 0);
            document.character_count = Some(count(found.characters));
            if document.language == Language::Auto {
                let language = found.language.as_deref().and_then(|language| language.parse().ok());
                document.language = language.unwrap_or(Language::Auto);
            }
            Some((found.json, found.reader_version))
        }
        Err(reason) => {
            document.status = DocumentStatus::Failed;
            document.error_message = Some(reason);
            None
        }
    };
    if !store::update(conn, &document, before).await? {
        return Ok(None);
    }
    if let Some((json, reader_version)) = text {
        store::insert_text(conn, &present, &document, json, reader_version).await?;
    }
    record_update(conn, id, now, request).await
}

/// Tells of a document as it is now, whichever version of it has changed.
async fn record_update(
    conn: &mut Conn,
    id: Id<ids::Document>,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    let Some(present) = documents::find_anywhere(conn, id).await? else { return Ok(None) };
    record_event(conn, &present, EventKind::DocumentUpdated, now, request).await.map(Some)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
