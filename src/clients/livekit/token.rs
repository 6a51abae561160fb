//! Tokens for the media server: short-lived JWTs, signed with the secret that it shares with this server.

use std::time::Duration;

use actors::time::Time;
use livekit_api::access_token::{AccessToken, Claims, TokenVerifier, VideoGrants};

use super::{Pass, SOURCES, Token};

/// Lifetime of a token for a request to the media server itself.
const OWN_LIFE: Duration = Duration::from_secs(60);

pub struct Signer {
    key: String,
    secret: String,
}

impl Signer {
    pub const fn new(key: String, secret: String) -> Self {
        Self { key, secret }
    }

    /// Issues an access token for a participant of a media room. Participants can never change their name, are never
    /// hidden, and can never record.
    pub fn pass(&self, pass: &Pass<'_>) -> Result<Token, String> {
        let sources = if pass.may_publish { SOURCES.map(str::to_owned).to_vec() } else { Vec::new() };
        let grants = VideoGrants {
            room_join: true,
            room: pass.room.to_owned(),
            can_publish: Some(pass.may_publish),
            can_subscribe: Some(true),
            can_publish_data: Some(pass.may_publish),
            can_publish_sources: sources,
            can_update_own_metadata: Some(false),
            ..VideoGrants::default()
        };
        let token = self.token(pass.life).with_identity(pass.identity).with_name(pass.display_name);
        let text = token.with_grants(grants).to_jwt().map_err(|error| error.to_string())?;
        // Read from the token itself, because the crate uses its own clock.
        let claims = Claims::from_unverified(&text).map_err(|error| error.to_string())?;
        let seconds = i64::try_from(claims.exp).unwrap_or(i64::MAX);
        let expires_at = Time::from_millis(seconds.saturating_mul(1000)).ok_or("the token has no end")?;
        Ok(Token { text, expires_at })
    }

    /// Issues a token for one of this server's own requests.
    pub fn own(&self, grants: VideoGrants) -> Result<String, String> {
        self.token(OWN_LIFE).with_grants(grants).to_jwt().map_err(|error| error.to_string())
    }

    /// Returns the claims of a token that is signed with the shared secret and not expired, with the minute of leeway
    /// that LiveKit servers allow each other. Returns `None` otherwise.
    pub fn verified(&self, token: &str) -> Option<Claims> {
        let claims = TokenVerifier::with_api_key(&self.key, &self.secret).verify(token).ok()?;
        // The crate accepts a token without an issuer.
        (claims.iss == self.key).then_some(claims)
    }

    fn token(&self, life: Duration) -> AccessToken {
        AccessToken::with_api_key(&self.key, &self.secret).with_ttl(life)
    }
}
