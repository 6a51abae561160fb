//! Access tokens: JWTs that this server signs (HS256, with a ring of keys) and verifies. Guest tokens have another
//! `aud` and name the one meeting that they are valid for, so neither kind is accepted as the other.
//!
//! Verification checks `typ`, `alg` against a list of one, `kid` against the ring, the signature, `iss`, `aud`, `exp`
//! and `iat` with 5 s of leeway, and the form of the claims. A verified token is cached until it expires, since
//! checking the signature costs a fifth of a small request.

use std::time::Duration;

use actors::ids::{Id, Session, User};
use actors::meeting::Meeting;
use actors::time::{NumericDate, Time};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode};
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize};

use super::principal::{Caller, Guest, Principal};
use crate::keys::SigningKey;

const TYPE: &str = "at+jwt";
const LEEWAY: Duration = Duration::from_secs(5);
const REMEMBERED: usize = 10_000;
const MAX_BYTES: usize = 2_048;

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    /// The account, or the guest's participant.
    sub: String,
    /// The session, or the guest's invitation.
    sid: String,
    /// The meeting, in a guest's token only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mid: Option<Id<Meeting>>,
    jti: String,
    iat: NumericDate,
    exp: NumericDate,
}

/// Signs and verifies access tokens.
pub struct Tokens {
    ring: Vec<(String, EncodingKey, DecodingKey)>,
    issuer: String,
    /// The audience of guest tokens.
    guests: String,
    life: Duration,
    known: Cache<String, (Principal, Time)>,
}

/// The token was not issued by this server, or is no longer valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidToken;

impl Tokens {
    /// The first key of the ring signs; all of them verify.
    #[must_use]
    pub fn new(ring: &[SigningKey], issuer: &str, life: Duration) -> Self {
        let ring = ring
            .iter()
            .map(|key| (key.id.clone(), EncodingKey::from_secret(&key.secret), DecodingKey::from_secret(&key.secret)))
            .collect();
        let guests = format!("{issuer}/meetings");
        Self { ring, issuer: issuer.to_owned(), guests, life, known: Cache::new(REMEMBERED) }
    }

    #[must_use]
    pub const fn life(&self) -> Duration {
        self.life
    }

    /// Issues an access token for a session. `None` only if the ring is empty.
    #[must_use]
    pub fn issue(&self, user_id: Id<User>, session_id: Id<Session>, now: Time) -> Option<String> {
        let claims = self.claims(now, self.life);
        self.sign(&Claims { sub: user_id.to_string(), sid: session_id.to_string(), ..claims })
    }

    /// Issues an access token that is valid for one meeting only. `None` only if the ring is empty.
    #[must_use]
    pub fn issue_to_guest(&self, guest: Guest, now: Time, life: Duration) -> Option<String> {
        let claims = self.claims(now, life);
        self.sign(&Claims {
            aud: self.guests.clone(),
            sub: guest.participant_id.to_string(),
            sid: guest.invitation_id.to_string(),
            mid: Some(guest.meeting_id),
            ..claims
        })
    }

    fn claims(&self, now: Time, life: Duration) -> Claims {
        // In whole seconds, as they are written.
        let now = Time::nearest(NumericDate(now).seconds().saturating_mul(1000));
        Claims {
            iss: self.issuer.clone(),
            aud: self.issuer.clone(),
            sub: String::new(),
            sid: String::new(),
            mid: None,
            jti: Id::<()>::generate().to_string(),
            iat: NumericDate(now),
            exp: NumericDate(now + life),
        }
    }

    fn sign(&self, claims: &Claims) -> Option<String> {
        let (id, key, _) = self.ring.first()?;
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(id.clone()), ..Header::new(Algorithm::HS256) };
        encode(&header, claims, key).ok()
    }

    /// Verifies a token and returns its principal. Does not check whether the session, or the guest's invitation, is
    /// still valid.
    ///
    /// # Errors
    /// The token is invalid in any way.
    pub fn verify(&self, token: &str, now: Time) -> Result<Principal, InvalidToken> {
        if token.len() > MAX_BYTES {
            return Err(InvalidToken);
        }
        let (principal, expires) = match self.known.get(token) {
            Some(known) => known,
            None => self.check(token, now)?,
        };
        if expires + LEEWAY <= now {
            self.known.remove(token);
            return Err(InvalidToken);
        }
        Ok(principal)
    }

    fn check(&self, token: &str, now: Time) -> Result<(Principal, Time), InvalidToken> {
        let header = decode_header(token).map_err(|_| InvalidToken)?;
        let kid = header.kid.as_deref().ok_or(InvalidToken)?;
        let is_ours = header.typ.as_deref() == Some(TYPE) && header.alg == Algorithm::HS256;
        let (_, _, key) = self.ring.iter().find(|(id, _, _)| is_ours && id == kid).ok_or(InvalidToken)?;
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.issuer, &self.guests]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Expiry is checked against the server's own clock, below and at each use.
        validation.validate_exp = false;
        let claims = decode::<Claims>(token, key, &validation).map_err(|_| InvalidToken)?.claims;
        let (issued, expires) = (claims.iat.0, claims.exp.0);
        if issued > now + LEEWAY {
            return Err(InvalidToken);
        }
        let principal = self.principal(&claims)?;
        if expires + LEEWAY > now {
            self.known.insert(token.to_owned(), (principal, expires));
        }
        Ok((principal, expires))
    }

    fn principal(&self, Claims { aud, sub, sid, mid, .. }: &Claims) -> Result<Principal, InvalidToken> {
        match mid {
            None if *aud == self.issuer => Ok(Principal::Account(Caller {
                user_id: sub.parse().map_err(|_| InvalidToken)?,
                session_id: sid.parse().map_err(|_| InvalidToken)?,
            })),
            Some(meeting_id) if *aud == self.guests => Ok(Principal::Guest(Guest {
                meeting_id: *meeting_id,
                participant_id: sub.parse().map_err(|_| InvalidToken)?,
                invitation_id: sid.parse().map_err(|_| InvalidToken)?,
            })),
            _ => Err(InvalidToken),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens() -> Tokens {
        let key = SigningKey { id: "access-1".to_owned(), secret: vec![7; 32] };
        Tokens::new(&[key], "https://app.colloquy.test", Duration::from_secs(900))
    }

    fn now() -> Time {
        Time::from_millis(1_800_000_000_000).unwrap()
    }

    #[test]
    fn a_token_is_verified_with_and_without_the_memory_of_it() {
        let (tokens, user, session) = (tokens(), Id::generate(), Id::generate());
        let token = tokens.issue(user, session, now()).unwrap();
        for _ in 0..2 {
            let caller = Caller { user_id: user, session_id: session };
            assert_eq!(tokens.verify(&token, now()), Ok(Principal::Account(caller)));
        }
        assert_eq!(tokens.verify(&token, now() + Duration::from_secs(905)), Err(InvalidToken));
    }

    #[test]
    fn a_guest_is_a_guest_for_as_long_as_was_said() {
        let tokens = tokens();
        let guest = Guest { meeting_id: Id::generate(), participant_id: Id::generate(), invitation_id: Id::generate() };
        let token = tokens.issue_to_guest(guest, now(), Duration::from_secs(3600)).unwrap();
        for _ in 0..2 {
            assert_eq!(tokens.verify(&token, now()), Ok(Principal::Guest(guest)));
        }
        assert_eq!(tokens.verify(&token, now() + Duration::from_secs(3605)), Err(InvalidToken));
    }

    #[test]
    fn neither_kind_of_token_passes_for_the_other() {
        let tokens = tokens();
        let base = || {
            let ids = Claims {
                sub: Id::<User>::generate().to_string(),
                sid: Id::<Session>::generate().to_string(),
                ..tokens.claims(now(), tokens.life)
            };
            assert!(tokens.verify(&tokens.sign(&ids).unwrap(), now()).is_ok());
            ids
        };
        let account_with_a_meeting = Claims { mid: Some(Id::generate()), ..base() };
        let guest_without_one = Claims { aud: tokens.guests.clone(), ..base() };
        for claims in [account_with_a_meeting, guest_without_one] {
            assert_eq!(tokens.verify(&tokens.sign(&claims).unwrap(), now()), Err(InvalidToken), "{claims:?}");
        }
    }

    /// Signed with a real key, since a forged one is not read so far.
    #[test]
    fn a_token_with_times_that_nobody_reaches_is_valid_or_refused_and_nothing_overflows() {
        let (tokens, key) = (tokens(), EncodingKey::from_secret(&[7; 32]));
        let header = || Header { typ: Some(TYPE.to_owned()), kid: Some("access-1".to_owned()), ..Header::default() };
        let (user, session) = (Id::<User>::generate(), Id::<Session>::generate());
        let claims = Claims { sub: user.to_string(), sid: session.to_string(), ..tokens.claims(now(), tokens.life) };
        let claims = serde_json::to_value(claims).unwrap();
        let extremes = [
            "0",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "1e308",
            "-1e308",
            "253402300799",
            "253402300800",
            "-62135596801",
            "0.5",
            "1e-308",
        ];
        for (name, number) in ["iat", "exp", "nbf"].iter().flat_map(|name| extremes.map(|number| (name, number))) {
            let mut claims = claims.clone();
            claims[*name] = serde_json::from_str(number).unwrap();
            let token = encode(&header(), &claims, &key).unwrap();
            let [first, again] = [tokens.verify(&token, now()), tokens.verify(&token, now())];
            assert_eq!(first, again, "{name} {number}");
            let seconds: f64 = number.parse().unwrap();
            let is_valid = match *name {
                "iat" => seconds < 1.9e9,
                // jsonwebtoken wants it within the unsigned integers.
                "exp" => seconds > 1.8e9 && seconds < 1e19,
                _ => true,
            };
            assert!(first.is_ok() == is_valid || number.len() > 19, "{name} {number}: {first:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_no_token_is_refused(text in any::<String>()) {
            prop_assert_eq!(tokens().verify(&text, now()), Err(InvalidToken));
        }

        #[test]
        fn three_parts_of_anything_are_refused(parts in proptest::collection::vec("[A-Za-z0-9_=-]{0,400}", 1..6)) {
            prop_assert_eq!(tokens().verify(&parts.join("."), now()), Err(InvalidToken));
        }

        /// A token in which any one character is changed is rejected, also once the original is cached.
        #[test]
        fn a_token_with_one_sign_changed_is_refused(place in any::<prop::sample::Index>(), sign in "[A-Za-z0-9_.-]") {
            let tokens = tokens();
            let token = tokens.issue(Id::generate(), Id::generate(), now()).unwrap();
            tokens.verify(&token, now()).unwrap();
            let at = place.index(token.len());
            let changed = format!("{}{sign}{}", &token[..at], &token[at + 1..]);
            prop_assume!(changed != token);
            prop_assert_eq!(tokens.verify(&changed, now()), Err(InvalidToken));
        }
    }
}
