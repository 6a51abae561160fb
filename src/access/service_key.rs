//! The key by which another part of the system shows who it is.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::http::mounted::Mounted;

/// The hash of the key; the key itself is not kept, and nothing shows it.
#[derive(Clone)]
pub struct ServiceKey([u8; 32]);

impl ServiceKey {
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Whether this is the key. Takes the same time for every text of the same length.
    #[must_use]
    pub fn is(&self, given: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(given.as_bytes()).into();
        self.0.ct_eq(&given).into()
    }
}

impl Mounted for ServiceKey {}

#[cfg(test)]
mod tests {
    use super::ServiceKey;

    #[test]
    fn the_key_is_known_and_nothing_else() {
        let key = ServiceKey::new("a-key-of-more-than-thirty-two-signs");
        assert!(key.is("a-key-of-more-than-thirty-two-signs"));
        let others = ["", "a-key", "a-key-of-more-than-thirty-two-signs ", "A-key-of-more-than-thirty-two-signs"];
        assert!(others.iter().all(|other| !key.is(other)));
    }
}
