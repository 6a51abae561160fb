//! The deletion of an account, and the hooks by which other features take part in it.
//!
//! ```text
//! proof ── prepare: 409 where something must be handed over or ended; data of the account alone is deleted ──┐
//!        ┌── retried after a concurrent change ── locks, pseudonymization, nothing else (one transaction) <────┘
//!        `── sessions and sockets end ── response ── jobs: names in meetings and events, the avatar, free pages
//! ```
//! Only the id of the account is left. If the server is killed before the transaction, the data of the account alone
//! may be gone while the account still exists: its owner repeats the request. If it is killed afterwards, the jobs
//! resume at the next start.

use std::ops::Deref;
use std::sync::Arc;

use actors::ids::{Id, Session, User};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use uuid::Uuid;

use super::{avatar, emails, erase, proof, store};
use crate::access::principal::Caller;
use crate::accounts::model::{Account, TypedPassword};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::state::Accounts;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::mounted::Mounted;

/// How often a deletion is attempted when a concurrent change interferes.
const ROUNDS: usize = 5;

/// An account that is being deleted.
pub struct DeletedAccount {
    pub account: Account,
    pub now: Time,
    pub request: RequestId,
}

/// A function to call once the transaction is committed, which changes the memory of this process only: to drop cached
/// state, or to publish.
pub type AfterCommit = Box<dyn FnOnce() + Send>;

/// Why a release failed.
#[derive(Debug)]
pub enum ReleaseError {
    /// A concurrent change interfered: `prepare` must run again.
    Again,
    Refused(ApiError),
}

impl From<DbError> for ReleaseError {
    fn from(failed: DbError) -> Self {
        Self::Refused(failed.into())
    }
}

/// The part of a feature in the deletion of accounts. `wiring` registers the hooks, because `accounts` does not know
/// the features that depend on it.
#[async_trait]
pub trait DeletionHook: Send + Sync + 'static {
    /// Refuses the deletion while something has to be handed over or ended first; then deletes the data of this account
    /// alone. Safe to repeat.
    ///
    /// # Errors
    /// 409 that names what is in the way.
    async fn prepare(&self, _leaving: &DeletedAccount) -> Result<(), ApiError> {
        Ok(())
    }

    /// Locks the rows that the account takes part in, and returns their ids. All code that locks these rows must use
    /// the same order.
    ///
    /// # Errors
    /// Returns the database error.
    async fn lock(&self, _conn: &mut Conn, _user_id: Id<User>) -> Result<Vec<Uuid>, DbError> {
        Ok(Vec::new())
    }

    /// Returns other addresses of the account; personal data under them belongs to it too.
    ///
    /// # Errors
    /// Returns the database error.
    async fn addresses(&self, _conn: &mut Conn, _user_id: Id<User>) -> Result<Vec<String>, DbError> {
        Ok(Vec::new())
    }

    /// Removes the account from the feature, within the transaction that deletes the account.
    ///
    /// # Errors
    /// See [`ReleaseError`].
    async fn release(&self, _conn: &mut Conn, _leaving: &DeletedAccount) -> Result<Option<AfterCommit>, ReleaseError> {
        Ok(None)
    }

    /// Removes the name from data that stays, later and outside of any transaction. Safe to repeat.
    ///
    /// # Errors
    /// Returns a message that says why it is to be retried.
    async fn erase(&self, _user_id: Id<User>, _request: &RequestId) -> Result<(), String> {
        Ok(())
    }
}

/// The deletion hooks of all features.
#[derive(Clone, Default)]
pub struct DeletionHooks(Vec<Arc<dyn DeletionHook>>);

impl DeletionHooks {
    #[must_use]
    pub fn with(mut self, holder: impl DeletionHook) -> Self {
        self.0.push(Arc::new(holder));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn DeletionHook>> {
        self.0.iter()
    }
}

/// The state of account deletion: the accounts, and the hooks of the features. Clones share the same state.
#[derive(Clone)]
pub struct AccountDeletion {
    pub accounts: Accounts,
    pub hooks: DeletionHooks,
}

impl Deref for AccountDeletion {
    type Target = Accounts;
    fn deref(&self) -> &Accounts {
        &self.accounts
    }
}

impl Mounted for AccountDeletion {}

/// Deletes the caller's account; its address may be registered again from then on.
///
/// # Errors
/// Those of `proof::owner` on `password`; 409 `LastOwner` while a project has other members but no other owner; 409
/// `InvalidState` while something is in progress in a project that is to be deleted; 503 when concurrent changes
/// interfere every time.
pub async fn delete_account(
    state: &AccountDeletion,
    caller: Caller,
    password: Option<TypedPassword>,
    request: RequestId,
) -> Result<(), ApiError> {
    let account = proof::owner(state, caller, password, "password").await?;
    let leaving = Arc::new(DeletedAccount { account, now: state.now(), request });
    for _ in 0..ROUNDS {
        for holder in state.hooks.iter() {
            holder.prepare(&leaving).await?;
        }
        match end(state, Arc::clone(&leaving)).await {
            Ok(ended) => {
                are_over(state, ended.sessions, leaving.now);
                for afterwards in ended.afterwards {
                    afterwards();
                }
                state.jobs.wake();
                return Ok(());
            }
            Err(ReleaseError::Again) => {}
            Err(ReleaseError::Refused(failure)) => return Err(failure),
        }
    }
    Err(ApiError::unavailable("the account's projects and meetings kept changing"))
}

/// What remains to be done after the transaction.
struct Ended {
    sessions: Vec<Id<Session>>,
    afterwards: Vec<AfterCommit>,
}

/// Runs the transaction that deletes the account.
async fn end(state: &AccountDeletion, leaving: Arc<DeletedAccount>) -> Result<Ended, ReleaseError> {
    let (holders, outbox, jobs) = (state.hooks.clone(), state.outbox.clone(), state.jobs.clone());
    let secret = state.secret.clone();
    let work = state.db.write(move |conn| {
        Box::pin(async move {
            let DeletedAccount { account, now, request } = leaving.as_ref();
            let before = locked(conn, &holders, account.id).await?;
            // From here on, a transaction that adds a row referencing the account waits, and then finds the account
            // deleted.
            let Some(face) = store::become_pseudonym(conn, account, *now).await? else {
                return Err(ReleaseError::Refused(ApiError::of(Code::UNAUTHORIZED)));
            };
            if locked(conn, &holders, account.id).await? != before {
                return Err(ReleaseError::Again);
            }
            let mut afterwards = Vec::new();
            let mut addresses = vec![account.email.clone()];
            for holder in holders.iter() {
                addresses.extend(holder.addresses(conn, account.id).await?);
                afterwards.extend(holder.release(conn, &leaving).await?);
            }
            let sessions = store::revoke_logins(conn, account, *now).await?;
            outbox.send(conn, emails::account_deleted(account), *now, request).await?;
            if let Some(face) = face {
                avatar::enqueue_deletion(conn, face, *now, request).await?;
            }
            let addresses = addresses.iter().map(|email| erase::hashed(&secret, email)).collect();
            erase::enqueue(conn, &jobs, (account.id, addresses), *now, request).await?;
            Ok(Ended { sessions, afterwards })
        })
    });
    work.await
}

async fn locked(conn: &mut Conn, holders: &DeletionHooks, user_id: Id<User>) -> Result<Vec<Vec<Uuid>>, DbError> {
    let mut all = Vec::new();
    for holder in holders.iter() {
        all.push(holder.lock(conn, user_id).await?);
    }
    Ok(all)
}
