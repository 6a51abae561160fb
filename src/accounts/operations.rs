//! Accounts and the proof of their addresses, one function an operation.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::time::Time;

use super::codes::Drawn;
use super::limits::{self, Tried};
use super::model::{Account, AuthResponse, CodePurpose, Email, Language, Registered, Registration};
use super::sessions::begun::Begun;
use super::sessions::store as sessions;
use super::{codes, letters, store};
use crate::access::guard::Public;
use crate::accounts::state::Accounts;
use crate::db::attempts;
use crate::db::{Conn, Failed};
use crate::http::failure::Failure;
use crate::jobs::mail::Mailing;
use crate::passwords;

/// Who wants an account.
#[derive(Debug)]
pub struct Applicant {
    pub email: Email,
    pub password: String,
    pub full_name: String,
    pub language: Language,
}

/// Keeps a registration and mails its code. Where the address has an account its owner is told by mail instead, and nobody
/// the code; the registration is kept all the same, so that a log-in with its password is answered alike.
///
/// # Errors
/// 422 for the password, 429 past the limits of codes.
pub async fn register(
    state: &Accounts,
    by: &Public,
    applicant: Applicant,
    request: RequestId,
) -> Result<Registered, Failure> {
    let email = applicant.email.as_str().to_owned();
    passwords::acceptable(&applicant.password, &[&email, &applicant.full_name])
        .map_err(|wrong| Failure::field("password", wrong.reason, wrong.message))?;
    let password_hash = state.passwords.hash(applicant.password).await?;
    let now = state.now();
    let registration = Registration {
        id: Id::draw(),
        email: email.clone(),
        full_name: applicant.full_name,
        language: applicant.language,
        password_hash,
        created_at: now,
    };
    let registration_id = registration.id;
    let drawn = Drawn::new(state, CodePurpose::ConfirmAccount, &email, &registration_id.to_string(), now)?;
    let rates = limits::code_mails(state, by, &email);
    let tries = limits::code_tries(state, by, &email);
    let post = state.post.clone();
    let wait: Option<Duration> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let wait = may_ask(conn, &rates, &tries, now).await?;
                if wait.is_some() {
                    return Ok::<_, Failed>(wait);
                }
                store::replace_registration(conn, &registration).await?;
                drawn.keep(conn).await?;
                let mailing = confirming(conn, &drawn, registration.language).await?;
                post.send(conn, mailing, now, &request).await?;
                Ok(None)
            })
        })
        .await?;
    wait.map_or(Ok(()), |wait| Err(Failure::too_many(wait)))?;
    state.jobs.wake();
    Ok(Registered { registration_id, email, code_expires_in: state.config.accounts.code_seconds })
}

/// Mails a new code to an address that waits for one; answers alike where none does.
///
/// # Errors
/// 429 past the limits of codes, or while the address is locked.
pub async fn resend_otp(
    state: &Accounts,
    by: &Public,
    email: Email,
    purpose: CodePurpose,
    request: RequestId,
) -> Result<(), Failure> {
    let email = email.as_str().to_owned();
    let now = state.now();
    let rates = limits::code_mails(state, by, &email);
    let tries = limits::code_tries(state, by, &email);
    let own = state.clone();
    let wait: Option<Duration> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let wait = may_ask(conn, &rates, &tries, now).await?;
                if wait.is_some() {
                    return Ok::<_, Failure>(wait);
                }
                let subject = match purpose {
                    CodePurpose::ConfirmAccount => {
                        store::registration_of(conn, &email).await?.map(|found| (found.id.to_string(), found.language))
                    }
                    CodePurpose::ResetPassword => {
                        store::account_of(conn, &email).await?.map(|found| (found.id.to_string(), found.language))
                    }
                };
                // A code is kept even for an address that waits for none, so that both take the same work; nobody is
                // told that one, and it opens nothing.
                let (subject, language) = subject.unzip();
                let drawn = Drawn::new(&own, purpose, &email, &subject.unwrap_or_default(), now)?;
                drawn.keep(conn).await?;
                if let Some(language) = language {
                    let mailing = match purpose {
                        CodePurpose::ConfirmAccount => confirming(conn, &drawn, language).await?,
                        CodePurpose::ResetPassword => drawn.mailing(language),
                    };
                    own.post.send(conn, mailing, now, &request).await?;
                }
                Ok(None)
            })
        })
        .await?;
    wait.map_or(Ok(()), |wait| Err(Failure::too_many(wait)))?;
    state.jobs.wake();
    Ok(())
}

/// The mail of a registration: its code, or word to the owner of the account that the address has.
async fn confirming(conn: &mut Conn, drawn: &Drawn, language: Language) -> Result<Mailing, Failed> {
    Ok(match store::account_of(conn, drawn.email()).await? {
        Some(account) => Mailing::from(letters::has_account(&account.email, account.language)),
        None => drawn.mailing(language),
    })
}

/// Counts a code that is asked for; `Some`: how long to wait. While codes of the address are locked there is none either:
/// it could not be redeemed.
async fn may_ask(
    conn: &mut Conn,
    rates: &limits::Rates,
    tries: &limits::Rates,
    now: Time,
) -> Result<Option<Duration>, Failed> {
    let locked = limits::locked(conn, tries, now).await?;
    if !locked.is_zero() {
        return Ok(Some(locked));
    }
    attempts::count(conn, rates, now).await
}

/// Turns a registration into an account and logs it in.
///
/// # Errors
/// 422 `OtpInvalid` for whatever is wrong: the code, its age, the address, the registration.
pub async fn confirm_account(
    state: &Accounts,
    by: &Public,
    registration_id: Id<Registration>,
    email: Email,
    typed: String,
) -> Result<AuthResponse, Failure> {
    let email = email.as_str().to_owned();
    let now = state.now();
    let purpose = CodePurpose::ConfirmAccount;
    let hash = codes::hash(&state.secret, purpose, &email, &registration_id.to_string(), &typed);
    let session = Begun::draw(state, &by.device, now)?;
    let new = session.clone();
    let rates = limits::code_tries(state, by, &email);
    let confirmed: Tried<Account> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let counted = match attempts::reserve(conn, &rates, now).await? {
                    Ok(counted) => counted,
                    Err(wait) => return Ok::<_, Failed>(Tried::Locked(wait)),
                };
                // A wrong try is kept, so it is no error of the transaction.
                if !codes::redeem(conn, &email, purpose, &hash, now).await? {
                    return Ok(Tried::Wrong);
                }
                let registration = store::registration_of(conn, &email).await?;
                let Some(registration) = registration.filter(|found| found.id == registration_id) else {
                    return Ok(Tried::Wrong);
                };
                // Nobody was mailed this code: it was guessed.
                if store::account_of(conn, &email).await?.is_some() {
                    return Ok(Tried::Wrong);
                }
                let account = Account {
                    id: Id::draw(),
                    email: registration.email,
                    full_name: registration.full_name,
                    job_title: None,
                    language: registration.language,
                    password_hash: Some(registration.password_hash),
                    avatar: None,
                    created_at: now,
                    updated_at: now,
                };
                store::delete_registration(conn, &email).await?;
                store::insert_account(conn, &account).await?;
                sessions::insert(conn, account.id, &new).await?;
                attempts::release(conn, counted, &[]).await?;
                Ok(Tried::Right(account))
            })
        })
        .await?;
    session.answer(state, &confirmed.or_refused("code")?)
}

/// Holds an account's row to the end of the transaction, so that what others do to it, or count of it, comes after. Whether
/// the account stands.
///
/// # Errors
/// The database's own.
pub async fn hold(conn: &mut Conn, id: Id<User>) -> Result<bool, Failed> {
    store::hold(conn, id).await
}
