//! The multipart body of a transcript that is attached, whose file is written to disk as it arrives.

use actix_multipart::Field as Part;
use actix_web::HttpRequest;
use actors::ids::{self, Id};
use actors::meeting::{Meeting, RecordingMimeType};
use futures_util::StreamExt;
use readers::Format;
use serde_json::Value;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use crate::access::policy::PathIds;
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
use crate::meetings::recordings::model::AttestationText;
use crate::meetings::state::Meetings;
use crate::projects::documents::upload::detect_format;
use crate::quotas::model::UploadPurpose;
use crate::quotas::permit::QuotaPermit;

/// A received file of one of the formats of transcripts.
pub struct TranscriptUpload {
    pub file: Received,
    pub format: Format,
    pub mime_type: RecordingMimeType,
    /// The host's declaration that everyone who speaks has consented.
    pub attestation: Option<AttestationText>,
    /// The recording whose transcript it is; `None`: it is one without sound.
    pub recording_id: Option<Id<ids::Recording>>,
    /// To store the file.
    pub permit: QuotaPermit,
}

impl Input for TranscriptUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let mut parts = form::parts(request, body)?;
        let state = Meetings::of(request)?;
        let meeting_id: Id<Meeting> = PathIds::of(request).id("meetingId")?;
        let meeting = state.registry.snapshot(meeting_id).await.map_err(|away| ApiError::unavailable(away.0))?;
        let meeting = meeting.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?;
        let payer = state.projects.payer(meeting.state.project_id).await?;
        let announced = announced_length(request, state.config.limits.transcript_bytes);
        let mut permit = state.quotas.begin(payer, UploadPurpose::Usual, announced).await?;
        let mut form = TranscriptForm::default();
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
        let attestation = self.attestation.as_ref().map_or("", |attestation| attestation.0.as_str());
        let recording = self.recording_id.map(|id| id.to_string()).unwrap_or_default();
        let what = format!("{}\n{}\n{recording}\n{attestation}", self.file.sha256, self.mime_type);
        idempotency::digest(what.as_bytes())
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<Meetings>()]
    }

    fn describe() -> Described {
        let file = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .description(Some("VTT or SRT, detected from the content; at most 5 MiB."));
        let recording = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
            .description(Some("The recording of the meeting whose transcript it is. Absent: it has no sound."));
        let form = ObjectBuilder::new()
            .description(Some("A transcript of a meeting."))
            .property("file", file)
            .property("consentAttestation", AttestationText::schema())
            .property("recordingId", recording)
            .required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("AttachTranscript".to_owned(), form.into())),
            ..Described::default()
        }
    }
}

/// The parts of the form, read one by one; their errors are reported together at the end.
#[derive(Default)]
struct TranscriptForm {
    /// With the name that the client gives it.
    file: Option<(Received, String)>,
    attestation: Option<AttestationText>,
    recording_id: Option<Id<ids::Recording>>,
    seen: Vec<String>,
    faults: Vec<FieldError>,
}

impl TranscriptForm {
    async fn take(&mut self, state: &Meetings, part: Part, permit: &mut QuotaPermit) -> Result<(), ApiError> {
        let name = part.name().unwrap_or_default().to_owned();
        if self.seen.contains(&name) {
            self.fault(&name, InvalidValue::of(Reason::Repeated, Reason::Repeated.sentence()));
            return small(part).await.map(|_| ());
        }
        self.seen.push(name.clone());
        match name.as_str() {
            "file" => {
                let file_name = form::name_of(&part).unwrap_or_default();
                let incoming = state.recordings.receive().await.map_err(|error| ApiError::of_write(&error))?;
                let most = state.config.limits.transcript_bytes;
                self.file = Some((form::file(part, incoming, most, permit).await?, file_name));
            }
            "consentAttestation" => self.attestation = self.field(&name, part).await?,
            "recordingId" => self.recording_id = self.field(&name, part).await?,
            _ => {
                self.fault(&name, InvalidValue::of(Reason::UnknownKey, "This part of the form is unknown."));
                small(part).await?;
            }
        }
        Ok(())
    }

    async fn field<T: Field>(&mut self, name: &str, part: Part) -> Result<Option<T>, ApiError> {
        let given = String::from_utf8_lossy(&small(part).await?).into_owned();
        Ok(T::parse(&Value::String(given)).map_err(|wrong| self.fault(name, wrong)).ok())
    }

    fn fault(&mut self, part: &str, wrong: InvalidValue) {
        self.faults.push(FieldError::value(wrong.reason, Some(part.to_owned()), wrong.message));
    }

    /// Checks the form as a whole. An unsupported format (415) takes precedence over invalid fields (422); an empty file has
    /// none.
    async fn upload(mut self, permit: QuotaPermit) -> Result<TranscriptUpload, ApiError> {
        let Some((file, file_name)) = self.file.take() else {
            self.fault("file", InvalidValue::of(Reason::Required, Reason::Required.sentence()));
            return Err(ApiError::invalid(self.faults));
        };
        if file.size == 0 {
            self.fault("file", InvalidValue::value("The file is empty."));
            return Err(ApiError::invalid(self.faults));
        }
        let format = detect_format(&file, &file_name).await?;
        let mime_type = match format {
            Format::Vtt => RecordingMimeType::TextVtt,
            Format::Srt => RecordingMimeType::Subrip,
            _ => {
                let sentence = "A transcript is a VTT or an SRT file. Upload other files as documents of the project.";
                return Err(ApiError::with_message(Code::UNSUPPORTED_MEDIA_TYPE, sentence));
            }
        };
        if !self.faults.is_empty() {
            return Err(ApiError::invalid(self.faults));
        }
        let Self { attestation, recording_id, .. } = self;
        Ok(TranscriptUpload { file, format, mime_type, attestation, recording_id, permit })
    }
}
