//! The inputs of the operations that start a job. A body is written to disk as it arrives, and nothing of it is kept
//! unless it becomes a job.

use std::io::BufReader;

use actix_multipart::Field as Part;
use actix_web::{HttpMessage, HttpRequest};
use actors::ids::{AiJob, Id};
use actors::language::Language;
use actors::run::AnalysisType;
use futures_util::StreamExt;
use pipeline::SourceKind;
use pipeline::glossary::{GlossaryEntry, MAX_ENTRIES, MAX_SPELLINGS};
use readers::sniff;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::folder::{IncomingFolder, source_name};
use super::json_sources::{self, MAX_SOURCES, PipelineSource, check_name};
use super::model::{JobRequest, JobSource, SourceContent};
use super::state::PipelineJobs;
use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError};
use crate::http::fields::{Field, Fields, InvalidValue, Rejected, line, text};
use crate::http::form::{self, small, unreadable};
use crate::http::input::{Described, Input, Raw, object};
use crate::http::mounted::{Mounted, Need};
use crate::http::pace::is_too_slow;
use crate::http::reason::Reason;

/// The name of a body's file while it is read.
const BODY: &str = "body";

/// A request that was received as a whole.
pub struct ReceivedRequest {
    pub job_id: Id<AiJob>,
    /// SHA-256 over what is to be done.
    pub digest: String,
    pub folder: IncomingFolder,
    _permit: OwnedSemaphorePermit,
}

/// The description of the JSON body.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used: the body is read source by source")]
struct PipelineProcessJson {
    /// Chosen by the caller. The same request with the same id is the same job.
    job_id: Id<AiJob>,
    language: Option<Language>,
    analysis_type: AnalysisType,
    /// How the project names things. It tells no jobs apart: a job keeps the one that it was first sent with.
    #[schema(max_items = 1000)]
    glossary: Option<Vec<PipelineTerm>>,
    /// The texts to analyse.
    #[schema(min_items = 1, max_items = 500)]
    sources: Vec<PipelineSource>,
}

/// A source of a form, whose text is a file.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct PipelineFileSource {
    /// The caller's own id of the source. Results refer to it.
    #[schema(value_type = String, min_length = 1, max_length = 300)]
    id: SourceName,
    kind: SourceKind,
    /// The file name of the part that has its content.
    #[schema(value_type = String, min_length = 1, max_length = 300)]
    name: SourceName,
}

/// The part `request` of a form.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct PipelineProcessFilesRequest {
    job_id: Id<AiJob>,
    language: Option<Language>,
    analysis_type: AnalysisType,
    /// How the project names things. It tells no jobs apart: a job keeps the one that it was first sent with. This
    /// part of the form has at most 64 KiB; a larger glossary goes with the texts as JSON.
    #[schema(max_items = 1000)]
    glossary: Option<Vec<PipelineTerm>>,
    /// One for each file, in the same order.
    #[schema(min_items = 1, max_items = 500)]
    sources: Vec<PipelineFileSource>,
}

impl crate::http::enumeration::Enumeration for SourceKind {}

/// A JSON body with the texts of the sources.
pub struct ProcessJson(pub ReceivedRequest);

/// A form with the sources as files.
pub struct ProcessFiles(pub ReceivedRequest);

/// What a job is to do, except for its sources.
struct JobTask {
    job_id: Id<AiJob>,
    analysis_type: AnalysisType,
    language: Language,
    glossary: Vec<GlossaryEntry>,
}

impl JobTask {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let (job_id, language) = (fields.required("jobId"), fields.optional("language"));
        let (analysis_type, glossary) = (fields.required("analysisType"), glossary_of(fields));
        let language = language?.unwrap_or(Language::Auto);
        Ok(Self { job_id: job_id?, language, analysis_type: analysis_type?, glossary: glossary? })
    }

    fn request(self, sources: Vec<JobSource>) -> (Id<AiJob>, JobRequest) {
        let Self { job_id, analysis_type, language, glossary } = self;
        (job_id, JobRequest { analysis_type, language, glossary, sources })
    }
}

/// A term or a spelling: 1–100 characters in one line.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 100, pattern = "^[^\\u0000-\\u001F\\u007F-\\u009F]*$", example = "OAuth")]
struct TermName(String);

impl Field for TermName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 100).map(Self)
    }
}

/// What a term means: at most 1,000 characters.
#[derive(ToSchema)]
#[schema(max_length = 1000)]
struct TermMeaning(String);

impl Field for TermMeaning {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, 1000).map(Self)
    }
}

/// The description of a term of the caller's project.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct PipelineTerm {
    term: TermName,
    definition: Option<TermMeaning>,
    /// What the term is mistaken for.
    #[schema(max_items = 20)]
    spellings: Option<Vec<TermName>>,
}

fn glossary_of(fields: &mut Fields) -> Result<Vec<GlossaryEntry>, Rejected> {
    let entries = fields.optional_objects("glossary", 0..=MAX_ENTRIES, |entry| {
        let (term, definition) = (entry.required::<TermName>("term"), entry.optional::<TermMeaning>("definition"));
        let spellings = entry.values::<TermName>("spellings", MAX_SPELLINGS, |_| Ok(()));
        let spellings = spellings?.into_iter().map(|spelling| spelling.0).collect();
        Ok(GlossaryEntry { term: term?.0, definition: definition?.map(|meaning| meaning.0), spellings })
    });
    entries.map(Option::unwrap_or_default)
}

fn permit(state: &PipelineJobs) -> Result<OwnedSemaphorePermit, ApiError> {
    std::sync::Arc::clone(&state.intakes)
        .try_acquire_owned()
        .map_err(|_| ApiError::unavailable("as many requests are being received as are at once"))
}

async fn receive(state: &PipelineJobs) -> Result<IncomingFolder, ApiError> {
    state.table.on_disk(|folder| folder.receive()).await.map_err(ApiError::unavailable)
}

/// Hashes what is to be done: the request, and the bytes of each source.
#[derive(Default)]
struct RequestDigest(Sha256);

impl RequestDigest {
    fn source(&mut self, bytes: &[u8]) {
        self.0.update(Sha256::digest(bytes));
    }

    fn hash(&mut self, sha256: &[u8]) {
        self.0.update(sha256);
    }

    fn finish(mut self, request: &JobRequest) -> Result<String, ApiError> {
        // The glossary may have changed when a server sends a run's request again.
        let compared = JobRequest { glossary: Vec::new(), ..request.clone() };
        self.0.update(serde_json::to_vec(&compared).map_err(ApiError::internal)?);
        Ok(hex::encode(self.0.finalize()))
    }
}

/// # Errors
/// 422 without a source, or with two of one id.
fn check_sources(sources: &[JobSource]) -> Result<(), ApiError> {
    if sources.is_empty() {
        return Err(ApiError::field("sources", Reason::TooShort, "At least one source is needed."));
    }
    let mut seen = std::collections::HashSet::new();
    match sources.iter().position(|source| !seen.insert(source.id.as_str())) {
        Some(place) => {
            Err(ApiError::field(&format!("sources[{place}].id"), Reason::Repeated, Reason::Repeated.sentence()))
        }
        None => Ok(()),
    }
}

impl Input for ProcessJson {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        if !request.content_type().eq_ignore_ascii_case("application/json") {
            return Err(ApiError::with_message(Code::BAD_REQUEST, "Send the body as application/json."));
        }
        let state = PipelineJobs::of(request)?;
        let permit = permit(&state)?;
        let folder = receive(&state).await?;
        let folder = spool(body, folder, state.job_bytes).await?;
        let _one_at_a_time = state.readings.acquire().await.map_err(ApiError::internal)?;
        let read = spawn_blocking(move || read_json(folder)).await.map_err(ApiError::internal)?;
        let (job_id, digest, folder) = read?;
        Ok(Self(ReceivedRequest { job_id, digest, folder, _permit: permit }))
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<PipelineJobs>()]
    }

    fn describe() -> Described {
        let mut components = Vec::new();
        PipelineProcessJson::schemas(&mut components);
        Described {
            content_type: "application/json",
            schema: Some((PipelineProcessJson::name().into_owned(), PipelineProcessJson::schema())),
            components,
            ..Described::default()
        }
    }
}

/// Writes a body to the folder.
async fn spool(body: Raw, folder: IncomingFolder, most: u64) -> Result<IncomingFolder, ApiError> {
    let mut file = tokio::fs::File::from_std(folder.create(BODY).map_err(ApiError::unavailable)?);
    let mut payload = match body {
        Raw::Stream(payload, _) => payload,
        Raw::Bytes(_) => return Err(ApiError::internal("the body was buffered")),
    };
    let mut size = 0_u64;
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            let code = if is_too_slow(&error) { Code::REQUEST_TIMEOUT } else { Code::BAD_REQUEST };
            ApiError { cause: Some(error.to_string().into()), ..ApiError::of(code) }
        })?;
        size += chunk.len() as u64;
        if size > most {
            return Err(too_large(most));
        }
        tokio::io::AsyncWriteExt::write_all(&mut file, &chunk).await.map_err(ApiError::unavailable)?;
    }
    tokio::io::AsyncWriteExt::flush(&mut file).await.map_err(ApiError::unavailable)?;
    Ok(folder)
}

fn too_large(most: u64) -> ApiError {
    ApiError::with_message(Code::PAYLOAD_TOO_LARGE, format!("At most {most} bytes are allowed here."))
}

fn read_json(folder: IncomingFolder) -> Result<(Id<AiJob>, String, IncomingFolder), ApiError> {
    let body = BufReader::new(folder.open(BODY).map_err(ApiError::unavailable)?);
    let mut digest = RequestDigest::default();
    let read = json_sources::read(body, &mut |place, content, bytes| {
        digest.source(bytes);
        folder.save_source(place, content, bytes)
    })?;
    let is_there = read.sources.is_some();
    let mut fields = Fields::of(read.values);
    let task = JobTask::read(&mut fields);
    let task =
        if is_there { task } else { Err(fields.fault("sources", Reason::Required, Reason::Required.sentence())) };
    let sources = read.sources.unwrap_or_default();
    let (job_id, request) = fields.done(task)?.request(sources);
    check_sources(&request.sources)?;
    let digest = digest.finish(&request)?;
    folder.remove(BODY).and_then(|()| folder.save_request(&request)).map_err(ApiError::unavailable)?;
    Ok((job_id, digest, folder))
}

impl Input for ProcessFiles {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let mut parts = form::parts(request, body)?;
        let state = PipelineJobs::of(request)?;
        let permit = permit(&state)?;
        let mut form = FilesForm { folder: receive(&state).await?, request: None, files: Vec::new(), bytes: 0 };
        while let Some(part) = parts.next().await {
            form.take(&state, part.map_err(unreadable)?).await?;
        }
        let read = spawn_blocking(move || form.finish()).await.map_err(ApiError::internal)?;
        let (job_id, digest, folder) = read?;
        Ok(Self(ReceivedRequest { job_id, digest, folder, _permit: permit }))
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<PipelineJobs>()]
    }

    fn describe() -> Described {
        let mut components =
            vec![(PipelineProcessFilesRequest::name().into_owned(), PipelineProcessFilesRequest::schema())];
        PipelineProcessFilesRequest::schemas(&mut components);
        let file = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .description(Some(
                "PDF, DOCX, PPTX, XLSX, ODT, HTML, Markdown, text, CSV, EML, VTT or SRT, detected from the content.",
            ));
        let request: RefOr<Schema> = Ref::from_schema_name(PipelineProcessFilesRequest::name()).into();
        let files = ArrayBuilder::new()
            .items(file)
            .max_items(Some(MAX_SOURCES))
            .description(Some("The files, each in a part of its own, in the order of the sources in `request`."));
        let form = ObjectBuilder::new()
            .description(Some("A job over files: its description, and the files."))
            .property("request", request)
            .property("file", files)
            .required("request")
            .required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("PipelineProcessFiles".to_owned(), form.into())),
            components,
            ..Described::default()
        }
    }
}

/// The parts of a form, as they come.
struct FilesForm {
    folder: IncomingFolder,
    request: Option<Vec<u8>>,
    /// The hash of each file.
    files: Vec<Vec<u8>>,
    bytes: u64,
}

impl FilesForm {
    async fn take(&mut self, state: &PipelineJobs, part: Part) -> Result<(), ApiError> {
        match part.name().unwrap_or_default() {
            "request" if self.request.is_none() => self.request = Some(small(part).await?),
            "request" => return Err(ApiError::field("request", Reason::Repeated, Reason::Repeated.sentence())),
            "file" if self.files.len() < MAX_SOURCES => self.file(state, part).await?,
            "file" => {
                let message = format!("At most {MAX_SOURCES} files are allowed.");
                return Err(ApiError::field("file", Reason::TooLong, message));
            }
            name => {
                let name = name.to_owned();
                return Err(ApiError::field(&name, Reason::UnknownKey, "This part of the form is unknown."));
            }
        }
        Ok(())
    }

    async fn file(&mut self, state: &PipelineJobs, mut part: Part) -> Result<(), ApiError> {
        let file = self.folder.create(&source_name(self.files.len())).map_err(ApiError::unavailable)?;
        let mut file = tokio::fs::File::from_std(file);
        let (mut digest, mut size) = (Sha256::new(), 0_u64);
        while let Some(bytes) = part.next().await {
            let bytes = bytes.map_err(unreadable)?;
            size += bytes.len() as u64;
            self.bytes += bytes.len() as u64;
            if size > state.document_bytes {
                return Err(too_large(state.document_bytes));
            }
            if self.bytes > state.job_bytes {
                return Err(too_large(state.job_bytes));
            }
            digest.update(&bytes);
            tokio::io::AsyncWriteExt::write_all(&mut file, &bytes).await.map_err(ApiError::unavailable)?;
        }
        tokio::io::AsyncWriteExt::flush(&mut file).await.map_err(ApiError::unavailable)?;
        file.sync_all().await.map_err(ApiError::unavailable)?;
        self.files.push(digest.finalize().to_vec());
        Ok(())
    }

    fn finish(self) -> Result<(Id<AiJob>, String, IncomingFolder), ApiError> {
        let request =
            self.request.ok_or_else(|| ApiError::field("request", Reason::Required, Reason::Required.sentence()))?;
        let mut fields = object(&request)?;
        let sources = fields.objects("sources", 1..=MAX_SOURCES, |source| {
            let (id, kind, name) = (source.required("id"), source.required("kind"), source.required("name"));
            Ok(PipelineFileSource { id: id?, kind: kind?, name: name? })
        });
        let task = JobTask::read(&mut fields);
        let (task, named) =
            fields.done(sources.and_then(|sources| task.map(|task| (task, sources)))).map_err(within_request)?;
        if named.len() != self.files.len() {
            let message = format!("There are {} sources and {} files.", named.len(), self.files.len());
            return Err(ApiError::field("file", Reason::InvalidValue, message));
        }
        let mut digest = RequestDigest::default();
        let mut sources = Vec::with_capacity(named.len());
        for (place, (PipelineFileSource { id, kind, name }, sha256)) in named.into_iter().zip(&self.files).enumerate() {
            digest.hash(sha256);
            let content = self.folder.open(&source_name(place)).map_err(ApiError::unavailable)?;
            let format = sniff(&name.0, content).map_err(ApiError::unavailable)?.map_err(|unsupported| {
                let message = format!("{}: {}", name.0, unsupported.message);
                ApiError::with_message(Code::UNSUPPORTED_MEDIA_TYPE, message)
            })?;
            let content = SourceContent::Document { format: format.name().to_owned() };
            sources.push(JobSource { id: id.0, kind, name: name.0, content });
        }
        let (job_id, request) = task.request(sources);
        check_sources(&request.sources)?;
        let digest = digest.finish(&request)?;
        self.folder.save_request(&request).map_err(ApiError::unavailable)?;
        Ok((job_id, digest, self.folder))
    }
}

/// Names the part of the form in the fields of its errors.
fn within_request(refused: ApiError) -> ApiError {
    let faults = refused.faults.into_iter().map(|fault: FieldError| fault.within("request")).collect();
    ApiError { faults, ..refused }
}

/// The id or the name of a source.
struct SourceName(String);

impl Field for SourceName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let text = value.as_str().ok_or_else(|| InvalidValue::value("This must be a string."))?;
        check_name("", text).map_err(|(_, reason, message)| InvalidValue::of(reason, message))?;
        Ok(Self(text.to_owned()))
    }
}
