//! HTTP handlers of the profile: pass bodies and uploads on, return responses and avatars.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, ETAG};
use tokio_util::io::ReaderStream;

use super::avatar::{self, Avatar};
use super::bodies::{ChangePassword, DeleteAccount, EditProfile};
use super::upload::AvatarUpload;
use super::{deletion, operations};
use crate::access::policy::{AnyUser, SignedIn};
use crate::accounts::model::Profile;
use crate::accounts::pictures::picture;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::answer::{Binary, Cached, FileKind};
use crate::http::code::Code;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson};

/// Chunk size for reading an avatar.
const PIECE_BYTES: usize = 64 * 1024;

pub async fn details(request: Authorized<SignedIn, Empty>, state: Accounts) -> Result<Reply<Profile>, ApiError> {
    operations::details(&state, request.access.caller).await.map(Reply::ok)
}

pub async fn edit(
    request: Authorized<SignedIn, ValidJson<EditProfile>>,
    state: Accounts,
) -> Result<Reply<Profile>, ApiError> {
    let ValidJson(body) = request.input;
    operations::edit(&state, request.access.caller, body).await.map(Reply::ok)
}

pub async fn upload_avatar(
    request: Authorized<SignedIn, AvatarUpload>,
    state: Accounts,
) -> Result<Reply<Profile>, ApiError> {
    avatar::upload(&state, request.access.caller, request.input, request.request_id).await.map(Reply::ok)
}

/// An avatar, as every upload is converted to.
pub struct AvatarPicture;

impl FileKind for AvatarPicture {
    const HEADERS: &'static [&'static str] = &["Content-Disposition", "ETag", "Cache-Control"];

    fn media_types() -> Vec<&'static str> {
        vec![picture::MIME_TYPE]
    }
}

/// Serves the avatar as an attachment, like every file that a user uploaded; clients must revalidate it each time,
/// since an avatar may be withdrawn.
pub async fn download_avatar(
    request: Authorized<AnyUser<Avatar>, Empty>,
    state: Accounts,
) -> Result<Cached<AvatarPicture>, ApiError> {
    let Avatar { sha256 } = request.access.resource;
    // The avatar was withdrawn after its row was read.
    let file = state.avatars.open(&sha256).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ApiError::of(Code::NOT_FOUND),
        _ => ApiError::of_stored_file(&error),
    })?;
    let size = file.metadata().await.map_err(ApiError::internal)?.len();
    let body = SizedStream::new(size, ReaderStream::with_capacity(file, PIECE_BYTES));
    Ok(Cached(Binary::of(
        HttpResponse::Ok()
            .content_type(picture::MIME_TYPE)
            .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"avatar.webp\""))
            .insert_header((CACHE_CONTROL, "private, no-cache"))
            .insert_header((ETAG, format!("\"{sha256}\"")))
            .body(body),
    )))
}

pub async fn change_password(
    request: Authorized<SignedIn, ValidJson<ChangePassword>>,
    state: Accounts,
) -> Result<Reply<Profile>, ApiError> {
    let ValidJson(body) = request.input;
    let changed = operations::change_password(
        &state,
        request.access.caller,
        body.current_password,
        body.new_password,
        request.request_id,
    )
    .await?;
    Ok(Reply::ok(changed))
}

pub async fn delete(
    request: Authorized<SignedIn, ValidJson<DeleteAccount>>,
    state: deletion::AccountDeletion,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    deletion::delete_account(&state, request.access.caller, body.password, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
