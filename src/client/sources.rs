//! Documents of a project: uploaded, and waited for.

use std::time::{Duration, Instant};

use super::answer::Document;
use super::caller::Caller;

/// A document of the largest size takes half a minute to read.
const READING: Duration = Duration::from_secs(120);

/// A file that is to be uploaded.
pub struct File {
    pub name: String,
    pub content: Vec<u8>,
}

/// The samples, in the order in which a project would get them.
pub fn samples() -> Vec<File> {
    macro_rules! sample {
        ($name:literal) => {
            File { name: $name.to_owned(), content: include_bytes!(concat!("../../tests/samples/", $name)).to_vec() }
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

/// # Errors
/// In words; a type that is not read is refused.
pub async fn upload(caller: &Caller, project_id: &str, file: File) -> Result<Document, String> {
    caller.upload(&format!("/api/projects/{project_id}/documents"), &file.name, file.content).await
}

/// Waits until a document is READY or FAILED.
///
/// # Errors
/// In words.
pub async fn read(caller: &Caller, project_id: &str, document_id: &str) -> Result<Document, String> {
    let began = Instant::now();
    loop {
        let document: Document = caller.get(&format!("/api/projects/{project_id}/documents/{document_id}")).await?;
        if matches!(document.status.as_str(), "READY" | "FAILED") {
            return Ok(document);
        }
        if began.elapsed() > READING {
            return Err(format!("{} is not read after {} s.", document.file_name, READING.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
