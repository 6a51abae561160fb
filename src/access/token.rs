//! Access tokens: JWTs that this server signs (HS256, a ring of keys) and checks.
//!
//! What is checked: `typ`, `alg` from a list of one, `kid` from the ring, signature, `iss`, `aud`, `exp` and `iat`
//! with 5 s of leeway, and the claims' form. A verified token is remembered until it expires, since checking the
//! signature costs a fifth of a small request.

use std::time::Duration;

use actors::ids::{Id, Session, User};
use actors::time::Time;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode};
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize};

use super::caller::Caller;

const TYPE: &str = "at+jwt";
const LEEWAY_SECONDS: i64 = 5;
const REMEMBERED: usize = 10_000;
const LONGEST: usize = 2_048;

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    sid: String,
    jti: String,
    iat: i64,
    exp: i64,
}

/// A key of the ring.
pub struct Key {
    /// Names the key in a token's header.
    pub id: String,
    pub secret: Vec<u8>,
}

/// Signs and checks access tokens.
pub struct Tokens {
    ring: Vec<(String, EncodingKey, DecodingKey)>,
    issuer: String,
    life: Duration,
    known: Cache<String, (Caller, i64)>,
}

/// The token is not one of ours, or no longer good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotOurs;

impl Tokens {
    /// The first key of the ring signs, all of them verify.
    #[must_use]
    pub fn new(ring: &[Key], issuer: &str, life: Duration) -> Self {
        let ring = ring
            .iter()
            .map(|key| (key.id.clone(), EncodingKey::from_secret(&key.secret), DecodingKey::from_secret(&key.secret)))
            .collect();
        Self { ring, issuer: issuer.to_owned(), life, known: Cache::new(REMEMBERED) }
    }

    #[must_use]
    pub const fn life(&self) -> Duration {
        self.life
    }

    /// An access token for a session. `None` only with an empty ring.
    #[must_use]
    pub fn issue(&self, user_id: Id<User>, session_id: Id<Session>, now: Time) -> Option<String> {
        let (id, key, _) = self.ring.first()?;
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(id.clone()), ..Header::new(Algorithm::HS256) };
        let iat = now.millis() / 1000;
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.issuer.clone(),
            sub: user_id.to_string(),
            sid: session_id.to_string(),
            jti: Id::<()>::draw().to_string(),
            iat,
            exp: iat + i64::try_from(self.life.as_secs()).unwrap_or(0),
        };
        encode(&header, &claims, key).ok()
    }

    /// Who a token stands for. Whether the session still stands is another question.
    ///
    /// # Errors
    /// Anything at all is wrong with it.
    pub fn verify(&self, token: &str, now: Time) -> Result<Caller, NotOurs> {
        if token.len() > LONGEST {
            return Err(NotOurs);
        }
        let now = now.millis() / 1000;
        let (caller, expires) = match self.known.get(token) {
            Some(known) => known,
            None => self.check(token, now)?,
        };
        if expires + LEEWAY_SECONDS <= now {
            self.known.remove(token);
            return Err(NotOurs);
        }
        Ok(caller)
    }

    fn check(&self, token: &str, now: i64) -> Result<(Caller, i64), NotOurs> {
        let header = decode_header(token).map_err(|_| NotOurs)?;
        let kid = header.kid.as_deref().ok_or(NotOurs)?;
        let is_ours = header.typ.as_deref() == Some(TYPE) && header.alg == Algorithm::HS256;
        let (_, _, key) = self.ring.iter().find(|(id, _, _)| is_ours && id == kid).ok_or(NotOurs)?;
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Times are compared with our own clock, below and at each use.
        validation.validate_exp = false;
        let claims = decode::<Claims>(token, key, &validation).map_err(|_| NotOurs)?.claims;
        if claims.iat > now + LEEWAY_SECONDS {
            return Err(NotOurs);
        }
        let caller = Caller {
            user_id: claims.sub.parse().map_err(|_| NotOurs)?,
            session_id: claims.sid.parse().map_err(|_| NotOurs)?,
        };
        if claims.exp + LEEWAY_SECONDS > now {
            self.known.insert(token.to_owned(), (caller, claims.exp));
        }
        Ok((caller, claims.exp))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens() -> Tokens {
        let key = Key { id: "access-1".to_owned(), secret: vec![7; 32] };
        Tokens::new(&[key], "https://app.colloquy.test", Duration::from_secs(900))
    }

    fn now() -> Time {
        Time::from_millis(1_800_000_000_000).unwrap()
    }

    #[test]
    fn a_token_is_verified_with_and_without_the_memory_of_it() {
        let (tokens, user, session) = (tokens(), Id::draw(), Id::draw());
        let token = tokens.issue(user, session, now()).unwrap();
        for _ in 0..2 {
            assert_eq!(tokens.verify(&token, now()), Ok(Caller { user_id: user, session_id: session }));
        }
        assert_eq!(tokens.verify(&token, now() + Duration::from_secs(905)), Err(NotOurs));
    }

    proptest! {
        #[test]
        fn whatever_is_no_token_is_refused(text in any::<String>()) {
            prop_assert_eq!(tokens().verify(&text, now()), Err(NotOurs));
        }

        #[test]
        fn three_parts_of_anything_are_refused(parts in proptest::collection::vec("[A-Za-z0-9_=-]{0,400}", 1..6)) {
            prop_assert_eq!(tokens().verify(&parts.join("."), now()), Err(NotOurs));
        }

        /// A token with any one sign changed is another token, also once the real one is remembered.
        #[test]
        fn a_token_with_one_sign_changed_is_refused(place in any::<prop::sample::Index>(), sign in "[A-Za-z0-9_.-]") {
            let tokens = tokens();
            let token = tokens.issue(Id::draw(), Id::draw(), now()).unwrap();
            tokens.verify(&token, now()).unwrap();
            let at = place.index(token.len());
            let changed = format!("{}{sign}{}", &token[..at], &token[at + 1..]);
            prop_assume!(changed != token);
            prop_assert_eq!(tokens.verify(&changed, now()), Err(NotOurs));
        }
    }
}
