//! Refresh tokens: a keyed hash over the session, its salt and a counter.
//!
//! No token is stored, so a dump of the database contains none; and a repeated request gets the same successor token
//! again, so that there are never two.
//!
//! A single statement on the row of the session decides which counter is valid, see `store::rotate`.

use actors::ids::{Id, Session};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use crate::keys::Secret;

const BYTES: usize = 16 + 8 + 32;

/// A parsed token; verifying it needs the salt of the session.
#[derive(Debug, Clone, Copy)]
pub struct Presented {
    pub session_id: Id<Session>,
    pub counter: i64,
    mac: [u8; 32],
}

/// Returns the token for a counter of a session.
pub fn issue(secret: &Secret, session_id: Id<Session>, salt: &str, counter: i64) -> String {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend_from_slice(session_id.uuid().as_bytes());
    bytes.extend_from_slice(&counter.to_be_bytes());
    bytes.extend_from_slice(&mac(secret, session_id, salt, counter));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Parses a token. Returns `None` when it is malformed.
pub fn read(token: &str) -> Option<Presented> {
    if token.len() > 2 * BYTES {
        return None;
    }
    let bytes: [u8; BYTES] = URL_SAFE_NO_PAD.decode(token).ok()?.try_into().ok()?;
    let (id, rest) = bytes.split_first_chunk::<16>()?;
    let (counter, mac) = rest.split_first_chunk::<8>()?;
    Some(Presented {
        session_id: Id::from_uuid(uuid::Uuid::from_bytes(*id)),
        counter: i64::from_be_bytes(*counter),
        mac: mac.try_into().ok()?,
    })
}

impl Presented {
    /// Whether this server issued the token for the session with this salt.
    pub fn is_genuine(&self, secret: &Secret, salt: &str) -> bool {
        mac(secret, self.session_id, salt, self.counter).ct_eq(&self.mac).into()
    }
}

fn mac(secret: &Secret, session_id: Id<Session>, salt: &str, counter: i64) -> [u8; 32] {
    secret.hash("refresh", &[session_id.uuid().as_bytes(), salt.as_bytes(), &counter.to_be_bytes()])
}

#[cfg(test)]
mod tests {
    use super::{issue, read};
    use crate::keys::Secret;
    use actors::ids::Id;
    use proptest::prelude::*;

    #[test]
    fn a_token_is_genuine_for_its_session_salt_and_counter_alone() {
        let secret = Secret::of(vec![1; 32]);
        let id = Id::generate();
        let token = issue(&secret, id, "salt", 7);
        let presented = read(&token).unwrap();
        assert_eq!((presented.session_id, presented.counter), (id, 7));
        assert!(presented.is_genuine(&secret, "salt"));
        assert!(!presented.is_genuine(&secret, "other"));
        assert!(!presented.is_genuine(&Secret::of(vec![2; 32]), "salt"));
        let later = super::Presented { counter: 8, ..presented };
        assert!(!later.is_genuine(&secret, "salt"));
    }

    proptest! {
        #[test]
        fn whatever_is_presented_is_read_without_harm(token in ".*") {
            if let Some(presented) = read(&token) {
                prop_assert!(!presented.is_genuine(&Secret::of(vec![1; 32]), "salt"));
            }
        }
    }
}
