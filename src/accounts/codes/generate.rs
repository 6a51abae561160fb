//! Generates one-time codes: six random digits, stored as a keyed hash that binds them to their purpose.

use super::super::model::CodePurpose;
use crate::http::error::ApiError;
use crate::keys::{Secret, random};

/// Generates a code. Random numbers past the last whole million are rejected, so that every code is equally likely.
///
/// # Errors
/// 500 when the system provides no random bytes.
pub fn new_code() -> Result<String, ApiError> {
    const WHOLE: u32 = u32::MAX - u32::MAX % 1_000_000;
    loop {
        let number = u32::from_be_bytes(random().map_err(ApiError::internal)?);
        if number < WHOLE {
            return Ok(format!("{:06}", number % 1_000_000));
        }
    }
}

/// Returns the hash that is stored for a code. `subject` is what the code is bound to, such as the id of a
/// registration.
pub fn hash(secret: &Secret, purpose: CodePurpose, email: &str, subject: &str, code: &str) -> String {
    secret.hex("code", &[purpose.into_str().as_bytes(), email.as_bytes(), subject.as_bytes(), code.as_bytes()])
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_have_six_digits_and_differ() {
        let codes: std::collections::HashSet<_> = (0..100).map(|_| super::new_code().unwrap()).collect();
        assert!(codes.iter().all(|code| code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit())));
        assert!(codes.len() > 90);
    }
}
