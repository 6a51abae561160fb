//! Signatures of links that play one recording, since a browser's media element can't send headers. A signature is bound
//! to the recording, to the account and to its session, and nothing of it is stored.
//!
//! It expires no later than an access token that is issued at the same time: ended sessions are remembered for just so
//! long. What the account may hear is checked at each request.

use actors::ids::{Id, Recording, Session, User};
use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::principal::Caller;
use crate::keys::Secret;

/// The query parameter that carries a signature.
pub const PARAMETER: &str = "playback";

/// The pattern of a signature in the OpenAPI document.
pub const PATTERN: &str = "^[A-Za-z0-9_-]{96}$";

const PURPOSE: &str = "playback link";

/// Returns the signature by which the account hears the recording until then.
#[must_use]
pub fn sign(secret: &Secret, recording_id: Id<Recording>, caller: Caller, until: Time) -> String {
    let claims = PlaybackClaims { caller, until: until.millis() };
    let mut bytes = claims.bytes();
    bytes.extend(claims.mac(secret, recording_id));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the account that a signature was given to. `None` if it is forged, expired or another recording's.
#[must_use]
pub fn verify(secret: &Secret, recording_id: Id<Recording>, signature: &str, now: Time) -> Option<Caller> {
    let bytes = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let (user_id, rest) = bytes.split_first_chunk::<16>()?;
    let (session_id, rest) = rest.split_first_chunk::<16>()?;
    let (until, mac) = rest.split_first_chunk::<8>()?;
    let claims = PlaybackClaims {
        caller: Caller {
            user_id: Id::<User>::from_uuid(Uuid::from_bytes(*user_id)),
            session_id: Id::<Session>::from_uuid(Uuid::from_bytes(*session_id)),
        },
        until: i64::from_be_bytes(*until),
    };
    let is_ours: bool = claims.mac(secret, recording_id).ct_eq(mac).into();
    (is_ours && claims.until > now.millis()).then_some(claims.caller)
}

struct PlaybackClaims {
    caller: Caller,
    /// Milliseconds since 1970.
    until: i64,
}

impl PlaybackClaims {
    fn bytes(&self) -> Vec<u8> {
        let Caller { user_id, session_id } = self.caller;
        let (user_id, session_id) = (user_id.uuid(), session_id.uuid());
        [user_id.as_bytes().as_slice(), session_id.as_bytes(), &self.until.to_be_bytes()].concat()
    }

    fn mac(&self, secret: &Secret, recording_id: Id<Recording>) -> [u8; 32] {
        secret.hash(PURPOSE, &[recording_id.uuid().as_bytes(), &self.bytes()])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn now() -> Time {
        Time::from_millis(1_800_000_000_000).unwrap()
    }

    fn secret() -> Secret {
        Secret::of(vec![7; 32])
    }

    fn caller() -> Caller {
        Caller { user_id: Id::generate(), session_id: Id::generate() }
    }

    #[test]
    fn a_signature_opens_its_recording_until_it_expires() {
        let (recording, caller, until) = (Id::generate(), caller(), now() + Duration::from_secs(900));
        let signature = sign(&secret(), recording, caller, until);
        let is_in_alphabet = |sign: u8| sign.is_ascii_alphanumeric() || b"-_".contains(&sign);
        assert!(signature.len() == 96 && signature.bytes().all(is_in_alphabet), "{signature}");
        assert_eq!(verify(&secret(), recording, &signature, now()), Some(caller));
        assert_eq!(verify(&secret(), recording, &signature, until), None);
        assert_eq!(verify(&secret(), Id::generate(), &signature, now()), None);
        assert_eq!(verify(&Secret::of(vec![8; 32]), recording, &signature, now()), None);
    }

    proptest! {
        #[test]
        fn whatever_is_no_signature_is_refused(text in ".*") {
            prop_assert_eq!(verify(&secret(), Id::generate(), &text, now()), None);
        }

        #[test]
        fn a_signature_with_one_sign_changed_is_refused(place in 0_usize..96, sign in "[A-Za-z0-9_-]") {
            let recording = Id::generate();
            let signature = super::sign(&secret(), recording, caller(), now() + Duration::from_secs(900));
            let changed = format!("{}{sign}{}", &signature[..place], &signature[place + 1..]);
            prop_assume!(changed != signature);
            prop_assert_eq!(verify(&secret(), recording, &changed, now()), None);
        }
    }
}
