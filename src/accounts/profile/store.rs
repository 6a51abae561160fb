//! Queries for the profile of an account.

use actors::ids::{Id, Session, User};
use actors::language::Language;
use actors::time::Time;
use diesel::{ExpressionMethods, NullableExpressionMethods, OptionalExtension, QueryDsl};

use crate::accounts::model::{Account, DELETED_NAME};
use crate::accounts::sessions::store::{SessionsToEnd, end};
use crate::accounts::store::account;
use crate::db::schema::{codes, external_logins, login_codes, registrations, reset_tokens, sessions, users};
use crate::db::{Conn, DbError, RunQueryDsl};
use crate::http::patch::Patch;

/// Applies the given changes and returns the account after them; `None` if it was deleted.
pub async fn edit(
    conn: &mut Conn,
    id: Id<User>,
    full_name: &str,
    job_title: Patch<String>,
    language: Option<Language>,
    now: Time,
) -> Result<Option<Account>, DbError> {
    // Locks the row, so that of two concurrent edits the second sees what the first wrote.
    diesel::update(users::table.find(id)).set(users::language.eq(users::language)).execute(conn).await?;
    let Some(before) = account(conn, id).await? else { return Ok(None) };
    let mut after = before.clone();
    after.full_name = full_name.to_owned();
    after.job_title = match job_title {
        Patch::Keep => after.job_title,
        Patch::Clear => None,
        Patch::Set(title) => Some(title),
    };
    after.language = language.unwrap_or(after.language);
    if (&after.full_name, &after.job_title, after.language) == (&before.full_name, &before.job_title, before.language) {
        return Ok(Some(before));
    }
    after.updated_at = now;
    diesel::update(users::table.find(id))
        .set((
            users::full_name.eq(after.full_name.clone()),
            users::job_title.eq(after.job_title.clone()),
            users::language.eq(after.language),
            users::updated_at.eq(now),
        ))
        .execute(conn)
        .await?;
    Ok(Some(after))
}

/// Returns the SHA-256 of the avatar of an account.
pub async fn avatar(conn: &mut Conn, id: Id<User>) -> Result<Option<String>, DbError> {
    let found: Option<Option<String>> = users::table.find(id).select(users::avatar).first(conn).await.optional()?;
    Ok(found.flatten())
}

/// Replaces the avatar; returns the account after the change, and the former avatar. `None` if the account was deleted.
pub async fn set_avatar(
    conn: &mut Conn,
    id: Id<User>,
    sha256: &str,
    now: Time,
) -> Result<Option<(Account, Option<String>)>, DbError> {
    diesel::update(users::table.find(id)).set(users::language.eq(users::language)).execute(conn).await?;
    let Some(before) = account(conn, id).await? else { return Ok(None) };
    let mut after = before.clone();
    if before.avatar.as_deref() != Some(sha256) {
        (after.avatar, after.updated_at) = (Some(sha256.to_owned()), now);
        diesel::update(users::table.find(id))
            .set((users::avatar.eq(after.avatar.clone()), users::updated_at.eq(now)))
            .execute(conn)
            .await?;
    }
    Ok(Some((after, before.avatar)))
}

/// Whether any account uses this avatar.
pub async fn is_worn(conn: &mut Conn, sha256: &str) -> Result<bool, DbError> {
    let worn: i64 = users::table.filter(users::avatar.eq(sha256)).count().get_result(conn).await?;
    Ok(worn > 0)
}

/// Returns those of the given avatars that an account uses.
pub async fn worn(conn: &mut Conn, faces: Vec<String>) -> Result<Vec<String>, DbError> {
    let worn = users::table.filter(users::avatar.eq_any(faces));
    Ok(worn.select(users::avatar.assume_not_null()).distinct().load(conn).await?)
}

/// Returns when a session was created by its log-in.
pub async fn session_started_at(conn: &mut Conn, id: Id<Session>) -> Result<Option<Time>, DbError> {
    Ok(sessions::table.find(id).select(sessions::created_at).first(conn).await.optional()?)
}

/// Replaces the password if it is still the one that was checked, and invalidates codes and tokens that were sent to
/// choose another one. Returns whether it was replaced.
pub async fn set_password(conn: &mut Conn, proved: &Account, hash: &str, now: Time) -> Result<bool, DbError> {
    let set = (users::password_hash.eq(Some(hash.to_owned())), users::updated_at.eq(now));
    let living = users::table.find(proved.id);
    let changed = match proved.password_hash.clone() {
        Some(former) => {
            let same = living.filter(users::password_hash.eq(Some(former))).filter(users::deleted_at.is_null());
            diesel::update(same).set(set).execute(conn).await?
        }
        None => {
            let same = living.filter(users::password_hash.is_null()).filter(users::deleted_at.is_null());
            diesel::update(same).set(set).execute(conn).await?
        }
    };
    if changed == 0 {
        return Ok(false);
    }
    diesel::delete(reset_tokens::table.find(proved.id)).execute(conn).await?;
    diesel::delete(login_codes::table.filter(login_codes::user_id.eq(proved.id))).execute(conn).await?;
    diesel::delete(codes::table.filter(codes::email.eq(&proved.email))).execute(conn).await?;
    Ok(true)
}

/// Pseudonymizes the row of an account: removes all identifying columns, and locks the row against new rows that would
/// reference it. Returns the avatar that it had; `None` if the account was deleted already.
pub async fn become_pseudonym(
    conn: &mut Conn,
    account: &Account,
    now: Time,
) -> Result<Option<Option<String>>, DbError> {
    let id = account.id;
    let deleted = diesel::update(users::table.find(id)).filter(users::deleted_at.is_null()).set((
        // The address is unique, so changing it locks the row against transactions that would insert a reference to it.
        users::email.eq(format!("deleted:{id}")),
        users::full_name.eq(DELETED_NAME),
        users::job_title.eq(None::<String>),
        users::language.eq(Language::En),
        users::password_hash.eq(None::<String>),
        users::is_operator.eq(false),
        users::deleted_at.eq(Some(now)),
        users::updated_at.eq(now),
    ));
    if deleted.execute(conn).await? == 0 {
        return Ok(None);
    }
    let face = avatar(conn, id).await?;
    diesel::update(users::table.find(id)).set(users::avatar.eq(None::<String>)).execute(conn).await?;
    Ok(Some(face))
}

/// Ends all sessions of an account permanently. Returns those that ended with this call.
///
/// Their rows stay, without the device: a server that starts must know for how long their tokens are to be refused.
pub async fn end_all(conn: &mut Conn, user_id: Id<User>, now: Time) -> Result<Vec<Id<Session>>, DbError> {
    let ended = end(conn, user_id, SessionsToEnd::All, now).await?;
    let own = sessions::table.filter(sessions::user_id.eq(user_id)).filter(sessions::device.ne(""));
    diesel::update(own).set(sessions::device.eq("")).execute(conn).await?;
    Ok(ended)
}

/// Ends the sessions of an account and deletes every other row that can be used to log in. Returns the sessions that
/// ended with this call.
pub async fn revoke_logins(conn: &mut Conn, account: &Account, now: Time) -> Result<Vec<Id<Session>>, DbError> {
    let id = account.id;
    let ended = end_all(conn, account.id, now).await?;
    diesel::delete(reset_tokens::table.find(id)).execute(conn).await?;
    diesel::delete(external_logins::table.filter(external_logins::user_id.eq(id))).execute(conn).await?;
    diesel::delete(login_codes::table.filter(login_codes::user_id.eq(id))).execute(conn).await?;
    diesel::delete(codes::table.filter(codes::email.eq(&account.email))).execute(conn).await?;
    diesel::delete(registrations::table.filter(registrations::email.eq(&account.email))).execute(conn).await?;
    Ok(ended)
}
