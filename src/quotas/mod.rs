//! Quotas: how much a project, an account and the installation may store, and a reserve of free space on the disk.
//!
//! ```text
//! upload --> QuotaPermit::cover(bytes) --> project, owner, installation: used + held <= limit?  --> free space > reserve?
//!    `-- no: 507, before the bytes are written         `-- yes: held until the row is committed, then given back
//! ```
//! What is used is never stored by itself: it is the sum of the sizes that the rows of documents, recordings, exports and
//! imports have. So it is right after a kill, a restore, and an upgrade, and what is deleted is given back with its row. Sums
//! are taken seldom ([`tally`]): what was granted since the last one is added to it, and only what does not fit then makes
//! another one. What is under way is held in memory, since one server alone writes to a database.
//!
//! Whoever uploads, it counts for the project and for the account that owns it: only its members can, and a stranger spends
//! nobody's quota. Not counted by itself is what is bounded by something that is counted: transcripts that
//! are made of sound by their recordings, results by their runs, and one avatar an account.

pub mod free_space;
pub mod model;
pub mod operator;
pub mod permit;
mod store;
pub mod tally;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use self::free_space::FreeSpace;
use self::model::CountedKind;
use self::permit::CountPermit;
use self::tally::Tallies;
use crate::config::{self, Config};
use crate::db::{Conn, Db, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;

pub use self::store::StoredBytes;

/// The quotas of the installation. Clones share one state.
#[derive(Clone)]
pub struct Quotas(Arc<QuotasParts>);

pub struct QuotasParts {
    settings: config::Quotas,
    db: Db,
    tallies: Tallies,
    pub free_space: FreeSpace,
    stored_lately: Mutex<Option<(Instant, u64)>>,
}

impl Quotas {
    #[must_use]
    pub fn new(config: &Config, db: Db) -> Self {
        let mut folders = vec![config.server.data.clone()];
        let embedded = config.database.url.strip_prefix("sqlite://").map(PathBuf::from);
        let beside = embedded.and_then(|file| file.parent().map(PathBuf::from));
        folders.extend(beside.filter(|folder| !folder.as_os_str().is_empty()));
        Self(Arc::new(QuotasParts {
            settings: config.quotas.clone(),
            db,
            tallies: Tallies::default(),
            free_space: FreeSpace::new(folders, &config.storage),
            stored_lately: Mutex::default(),
        }))
    }

    /// As [`Quotas::count`], for a request that may be a repeated one: where the limit is reached, `find_made` looks whether what
    /// it makes is there already. If so, nothing is held, and the operation goes on to return what is there.
    ///
    /// # Errors
    /// 409 `LimitReached` if it is not there; otherwise the database error.
    pub async fn count_unless_made<T: Send + 'static>(
        &self,
        kind: CountedKind,
        owner: Uuid,
        more: usize,
        find_made: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<Option<T>, DbError>> + Send + 'static,
    ) -> Result<Option<CountPermit>, ApiError> {
        match self.count(kind, owner, more).await {
            Err(full) if full.code == Code::LIMIT_REACHED => match self.db.read(find_made).await? {
                Some(_) => Ok(None),
                None => Err(full),
            },
            counted => counted.map(Some),
        }
    }
}

impl Deref for Quotas {
    type Target = QuotasParts;
    fn deref(&self) -> &QuotasParts {
        &self.0
    }
}
