//! Auth, one function an operation.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::time::Time;
use subtle::ConstantTimeEq;

use super::model::{Account, AuthResponse, CodePurpose, Email, Language, Profile, Registered, Registration};
use super::store::{self, NewSession, Rotated};
use super::{code, letters, refresh};
use crate::access::caller::Caller;
use crate::access::guard::Public;
use crate::access::keys::random;
use crate::app::App;
use crate::db::Failed;
use crate::db::attempts::{self, Rate};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::jobs::mail::Mailing;
use crate::passwords::{self, Checked};

/// Who wants an account.
#[derive(Debug)]
pub struct Applicant {
    pub email: Email,
    pub password: String,
    pub full_name: String,
    pub language: Language,
}

/// Keeps a registration and mails its code; the owner of an existing account is told by mail instead. Answers alike.
///
/// # Errors
/// 422 for the password, 429 past the limits of codes.
pub async fn register(app: &App, by: &Public, applicant: Applicant, request: RequestId) -> Result<Registered, Failure> {
    let email = applicant.email.as_str().to_owned();
    passwords::acceptable(&applicant.password, &[&email, &applicant.full_name])
        .map_err(|wrong| Failure::field("password", wrong.code, wrong.message))?;
    let password_hash = app.passwords.hash(applicant.password).await?;
    let now = app.now();
    let registration = Registration {
        id: Id::draw(),
        email: email.clone(),
        full_name: applicant.full_name,
        language: applicant.language,
        password_hash,
        created_at: now,
    };
    let registration_id = registration.id;
    let drawn = Drawn::new(
        app,
        CodePurpose::ConfirmAccount,
        (&email, registration.language),
        &registration_id.to_string(),
        now,
    )?;
    let counted = Counted::new(app, by, &email, now);
    let post = app.post.clone();
    let wait: Option<Duration> = app
        .db
        .write(move |conn| {
            Box::pin(async move {
                if let Some(wait) = counted.take(conn).await? {
                    return Ok::<_, Failed>(Some(wait));
                }
                let mailing = if let Some(account) = store::account_of(conn, &registration.email).await? {
                    Mailing::from(letters::has_account(&account.email, account.language))
                } else {
                    store::replace_registration(conn, &registration).await?;
                    drawn.keep(conn).await?
                };
                post.send(conn, mailing, now, &request).await?;
                Ok(None)
            })
        })
        .await?;
    wait.map_or(Ok(()), |wait| Err(Failure::too_many(wait)))?;
    app.jobs.wake();
    Ok(Registered { registration_id, email, code_expires_in: app.config.accounts.code_seconds })
}

/// Mails a new code to an address that waits for one; answers alike where none does.
///
/// # Errors
/// 429 past the limits of codes.
pub async fn resend_otp(
    app: &App,
    by: &Public,
    email: Email,
    purpose: CodePurpose,
    request: RequestId,
) -> Result<(), Failure> {
    let email = email.as_str().to_owned();
    let now = app.now();
    let counted = Counted::new(app, by, &email, now);
    let own = app.clone();
    let wait: Option<Duration> = app
        .db
        .write(move |conn| {
            Box::pin(async move {
                if let Some(wait) = counted.take(conn).await? {
                    return Ok::<_, Failure>(Some(wait));
                }
                let subject = match purpose {
                    CodePurpose::ConfirmAccount => {
                        store::registration_of(conn, &email).await?.map(|found| (found.id.to_string(), found.language))
                    }
                    CodePurpose::ResetPassword => {
                        store::account_of(conn, &email).await?.map(|found| (found.id.to_string(), found.language))
                    }
                };
                if let Some((subject, language)) = subject {
                    let mailing = Drawn::new(&own, purpose, (&email, language), &subject, now)?.keep(conn).await?;
                    own.post.send(conn, mailing, now, &request).await?;
                }
                Ok(None)
            })
        })
        .await?;
    wait.map_or(Ok(()), |wait| Err(Failure::too_many(wait)))?;
    app.jobs.wake();
    Ok(())
}

/// Turns a registration into an account and logs it in.
///
/// # Errors
/// 422 `OtpInvalid` for whatever is wrong: the code, its age, the address, the registration.
pub async fn confirm_account(
    app: &App,
    by: &Public,
    registration_id: Id<Registration>,
    email: Email,
    typed: String,
) -> Result<AuthResponse, Failure> {
    let email = email.as_str().to_owned();
    let now = app.now();
    let purpose = CodePurpose::ConfirmAccount;
    let hash = code::hash(&app.secret, purpose, &email, &registration_id.to_string(), &typed);
    let session = Session::draw(app, &by.device, now)?;
    let confirmed: Option<(Account, Session)> = app
        .db
        .write(move |conn| {
            Box::pin(async move {
                // A wrong try is kept, so it is no error of the transaction.
                let Some(kept) = store::try_code(conn, &email, purpose, now).await? else {
                    return Ok::<_, Failed>(None);
                };
                if !bool::from(kept.as_bytes().ct_eq(hash.as_bytes())) {
                    return Ok(None);
                }
                let registration = store::registration_of(conn, &email).await?;
                let Some(registration) = registration.filter(|found| found.id == registration_id) else {
                    return Ok(None);
                };
                let account = Account {
                    id: Id::draw(),
                    email: registration.email,
                    full_name: registration.full_name,
                    job_title: None,
                    language: registration.language,
                    password_hash: Some(registration.password_hash),
                    created_at: now,
                    updated_at: now,
                };
                store::delete_code(conn, &email, purpose).await?;
                store::delete_registration(conn, &email).await?;
                store::insert_account(conn, &account).await?;
                store::insert_session(conn, session.of(account.id)).await?;
                Ok(Some((account, session)))
            })
        })
        .await?;
    let (account, session) =
        confirmed.ok_or_else(|| Failure::field("code", Code::OTP_INVALID, Code::OTP_INVALID.sentence))?;
    session.answer(app, &account)
}

/// Logs in.
///
/// # Errors
/// 401 for an unknown address or a wrong password; 403 for the right password of an account that is not confirmed.
pub async fn login(app: &App, by: &Public, email: Email, password: String) -> Result<AuthResponse, Failure> {
    let email = email.as_str().to_owned();
    app.limits.logins.take(&format!("{email}\n{}", by.client))?;
    let (account, registration) = {
        let email = email.clone();
        app.db
            .read(move |conn| {
                Box::pin(async move {
                    let account = store::account_of(conn, &email).await?;
                    Ok::<_, Failed>((account, store::registration_of(conn, &email).await?))
                })
            })
            .await?
    };
    let registered = registration.map(|found| found.password_hash);
    let hash = account.as_ref().map_or(registered, |account| account.password_hash.clone());
    // One hash is checked in every case, so that an address that is known takes no longer than one that isn't.
    let checked = app.passwords.check(password.clone(), hash.clone()).await?;
    let account = match (checked, account) {
        (Checked::Wrong, _) => return Err(Failure::of(Code::INVALID_CREDENTIALS)),
        (_, None) => return Err(Failure::of(Code::ACCOUNT_NOT_CONFIRMED)),
        (_, Some(account)) => account,
    };
    let stronger = match checked {
        Checked::RightButWeak => Some(app.passwords.hash(password).await?),
        _ => None,
    };
    let session = Session::draw(app, &by.device, app.now())?;
    let user_id = account.id;
    let new = session.of(user_id);
    app.db
        .write(move |conn| {
            Box::pin(async move {
                if let (Some(former), Some(stronger)) = (hash, stronger) {
                    store::rehash(conn, user_id, &former, &stronger).await?;
                }
                store::insert_session(conn, new).await
            })
        })
        .await
        .map_err(Failure::from)?;
    session.answer(app, &account)
}

/// Goes on with a session: the token that was given is spent, its successor is answered.
///
/// # Errors
/// 401 for whatever is wrong with the token; one that was copied ends the session.
pub async fn refresh_token(app: &App, token: &str) -> Result<AuthResponse, Failure> {
    let refused = || Failure::of(Code::INVALID_REFRESH_TOKEN);
    let presented = refresh::read(token).ok_or_else(refused)?;
    let id = presented.session_id;
    let now = app.now();
    let expires_at = now + Duration::from_secs(app.config.accounts.refresh_token_seconds);
    let found =
        app.db.read(move |conn| Box::pin(store::standing_session(conn, id, now))).await.map_err(Failure::from)?;
    let (salt, user_id) = found.ok_or_else(refused)?;
    // Looked at before anything is changed: a forged token must not end anybody's session.
    if !presented.is_genuine(&app.secret, &salt) {
        return Err(refused());
    }
    let (rotated, account) = app
        .db
        .write(move |conn| {
            Box::pin(async move {
                let rotated = store::rotate(conn, id, presented.counter, now, expires_at).await?;
                Ok::<_, Failed>((rotated, store::account(conn, user_id).await?))
            })
        })
        .await?;
    let counter = match rotated {
        Rotated::To(counter) | Rotated::Again(counter) => counter,
        Rotated::Refused => return Err(refused()),
        Rotated::Reused => {
            tracing::warn!(session = %id, "a spent refresh token was presented: the session is ended");
            app.revoked.add(id, now);
            return Err(refused());
        }
    };
    let account = account.ok_or_else(refused)?;
    Session { id, salt, counter, device: String::new(), now, expires_at }.answer(app, &account)
}

/// Ends this session, or all of the account's.
///
/// # Errors
/// Those of the database.
pub async fn log_out(app: &App, caller: Caller, all: bool) -> Result<(), Failure> {
    let now = app.now();
    let only = (!all).then_some(caller.session_id);
    let ended = app.db.write(move |conn| Box::pin(store::end_sessions(conn, caller.user_id, only, now))).await;
    for session_id in ended.map_err(Failure::from)? {
        app.revoked.add(session_id, now);
    }
    Ok(())
}

/// A session and the refresh token it is at.
struct Session {
    id: Id<actors::ids::Session>,
    salt: String,
    counter: i64,
    device: String,
    now: Time,
    expires_at: Time,
}

impl Session {
    fn draw(app: &App, device: &str, now: Time) -> Result<Self, Failure> {
        Ok(Self {
            id: Id::draw(),
            salt: hex::encode(random::<16>().map_err(Failure::internal)?),
            counter: store::FIRST,
            device: device.to_owned(),
            now,
            expires_at: now + Duration::from_secs(app.config.accounts.refresh_token_seconds),
        })
    }

    fn of(&self, user_id: Id<User>) -> NewSession {
        NewSession {
            id: self.id,
            user_id,
            salt: self.salt.clone(),
            device: self.device.clone(),
            now: self.now,
            expires_at: self.expires_at,
        }
    }

    fn answer(&self, app: &App, account: &Account) -> Result<AuthResponse, Failure> {
        let access_token = app.tokens.issue(account.id, self.id, self.now);
        Ok(AuthResponse {
            access_token: access_token.ok_or_else(|| Failure::internal("an access token could not be signed"))?,
            refresh_token: refresh::issue(&app.secret, self.id, &self.salt, self.counter),
            token_type: "Bearer",
            expires_in: app.tokens.life().as_secs(),
            refresh_expires_in: app.config.accounts.refresh_token_seconds,
            user: Profile::from(account),
        })
    }
}

/// A code that was drawn and is to be kept and mailed.
struct Drawn {
    email: String,
    language: Language,
    purpose: CodePurpose,
    code: String,
    hash: String,
    tries: i64,
    minutes: u64,
    expires_at: Time,
}

impl Drawn {
    fn new(app: &App, purpose: CodePurpose, of: (&str, Language), subject: &str, now: Time) -> Result<Self, Failure> {
        let (email, language) = of;
        let code = code::draw()?;
        let life = app.config.accounts.code_seconds;
        Ok(Self {
            email: email.to_owned(),
            language,
            purpose,
            hash: code::hash(&app.secret, purpose, email, subject, &code),
            code,
            tries: app.config.accounts.code_tries,
            minutes: life.div_ceil(60),
            expires_at: now + Duration::from_secs(life),
        })
    }

    /// Its mail is for nothing once it has expired.
    async fn keep(self, conn: &mut crate::db::Conn) -> Result<Mailing, Failed> {
        store::replace_code(conn, &self.email, self.purpose, &self.hash, self.tries, self.expires_at).await?;
        let letter = letters::code(&self.email, self.language, &self.code, self.purpose, self.minutes);
        Ok(Mailing::from(letter).until(self.expires_at))
    }
}

/// A request for a code, to be counted before anything else is looked at.
struct Counted {
    rates: [(Rate, String); 3],
    now: Time,
}

impl Counted {
    fn new(app: &App, by: &Public, email: &str, now: Time) -> Self {
        const HOUR: Duration = Duration::from_secs(3600);
        let limits = &app.config.limits;
        let address = app.secret.hex("address", &[email.as_bytes()]);
        let client = app.secret.hex("client", &[by.client.as_bytes()]);
        let pause = Duration::from_secs(limits.code_pause_seconds);
        let pause = Rate { class: "code pause", most: i64::from(!pause.is_zero()), window: pause };
        let of_address = Rate { class: "code", most: limits.codes_per_hour, window: HOUR };
        let of_client = Rate { class: "code of client", most: limits.codes_per_hour_and_client, window: HOUR };
        Self { rates: [(pause, address.clone()), (of_address, address), (of_client, client)], now }
    }

    async fn take(&self, conn: &mut crate::db::Conn) -> Result<Option<Duration>, Failed> {
        attempts::count(conn, &self.rates, self.now).await
    }
}
