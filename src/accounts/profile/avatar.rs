//! Faces: made of uploads one at a time, kept by their content, and forgotten with the last account that has them.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::picture::{self, Unusable};
use super::store;
use super::upload::Upload;
use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::accounts::model::{Account, Profile};
use crate::accounts::state::Accounts;
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::reason::Reason;
use crate::jobs::{self, Fault, Handler, Job, Jobs};
use crate::outside::files;

const KIND: &str = "forget-avatar";
/// How many pictures may wait to be unpacked; more are answered 429.
const WAITING: usize = 16;
/// One at a time: the largest takes up to 300 MB while it is unpacked.
static TURN: Semaphore = Semaphore::const_new(1);
static PLACES: Semaphore = Semaphore::const_new(1 + WAITING);
/// After so long an upload has its row, or never gets one.
const SETTLED: Duration = Duration::from_secs(3600);

/// The face of an account.
pub struct Avatar {
    /// Hexadecimal; of the file that is kept.
    pub sha256: String,
}

impl Guarded for Avatar {
    type State = Accounts;
    type Ids = Id<User>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        path.id("userId")
    }

    async fn find(state: &Accounts, id: Self::Ids, _: Caller) -> Result<Found<Self>, Failure> {
        let sha256 = state.db.read(move |conn| Box::pin(store::avatar(conn, id))).await.map_err(Failure::from)?;
        let thing = sha256.map(|sha256| Self { sha256 }).ok_or_else(|| Failure::of(Code::NOT_FOUND));
        Ok(Found { standing: Standing::default(), thing })
    }
}

/// Makes a face of a picture and puts it in the place of the former one.
///
/// # Errors
/// 415 for what is no picture, 422 for one that is damaged or too large, 429 while too many are unpacked.
pub async fn upload(state: &Accounts, caller: Caller, upload: Upload, request: RequestId) -> Result<Profile, Failure> {
    let face = made(upload).await?;
    let mut incoming = state.avatars.receive().await.map_err(Failure::unavailable)?;
    incoming.write(&face).await.map_err(Failure::unavailable)?;
    let received = incoming.end().await.map_err(Failure::unavailable)?;
    let now = state.now();
    let (jobs, sha256, asked) = (state.jobs.clone(), received.sha256.clone(), request.clone());
    // Before there is a file, so that no end of this server leaves a face that nobody looks for.
    state
        .db
        .write(move |conn| Box::pin(async move { forget_unless_chosen(conn, &jobs, sha256, &asked).await }))
        .await
        .map_err(Failure::from)?;
    let sha256 = received.sha256.clone();
    let kept = state.avatars.keep(received).await.map_err(Failure::unavailable)?;
    let (account, kept) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let changed = store::set_avatar(conn, caller.user_id, &sha256, now).await?;
                let (account, former): (Account, _) = changed.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
                if let Some(former) = former.filter(|former| *former != sha256) {
                    forget(conn, former, now, &request).await?;
                }
                // The answer holds what was kept, and comes after COMMIT, even where nobody waits for it any more.
                Ok::<_, Failure>((account, kept))
            })
        })
        .await?;
    drop(kept);
    state.jobs.wake();
    Ok(Profile::from(&account))
}

async fn made(Upload(file): Upload) -> Result<Vec<u8>, Failure> {
    let _place = PLACES.try_acquire().map_err(|_| Failure::too_many(Duration::from_secs(1)))?;
    let turn = TURN.acquire().await.map_err(Failure::internal)?;
    let bytes = file.read().await.map_err(Failure::unavailable)?;
    let made = spawn_blocking(move || {
        // Held by the work itself: a client that goes away does not end it.
        let made = picture::face(&bytes);
        drop(turn);
        made
    });
    let made = made.await.unwrap_or_else(|panic| {
        tracing::warn!(%panic, "a decoder of pictures panicked");
        Err(Unusable::Damaged)
    });
    made.map_err(|unusable| {
        let field = |message: &str| Failure::field("file", Reason::InvalidValue, message);
        match unusable {
            Unusable::OtherType => Failure::saying(Code::UNSUPPORTED_MEDIA_TYPE, "Send a PNG, JPEG or WebP picture."),
            Unusable::TooLarge => field("This picture has too many pixels: 25 million are taken."),
            Unusable::Damaged => field("This picture is damaged: it can't be read."),
        }
    })
}

#[derive(Serialize, Deserialize)]
struct Payload {
    sha256: String,
}

/// Has a face forgotten, unless an account has it.
///
/// # Errors
/// The database's own.
pub async fn forget(conn: &mut Conn, sha256: String, now: Time, request: &RequestId) -> Result<(), Failed> {
    jobs::enqueue(conn, KIND, &Payload { sha256 }, now, request).await.map(|_| ())
}

/// Has a face forgotten that no account has chosen once that is settled.
async fn forget_unless_chosen(conn: &mut Conn, jobs: &Jobs, sha256: String, request: &RequestId) -> Result<(), Failed> {
    jobs::enqueue_after(conn, jobs, KIND, &Payload { sha256 }, SETTLED, request).await.map(|_| ())
}

/// Forgets faces that no account has. Safe to repeat.
pub struct Forgetting {
    pub state: Accounts,
}

#[async_trait]
impl Handler for Forgetting {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let Payload { sha256 } = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        // Uploads wait, so that none takes the file for its own between the look and the end.
        let forgetting = self.state.avatars.forgetting().await;
        let wanted = sha256.clone();
        let has_owner =
            self.state.db.read(move |conn| Box::pin(async move { store::is_worn(conn, &wanted).await })).await;
        if has_owner.map_err(|error: Failed| error.to_string())? {
            return Ok(());
        }
        Ok(forgetting.forget(&sha256).await.map_err(|error| error.to_string())?)
    }
}

/// Removes faces that no account has, and that no job is left to forget; gives how many.
///
/// # Errors
/// Why some stay.
pub async fn sweep(state: &Accounts) -> Result<usize, String> {
    let db = state.db.clone();
    let named = move |faces| {
        let db = db.clone();
        async move {
            let named = db.read(move |conn| Box::pin(store::worn(conn, faces))).await;
            named.map_err(|error: Failed| error.to_string())
        }
        .boxed()
    };
    state.avatars.sweep((state.now() - files::SETTLED).utc().into(), named, &state.tasks.stopping()).await
}
