//! What an issue says, as a hash that Jira's own normalisations don't change.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::adf::visible;

/// SHA-256, in hexadecimal digits, of a summary and of what people see of a description, both without white space.
pub(super) fn fingerprint(summary: &str, description: &Value) -> String {
    let mut hash = Sha256::new();
    hash.update(without_space(summary));
    // No summary contains it.
    hash.update("\n");
    hash.update(without_space(&visible(description)));
    hex::encode(hash.finalize())
}

fn without_space(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}

#[cfg(test)]
mod tests;
