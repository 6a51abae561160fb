//! The multipart body of an import: one file.

use actix_web::HttpRequest;
use exports::import::MAX_FILE_BYTES;
use tokio::io::AsyncReadExt;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::model::ImportFormat;
use crate::access::policy::PathIds;
use crate::analysis::state::Analysis;
use crate::api::idempotency;
use crate::clients::files::Received;
use crate::http::body_stream::announced_length;
use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError};
use crate::http::form::{self, OnlyFile};
use crate::http::input::{Described, Input, Raw};
use crate::http::mounted::{Mounted, Need};
use crate::http::reason::Reason;
use crate::projects::documents::model::FileName;
use crate::quotas::model::UploadPurpose;
use crate::quotas::permit::QuotaPermit;

/// How many bytes at the beginning show the format.
const BEGINNING: u64 = 1024;

/// A received file that may be one of the formats.
pub struct ImportUpload {
    pub file: Received,
    pub file_name: String,
    pub format: ImportFormat,
    /// To store the file.
    pub permit: QuotaPermit,
}

impl Input for ImportUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let state = Analysis::of(request)?;
        let payer = state.projects.payer(PathIds::of(request).id("projectId")?).await?;
        let announced = announced_length(request, MAX_FILE_BYTES);
        let mut permit = state.quotas.begin(payer, UploadPurpose::Usual, announced).await?;
        let files = &state.imports.files;
        let OnlyFile { file, name } = form::only_file(request, body, files, MAX_FILE_BYTES, &mut permit).await?;
        let wrong = |reason, message: String| {
            ApiError::invalid(vec![FieldError::value(reason, Some("file".to_owned()), message)])
        };
        let name = name.ok_or_else(|| wrong(Reason::Required, "The file needs a name.".to_owned()))?;
        let FileName(file_name) = FileName::of(&name).map_err(|invalid| wrong(invalid.reason, invalid.message))?;
        let mut beginning = Vec::new();
        let content = file.open().await.map_err(ApiError::unavailable)?;
        content.take(BEGINNING).read_to_end(&mut beginning).await.map_err(ApiError::unavailable)?;
        let format = format_of(&file_name, &beginning).ok_or_else(|| {
            let expected =
                "The file must be a workbook (.xlsx) or ReqIF (.reqif, .reqifz, .xml), and have the content of one.";
            ApiError::with_message(Code::UNSUPPORTED_MEDIA_TYPE, expected)
        })?;
        Ok(Self { file, file_name, format, permit })
    }

    fn digest(&self) -> String {
        idempotency::digest(format!("{}\n{}", self.file.sha256, self.file_name).as_bytes())
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<Analysis>()]
    }

    fn describe() -> Described {
        let file = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .description(Some(
                "A workbook (.xlsx) that was exported from here, or ReqIF 1.0 to 1.2 (.reqif, .reqifz, .xml) of any \
                 program; at most 50 MiB.",
            ));
        let form =
            ObjectBuilder::new().description(Some("A file of changed items.")).property("file", file).required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("ImportItems".to_owned(), form.into())),
            ..Described::default()
        }
    }
}

/// The format by the name, where the content may be of it.
fn format_of(name: &str, beginning: &[u8]) -> Option<ImportFormat> {
    let name = name.to_lowercase();
    let is = |ending: &str| name.ends_with(ending);
    if beginning.starts_with(b"PK") {
        return match () {
            () if is(".xlsx") => Some(ImportFormat::Xlsx),
            () if is(".reqifz") || is(".zip") => Some(ImportFormat::Reqif),
            () => None,
        };
    }
    // XML in UTF-8, or in UTF-16 with a mark.
    let is_xml = match beginning {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => true,
        [0xef, 0xbb, 0xbf, rest @ ..] => rest.trim_ascii_start().starts_with(b"<"),
        all => all.trim_ascii_start().starts_with(b"<"),
    };
    (is_xml && (is(".reqif") || is(".xml"))).then_some(ImportFormat::Reqif)
}

#[cfg(test)]
mod tests {
    use super::{ImportFormat, format_of};

    #[test]
    fn the_name_says_the_format_and_the_content_must_agree() {
        for (name, beginning, expected) in [
            ("items.XLSX", b"PK\x03\x04".as_slice(), Some(ImportFormat::Xlsx)),
            ("items.reqifz", b"PK\x03\x04", Some(ImportFormat::Reqif)),
            ("items.reqif", b"\xef\xbb\xbf <?xml", Some(ImportFormat::Reqif)),
            ("items.xml", b"\xff\xfe<\0", Some(ImportFormat::Reqif)),
            ("items.xlsx", b"<html>", None),
            ("items.reqif", b"PK\x03\x04", None),
            ("items.docx", b"PK\x03\x04", None),
            ("items", b"PK\x03\x04", None),
            ("items.reqif", b"", None),
        ] {
            assert_eq!(format_of(name, beginning), expected, "{name}");
        }
    }
}
