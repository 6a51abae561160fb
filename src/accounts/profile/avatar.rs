//! Avatars: decoded from uploads one at a time, stored by content hash, and deleted with the last account that uses
//! them.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::store;
use super::upload::AvatarUpload;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::accounts::model::{Account, Profile};
use crate::accounts::pictures::decoder::Undecoded;
use crate::accounts::pictures::picture::Unusable;
use crate::accounts::state::Accounts;
use crate::clients::files::{self, Received};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;
use crate::http::reason::Reason;
use crate::jobs::{self, Handler, Job, JobError, JobPayload, Jobs, RetryPolicy, Turns};

/// How many pictures may wait to be decoded; further uploads get 429.
const WAITING: usize = 16;
static PERMITS: Semaphore = Semaphore::const_new(1 + WAITING);
/// After this time an upload has its row, or never gets one.
const SETTLED: Duration = Duration::from_secs(3600);

/// The avatar of an account.
pub struct Avatar {
    /// The SHA-256 of the stored file, hexadecimal.
    pub sha256: String,
}

impl Resource for Avatar {
    type State = Accounts;
    type Ids = Id<User>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        path.id("userId")
    }

    async fn find(state: &Accounts, id: Self::Ids, _: Caller) -> Result<Loaded<Self>, ApiError> {
        let sha256 = state.db.read(move |conn| Box::pin(store::avatar(conn, id))).await.map_err(ApiError::from)?;
        let resource = sha256.map(|sha256| Self { sha256 }).ok_or_else(|| ApiError::of(Code::NOT_FOUND));
        Ok(Loaded { relation: Relation::default(), resource })
    }
}

/// Converts an uploaded picture to an avatar and replaces the former one.
///
/// # Errors
/// 415 for anything but a PNG, JPEG or WebP picture; 422 for one that is damaged or too large; 429 while too many wait
/// to be decoded.
pub async fn upload(
    state: &Accounts,
    caller: Caller,
    upload: AvatarUpload,
    request: RequestId,
) -> Result<Profile, ApiError> {
    let AvatarUpload(file, mut permit) = upload;
    let face = made(state, file).await?;
    permit.cover(face.len() as u64).await?;
    let mut incoming = state.avatars.receive().await.map_err(|error| ApiError::of_write(&error))?;
    incoming.write(&face).await.map_err(|error| ApiError::of_write(&error))?;
    let received = incoming.end().await.map_err(|error| ApiError::of_write(&error))?;
    let now = state.now();
    let (jobs, sha256, request_id) = (state.jobs.clone(), received.sha256.clone(), request.clone());
    // The job is enqueued before the file is stored, so that a crash of this server leaves no file without a job to
    // delete it.
    state
        .db
        .write(move |conn| Box::pin(async move { enqueue_deletion_later(conn, &jobs, sha256, &request_id).await }))
        .await
        .map_err(ApiError::from)?;
    let sha256 = received.sha256.clone();
    let stored = state.avatars.store(received).await.map_err(|error| ApiError::of_write(&error))?;
    let (account, stored) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let changed = store::set_avatar(conn, caller.user_id, &sha256, now).await?;
                let (account, former): (Account, _) = changed.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
                if let Some(former) = former.filter(|former| *former != sha256) {
                    enqueue_deletion(conn, former, now, &request).await?;
                }
                // The guard is part of the result, so it lives past COMMIT even if the client has disconnected.
                Ok::<_, ApiError>((account, stored))
            })
        })
        .await?;
    drop(stored);
    state.jobs.wake();
    Ok(Profile::from(&account))
}

async fn made(state: &Accounts, file: Received) -> Result<Vec<u8>, ApiError> {
    let _permit = PERMITS.try_acquire().map_err(|_| ApiError::too_many(Duration::from_secs(1)))?;
    let picture = file.open().await.map_err(ApiError::unavailable)?.into_std().await;
    let made = state.pictures.face(picture).await;
    made.map_err(|undecoded| {
        let unusable = match undecoded {
            Undecoded::Unusable(unusable) => unusable,
            Undecoded::Interrupted(why) => return ApiError::unavailable(why),
        };
        let field = |message: &str| ApiError::field("file", Reason::InvalidValue, message);
        match unusable {
            Unusable::OtherType => {
                ApiError::with_message(Code::UNSUPPORTED_MEDIA_TYPE, "Send a PNG, JPEG or WebP picture.")
            }
            Unusable::TooLarge => field("This picture has too many pixels: at most 25 million are allowed."),
            Unusable::Damaged => field("This picture is damaged: it can't be read."),
        }
    })
}

/// Deletes an avatar file unless an account uses it.
#[derive(Serialize, Deserialize)]
pub struct DeleteAvatarFile {
    sha256: String,
}

impl JobPayload for DeleteAvatarFile {
    const KIND: &'static str = "forget-avatar";
    const TURNS: Turns = Turns::InOrder("nobody waits for files that nothing names any more");
}

/// Enqueues a job that deletes an avatar file unless an account uses it.
///
/// # Errors
/// Returns the database error.
pub async fn enqueue_deletion(conn: &mut Conn, sha256: String, now: Time, request: &RequestId) -> Result<(), DbError> {
    jobs::enqueue(conn, &DeleteAvatarFile { sha256 }, now, request).await.map(|_| ())
}

/// Enqueues a delayed job that deletes an avatar file which no account uses by then.
async fn enqueue_deletion_later(
    conn: &mut Conn,
    jobs: &Jobs,
    sha256: String,
    request: &RequestId,
) -> Result<(), DbError> {
    jobs::enqueue_after(conn, jobs, &DeleteAvatarFile { sha256 }, SETTLED, request).await.map(|_| ())
}

/// Runs [`DeleteAvatarFile`]. Idempotent.
pub struct DeleteAvatarFileHandler {
    pub state: Accounts,
}

#[async_trait]
impl Handler for DeleteAvatarFileHandler {
    type Payload = DeleteAvatarFile;

    // A backup that is being taken is no reason to give up.
    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// It deletes one file, in a folder or in a bucket.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }

    async fn run(&self, _: &Job, DeleteAvatarFile { sha256 }: DeleteAvatarFile) -> Result<(), JobError> {
        // Uploads wait, so that none reuses the file between the query and the deletion.
        let forgetting = self.state.avatars.forgetting().await;
        let wanted = sha256.clone();
        let has_owner =
            self.state.db.read(move |conn| Box::pin(async move { store::is_worn(conn, &wanted).await })).await;
        if has_owner? {
            return Ok(());
        }
        Ok(forgetting.forget(&sha256).await.map_err(|error| error.to_string())?)
    }
}

/// Deletes avatar files that no account uses and no job is left to delete; returns how many.
///
/// # Errors
/// Returns a message that says why some files stay.
pub async fn sweep(state: &Accounts) -> Result<usize, String> {
    let db = state.db.clone();
    let named = move |faces| {
        let db = db.clone();
        async move {
            let named = db.read(move |conn| Box::pin(store::worn(conn, faces))).await;
            Ok(named?)
        }
        .boxed()
    };
    state.avatars.sweep((state.now() - files::SETTLED).utc().into(), named, &state.tasks.stopping()).await
}
