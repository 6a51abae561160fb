//! The job handler that parses documents, in a child process that may crash.
//!
//! Idempotent: a document that is READY or FAILED is left alone; one that a killed server left PROCESSING is parsed
//! again. An error in the document makes it FAILED at once; an error of the server is retried. Projects take turns.

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::events::record_event;
use super::model::{Document, DocumentStatus};
use super::store;
use crate::accounts::model::Language;
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobOutcome};
use crate::pipeline::readers::{Format, ReadDocument, Reader, UnreadableReason};
use crate::projects::state::Projects;

const KIND: &str = "read-document";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    document_id: Id<ids::Document>,
}

/// Enqueues parsing a document, to run after the transaction has committed and when it is the project's turn.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(conn: &mut Conn, document: &Document, now: Time, request: &RequestId) -> Result<(), DbError> {
    let (project, payload) = (document.project_id.to_string(), Payload { document_id: document.id });
    jobs::enqueue_in_turn(conn, KIND, &project, &payload, now, request).await.map(|_| ())
}

/// The job handler that parses documents.
pub struct ReadDocuments {
    pub state: Projects,
    pub reader: Reader,
}

#[async_trait]
impl Handler for ReadDocuments {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// As many as there are parser processes, so that turns between projects are decided only by the queue.
    fn at_once(&self) -> usize {
        self.state.config.analysis.readers
    }

    async fn run(&self, job: &Job) -> Result<(), JobError> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        let begun = self.begin(payload.document_id, job).await.map_err(|error| error.to_string())?;
        let Some(document) = begun else { return Ok(()) };
        let read = self.read(&document).await?;
        Ok(self.end(&document, read, job).await?)
    }

    /// Marks a document as FAILED when its job has failed for good: nothing would retry it.
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let payload: Result<Payload, _> = serde_json::from_str(&job.payload);
        let (JobOutcome::Failed(fault), Ok(payload)) = (outcome, payload) else { return Ok(Vec::new()) };
        tracing::error!(fault, document = %payload.document_id, "a document is given up");
        let sorry = "It could not be read because of a fault here. Delete it and upload it again.".to_owned();
        let records = keep(conn, payload.document_id, Err(sorry), now, &job.request).await?;
        Ok(records.into_iter().collect())
    }
}

impl ReadDocuments {
    /// Marks the document as PROCESSING and returns it; `None` if there is nothing to do.
    async fn begin(&self, id: Id<ids::Document>, job: &Job) -> Result<Option<Document>, DbError> {
        let (now, request) = (self.state.now(), job.request.clone());
        let begun = self.state.db.write(move |conn| {
            Box::pin(async move {
                let found = store::find_anywhere(conn, id).await?.filter(|document| document.status.is_open());
                let Some(mut document) = found else { return Ok::<_, DbError>((None, None)) };
                if document.status == DocumentStatus::Processing {
                    return Ok((Some(document), None));
                }
                document.status = DocumentStatus::Processing;
                if !store::update(conn, &document, DocumentStatus::Pending).await? {
                    return Ok((None, None));
                }
                let records = record_event(conn, &document, "document.updated", now, &request).await?;
                Ok((Some(document), Some(records)))
            })
        });
        let (document, records) = begun.await?;
        self.state.hub.publish(records.into_iter().collect());
        Ok(document)
    }

    /// Parses the document. The inner error is the reason why it cannot be read, written for the user who uploaded it;
    /// the outer error is a fault of the server.
    async fn read(&self, document: &Document) -> Result<Result<ReadDocument, String>, String> {
        let format = Format::of_mime_type(&document.mime_type).ok_or("its type is none that is read")?;
        let content = self.state.files.open(&document.sha256).await;
        let content = content.map_err(|error| format!("its content can't be read: {error}"))?;
        match self.reader.read(format, content.into_std().await).await {
            Err(unreadable) if unreadable.reason == UnreadableReason::Interrupted => Err(unreadable.message),
            read => Ok(read.map_err(|unreadable| unreadable.message)),
        }
    }

    /// Stores the outcome.
    async fn end(&self, document: &Document, read: Result<ReadDocument, String>, job: &Job) -> Result<(), String> {
        let (id, now, request) = (document.id, self.state.now(), job.request.clone());
        let ended = self.state.db.write(move |conn| Box::pin(async move { keep(conn, id, read, now, &request).await }));
        let records = ended.await.map_err(|error: DbError| error.to_string())?;
        self.state.hub.publish(records.into_iter().collect());
        Ok(())
    }
}

async fn keep(
    conn: &mut Conn,
    id: Id<ids::Document>,
    read: Result<ReadDocument, String>,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    // Deleted in the meantime, or finished by another execution of this job.
    let found = store::find_anywhere(conn, id).await?.filter(|document| document.status.is_open());
    let Some(mut document) = found else { return Ok(None) };
    let before = document.status;
    let text = match read {
        Ok(found) => {
            document.status = DocumentStatus::Ready;
            document.page_count = Some(count(found.pages)).filter(|pages| *pages > 0);
            document.character_count = Some(count(found.characters));
            if document.language == Language::Auto {
                let language = found.language.as_deref().and_then(Language::named);
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
    // Comes first, since it locks the row: a concurrent deletion waits, or has already happened.
    if !store::update(conn, &document, before).await? {
        return Ok(None);
    }
    if let Some((json, reader_version)) = text {
        store::insert_text(conn, id, json, reader_version).await?;
    }
    record_event(conn, &document, "document.updated", now, request).await.map(Some)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
