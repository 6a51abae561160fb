//! Uploads documents to a project and waits until they are read.

use std::time::{Duration, Instant};

use super::answer::DocumentAnswer;
use super::caller::ApiClient;

/// How long to wait for a document. One of the largest size takes half a minute to read.
const READING: Duration = Duration::from_secs(120);

/// A file to upload.
pub struct SampleFile {
    pub name: String,
    pub content: Vec<u8>,
}

/// Returns the sample documents, in the order of upload.
pub fn samples() -> Vec<SampleFile> {
    macro_rules! sample {
        ($name:literal) => {
            SampleFile {
                name: $name.to_owned(),
                content: include_bytes!(concat!("../../tests/samples/", $name)).to_vec(),
            }
        };
    }
    vec![
        sample!("call-for-tenders.pdf"),
        sample!("call-for-tenders.docx"),
        sample!("annex-operations.pdf"),
        sample!("discovery-meeting.vtt"),
        sample!("product-note.md"),
    ]
}

/// Uploads a document.
///
/// # Errors
/// Returns a message; the server refuses unsupported types.
pub async fn upload(caller: &ApiClient, project_id: &str, file: SampleFile) -> Result<DocumentAnswer, String> {
    caller.upload(&format!("/api/projects/{project_id}/documents"), &file.name, file.content).await
}

/// Waits until a document is READY or FAILED.
///
/// # Errors
/// Returns a message if a call fails or the document takes longer than `READING`.
pub async fn read(caller: &ApiClient, project_id: &str, document_id: &str) -> Result<DocumentAnswer, String> {
    let began = Instant::now();
    loop {
        let document: DocumentAnswer =
            caller.get(&format!("/api/projects/{project_id}/documents/{document_id}")).await?;
        if matches!(document.status.as_str(), "READY" | "FAILED") {
            return Ok(document);
        }
        if began.elapsed() > READING {
            return Err(format!("{} was not read within {} s.", document.file_name, READING.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
