//! What an operator does to accounts at the machine: over the store alone, so that it works beside a running server and
//! without one. A running server learns of sessions that end here by itself, see `endings`.

mod store;

use actors::ids::{Id, User};
use actors::time::Time;

use super::model::{Account, Email, FullName, JobTitle, Language};
use super::profile::store::set_password;
use super::sessions::store::{self as sessions, Ending};
use super::store as accounts;
use crate::db::{Db, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::passwords::{self, Passwords};
pub use store::Listed;

/// An account that an operator vouches for: its address needs no code.
#[derive(Debug)]
pub struct NewUser {
    pub email: Email,
    pub full_name: FullName,
    pub job_title: JobTitle,
    pub language: Language,
    pub password: String,
}

/// Makes an account; a registration of the address that waits for its code is gone.
///
/// # Errors
/// 409 where the address has an account, 422 for a password that may not be chosen.
pub async fn create_user(db: &Db, passwords: &Passwords, new: NewUser, now: Time) -> Result<Id<User>, Failure> {
    let email = new.email.as_str().to_owned();
    let hash = hashed(passwords, new.password, &[&email, &new.full_name.0]).await?;
    let account = Account {
        id: Id::draw(),
        email,
        full_name: new.full_name.0,
        job_title: new.job_title.0,
        language: new.language,
        password_hash: Some(hash),
        avatar: None,
        created_at: now,
        updated_at: now,
    };
    db.write(move |conn| {
        Box::pin(async move {
            let taken = || Failure::saying(Code::CONFLICT, format!("{} has an account already.", account.email));
            if accounts::account_of(conn, &account.email).await?.is_some() {
                return Err(taken());
            }
            accounts::delete_registration(conn, &account.email).await?;
            match accounts::insert_account(conn, &account).await {
                Ok(()) => Ok(account.id),
                // A registration was confirmed at the same time.
                Err(failed) if failed.is_taken() => Err(taken()),
                Err(failed) => Err(failed.into()),
            }
        })
    })
    .await
}

/// Puts another password in place; all sessions end. Gives how many did.
///
/// # Errors
/// 404 for an address without an account, 422 for a password that may not be chosen.
pub async fn reset_password(
    db: &Db,
    passwords: &Passwords,
    email: Email,
    password: String,
    now: Time,
) -> Result<usize, Failure> {
    let account = found(db, email).await?;
    let hash = hashed(passwords, password, &[&account.email, &account.full_name]).await?;
    db.write(move |conn| {
        Box::pin(async move {
            // As it is now: its owner may have chosen another one meanwhile, and this one counts over that.
            let account = accounts::account(conn, account.id).await?.ok_or_else(|| unknown(&account.email))?;
            if !set_password(conn, &account, &hash, now).await? {
                return Err(Failure::unavailable("the password was changed at the same time: try again"));
            }
            Ok(sessions::end(conn, account.id, Ending::All, now).await?.len())
        })
    })
    .await
}

/// Ends all sessions of an account. Gives how many did.
///
/// # Errors
/// 404 for an address without an account.
pub async fn revoke_sessions(db: &Db, email: Email, now: Time) -> Result<usize, Failure> {
    let id = found(db, email).await?.id;
    let ended = db.write(move |conn| {
        Box::pin(async move {
            accounts::hold(conn, id).await?;
            sessions::end(conn, id, Ending::All, now).await
        })
    });
    Ok(ended.await.map_err(|failed: Failed| Failure::from(failed))?.len())
}

/// Accounts after one, oldest first; none of those that were deleted.
///
/// # Errors
/// The database's own.
pub async fn list_users(db: &Db, after: Id<User>, limit: i64, now: Time) -> Result<Vec<Listed>, Failure> {
    db.read(move |conn| Box::pin(store::list(conn, after, limit, now))).await.map_err(Failure::from)
}

async fn found(db: &Db, email: Email) -> Result<Account, Failure> {
    let address = email.clone();
    let found = db.read(move |conn| Box::pin(async move { accounts::account_of(conn, address.as_str()).await })).await;
    found.map_err(|failed: Failed| Failure::from(failed))?.ok_or_else(|| unknown(email.as_str()))
}

fn unknown(email: &str) -> Failure {
    Failure::saying(Code::NOT_FOUND, format!("{email} has no account."))
}

async fn hashed(passwords: &Passwords, password: String, own_words: &[&str]) -> Result<String, Failure> {
    passwords::acceptable(&password, own_words).map_err(|wrong| Failure::unfit(wrong.reason, wrong.message))?;
    passwords.hash(password).await
}
