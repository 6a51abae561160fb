//! Tokens as they are stored: encrypted, and bound to the key, to the project's row and to their generation, so that a row
//! that was copied or set back opens nowhere (S15).

use actors::ids::{self, Id};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::clients::trackers::{TrackerLogin, TrackerTokens};
use crate::keys::Secret;

const PURPOSE: &str = "tracker tokens";

/// What a connection presents itself with at its tracker.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredLogin {
    pub login: TrackerLogin,
    /// Of an OAuth login whose access token expires.
    pub refresh: Option<String>,
}

impl StoredLogin {
    #[must_use]
    pub fn of(tokens: &TrackerTokens) -> Self {
        Self { login: TrackerLogin::OAuth { access: tokens.access.clone() }, refresh: tokens.refresh.clone() }
    }

    /// Encrypts it for a project's row.
    ///
    /// # Errors
    /// The system provides no random bytes.
    pub fn seal(&self, secret: &Secret, project_id: Id<ids::Project>, generation: i64) -> std::io::Result<String> {
        let key_id = key_id(secret);
        let sealed = secret.seal(PURPOSE, &associated(&key_id, project_id, generation), &serde_json::to_vec(self)?)?;
        Ok(format!("{key_id}.{}", STANDARD.encode(sealed)))
    }

    /// Decrypts what [`StoredLogin::seal`] encrypted for this row. `None` if it was sealed with another key, for another row
    /// or generation, or was changed.
    #[must_use]
    pub fn open(secret: &Secret, project_id: Id<ids::Project>, generation: i64, sealed: &str) -> Option<Self> {
        let (key_id, sealed) = sealed.split_once('.')?;
        let associated = associated(key_id, project_id, generation);
        serde_json::from_slice(&secret.open(PURPOSE, &associated, &STANDARD.decode(sealed).ok()?)?).ok()
    }
}

/// A name of the key that tells nothing about it.
fn key_id(secret: &Secret) -> String {
    secret.hex("key id", &[]).chars().take(8).collect()
}

fn associated(key_id: &str, project_id: Id<ids::Project>, generation: i64) -> Vec<u8> {
    [key_id.as_bytes(), project_id.uuid().as_bytes(), &generation.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;

    use super::StoredLogin;
    use crate::clients::trackers::TrackerLogin;
    use crate::keys::Secret;

    #[test]
    fn tokens_open_with_their_key_in_their_row_and_generation_alone() {
        let (secret, project) = (Secret::of(vec![7; 32]), Id::generate());
        let login = StoredLogin {
            login: TrackerLogin::OAuth { access: "an-access-token".into() },
            refresh: Some("a-refresh-token".into()),
        };
        let sealed = login.seal(&secret, project, 3).unwrap();
        assert!(!sealed.contains("token"));
        assert!(StoredLogin::open(&secret, project, 3, &sealed) == Some(login));
        assert!(StoredLogin::open(&secret, project, 4, &sealed).is_none());
        assert!(StoredLogin::open(&secret, Id::generate(), 3, &sealed).is_none());
        assert!(StoredLogin::open(&Secret::of(vec![8; 32]), project, 3, &sealed).is_none());
        // Named after another key, it does not open either.
        let renamed = sealed.replacen(sealed.split('.').next().unwrap(), "00000000", 1);
        assert!(StoredLogin::open(&secret, project, 3, &renamed).is_none());
    }
}
