//! Refresh tokens: a keyed hash over the session, its salt and a counter. Nothing of a token is kept, so a dump of the
//! database holds none; and the answer to a repeated request is the same token again, so that there are never two.
//!
//! Which counter is good is decided by the session's row in one statement, see `store::rotate`.

use actors::ids::{Id, Session};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use crate::keys::Secret;

const BYTES: usize = 16 + 8 + 32;

/// A token that was taken apart; whether it is genuine is seen with the session's salt.
#[derive(Debug, Clone, Copy)]
pub struct Presented {
    pub session_id: Id<Session>,
    pub counter: i64,
    mac: [u8; 32],
}

/// The token of a session's counter.
pub fn issue(secret: &Secret, session_id: Id<Session>, salt: &str, counter: i64) -> String {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend_from_slice(session_id.uuid().as_bytes());
    bytes.extend_from_slice(&counter.to_be_bytes());
    bytes.extend_from_slice(&mac(secret, session_id, salt, counter));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Takes a token apart. `None`: it has not the form of one.
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
    /// Whether this server issued it for the session with this salt.
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
        let id = Id::draw();
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
