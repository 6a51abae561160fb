//! A picture as it arrives: a form with one file.

use actix_web::HttpRequest;
use futures_util::StreamExt;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use crate::app::App;
use crate::http::code::Code;
use crate::http::failure::{Failure, Fault, MOST_FAULTS};
use crate::http::form::{self, small, unreadable};
use crate::http::idempotency;
use crate::http::input::{Described, Input, Raw};
use crate::outside::files::Received;

/// A file that has arrived, and that nobody has looked at yet.
pub struct Upload(pub Received);

impl Input for Upload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        let mut parts = form::parts(request, body)?;
        let app = App::of(request)?;
        let (mut file, mut faults) = (None, Vec::new());
        while let Some(part) = parts.next().await {
            let part = part.map_err(unreadable)?;
            match part.name().unwrap_or_default().to_owned() {
                name if name == "file" && file.is_none() => {
                    file = Some(form::file(part, &app.avatars, app.config.limits.avatar_bytes).await?);
                }
                name => {
                    let known = name == "file";
                    let (code, message) = if known {
                        (Code::INVALID_VALUE, "This is there twice.")
                    } else {
                        (Code::UNKNOWN_KEY, "This part is not known here.")
                    };
                    faults.push(Fault { code: code.name, message: message.to_owned(), field: Some(name) });
                    small(part).await?;
                }
            }
            // Nobody would be told of more.
            if faults.len() >= MOST_FAULTS {
                return Err(Failure::invalid(faults));
            }
        }
        match file {
            Some(file) if faults.is_empty() => Ok(Self(file)),
            Some(_) => Err(Failure::invalid(faults)),
            None => {
                let (code, message) = (Code::REQUIRED.name, Code::REQUIRED.sentence.to_owned());
                faults.push(Fault { code, message, field: Some("file".to_owned()) });
                Err(Failure::invalid(faults))
            }
        }
    }

    fn digest(&self) -> String {
        idempotency::digest(self.0.sha256.as_bytes())
    }

    fn describe() -> Described {
        let file = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .description(Some("PNG, JPEG or WebP, told by the content; at most 5 MiB and 25 million pixels."));
        let form = ObjectBuilder::new().property("file", file).required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("UploadAvatar".to_owned(), form.into())),
            ..Described::default()
        }
    }
}
