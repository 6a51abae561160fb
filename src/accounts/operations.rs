//! Operations on accounts: registration and the confirmation of e-mail addresses, one function per operation.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::language::Language;
use actors::live::RequestId;
use actors::time::Time;

use super::bodies::Register;
use super::codes::IssuedCode;
use super::limits::{self, Verification};
use super::model::{Account, AuthResponse, CodePurpose, Email, Registered, Registration};
use super::registration::{InvitationProof, RegistrationMode};
use super::sessions::issued::IssuedSession;
use super::sessions::store as sessions;
use super::{codes, emails, store};
use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::state::Accounts;
use crate::db::{Conn, DbError, rate_limits};
use crate::http::error::ApiError;
use crate::jobs::mail::QueuedEmail;
use crate::passwords;

/// Stores a registration and sends its code by e-mail. Where the address has an account already, its owner is notified
/// by e-mail instead and the code is sent to nobody; the registration is stored all the same, so that a log-in with its
/// password gets the same response.
///
/// # Errors
/// 403 where the server does not open an account for whoever this is; 422 for an unacceptable password; 429 past the rate limits of
/// codes.
pub async fn register(
    state: &Accounts,
    by: &Public,
    body: Register,
    request: RequestId,
) -> Result<Registered, ApiError> {
    let email = body.email.as_str().to_owned();
    must_admit(state, &email, body.invitation_token).await?;
    passwords::acceptable(&body.password.0, &[&email, &body.full_name.0])
        .map_err(|wrong| ApiError::field("password", wrong.reason, wrong.message))?;
    let password_hash = state.passwords.hash(body.password.0).await?;
    let now = state.now();
    let registration = Registration {
        id: Id::generate(),
        email: email.clone(),
        full_name: body.full_name.0,
        language: body.language.unwrap_or(Language::En),
        password_hash,
        created_at: now,
    };
    let registration_id = registration.id;
    let code = IssuedCode::new(state, CodePurpose::ConfirmAccount, &email, &registration_id.to_string(), now)?;
    let rates = limits::code_mails(state, by, &email);
    let tries = limits::code_tries(state, by, &email);
    let outbox = state.outbox.clone();
    let wait: Option<Duration> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let wait = may_ask(conn, &rates, &tries, now).await?;
                if wait.is_some() {
                    return Ok::<_, DbError>(wait);
                }
                store::replace_registration(conn, &registration).await?;
                code.save(conn).await?;
                let mailing = confirming(conn, &code, registration.language).await?;
                outbox.send(conn, mailing, now, &request).await?;
                Ok(None)
            })
        })
        .await?;
    wait.map_or(Ok(()), |wait| Err(ApiError::too_many(wait)))?;
    state.jobs.wake();
    Ok(Registered { registration_id, email, code_expires_in: state.config.accounts.code_seconds })
}

async fn must_admit(state: &Accounts, email: &str, token: Option<OneTimeToken>) -> Result<(), ApiError> {
    if state.registrar.mode == RegistrationMode::Open {
        return Ok(());
    }
    let (registrar, email) = (state.registrar.clone(), email.to_owned());
    let admitted = state.db.read(move |conn| {
        Box::pin(async move {
            let proof = token.as_ref().map_or(InvitationProof::None, InvitationProof::Token);
            registrar.must_admit(conn, &email, proof).await
        })
    });
    admitted.await
}

/// Sends a new code to an address, for its unconfirmed registration or for a password reset of its account; responds
/// alike where it has none.
///
/// # Errors
/// 429 past the rate limits of codes, or while the address is locked.
pub async fn resend_otp(
    state: &Accounts,
    by: &Public,
    email: Email,
    purpose: CodePurpose,
    request: RequestId,
) -> Result<(), ApiError> {
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
                    return Ok::<_, ApiError>(wait);
                }
                let subject = match purpose {
                    CodePurpose::ConfirmAccount => {
                        store::registration_of(conn, &email).await?.map(|found| (found.id.to_string(), found.language))
                    }
                    CodePurpose::ResetPassword => {
                        store::account_of(conn, &email).await?.map(|found| (found.id.to_string(), found.language))
                    }
                };
                // A code is stored even for an address that needs none, so that both cases take the same work; that
                // code is sent to nobody and opens nothing.
                let (subject, language) = subject.unzip();
                let code = IssuedCode::new(&own, purpose, &email, &subject.unwrap_or_default(), now)?;
                code.save(conn).await?;
                if let Some(language) = language {
                    let mailing = match purpose {
                        CodePurpose::ConfirmAccount => confirming(conn, &code, language).await?,
                        CodePurpose::ResetPassword => code.mailing(language),
                    };
                    own.outbox.send(conn, mailing, now, &request).await?;
                }
                Ok(None)
            })
        })
        .await?;
    wait.map_or(Ok(()), |wait| Err(ApiError::too_many(wait)))?;
    state.jobs.wake();
    Ok(())
}

/// Returns the e-mail of a registration: its code, or a notification to the owner of the account that the address
/// already has.
async fn confirming(conn: &mut Conn, code: &IssuedCode, language: Language) -> Result<QueuedEmail, DbError> {
    Ok(match store::account_of(conn, code.email()).await? {
        Some(account) => QueuedEmail::from(emails::has_account(&account.email, account.language)),
        None => code.mailing(language),
    })
}

/// Counts a request for a code; `Some` says how long to wait. While codes of the address are locked none is sent
/// either: it could not be redeemed.
async fn may_ask(
    conn: &mut Conn,
    rates: &limits::Rates,
    tries: &limits::Rates,
    now: Time,
) -> Result<Option<Duration>, DbError> {
    let locked = limits::locked(conn, tries, now).await?;
    if !locked.is_zero() {
        return Ok(Some(locked));
    }
    rate_limits::count(conn, rates, now).await
}

/// Creates the account of a registration and logs it in.
///
/// # Errors
/// 422 `OtpInvalid` for anything that is wrong: the code, its age, the address or the registration; 429 while locked.
pub async fn confirm_account(
    state: &Accounts,
    by: &Public,
    registration_id: Id<Registration>,
    email: Email,
    typed: String,
) -> Result<AuthResponse, ApiError> {
    let email = email.as_str().to_owned();
    let now = state.now();
    let purpose = CodePurpose::ConfirmAccount;
    let hash = codes::hash(&state.secret, purpose, &email, &registration_id.to_string(), &typed);
    let session = IssuedSession::generate(state, &by.device, now)?;
    let new = session.clone();
    let rates = limits::code_tries(state, by, &email);
    let confirmed: Verification<Account> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let counted = match rate_limits::reserve(conn, &rates, now).await? {
                    Ok(counted) => counted,
                    Err(wait) => return Ok::<_, DbError>(Verification::Locked(wait)),
                };
                // A failed attempt is stored, so the transaction commits.
                if !codes::redeem(conn, &email, purpose, &hash, now).await? {
                    return Ok(Verification::Wrong);
                }
                let registration = store::registration_of(conn, &email).await?;
                let Some(registration) = registration.filter(|found| found.id == registration_id) else {
                    return Ok(Verification::Wrong);
                };
                // The code was sent to nobody: it was guessed.
                if store::account_of(conn, &email).await?.is_some() {
                    return Ok(Verification::Wrong);
                }
                let account = Account {
                    id: Id::generate(),
                    email: registration.email,
                    full_name: registration.full_name,
                    job_title: None,
                    language: registration.language,
                    password_hash: Some(registration.password_hash),
                    avatar: None,
                    created_at: now,
                    updated_at: now,
                    is_operator: false,
                };
                store::delete_registration(conn, &email).await?;
                store::insert_account(conn, &account).await?;
                sessions::insert(conn, account.id, &new).await?;
                rate_limits::release(conn, counted, &[]).await?;
                Ok(Verification::Right(account))
            })
        })
        .await?;
    session.answer(state, &confirmed.or_refused("code")?)
}

/// Locks the row of an account until the end of the transaction, so that concurrent changes to the account, or counts
/// of its rows, come after. Returns whether the account exists.
///
/// # Errors
/// Returns the database error.
pub async fn lock_account(conn: &mut Conn, id: Id<User>) -> Result<bool, DbError> {
    store::lock_account(conn, id).await
}
