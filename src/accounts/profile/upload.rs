//! The upload of an avatar: a multipart form with one file.

use actix_web::HttpRequest;
use futures_util::StreamExt;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use crate::accounts::state::Accounts;
use crate::api::idempotency;
use crate::clients::files::Received;
use crate::http::error::{ApiError, FieldError, MOST_FAULTS};
use crate::http::form::{self, small, unreadable};
use crate::http::input::{Described, Input, Raw};
use crate::http::mounted::{Mounted, Need};
use crate::http::reason::Reason;

/// A completely received file whose content is not checked yet.
pub struct AvatarUpload(pub Received);

impl Input for AvatarUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let mut parts = form::parts(request, body)?;
        let state = Accounts::of(request)?;
        let (mut file, mut faults) = (None, Vec::new());
        while let Some(part) = parts.next().await {
            let part = part.map_err(unreadable)?;
            match part.name().unwrap_or_default().to_owned() {
                name if name == "file" && file.is_none() => {
                    file = Some(form::file(part, &state.avatars, state.config.limits.avatar_bytes).await?);
                }
                name => {
                    let known = name == "file";
                    faults.push(if known {
                        FieldError::value(Reason::Repeated, Some(name), Reason::Repeated.sentence())
                    } else {
                        FieldError::value(Reason::UnknownKey, Some(name), "This part of the form is unknown.")
                    });
                    small(part).await?;
                }
            }
            // Further errors would not be reported.
            if faults.len() >= MOST_FAULTS {
                return Err(ApiError::invalid(faults));
            }
        }
        match file {
            Some(file) if faults.is_empty() => Ok(Self(file)),
            Some(_) => Err(ApiError::invalid(faults)),
            None => {
                faults.push(FieldError::value(Reason::Required, Some("file".to_owned()), Reason::Required.sentence()));
                Err(ApiError::invalid(faults))
            }
        }
    }

    fn digest(&self) -> String {
        idempotency::digest(self.0.sha256.as_bytes())
    }

    fn needs() -> Vec<Need> {
        vec![Need::of::<Accounts>()]
    }

    fn describe() -> Described {
        let file = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .description(Some("PNG, JPEG or WebP, detected from the content; at most 5 MiB and 25 million pixels."));
        let form = ObjectBuilder::new().property("file", file).required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("UploadAvatar".to_owned(), form.into())),
            ..Described::default()
        }
    }
}
