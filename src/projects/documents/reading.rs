//! LATER: reading a document, in a child process that may crash.
//!
//! Safe to repeat: a document that is READY or FAILED is left alone, one that a killed server left PROCESSING is read
//! anew. What is wrong with the document makes it FAILED at once; what is wrong with us is tried again. Projects are read in
//! turns.

use actors::ids::{self, Id};
use actors::live::{RequestId, Told};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::events::tell;
use super::model::{Document, DocumentStatus};
use super::store;
use crate::accounts::model::Language;
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job, Outcome};
use crate::pipeline::readers::{Format, ReadDocument, Reader, Reason};
use crate::projects::state::Projects;

const KIND: &str = "read-document";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    document_id: Id<ids::Document>,
}

/// Has a document read once the transaction stands, in its project's turn.
///
/// # Errors
/// The database's own.
pub async fn enqueue(conn: &mut Conn, document: &Document, now: Time, request: &RequestId) -> Result<(), Failed> {
    let (project, payload) = (document.project_id.to_string(), Payload { document_id: document.id });
    jobs::enqueue_in_turn(conn, KIND, &project, &payload, now, request).await.map(|_| ())
}

/// Reads documents.
pub struct Reading {
    pub state: Projects,
    pub reader: Reader,
}

#[async_trait]
impl Handler for Reading {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// As many as the reader has places: whose turn it is, is decided here and nowhere after.
    fn at_once(&self) -> usize {
        self.state.config.analysis.readers
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        let begun = self.begin(payload.document_id, job).await.map_err(|error| error.to_string())?;
        let Some(document) = begun else { return Ok(()) };
        let read = self.read(&document).await?;
        Ok(self.end(&document, read, job).await?)
    }

    /// A document whose job is given up is FAILED with it: nobody would come back to it.
    async fn ended(&self, conn: &mut Conn, job: &Job, outcome: Outcome<'_>, now: Time) -> Result<Vec<Told>, Failed> {
        let payload: Result<Payload, _> = serde_json::from_str(&job.payload);
        let (Outcome::Failed(fault), Ok(payload)) = (outcome, payload) else { return Ok(Vec::new()) };
        tracing::error!(fault, document = %payload.document_id, "a document is given up");
        let sorry = "It could not be read because of a fault here. Delete it and upload it again.".to_owned();
        let told = keep(conn, payload.document_id, Err(sorry), now, &job.request).await?;
        Ok(told.into_iter().collect())
    }
}

impl Reading {
    /// The document, now PROCESSING; `None`: there is nothing to do.
    async fn begin(&self, id: Id<ids::Document>, job: &Job) -> Result<Option<Document>, Failed> {
        let (now, request) = (self.state.now(), job.request.clone());
        let begun = self.state.db.write(move |conn| {
            Box::pin(async move {
                let found = store::find_anywhere(conn, id).await?.filter(|document| document.status.is_open());
                let Some(mut document) = found else { return Ok::<_, Failed>((None, None)) };
                if document.status == DocumentStatus::Processing {
                    return Ok((Some(document), None));
                }
                document.status = DocumentStatus::Processing;
                if !store::update(conn, &document, DocumentStatus::Pending).await? {
                    return Ok((None, None));
                }
                let told = tell(conn, &document, "document.updated", now, &request).await?;
                Ok((Some(document), Some(told)))
            })
        });
        let (document, told) = begun.await?;
        self.state.hub.tell(told.into_iter().collect());
        Ok(document)
    }

    /// What is in the document, or why it can't be read, for whoever uploaded it. An error is a fault of ours.
    async fn read(&self, document: &Document) -> Result<Result<ReadDocument, String>, String> {
        let format = Format::of_mime_type(&document.mime_type).ok_or("its type is none that is read")?;
        let content = self.state.files.open(&document.sha256).await;
        let content = content.map_err(|error| format!("its content can't be read: {error}"))?;
        match self.reader.read(format, content.into_std().await).await {
            Err(unreadable) if unreadable.reason == Reason::Interrupted => Err(unreadable.message),
            read => Ok(read.map_err(|unreadable| unreadable.message)),
        }
    }

    /// Keeps what came of it.
    async fn end(&self, document: &Document, read: Result<ReadDocument, String>, job: &Job) -> Result<(), String> {
        let (id, now, request) = (document.id, self.state.now(), job.request.clone());
        let ended = self.state.db.write(move |conn| Box::pin(async move { keep(conn, id, read, now, &request).await }));
        let told = ended.await.map_err(|error: Failed| error.to_string())?;
        self.state.hub.tell(told.into_iter().collect());
        Ok(())
    }
}

async fn keep(
    conn: &mut Conn,
    id: Id<ids::Document>,
    read: Result<ReadDocument, String>,
    now: Time,
    request: &RequestId,
) -> Result<Option<Told>, Failed> {
    // Deleted meanwhile, or ended by another run of this job.
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
    // First, since it holds the row: a deletion waits, or was there before.
    if !store::update(conn, &document, before).await? {
        return Ok(None);
    }
    if let Some((json, reader_version)) = text {
        store::insert_text(conn, id, json, reader_version).await?;
    }
    tell(conn, &document, "document.updated", now, request).await.map(Some)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
