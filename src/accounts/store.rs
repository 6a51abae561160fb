//! Queries for accounts and registrations.

use std::collections::HashMap;
use std::time::Duration;

use actors::ids::{Id, User};
use actors::language::Language;
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::model::{Account, Registration};
use crate::db::schema::{registrations, users};
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = users)]
struct UserRow {
    id: Id<User>,
    email: String,
    full_name: String,
    job_title: Option<String>,
    language: Language,
    password_hash: Option<String>,
    avatar: Option<String>,
    created_at: Time,
    updated_at: Time,
    is_operator: bool,
}

impl From<UserRow> for Account {
    fn from(row: UserRow) -> Self {
        Self {
            id: row.id,
            email: row.email,
            full_name: row.full_name,
            job_title: row.job_title,
            language: row.language,
            password_hash: row.password_hash,
            avatar: row.avatar,
            created_at: row.created_at,
            updated_at: row.updated_at,
            is_operator: row.is_operator,
        }
    }
}

/// Whether anybody has an account.
pub async fn is_any(conn: &mut Conn) -> Result<bool, DbError> {
    let first: Option<Id<User>> = users::table.select(users::id).first(conn).await.optional()?;
    Ok(first.is_some())
}

/// Returns the account of an address, unless it was deleted.
pub async fn account_of(conn: &mut Conn, email: &str) -> Result<Option<Account>, DbError> {
    let standing = users::table.filter(users::email.eq(email)).filter(users::deleted_at.is_null());
    let found = standing.select(UserRow::columns()).first(conn).await.optional()?;
    Ok(found.map(|row: UserRow| row.into()))
}

/// Returns an account by its id; `None` if it was deleted.
pub async fn account(conn: &mut Conn, id: Id<User>) -> Result<Option<Account>, DbError> {
    let living = users::table.find(id).filter(users::deleted_at.is_null());
    let found = living.select(UserRow::columns()).first(conn).await.optional()?;
    Ok(found.map(|row: UserRow| row.into()))
}

/// Like [`account`], for several ids; missing and deleted accounts are left out.
pub async fn accounts(conn: &mut Conn, ids: &[Id<User>]) -> Result<Vec<Account>, DbError> {
    let living = users::table.filter(users::id.eq_any(ids)).filter(users::deleted_at.is_null());
    let rows: Vec<UserRow> = living.select(UserRow::columns()).load(conn).await?;
    Ok(rows.into_iter().map(Account::from).collect())
}

/// Returns the languages of the accounts with these addresses, by address.
pub async fn languages(conn: &mut Conn, emails: &[&str]) -> Result<HashMap<String, Language>, DbError> {
    let emails: Vec<String> = emails.iter().copied().map(str::to_owned).collect();
    let living = users::table.filter(users::email.eq_any(emails)).filter(users::deleted_at.is_null());
    let languages: Vec<(String, Language)> = living.select((users::email, users::language)).load(conn).await?;
    Ok(languages.into_iter().collect())
}

pub async fn insert_account(conn: &mut Conn, account: &Account) -> Result<(), DbError> {
    let row = UserRow {
        id: account.id,
        email: account.email.clone(),
        full_name: account.full_name.clone(),
        job_title: account.job_title.clone(),
        language: account.language,
        password_hash: account.password_hash.clone(),
        avatar: account.avatar.clone(),
        created_at: account.created_at,
        updated_at: account.updated_at,
        is_operator: account.is_operator,
    };
    diesel::insert_into(users::table).values(&row).execute(conn).await?;
    Ok(())
}

/// Locks the row of an account until the end of the transaction. Returns false if the account was deleted.
///
/// Every transaction that creates a session locks the row first, and so does every one that ends all sessions: the
/// second of the two then sees what the first did, and no session is left over.
pub async fn lock_account(conn: &mut Conn, id: Id<User>) -> Result<bool, DbError> {
    let standing = users::table.find(id).filter(users::deleted_at.is_null());
    let held = diesel::update(standing).set(users::updated_at.eq(users::updated_at)).execute(conn).await?;
    Ok(held == 1)
}

/// Like [`lock_account`], if the account still has the password that was checked; `hash` replaces `former`, and may be a
/// stronger hash of the same password. Returns false if the password was changed or the account deleted meanwhile.
pub async fn still_has(conn: &mut Conn, id: Id<User>, former: &str, hash: &str) -> Result<bool, DbError> {
    let checked = users::table.find(id).filter(users::password_hash.eq(former)).filter(users::deleted_at.is_null());
    let set = diesel::update(checked).set(users::password_hash.eq(Some(hash.to_owned())));
    Ok(set.execute(conn).await? == 1)
}

/// Sets another password. Returns false if the account was deleted.
pub async fn set_password(conn: &mut Conn, id: Id<User>, hash: &str, now: Time) -> Result<bool, DbError> {
    let standing = users::table.find(id).filter(users::deleted_at.is_null());
    let set = (users::password_hash.eq(Some(hash.to_owned())), users::updated_at.eq(now));
    Ok(diesel::update(standing).set(set).execute(conn).await? == 1)
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = registrations)]
struct RegistrationRow {
    id: Id<Registration>,
    email: String,
    full_name: String,
    language: Language,
    password_hash: String,
    created_at: Time,
}

/// Stores a registration; an older one of the same address is deleted.
pub async fn replace_registration(conn: &mut Conn, registration: &Registration) -> Result<(), DbError> {
    diesel::delete(registrations::table.filter(registrations::email.eq(&registration.email))).execute(conn).await?;
    let row = RegistrationRow {
        id: registration.id,
        email: registration.email.clone(),
        full_name: registration.full_name.clone(),
        language: registration.language,
        password_hash: registration.password_hash.clone(),
        created_at: registration.created_at,
    };
    diesel::insert_into(registrations::table).values(&row).execute(conn).await?;
    Ok(())
}

pub async fn registration_of(conn: &mut Conn, email: &str) -> Result<Option<Registration>, DbError> {
    let found: Option<RegistrationRow> = registrations::table
        .filter(registrations::email.eq(email))
        .select(RegistrationRow::columns())
        .first(conn)
        .await
        .optional()?;
    let registration = |row: RegistrationRow| Registration {
        id: row.id,
        email: row.email,
        full_name: row.full_name,
        language: row.language,
        password_hash: row.password_hash,
        created_at: row.created_at,
    };
    Ok(found.map(registration))
}

pub async fn delete_registration(conn: &mut Conn, email: &str) -> Result<(), DbError> {
    diesel::delete(registrations::table.filter(registrations::email.eq(email))).execute(conn).await?;
    Ok(())
}

/// Sweep: deletes registrations that were not confirmed within seven days.
pub const RETENTION: Retention =
    Retention { table: "registrations", key: "id", at: "created_at", period: Duration::from_secs(7 * 24 * 60 * 60) };
