//! An upload as it arrives: a form in parts, whose file goes to the disk piece by piece.

use actix_multipart::Field as Part;
use actix_web::HttpRequest;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::model::FileName;
use crate::accounts::model::Language;
use crate::api::idempotency;
use crate::http::code::Code;
use crate::http::failure::{Failure, Fault, MOST_FAULTS};
use crate::http::fields::{Field, Wrong};
use crate::http::form::{self, small, unreadable};
use crate::http::input::{Described, Input, Raw};
use crate::http::mounted::{Mounted, Need};
use crate::http::reason::Reason;
use crate::outside::files::Received;
use crate::pipeline::readers::{Format, sniff};
use crate::projects::state::Projects;

/// How many files are looked at at once.
static LOOKED_AT: Semaphore = Semaphore::const_new(2);

/// A file that has arrived, and is of a type that is read.
pub struct Upload {
    pub file: Received,
    pub file_name: FileName,
    pub format: Format,
    pub language: Language,
}

impl Input for Upload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        let mut parts = form::parts(request, body)?;
        let state = Projects::of(request)?;
        let mut form = Form::default();
        while let Some(part) = parts.next().await {
            form.take(&state, part.map_err(unreadable)?).await?;
            // Nobody would be told of more.
            if form.faults.len() >= MOST_FAULTS {
                return Err(Failure::invalid(form.faults));
            }
        }
        form.upload().await
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
                "PDF, DOCX, HTML, Markdown, text, CSV, VTT or SRT, told by the content; at most 50 MiB.",
            ));
        let form =
            ObjectBuilder::new().property("file", file).property("language", Language::schema()).required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("UploadDocument".to_owned(), form.into())),
            ..Described::default()
        }
    }
}

/// The parts, one by one; what is wrong with them is told at the end, and all at once.
#[derive(Default)]
struct Form {
    file: Option<(Received, Option<FileName>)>,
    language: Option<Language>,
    seen: Vec<String>,
    faults: Vec<Fault>,
}

impl Form {
    async fn take(&mut self, state: &Projects, part: Part) -> Result<(), Failure> {
        let name = part.name().unwrap_or_default().to_owned();
        if self.seen.contains(&name) {
            self.fault(&name, Wrong::of(Reason::Repeated, Reason::Repeated.sentence()));
            return small(part).await.map(|_| ());
        }
        self.seen.push(name.clone());
        match name.as_str() {
            "file" => {
                let given = part.content_disposition().and_then(|given| {
                    let extended = given.get_filename_ext().and_then(|name| String::from_utf8(name.value.clone()).ok());
                    extended.or_else(|| given.get_filename().map(str::to_owned))
                });
                let file_name = given.map_or_else(
                    || Err(Wrong::of(Reason::Required, "The file needs a name.")),
                    |given| FileName::of(&given),
                );
                let file_name = file_name.map_err(|wrong| self.fault("file", wrong)).ok();
                self.file =
                    Some((form::file(part, &state.files, state.config.limits.document_bytes).await?, file_name));
            }
            "language" => {
                let given = String::from_utf8_lossy(&small(part).await?).into_owned();
                self.language =
                    Language::parse(&Value::String(given)).map_err(|wrong| self.fault("language", wrong)).ok();
            }
            _ => {
                self.fault(&name, Wrong::of(Reason::UnknownKey, "This part is not known here."));
                small(part).await?;
            }
        }
        Ok(())
    }

    fn fault(&mut self, part: &str, wrong: Wrong) {
        self.faults.push(Fault::value(wrong.reason, Some(part.to_owned()), wrong.message));
    }

    /// 415 comes before 422.
    async fn upload(mut self) -> Result<Upload, Failure> {
        let Some((file, file_name)) = self.file.take() else {
            self.fault("file", Wrong::of(Reason::Required, Reason::Required.sentence()));
            return Err(Failure::invalid(self.faults));
        };
        let Some(file_name) = file_name else { return Err(Failure::invalid(self.faults)) };
        let format = look(&file, &file_name).await?;
        if !self.faults.is_empty() {
            return Err(Failure::invalid(self.faults));
        }
        Ok(Upload { file, file_name, format, language: self.language.unwrap_or(Language::Auto) })
    }
}

/// What the file is, by its content.
async fn look(file: &Received, file_name: &FileName) -> Result<Format, Failure> {
    let _place = LOOKED_AT.acquire().await.map_err(Failure::internal)?;
    let content = file.open().await.map_err(Failure::unavailable)?.into_std().await;
    let name = file_name.0.clone();
    let format = spawn_blocking(move || sniff(&name, content)).await.map_err(Failure::internal)?;
    format
        .map_err(Failure::unavailable)?
        .map_err(|unsupported| Failure::saying(Code::UNSUPPORTED_MEDIA_TYPE, unsupported.message))
}
