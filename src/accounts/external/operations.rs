//! Operations of a log-in at a provider, one function per operation.

use std::time::Duration;

use actors::ids::Id;
use actors::language::Language;
use actors::live::RequestId;
use actors::time::Time;
use subtle::ConstantTimeEq;

use super::model::{CodeChallenge, CodeVerifier, ReturnUrl, SentOn};
use super::pending_login::{COOKIE, PendingLogin};
use super::store::{self, LoginCode};
use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::model::{Account, AuthResponse, CodePurpose, Email, FullName};
use crate::accounts::registration::{InvitationProof, Registrar};
use crate::accounts::sessions::issued::IssuedSession;
use crate::accounts::sessions::store as sessions;
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::accounts::{codes, emails};
use crate::clients::openid::{Identity, OpenId, OpenIdError};
use crate::db::rate_limits::{self, Rate};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::fields::Field;
use crate::http::sign_in_cookie::ReturnedBrowser;
use crate::jobs::mail::Outbox;

const CODE: &str = "login code";
/// How long a user may take at the provider.
const AT_PROVIDER: Duration = Duration::from_secs(600);
/// How long the application has to exchange its code, as the API contract says.
const CODE_LIFE: Duration = Duration::from_secs(60);
/// A state is valid once: its use is counted as an attempt of a rate limit of one.
const STATE: Rate = Rate { class: "login_state", most: 1, window: AT_PROVIDER };

fn provider(state: &Accounts) -> Result<&OpenId, ApiError> {
    let an_hour = Some(Duration::from_secs(3600));
    let not_configured = || ApiError { retry_after: an_hour, ..ApiError::of(Code::LOGIN_PROVIDER_NOT_CONFIGURED) };
    state.google.as_ref().ok_or_else(not_configured)
}

/// Returns the redirect to the provider.
///
/// # Errors
/// 503 when no provider is configured or it is unreachable.
pub async fn begin(
    state: &Accounts,
    challenge: CodeChallenge,
    return_url: Option<ReturnUrl>,
) -> Result<SentOn, ApiError> {
    let provider = provider(state)?;
    let generated = || OneTimeToken::generate().map(|token| token.text().to_owned());
    let pending_login = PendingLogin {
        state: generated()?,
        nonce: generated()?,
        verifier: generated()?,
        code_challenge: challenge.as_str().to_owned(),
        return_url: return_url.map(|url| url.as_str().to_owned()),
        expires_at: (state.now() + AT_PROVIDER).millis(),
    };
    let location =
        provider.authorize_url(&pending_login.state, &pending_login.nonce, &pending_login.verifier, state.now()).await;
    let sealed = pending_login.seal(&state.secret).map_err(ApiError::internal)?;
    let cookie = COOKIE.set(&sealed, AT_PROVIDER.as_secs(), &state.url);
    Ok(SentOn { location: location.map_err(refused)?, cookie: Some(cookie) })
}

fn refused(fault: OpenIdError) -> ApiError {
    let retry_after = Some(Duration::from_secs(10));
    match fault {
        OpenIdError::Unavailable(why) => {
            ApiError { cause: Some(why.into()), retry_after, ..ApiError::of(Code::LOGIN_PROVIDER_UNAVAILABLE) }
        }
        OpenIdError::Wrong(why) => ApiError { cause: Some(why.into()), ..ApiError::of(Code::LOGIN_PROVIDER_FAILED) },
        OpenIdError::Refused(why) => ApiError { cause: Some(why.into()), ..ApiError::of(Code::LOGIN_REFUSED) },
    }
}

/// Completes the log-in of a user who comes back from the provider, and returns the redirect to the application, with a
/// code or an error.
///
/// # Errors
/// 503 when no provider is configured.
pub async fn finish(state: &Accounts, returned: ReturnedBrowser, request: RequestId) -> Result<SentOn, ApiError> {
    let provider = provider(state)?;
    let opened = returned.cookie.as_deref().and_then(|value| PendingLogin::open(&state.secret, value, state.now()));
    let return_url = opened.as_ref().and_then(|pending_login| pending_login.return_url.clone());
    let finished = finished(state, provider, opened, &returned, request).await;
    let mut fragment = url::form_urlencoded::Serializer::new(String::new());
    match finished {
        Ok(code) => fragment.append_pair("code", code.text()),
        Err(failure) => {
            tracing::info!(code = failure.code.name, cause = failure.cause, "log-in at the OpenID provider failed");
            fragment.append_pair("error", failure.code.name)
        }
    };
    if let Some(return_url) = return_url {
        fragment.append_pair("returnUrl", &return_url);
    }
    let location = format!("{}/login/callback#{}", state.url, fragment.finish());
    Ok(SentOn { location, cookie: returned.cookie.map(|_| COOKIE.dropped(&state.url)) })
}

async fn finished(
    state: &Accounts,
    provider: &OpenId,
    pending_login: Option<PendingLogin>,
    returned: &ReturnedBrowser,
    request: RequestId,
) -> Result<OneTimeToken, ApiError> {
    let invalid = || ApiError::of(Code::LOGIN_STATE_INVALID);
    let pending_login = pending_login.ok_or_else(invalid)?;
    let given = returned.state.as_deref().unwrap_or_default();
    if !bool::from(given.as_bytes().ct_eq(pending_login.state.as_bytes())) {
        return Err(invalid());
    }
    if let Some(error) = &returned.error {
        // The parameter comes from an untrusted caller: it is logged, and never passed on to the application.
        let error: String = error.chars().filter(char::is_ascii_graphic).take(100).collect();
        let is_away = ["server_error", "temporarily_unavailable"].contains(&error.as_str());
        let said = format!("the provider reported {error}");
        return Err(refused(if is_away { OpenIdError::Unavailable(said) } else { OpenIdError::Refused(said) }));
    }
    if returned.issuer.as_ref().is_some_and(|issuer| issuer != provider.issuer()) {
        return Err(refused(OpenIdError::Refused("another provider responded".to_owned())));
    }
    let code = returned.code.as_deref().ok_or_else(invalid)?;
    let now = state.now();
    let used = (STATE, state.secret.hex("login state", &[pending_login.state.as_bytes()]));
    let is_used =
        state.db.write(move |conn| Box::pin(async move { rate_limits::count(conn, &[used], now).await })).await;
    if is_used.map_err(ApiError::from)?.is_some() {
        return Err(invalid());
    }
    let identity =
        provider.identify(code, &pending_login.verifier, &pending_login.nonce, now).await.map_err(refused)?;
    let token = OneTimeToken::generate()?;
    let settling = Settling {
        issuer: provider.issuer().to_owned(),
        identity,
        code_hash: token.stored_hash(&state.secret, CODE)?,
        code_challenge: pending_login.code_challenge,
        now: state.now(),
        request,
        outbox: state.outbox.clone(),
        registrar: state.registrar.clone(),
    };
    finish_login(state, settling).await?;
    state.jobs.wake();
    Ok(token)
}

/// The input of the transaction that determines the account of an identity and stores the code that opens it.
#[derive(Clone)]
struct Settling {
    issuer: String,
    identity: Identity,
    code_hash: String,
    code_challenge: String,
    now: Time,
    request: RequestId,
    outbox: Outbox,
    registrar: Registrar,
}

async fn finish_login(state: &Accounts, settling: Settling) -> Result<(), ApiError> {
    let once = |settling: Settling| state.db.write(move |conn| Box::pin(async move { settling.run(conn).await }));
    match once(settling.clone()).await {
        // A concurrent log-in created the account or the link: the second attempt finds it.
        Err(Unsettled::Failed(failed)) if failed.is_taken() => once(settling).await.map_err(ApiError::from),
        settled => settled.map_err(ApiError::from),
    }
}

/// Why the transaction failed.
enum Unsettled {
    Failed(DbError),
    NotVerified,
    /// No account may be created.
    NotAdmitted(ApiError),
}

impl From<DbError> for Unsettled {
    fn from(failed: DbError) -> Self {
        Self::Failed(failed)
    }
}

impl From<Unsettled> for ApiError {
    fn from(unsettled: Unsettled) -> Self {
        match unsettled {
            Unsettled::Failed(failed) => failed.into(),
            Unsettled::NotVerified => Self::of(Code::EMAIL_NOT_VERIFIED),
            Unsettled::NotAdmitted(refused) => refused,
        }
    }
}

impl Settling {
    async fn run(self, conn: &mut Conn) -> Result<(), Unsettled> {
        let user_id = match store::linked(conn, &self.issuer, &self.identity.subject).await? {
            // The link counts, even if the address has changed since.
            Some(user_id) => user_id,
            None => self.newly_linked(conn).await?,
        };
        let expires_at = self.now + CODE_LIFE;
        let Self { code_hash, code_challenge, .. } = self;
        store::insert_code(conn, LoginCode { code_hash, user_id, code_challenge, expires_at }).await?;
        Ok(())
    }

    /// Links the account with the address of the identity, or creates one. The address counts only if the provider
    /// verified it: otherwise anyone could claim an address at the provider and take over the account here.
    async fn newly_linked(&self, conn: &mut Conn) -> Result<Id<actors::ids::User>, Unsettled> {
        let named = self.identity.email.as_ref().filter(|_| self.identity.email_verified);
        let email =
            named.and_then(|email| Email::parse(&serde_json::json!(email)).ok()).ok_or(Unsettled::NotVerified)?;
        let email = email.as_str();
        let account = match accounts::account_of(conn, email).await? {
            Some(account) => {
                let email = emails::login_linked(&account.email, account.language);
                self.outbox.send(conn, email, self.now, &self.request).await?;
                account
            }
            None => {
                let admitted = self.registrar.must_admit(conn, email, InvitationProof::OwnAddress).await;
                admitted.map_err(Unsettled::NotAdmitted)?;
                let account = self.new_account(email);
                accounts::insert_account(conn, &account).await?;
                account
            }
        };
        // An unconfirmed registration of the address, and the password in it, become void.
        accounts::delete_registration(conn, email).await?;
        codes::store::delete(conn, email, CodePurpose::ConfirmAccount).await?;
        store::link(conn, &self.issuer, &self.identity.subject, account.id, self.now).await?;
        Ok(account.id)
    }

    fn new_account(&self, email: &str) -> Account {
        let before_at = email.split('@').next().unwrap_or(email);
        let named = self.identity.name.as_deref().map(|name| name.chars().take(120).collect::<String>());
        let name = named.and_then(|name| FullName::parse(&serde_json::json!(name)).ok());
        let language = self.identity.locale.as_deref().and_then(|locale| locale.get(..2)?.parse::<Language>().ok());
        Account {
            id: Id::generate(),
            email: email.to_owned(),
            full_name: name.map_or_else(|| before_at.to_owned(), |name| name.0),
            job_title: None,
            language: language.unwrap_or(Language::En),
            password_hash: None,
            avatar: None,
            created_at: self.now,
            updated_at: self.now,
            is_operator: false,
        }
    }
}

/// Exchanges the code from the redirect for a session.
///
/// # Errors
/// 401 `LoginCodeInvalid` for anything that is wrong; a wrong verifier uses up the code.
pub async fn exchange(
    state: &Accounts,
    by: &Public,
    code: OneTimeToken,
    verifier: CodeVerifier,
) -> Result<AuthResponse, ApiError> {
    let invalid = || ApiError::of(Code::LOGIN_CODE_INVALID);
    let code_hash = code.hash(&state.secret, CODE).ok_or_else(invalid)?;
    let now = state.now();
    let session = IssuedSession::generate(state, &by.device, now)?;
    let new = session.clone();
    let account: Option<Account> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // A code is used up by any attempt, so a wrong verifier does not roll back the transaction.
                let Some(taken) = store::take_code(conn, &code_hash).await? else { return Ok::<_, DbError>(None) };
                let is_valid = taken.expires_at > now && verifier.fits(&taken.code_challenge);
                if !is_valid || !accounts::lock_account(conn, taken.user_id).await? {
                    return Ok(None);
                }
                sessions::insert(conn, taken.user_id, &new).await?;
                accounts::account(conn, taken.user_id).await
            })
        })
        .await?;
    session.answer(state, &account.ok_or_else(invalid)?)
}
