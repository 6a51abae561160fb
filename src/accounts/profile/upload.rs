//! The upload of an avatar: a multipart form with one file.

use actix_web::HttpRequest;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use crate::accounts::state::Accounts;
use crate::api::idempotency;
use crate::clients::files::Received;
use crate::http::body_stream::announced_length;
use crate::http::error::ApiError;
use crate::http::form;
use crate::http::input::{Described, Input, Raw};
use crate::http::mounted::{Mounted, Need};
use crate::quotas::model::{Payer, UploadPurpose};
use crate::quotas::permit::QuotaPermit;

/// A completely received file whose content is not checked yet, and the permit to store it.
pub struct AvatarUpload(pub Received, pub QuotaPermit);

impl Input for AvatarUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let state = Accounts::of(request)?;
        let limit = state.config.limits.avatar_bytes;
        // An account has one avatar, which is made small.
        let (payer, announced) = (Payer::Installation, announced_length(request, limit));
        let mut permit = state.quotas.begin(payer, UploadPurpose::Usual, announced).await?;
        let only = form::only_file(request, body, &state.avatars, limit, &mut permit).await?;
        Ok(Self(only.file, permit))
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
        let form = ObjectBuilder::new().description(Some("A picture.")).property("file", file).required("file");
        Described {
            content_type: "multipart/form-data",
            schema: Some(("UploadAvatar".to_owned(), form.into())),
            ..Described::default()
        }
    }
}
