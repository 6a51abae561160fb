//! Accounts, registrations, codes and sessions as rows.

use actors::ids::{Id, Session, User};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::model::{Account, CodePurpose, Language, Registration};
use crate::db::schema::{codes, registrations, sessions, users};
use crate::db::{At, Columns, Conn, Failed, Key, RunQueryDsl};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = users)]
struct UserRow {
    id: Key<User>,
    email: String,
    full_name: String,
    job_title: Option<String>,
    language: String,
    password_hash: Option<String>,
    avatar: Option<String>,
    created_at: At,
    updated_at: At,
}

impl TryFrom<UserRow> for Account {
    type Error = Failed;
    fn try_from(row: UserRow) -> Result<Self, Failed> {
        Ok(Self {
            id: row.id.0,
            email: row.email,
            full_name: row.full_name,
            job_title: row.job_title,
            language: language(&row.language)?,
            password_hash: row.password_hash,
            avatar: row.avatar,
            created_at: row.created_at.0,
            updated_at: row.updated_at.0,
        })
    }
}

fn language(text: &str) -> Result<Language, Failed> {
    Language::named(text).ok_or_else(|| Failed::Broken(format!("a row has the language {text}")))
}

pub async fn account_of(conn: &mut Conn, email: &str) -> Result<Option<Account>, Failed> {
    let found = users::table.filter(users::email.eq(email)).select(UserRow::columns()).first(conn).await.optional()?;
    found.map(|row: UserRow| row.try_into()).transpose()
}

/// An account by its id; one that was deleted is none.
pub async fn account(conn: &mut Conn, id: Id<User>) -> Result<Option<Account>, Failed> {
    let living = users::table.find(Key(id)).filter(users::deleted_at.is_null());
    let found = living.select(UserRow::columns()).first(conn).await.optional()?;
    found.map(|row: UserRow| row.try_into()).transpose()
}

pub async fn insert_account(conn: &mut Conn, account: &Account) -> Result<(), Failed> {
    let row = UserRow {
        id: Key(account.id),
        email: account.email.clone(),
        full_name: account.full_name.clone(),
        job_title: account.job_title.clone(),
        language: account.language.as_str().to_owned(),
        password_hash: account.password_hash.clone(),
        avatar: account.avatar.clone(),
        created_at: At(account.created_at),
        updated_at: At(account.updated_at),
    };
    diesel::insert_into(users::table).values(&row).execute(conn).await?;
    Ok(())
}

/// Puts a stronger hash of the same password in place, unless the password was changed meanwhile.
pub async fn rehash(conn: &mut Conn, id: Id<User>, former: &str, hash: &str) -> Result<(), Failed> {
    diesel::update(users::table.find(Key(id)))
        .filter(users::password_hash.eq(former))
        .set(users::password_hash.eq(Some(hash.to_owned())))
        .execute(conn)
        .await?;
    Ok(())
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = registrations)]
struct RegistrationRow {
    id: Key<Registration>,
    email: String,
    full_name: String,
    language: String,
    password_hash: String,
    created_at: At,
}

/// Keeps a registration; an older one of the address is gone.
pub async fn replace_registration(conn: &mut Conn, registration: &Registration) -> Result<(), Failed> {
    diesel::delete(registrations::table.filter(registrations::email.eq(&registration.email))).execute(conn).await?;
    let row = RegistrationRow {
        id: Key(registration.id),
        email: registration.email.clone(),
        full_name: registration.full_name.clone(),
        language: registration.language.as_str().to_owned(),
        password_hash: registration.password_hash.clone(),
        created_at: At(registration.created_at),
    };
    diesel::insert_into(registrations::table).values(&row).execute(conn).await?;
    Ok(())
}

pub async fn registration_of(conn: &mut Conn, email: &str) -> Result<Option<Registration>, Failed> {
    let found: Option<RegistrationRow> = registrations::table
        .filter(registrations::email.eq(email))
        .select(RegistrationRow::columns())
        .first(conn)
        .await
        .optional()?;
    let registration = |row: RegistrationRow| {
        Ok(Registration {
            id: row.id.0,
            email: row.email,
            full_name: row.full_name,
            language: language(&row.language)?,
            password_hash: row.password_hash,
            created_at: row.created_at.0,
        })
    };
    found.map(registration).transpose()
}

pub async fn delete_registration(conn: &mut Conn, email: &str) -> Result<(), Failed> {
    diesel::delete(registrations::table.filter(registrations::email.eq(email))).execute(conn).await?;
    Ok(())
}

/// Keeps a code's hash; an older code of the address and purpose is gone.
pub async fn replace_code(
    conn: &mut Conn,
    email: &str,
    purpose: CodePurpose,
    hash: &str,
    tries: i64,
    expires_at: Time,
) -> Result<(), Failed> {
    diesel::delete(codes::table.find((email, purpose.as_str()))).execute(conn).await?;
    let row = (
        codes::email.eq(email.to_owned()),
        codes::purpose.eq(purpose.as_str()),
        codes::code_hash.eq(hash.to_owned()),
        codes::tries_left.eq(tries),
        codes::expires_at.eq(At(expires_at)),
    );
    diesel::insert_into(codes::table).values(row).execute(conn).await?;
    Ok(())
}

/// Uses one try of a code; gives its hash if there was a try left and time. The hash is compared by the caller, who
/// deletes the code if it was right.
pub async fn try_code(conn: &mut Conn, email: &str, purpose: CodePurpose, now: Time) -> Result<Option<String>, Failed> {
    let tried = diesel::update(codes::table.find((email, purpose.as_str())))
        .filter(codes::tries_left.gt(0))
        .filter(codes::expires_at.gt(At(now)))
        .set(codes::tries_left.eq(codes::tries_left - 1))
        .returning(codes::code_hash);
    Ok(tried.get_result(conn).await.optional()?)
}

pub async fn delete_code(conn: &mut Conn, email: &str, purpose: CodePurpose) -> Result<(), Failed> {
    diesel::delete(codes::table.find((email, purpose.as_str()))).execute(conn).await?;
    Ok(())
}

/// A new login.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub id: Id<Session>,
    pub user_id: Id<User>,
    pub salt: String,
    pub device: String,
    pub now: Time,
    pub expires_at: Time,
}

/// The counter of a session's first refresh token.
pub const FIRST: i64 = 1;

pub async fn insert_session(conn: &mut Conn, session: NewSession) -> Result<(), Failed> {
    let row = (
        sessions::id.eq(Key(session.id)),
        sessions::user_id.eq(Key(session.user_id)),
        sessions::salt.eq(session.salt),
        sessions::counter.eq(FIRST),
        sessions::graced_counter.eq(0),
        sessions::device.eq(session.device),
        sessions::created_at.eq(At(session.now)),
        sessions::last_used_at.eq(At(session.now)),
        sessions::expires_at.eq(At(session.expires_at)),
        sessions::revoked_at.eq(None::<At>),
    );
    diesel::insert_into(sessions::table).values(row).execute(conn).await?;
    Ok(())
}

/// The salt of a session that stands, and whose it is.
pub async fn standing_session(
    conn: &mut Conn,
    id: Id<Session>,
    now: Time,
) -> Result<Option<(String, Id<User>)>, Failed> {
    let found: Option<(String, Key<User>)> = sessions::table
        .find(Key(id))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(At(now)))
        .select((sessions::salt, sessions::user_id))
        .first(conn)
        .await
        .optional()?;
    Ok(found.map(|(salt, user)| (salt, user.0)))
}

/// What became of a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotated {
    /// The session goes on with this counter.
    To(i64),
    /// The token was presented once more after its answer was lost; its successor is the same as then.
    Again(i64),
    /// Neither good nor stolen: the one repetition was used, or the session ended.
    Refused,
    /// A token older than that: somebody holds a copy. The session was ended.
    Reused,
}

/// Rotates a session in one statement, so that of any number of equal requests exactly one does.
pub async fn rotate(
    conn: &mut Conn,
    id: Id<Session>,
    presented: i64,
    now: Time,
    expires_at: Time,
) -> Result<Rotated, Failed> {
    let rotated = diesel::update(sessions::table.find(Key(id)))
        .filter(sessions::counter.eq(presented))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(At(now)))
        .set((
            sessions::counter.eq(sessions::counter + 1),
            sessions::last_used_at.eq(At(now)),
            sessions::expires_at.eq(At(expires_at)),
        ))
        .returning(sessions::counter);
    if let Some(counter) = rotated.get_result::<i64>(conn).await.optional()? {
        return Ok(Rotated::To(counter));
    }
    // Its successor is the counter of now, so it was never used: using it would have raised the counter.
    let graced = diesel::update(sessions::table.find(Key(id)))
        .filter(sessions::counter.eq(presented.saturating_add(1)))
        .filter(sessions::graced_counter.ne(presented))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(At(now)))
        .set(sessions::graced_counter.eq(presented))
        .returning(sessions::counter);
    if let Some(counter) = graced.get_result::<i64>(conn).await.optional()? {
        return Ok(Rotated::Again(counter));
    }
    let stolen = diesel::update(sessions::table.find(Key(id)))
        .filter(sessions::counter.gt(presented.saturating_add(1)))
        .filter(sessions::revoked_at.is_null())
        .set(sessions::revoked_at.eq(Some(At(now))));
    Ok(if stolen.execute(conn).await? == 1 { Rotated::Reused } else { Rotated::Refused })
}

/// Ends one session, or all of an account. Gives those that ended just now.
pub async fn end_sessions(
    conn: &mut Conn,
    user_id: Id<User>,
    only: Option<Id<Session>>,
    now: Time,
) -> Result<Vec<Id<Session>>, Failed> {
    let standing = sessions::table.filter(sessions::user_id.eq(Key(user_id))).filter(sessions::revoked_at.is_null());
    let standing: Vec<Key<Session>> = standing.select(sessions::id).load(conn).await?;
    let ending: Vec<Id<Session>> =
        standing.into_iter().map(|id| id.0).filter(|id| only.is_none_or(|only| only == *id)).collect();
    for id in &ending {
        diesel::update(sessions::table.find(Key(*id)))
            .set(sessions::revoked_at.eq(Some(At(now))))
            .execute(conn)
            .await?;
    }
    Ok(ending)
}

/// Sessions that ended since a time: for the memory of a server that starts.
pub async fn ended_since(conn: &mut Conn, since: Time) -> Result<Vec<Id<Session>>, Failed> {
    let ended: Vec<Key<Session>> =
        sessions::table.filter(sessions::revoked_at.gt(Some(At(since)))).select(sessions::id).load(conn).await?;
    Ok(ended.into_iter().map(|id| id.0).collect())
}
