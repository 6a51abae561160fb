//! Log-in at a provider, one function an operation.

use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::time::Time;
use subtle::ConstantTimeEq;

use super::model::{CodeChallenge, CodeVerifier, ReturnUrl, Returned, SentOn};
use super::store::{self, LoginCode};
use super::under_way::{self, UnderWay};
use crate::access::guard::Public;
use crate::access::one_time::OneTimeToken;
use crate::accounts::model::{Account, AuthResponse, CodePurpose, Email, FullName, Language};
use crate::accounts::sessions::begun::Begun;
use crate::accounts::sessions::store as sessions;
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::accounts::{codes, letters};
use crate::db::attempts::{self, Rate};
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::fields::Field;
use crate::jobs::mail::Post;
use crate::outside::openid::{Fault, Identity, OpenId};

const CODE: &str = "login code";
/// How long somebody may take at the provider.
const AT_PROVIDER: Duration = Duration::from_secs(600);
/// How long the application has to exchange its code; the contract's.
const CODE_LIFE: Duration = Duration::from_secs(60);
/// A state is good once: a try to use it is counted like any other.
const STATE: Rate = Rate { class: "login_state", most: 1, window: AT_PROVIDER };

fn provider(state: &Accounts) -> Result<&OpenId, Failure> {
    let an_hour = Some(Duration::from_secs(3600));
    let not_configured = || Failure { retry_after: an_hour, ..Failure::of(Code::LOGIN_PROVIDER_NOT_CONFIGURED) };
    state.google.as_ref().ok_or_else(not_configured)
}

/// Sends somebody to the provider.
///
/// # Errors
/// 503: there is no provider, or it can't be reached.
pub async fn begin(
    state: &Accounts,
    challenge: CodeChallenge,
    return_url: Option<ReturnUrl>,
) -> Result<SentOn, Failure> {
    let provider = provider(state)?;
    let drawn = || OneTimeToken::draw().map(|token| token.text().to_owned());
    let under_way = UnderWay {
        state: drawn()?,
        nonce: drawn()?,
        verifier: drawn()?,
        code_challenge: challenge.as_str().to_owned(),
        return_url: return_url.map(|url| url.as_str().to_owned()),
        expires_at: (state.now() + AT_PROVIDER).millis(),
    };
    let location = provider.authorize_url(&under_way.state, &under_way.nonce, &under_way.verifier, state.now()).await;
    let seconds = i64::try_from(AT_PROVIDER.as_secs()).unwrap_or(0);
    let cookie = under_way.set(&state.secret, seconds, is_secure(state)).map_err(Failure::internal)?;
    Ok(SentOn { location: location.map_err(refused)?, cookie: Some(cookie) })
}

/// Cookies of a page that was served without TLS can't be marked so.
fn is_secure(state: &Accounts) -> bool {
    state.url.starts_with("https://")
}

fn refused(fault: Fault) -> Failure {
    let retry_after = Some(Duration::from_secs(10));
    match fault {
        Fault::Away(why) => {
            Failure { cause: Some(why.into()), retry_after, ..Failure::of(Code::LOGIN_PROVIDER_UNAVAILABLE) }
        }
        Fault::Wrong(why) => Failure { cause: Some(why.into()), ..Failure::of(Code::LOGIN_PROVIDER_FAILED) },
        Fault::Refused(why) => Failure { cause: Some(why.into()), ..Failure::of(Code::LOGIN_REFUSED) },
    }
}

/// Takes somebody back from the provider and sends them on to the application, with a code or with an error.
///
/// # Errors
/// 503: there is no provider.
pub async fn finish(state: &Accounts, returned: Returned, request: RequestId) -> Result<SentOn, Failure> {
    let provider = provider(state)?;
    let opened = returned.cookie.as_deref().and_then(|value| UnderWay::open(&state.secret, value, state.now()));
    let return_url = opened.as_ref().and_then(|under_way| under_way.return_url.clone());
    let finished = finished(state, provider, opened, &returned, request).await;
    let mut fragment = url::form_urlencoded::Serializer::new(String::new());
    match finished {
        Ok(code) => fragment.append_pair("code", code.text()),
        Err(failure) => {
            tracing::info!(code = failure.code.name, cause = failure.cause, "a log-in at the provider failed");
            fragment.append_pair("error", failure.code.name)
        }
    };
    if let Some(return_url) = return_url {
        fragment.append_pair("returnUrl", &return_url);
    }
    let location = format!("{}/login/callback#{}", state.url, fragment.finish());
    Ok(SentOn { location, cookie: returned.cookie.map(|_| under_way::dropped(is_secure(state))) })
}

async fn finished(
    state: &Accounts,
    provider: &OpenId,
    under_way: Option<UnderWay>,
    returned: &Returned,
    request: RequestId,
) -> Result<OneTimeToken, Failure> {
    let invalid = || Failure::of(Code::LOGIN_STATE_INVALID);
    let under_way = under_way.ok_or_else(invalid)?;
    let given = returned.state.as_deref().unwrap_or_default();
    if !bool::from(given.as_bytes().ct_eq(under_way.state.as_bytes())) {
        return Err(invalid());
    }
    if let Some(error) = &returned.error {
        // As it is sent by whoever called: for the log, and never for the application.
        let error: String = error.chars().filter(char::is_ascii_graphic).take(100).collect();
        let is_away = ["server_error", "temporarily_unavailable"].contains(&error.as_str());
        let said = format!("the provider said {error}");
        return Err(refused(if is_away { Fault::Away(said) } else { Fault::Refused(said) }));
    }
    if returned.issuer.as_ref().is_some_and(|issuer| issuer != provider.issuer()) {
        return Err(refused(Fault::Refused("another provider answered".to_owned())));
    }
    let code = returned.code.as_deref().ok_or_else(invalid)?;
    let now = state.now();
    let used = (STATE, state.secret.hex("login state", &[under_way.state.as_bytes()]));
    let is_used = state.db.write(move |conn| Box::pin(async move { attempts::count(conn, &[used], now).await })).await;
    if is_used.map_err(Failure::from)?.is_some() {
        return Err(invalid());
    }
    let identity = provider.identify(code, &under_way.verifier, &under_way.nonce, now).await.map_err(refused)?;
    let token = OneTimeToken::draw()?;
    let settling = Settling {
        issuer: provider.issuer().to_owned(),
        identity,
        code_hash: token.kept(&state.secret, CODE)?,
        code_challenge: under_way.code_challenge,
        now: state.now(),
        request,
        post: state.post.clone(),
    };
    settle(state, settling).await?;
    state.jobs.wake();
    Ok(token)
}

/// What is decided in one transaction: whose the identity is, and the code that opens that account.
#[derive(Clone)]
struct Settling {
    issuer: String,
    identity: Identity,
    code_hash: String,
    code_challenge: String,
    now: Time,
    request: RequestId,
    post: Post,
}

async fn settle(state: &Accounts, settling: Settling) -> Result<(), Failure> {
    let once = |settling: Settling| state.db.write(move |conn| Box::pin(async move { settling.run(conn).await }));
    match once(settling.clone()).await {
        // Somebody else made the account or the link in the same moment: it is found now.
        Err(Unsettled::Failed(failed)) if failed.is_taken() => once(settling).await.map_err(Failure::from),
        settled => settled.map_err(Failure::from),
    }
}

/// Why it was not settled.
enum Unsettled {
    Failed(Failed),
    NotVerified,
}

impl From<Failed> for Unsettled {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl From<Unsettled> for Failure {
    fn from(unsettled: Unsettled) -> Self {
        match unsettled {
            Unsettled::Failed(failed) => failed.into(),
            Unsettled::NotVerified => Self::of(Code::EMAIL_NOT_VERIFIED),
        }
    }
}

impl Settling {
    async fn run(self, conn: &mut Conn) -> Result<(), Unsettled> {
        let user_id = match store::linked(conn, &self.issuer, &self.identity.subject).await? {
            // Whatever its address is by now.
            Some(user_id) => user_id,
            None => self.newly_linked(conn).await?,
        };
        let expires_at = self.now + CODE_LIFE;
        let Self { code_hash, code_challenge, .. } = self;
        store::insert_code(conn, LoginCode { code_hash, user_id, code_challenge, expires_at }).await?;
        Ok(())
    }

    /// The account of the identity's address, or a new one. The address counts only if the provider verified it: else
    /// anybody could name an address there and have the account here.
    async fn newly_linked(&self, conn: &mut Conn) -> Result<Id<actors::ids::User>, Unsettled> {
        let named = self.identity.email.as_ref().filter(|_| self.identity.email_verified);
        let email =
            named.and_then(|email| Email::parse(&serde_json::json!(email)).ok()).ok_or(Unsettled::NotVerified)?;
        let email = email.as_str();
        let account = match accounts::account_of(conn, email).await? {
            Some(account) => {
                let letter = letters::login_linked(&account.email, account.language);
                self.post.send(conn, letter, self.now, &self.request).await?;
                account
            }
            None => {
                let account = self.new_account(email);
                accounts::insert_account(conn, &account).await?;
                account
            }
        };
        // Whoever registered the address without confirming it chose a password that is worth nothing now.
        accounts::delete_registration(conn, email).await?;
        codes::store::delete(conn, email, CodePurpose::ConfirmAccount).await?;
        store::link(conn, &self.issuer, &self.identity.subject, account.id, self.now).await?;
        Ok(account.id)
    }

    fn new_account(&self, email: &str) -> Account {
        let before_at = email.split('@').next().unwrap_or(email);
        let named = self.identity.name.as_deref().map(|name| name.chars().take(120).collect::<String>());
        let name = named.and_then(|name| FullName::parse(&serde_json::json!(name)).ok());
        let language = self.identity.locale.as_deref().and_then(|locale| Language::named(locale.get(..2)?));
        Account {
            id: Id::draw(),
            email: email.to_owned(),
            full_name: name.map_or_else(|| before_at.to_owned(), |name| name.0),
            job_title: None,
            language: language.unwrap_or(Language::En),
            password_hash: None,
            avatar: None,
            created_at: self.now,
            updated_at: self.now,
        }
    }
}

/// Turns the code that came with the redirect into a session.
///
/// # Errors
/// 401 `LoginCodeInvalid` for whatever is wrong; a wrong verifier uses the code up.
pub async fn exchange(
    state: &Accounts,
    by: &Public,
    code: OneTimeToken,
    verifier: CodeVerifier,
) -> Result<AuthResponse, Failure> {
    let invalid = || Failure::of(Code::LOGIN_CODE_INVALID);
    let code_hash = code.hash(&state.secret, CODE).ok_or_else(invalid)?;
    let now = state.now();
    let session = Begun::draw(state, &by.device, now)?;
    let new = session.clone();
    let account: Option<Account> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // A code that was tried is used up, so a wrong verifier is no error of the transaction.
                let Some(taken) = store::take_code(conn, &code_hash).await? else { return Ok::<_, Failed>(None) };
                let is_good = taken.expires_at > now && verifier.fits(&taken.code_challenge);
                if !is_good || !accounts::hold(conn, taken.user_id).await? {
                    return Ok(None);
                }
                sessions::insert(conn, taken.user_id, &new).await?;
                accounts::account(conn, taken.user_id).await
            })
        })
        .await?;
    session.answer(state, &account.ok_or_else(invalid)?)
}
