//! Profile: bodies and pictures in, answers and pictures out.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, ETAG};
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;

use super::avatar::{self, Avatar};
use super::operations::{self, Edit};
use super::upload::Upload;
use super::{leaving, picture};
use crate::access::guard::{AnyUser, SignedIn};
use crate::accounts::model::{FullName, JobTitle, Language, Profile, Typed};
use crate::accounts::state::Accounts;
use crate::api::operation::Allowed;
use crate::http::answer::Cached;
use crate::http::code::Code;
use crate::http::envelope::{Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Body, Empty, Valid};
use crate::http::patch::Patch;

/// How much of a face is read at once.
const PIECE_BYTES: usize = 64 * 1024;

pub async fn details(may: Allowed<SignedIn, Empty>, state: Accounts) -> Result<Reply<Profile>, Failure> {
    operations::details(&state, may.by.caller).await.map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EditProfile {
    #[schema(value_type = String, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    full_name: FullName,
    /// Absent: it stays as it is. Null, or nothing but blanks: it is cleared.
    #[schema(value_type = Option<String>, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    job_title: Patch<JobTitle>,
    /// Absent: it stays as it is.
    #[schema(nullable = false)]
    language: Option<Language>,
}

impl Body for EditProfile {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let full_name = fields.required("fullName");
        let job_title = fields.patch("jobTitle");
        let language = fields.replaced("language");
        Ok(Self { full_name: full_name?, job_title: job_title?, language: language? })
    }
}

pub async fn edit(may: Allowed<SignedIn, Valid<EditProfile>>, state: Accounts) -> Result<Reply<Profile>, Failure> {
    let Valid(body) = may.input;
    let edit = Edit { full_name: body.full_name, job_title: body.job_title, language: body.language };
    operations::edit(&state, may.by.caller, edit).await.map(Reply::ok)
}

pub async fn upload_avatar(may: Allowed<SignedIn, Upload>, state: Accounts) -> Result<Reply<Profile>, Failure> {
    avatar::upload(&state, may.by.caller, may.input, may.request).await.map(Reply::ok)
}

/// As an attachment, like all that somebody brought; to be asked for again each time, since a face may be withdrawn.
pub async fn download_avatar(may: Allowed<AnyUser<Avatar>, Empty>, state: Accounts) -> Result<Cached, Failure> {
    let Avatar { sha256 } = may.by.thing;
    // Withdrawn since its row was read.
    let file = state.avatars.open(&sha256).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::of(Code::NOT_FOUND),
        _ => Failure::internal(error),
    })?;
    let size = file.metadata().await.map_err(Failure::internal)?.len();
    let body = SizedStream::new(size, ReaderStream::with_capacity(file, PIECE_BYTES));
    Ok(Cached(
        HttpResponse::Ok()
            .content_type(picture::MIME_TYPE)
            .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"avatar.webp\""))
            .insert_header((CACHE_CONTROL, "private, no-cache"))
            .insert_header((ETAG, format!("\"{sha256}\"")))
            .body(body),
    ))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChangePassword {
    /// Only an account without a password leaves it out; then the session must be of the last ten minutes.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 1000)]
    current_password: Option<Typed>,
    #[schema(value_type = String, format = Password, min_length = 10, max_length = 128, example = "correct horse battery staple")]
    new_password: Typed,
}

impl Body for ChangePassword {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let current_password = fields.optional("currentPassword");
        let new_password = fields.required("newPassword");
        Ok(Self { current_password: current_password?, new_password: new_password? })
    }
}

pub async fn change_password(
    may: Allowed<SignedIn, Valid<ChangePassword>>,
    state: Accounts,
) -> Result<Reply<Profile>, Failure> {
    let Valid(body) = may.input;
    let changed =
        operations::change_password(&state, may.by.caller, body.current_password, body.new_password, may.request)
            .await?;
    Ok(Reply::ok(changed))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DeleteAccount {
    /// Only an account without a password leaves it out; then the session must be of the last ten minutes.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 1000)]
    password: Option<Typed>,
}

impl Body for DeleteAccount {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { password: fields.optional("password")? })
    }
}

pub async fn delete(
    may: Allowed<SignedIn, Valid<DeleteAccount>>,
    state: leaving::Deletion,
) -> Result<Reply<Nothing>, Failure> {
    let Valid(body) = may.input;
    leaving::delete_account(&state, may.by.caller, body.password, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}
