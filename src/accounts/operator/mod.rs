//! Operations of `colloquy admin` on accounts, and who is an operator.
//!
//! The commands use the database alone, so that they work with the server running or stopped. A running server picks up the
//! sessions that end here by itself, see `endings`.

mod store;

use actors::ids::{Id, User};
use actors::language::Language;
use actors::time::Time;

use super::external;
use super::model::{Account, Email, FullName, JobTitle};
use super::profile::store::set_password;
use super::sessions::store::{self as sessions, SessionsToEnd};
use super::store as accounts;
use crate::db::{Db, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::passwords::{self, Passwords};

pub use store::AccountListItem;

/// An account to create. The operator vouches for its address, so it needs no code.
#[derive(Debug)]
pub struct NewUser {
    pub email: Email,
    pub full_name: FullName,
    pub job_title: JobTitle,
    pub language: Language,
    pub password: String,
    pub is_operator: bool,
}

/// Creates an account; an unconfirmed registration of the address is deleted.
///
/// # Errors
/// 409 when the address has an account; 422 for an unacceptable password.
pub async fn create_user(db: &Db, passwords: &Passwords, new: NewUser, now: Time) -> Result<Id<User>, ApiError> {
    let email = new.email.as_str().to_owned();
    let hash = hashed(passwords, new.password, &[&email, &new.full_name.0]).await?;
    let account = Account {
        id: Id::generate(),
        email,
        full_name: new.full_name.0,
        job_title: new.job_title.0,
        language: new.language,
        password_hash: Some(hash),
        avatar: None,
        created_at: now,
        updated_at: now,
        is_operator: new.is_operator,
    };
    db.write(move |conn| {
        Box::pin(async move {
            let taken = || ApiError::with_message(Code::CONFLICT, format!("{} already has an account.", account.email));
            if accounts::account_of(conn, &account.email).await?.is_some() {
                return Err(taken());
            }
            accounts::delete_registration(conn, &account.email).await?;
            match accounts::insert_account(conn, &account).await {
                Ok(()) => Ok(account.id),
                // A registration of the address was confirmed concurrently.
                Err(failed) if failed.is_taken() => Err(taken()),
                Err(failed) => Err(failed.into()),
            }
        })
    })
    .await
}

/// Sets another password and ends all sessions; returns how many ended.
///
/// # Errors
/// 404 for an address without an account; 422 for an unacceptable password; 503 when the password was changed
/// concurrently.
pub async fn reset_password(
    db: &Db,
    passwords: &Passwords,
    email: Email,
    password: String,
    now: Time,
) -> Result<usize, ApiError> {
    let account = found(db, email).await?;
    let hash = hashed(passwords, password, &[&account.email, &account.full_name]).await?;
    db.write(move |conn| {
        Box::pin(async move {
            // Re-read, because the owner may have chosen another password meanwhile; the one set here takes precedence.
            let account = accounts::account(conn, account.id).await?.ok_or_else(|| unknown(&account.email))?;
            if !set_password(conn, &account, &hash, now).await? {
                return Err(ApiError::unavailable("the password was changed at the same time; try again"));
            }
            Ok(sessions::end(conn, account.id, SessionsToEnd::All, now).await?.len())
        })
    })
    .await
}

/// Ends all sessions of an account; returns how many ended.
///
/// # Errors
/// 404 for an address without an account.
pub async fn revoke_sessions(db: &Db, email: Email, now: Time) -> Result<usize, ApiError> {
    let id = found(db, email).await?.id;
    let ended = db.write(move |conn| {
        Box::pin(async move {
            accounts::lock_account(conn, id).await?;
            // A link or code that was made before would begin another one.
            external::forget_codes(conn, id).await?;
            sessions::end(conn, id, SessionsToEnd::All, now).await
        })
    });
    Ok(ended.await.map_err(|failed: DbError| ApiError::from(failed))?.len())
}

/// Makes an account an operator, or revokes that. Running servers know at the next call. Returns whether it was a change.
///
/// # Errors
/// 404 for an address without an account.
pub async fn set_operator(db: &Db, email: Email, is_operator: bool, now: Time) -> Result<bool, ApiError> {
    let account = found(db, email).await?;
    let set = db.write(move |conn| Box::pin(store::set_operator(conn, account.id, is_operator, now)));
    set.await.map_err(|failed: DbError| ApiError::from(failed))
}

/// Returns whether the account is an operator now. Deleted accounts are none.
///
/// # Errors
/// Returns the database error.
pub async fn is_operator(db: &Db, id: Id<User>) -> Result<bool, ApiError> {
    let found = db.read(move |conn| Box::pin(store::is_operator(conn, id))).await;
    found.map_err(|failed: DbError| ApiError::from(failed))
}

/// Returns up to `limit` accounts after a given id, oldest first, without deleted ones.
///
/// # Errors
/// Returns the database error.
pub async fn list_users(db: &Db, after: Id<User>, limit: i64, now: Time) -> Result<Vec<AccountListItem>, ApiError> {
    db.read(move |conn| Box::pin(store::list(conn, after, limit, now))).await.map_err(ApiError::from)
}

/// Returns the id of an account.
///
/// # Errors
/// 404 for an address without an account.
pub async fn id_of(db: &Db, email: Email) -> Result<Id<User>, ApiError> {
    Ok(found(db, email).await?.id)
}

async fn found(db: &Db, email: Email) -> Result<Account, ApiError> {
    let address = email.clone();
    let found = db.read(move |conn| Box::pin(async move { accounts::account_of(conn, address.as_str()).await })).await;
    found.map_err(|failed: DbError| ApiError::from(failed))?.ok_or_else(|| unknown(email.as_str()))
}

fn unknown(email: &str) -> ApiError {
    ApiError::with_message(Code::NOT_FOUND, format!("{email} has no account."))
}

async fn hashed(passwords: &Passwords, password: String, own_words: &[&str]) -> Result<String, ApiError> {
    passwords::acceptable(&password, own_words)
        .map_err(|wrong| ApiError::invalid_request(wrong.reason, wrong.message))?;
    passwords.hash(password).await
}
