//! One-time codes: six digits from the system's chance, kept as a keyed hash that binds them to their purpose.

use crate::http::failure::Failure;
use crate::keys::{Secret, random};

use super::super::model::CodePurpose;

/// Draws a code. Numbers past the last whole million are drawn anew, so that every code is as likely as any other.
///
/// # Errors
/// 500: the system has no chance to give.
pub fn draw() -> Result<String, Failure> {
    const WHOLE: u32 = u32::MAX - u32::MAX % 1_000_000;
    loop {
        let drawn = u32::from_be_bytes(random().map_err(Failure::internal)?);
        if drawn < WHOLE {
            return Ok(format!("{:06}", drawn % 1_000_000));
        }
    }
}

/// What is kept of a code. `subject` is what it may be used for, such as a registration's id.
pub fn hash(secret: &Secret, purpose: CodePurpose, email: &str, subject: &str, code: &str) -> String {
    secret.hex("code", &[purpose.as_str().as_bytes(), email.as_bytes(), subject.as_bytes(), code.as_bytes()])
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_have_six_digits_and_differ() {
        let codes: std::collections::HashSet<_> = (0..100).map(|_| super::draw().unwrap()).collect();
        assert!(codes.iter().all(|code| code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit())));
        assert!(codes.len() > 90);
    }
}
