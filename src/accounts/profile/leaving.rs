//! The end of an account.
//!
//! ```text
//! proof ── prepare: who must hand over or end something is refused; what is the account's alone goes ──┐
//!        ┌── once more, where something came in between ── locks, a pseudonym, nothing else (one transaction) <┘
//!        `── sessions and sockets end ── answer ── jobs: names in meetings and events, the face, free pages
//! ```
//! What is left of an account is its id. Killed before the transaction, what was the account's alone may be gone, and the
//! account stands: its owner asks again. Killed after it, the jobs go on at the next start.

use std::ops::Deref;
use std::sync::Arc;

use actors::ids::{Id, Session, User};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use uuid::Uuid;

use super::{avatar, erasing, letters, proof, store};
use crate::access::caller::Caller;
use crate::accounts::model::{Account, Typed};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::state::Accounts;
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::mounted::Mounted;

/// How often a deletion begins anew where something came in between.
const ROUNDS: usize = 5;

/// An account that is being deleted.
pub struct Leaving {
    pub account: Account,
    pub now: Time,
    pub request: RequestId,
}

/// What is to be done once the transaction stands, in this process alone: to forget, to tell.
pub type Afterwards = Box<dyn FnOnce() + Send>;

/// Why a release did not come to its end.
#[derive(Debug)]
pub enum Stop {
    /// Something came in between: prepare once more.
    Again,
    Refused(Failure),
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Self {
        Self::Refused(failed.into())
    }
}

/// A feature that accounts have part in. Registered by `wiring`, as accounts know none of those that rest on them.
#[async_trait]
pub trait Holder: Send + Sync + 'static {
    /// Refuses what has to be handed over or to end first; then ends what is the account's alone. Safe to repeat.
    ///
    /// # Errors
    /// 409 that names what is in the way.
    async fn prepare(&self, _leaving: &Leaving) -> Result<(), Failure> {
        Ok(())
    }

    /// Locks what the account has part in, in an order of its own that all who lock it keep, and gives its ids.
    ///
    /// # Errors
    /// The database's own.
    async fn lock(&self, _conn: &mut Conn, _user_id: Id<User>) -> Result<Vec<Uuid>, Failed> {
        Ok(Vec::new())
    }

    /// Other addresses by which the account is known: what was said of them is said of it.
    ///
    /// # Errors
    /// The database's own.
    async fn addresses(&self, _conn: &mut Conn, _user_id: Id<User>) -> Result<Vec<String>, Failed> {
        Ok(Vec::new())
    }

    /// Takes the account out, in the transaction that ends it.
    ///
    /// # Errors
    /// See [`Stop`].
    async fn release(&self, _conn: &mut Conn, _leaving: &Leaving) -> Result<Option<Afterwards>, Stop> {
        Ok(None)
    }

    /// Takes the name out of what lives on, later and outside of any transaction. Safe to repeat.
    ///
    /// # Errors
    /// Why it is to be tried again.
    async fn erase(&self, _user_id: Id<User>, _request: &RequestId) -> Result<(), String> {
        Ok(())
    }
}

/// The features that accounts have part in.
#[derive(Clone, Default)]
pub struct Holders(Vec<Arc<dyn Holder>>);

impl Holders {
    #[must_use]
    pub fn with(mut self, holder: impl Holder) -> Self {
        self.0.push(Arc::new(holder));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Holder>> {
        self.0.iter()
    }
}

/// What the deletion of accounts rests on: the accounts, and those who have a part in them. Clones are the same one.
#[derive(Clone)]
pub struct Deletion {
    pub accounts: Accounts,
    pub holders: Holders,
}

impl Deref for Deletion {
    type Target = Accounts;
    fn deref(&self) -> &Accounts {
        &self.accounts
    }
}

impl Mounted for Deletion {}

/// Deletes the caller's account; the address may be registered anew from then on.
///
/// # Errors
/// Those of `proof::owner` on `password`; 409 `LastOwner` while other members of a project have no other owner, 409
/// `InvalidState` while something is under way in a project that is to go.
pub async fn delete_account(
    state: &Deletion,
    caller: Caller,
    password: Option<Typed>,
    request: RequestId,
) -> Result<(), Failure> {
    let account = proof::owner(state, caller, password, "password").await?;
    let leaving = Arc::new(Leaving { account, now: state.now(), request });
    for _ in 0..ROUNDS {
        for holder in state.holders.iter() {
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
            Err(Stop::Again) => {}
            Err(Stop::Refused(failure)) => return Err(failure),
        }
    }
    Err(Failure::unavailable("what the account has part in changed all the time"))
}

/// What the end of an account leaves to be done.
struct Ended {
    sessions: Vec<Id<Session>>,
    afterwards: Vec<Afterwards>,
}

/// The transaction.
async fn end(state: &Deletion, leaving: Arc<Leaving>) -> Result<Ended, Stop> {
    let (holders, post, jobs) = (state.holders.clone(), state.post.clone(), state.jobs.clone());
    let secret = state.secret.clone();
    let work = state.db.write(move |conn| {
        Box::pin(async move {
            let Leaving { account, now, request } = leaving.as_ref();
            let before = locked(conn, &holders, account.id).await?;
            // Whoever adds a row that names the account waits from here on, and finds it deleted.
            let Some(face) = store::become_pseudonym(conn, account, *now).await? else {
                return Err(Stop::Refused(Failure::of(Code::UNAUTHORIZED)));
            };
            if locked(conn, &holders, account.id).await? != before {
                return Err(Stop::Again);
            }
            let mut afterwards = Vec::new();
            let mut addresses = vec![account.email.clone()];
            for holder in holders.iter() {
                addresses.extend(holder.addresses(conn, account.id).await?);
                afterwards.extend(holder.release(conn, &leaving).await?);
            }
            let sessions = store::let_go(conn, account, *now).await?;
            post.send(conn, letters::account_deleted(account), *now, request).await?;
            if let Some(face) = face {
                avatar::forget(conn, face, *now, request).await?;
            }
            let addresses = addresses.iter().map(|email| erasing::hashed(&secret, email)).collect();
            erasing::enqueue(conn, &jobs, (account.id, addresses), *now, request).await?;
            Ok(Ended { sessions, afterwards })
        })
    });
    work.await
}

async fn locked(conn: &mut Conn, holders: &Holders, user_id: Id<User>) -> Result<Vec<Vec<Uuid>>, Failed> {
    let mut all = Vec::new();
    for holder in holders.iter() {
        all.push(holder.lock(conn, user_id).await?);
    }
    Ok(all)
}
