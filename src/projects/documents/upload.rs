//! The multipart body of an upload, whose file is written to disk as it arrives.

use actix_multipart::Field as Part;
use actix_web::HttpRequest;
use actors::ids::{self, Id};
use actors::language::Language;
use actors::time::Time;
use futures_util::StreamExt;
use readers::{Format, sniff};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::model::{Document, DocumentStatus, FileName};
use crate::access::policy::PathIds;
use crate::access::principal::Caller;
use crate::api::idempotency;
use crate::clients::files::Received;
use crate::http::body_stream::announced_length;
use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError, MAX_FAULTS};
use crate::http::fields::{Field, InvalidValue};
use crate::http::form::{self, small, unreadable};
use crate::http::input::{Described, Input, Raw};
use crate::http::mounted::{Mounted, Need};
use crate::http::reason::Reason;
use crate::projects::state::Projects;
use crate::quotas::model::UploadPurpose;
use crate::quotas::permit::QuotaPermit;

/// How many files are sniffed for their format at once.
static DETECTING: Semaphore = Semaphore::const_new(2);

/// A received file of a supported format.
pub struct DocumentUpload {
    pub file: Received,
    pub file_name: FileName,
    pub format: Format,
    pub language: Language,
    /// To store the file.
    pub permit: QuotaPermit,
}

impl DocumentUpload {
    /// The first version of the document that it becomes.
    #[must_use]
    pub fn document(
        &self,
        id: Id<ids::Document>,
        project_id: Id<ids::Project>,
        uploaded_by: Caller,
        now: Time,
    ) -> Document {
        Document {
            id,
            project_id,
            version: 1,
            newest_version: 1,
            file_name: self.file_name.0.clone(),
            mime_type: self.format.mime_type().to_owned(),
            size_bytes: i64::try_from(self.file.size).unwrap_or(i64::MAX),
            sha256: self.file.sha256.clone(),
            status: DocumentStatus::Pending,
            page_count: None,
            character_count: None,
            language: self.language,
            error_message: None,
            uploaded_by_id: uploaded_by.user_id,
            created_at: now,
            version_created_at: now,
        }
    }
}

impl Input for DocumentUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let mut parts = form::parts(request, body)?;
        let state = Projects::of(request)?;
        let payer = state.payer(PathIds::of(request).id("projectId")?).await?;
        let announced = announced_length(request, state.config.limits.document_bytes);
        let mut permit = state.quotas.begin(payer, UploadPurpose::Usual, announced).await?;
        let mut form = Form::default();
        while let Some(part) = parts.next().await {
            form.take(&state, part.map_err(unreadable)?, &mut permit).await?;
            // A response lists no more errors than this.
            if form.faults.len() >= MAX_FAULTS {
                return Err(ApiError::invalid(form.faults));
            }
        }
        form.upload(permit).await
    }

    fn digest(&self) -> String {
        let what = format!("{}\n{}\n{}", self.file.sha256, self.language, self.file_name.0);
        idempotency::digest(what.as_bytes())
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<Projects>()]
    }

    fn describe() -> Described {
        let file = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .description(Some(
                "PDF, DOCX, PPTX, XLSX, ODT, HTML, Markdown, text, CSV, EML, VTT or SRT, detected from the content; at \
                 most 50 MiB.",
            ));
        let form = ObjectBuilder::new()
            .description(Some("A document to read."))
            .property("file", file)
            .property("language", Language::schema())
            .required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("UploadDocument".to_owned(), form.into())),
            ..Described::default()
        }
    }
}

/// The parts of the form, read one by one; their errors are reported together at the end.
#[derive(Default)]
struct Form {
    file: Option<(Received, Option<FileName>)>,
    language: Option<Language>,
    seen: Vec<String>,
    faults: Vec<FieldError>,
}

impl Form {
    async fn take(&mut self, state: &Projects, part: Part, permit: &mut QuotaPermit) -> Result<(), ApiError> {
        let name = part.name().unwrap_or_default().to_owned();
        if self.seen.contains(&name) {
            self.fault(&name, InvalidValue::of(Reason::Repeated, Reason::Repeated.sentence()));
            return small(part).await.map(|_| ());
        }
        self.seen.push(name.clone());
        match name.as_str() {
            "file" => {
                let file_name = form::name_of(&part).map_or_else(
                    || Err(InvalidValue::of(Reason::Required, "The file needs a name.")),
                    |given| FileName::of(&given),
                );
                let file_name = file_name.map_err(|wrong| self.fault("file", wrong)).ok();
                let most = state.config.limits.document_bytes;
                let incoming = state.files.receive().await.map_err(|error| ApiError::of_write(&error))?;
                self.file = Some((form::file(part, incoming, most, permit).await?, file_name));
            }
            "language" => {
                let given = String::from_utf8_lossy(&small(part).await?).into_owned();
                self.language =
                    Language::parse(&Value::String(given)).map_err(|wrong| self.fault("language", wrong)).ok();
            }
            _ => {
                self.fault(&name, InvalidValue::of(Reason::UnknownKey, "This part of the form is unknown."));
                small(part).await?;
            }
        }
        Ok(())
    }

    fn fault(&mut self, part: &str, wrong: InvalidValue) {
        self.faults.push(FieldError::value(wrong.reason, Some(part.to_owned()), wrong.message));
    }

    /// Checks the form as a whole. An unsupported format (415) takes precedence over invalid fields (422).
    async fn upload(mut self, permit: QuotaPermit) -> Result<DocumentUpload, ApiError> {
        let Some((file, file_name)) = self.file.take() else {
            self.fault("file", InvalidValue::of(Reason::Required, Reason::Required.sentence()));
            return Err(ApiError::invalid(self.faults));
        };
        let Some(file_name) = file_name else { return Err(ApiError::invalid(self.faults)) };
        let format = detect_format(&file, &file_name.0).await?;
        if !self.faults.is_empty() {
            return Err(ApiError::invalid(self.faults));
        }
        let language = self.language.unwrap_or(Language::Auto);
        Ok(DocumentUpload { file, file_name, format, language, permit })
    }
}

/// Detects the format from the content.
///
/// # Errors
/// 415 if it is not supported, or the name claims another one; 503 if the file can't be read.
pub async fn detect_format(file: &Received, file_name: &str) -> Result<Format, ApiError> {
    let _permit = DETECTING.acquire().await.map_err(ApiError::internal)?;
    let content = file.open().await.map_err(ApiError::unavailable)?.into_std().await;
    let name = file_name.to_owned();
    let format = spawn_blocking(move || sniff(&name, content)).await.map_err(ApiError::internal)?;
    format
        .map_err(ApiError::unavailable)?
        .map_err(|unsupported| ApiError::with_message(Code::UNSUPPORTED_MEDIA_TYPE, unsupported.message))
}
