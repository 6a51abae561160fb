//! Media rooms: who gets credentials, webhooks from the media server and jobs for it, and meetings while it is
//! unavailable. The media server is a fake that checks each call; `sdk` compares it with LiveKit's own SDK.

mod credentials;
mod jobs;
mod membership;
mod roles;
mod sdk;
mod unavailable;
mod webhook_order;
mod webhooks;

use livekit_api::access_token::{Claims, TokenVerifier, VideoGrants};
use serde_json::{Value, json};

use crate::meetings::invitations::{accept, ask_members, mailed};
use crate::meetings::participants::TestMeeting;
use crate::support::livekit::{KEY, LiveKit, SECRET};
use crate::support::{Answer, Client, Server, ServerSetup, User};

/// A live meeting on a server that has a media server (the fake).
pub struct Stage {
    pub media: LiveKit,
    pub server: Server,
    pub room: TestMeeting,
}

impl Stage {
    /// Starts the fake and a server that uses it, with `settings` on top, and opens a live meeting.
    pub async fn open(setup: &ServerSetup, settings: &[(&str, &str)]) -> Self {
        let media = LiveKit::start();
        let server = setup.start(&[&media.settings()[..], settings].concat());
        let room = TestMeeting::open(&server).await;
        Self { media, server, room }
    }

    /// Returns the name of the media room: the meeting's id.
    pub fn name(&self) -> &str {
        name_of(&self.room)
    }

    /// Requests room credentials as `who`.
    pub async fn credentials(&self, who: &User) -> Answer {
        credentials(&self.room, who).await
    }

    /// Joins as `who` and requests credentials, so that the media room exists. Returns the participant's id.
    pub async fn entered(&self, who: &User) -> String {
        let own = self.room.joined(who).await;
        self.credentials(who).await.is(200);
        own
    }

    /// Returns an unauthenticated client, which the media server is.
    pub fn caller(&self) -> Client {
        self.server.client()
    }

    /// Returns the meeting as its host reads it.
    pub async fn details(&self) -> Value {
        self.room.ada.client.get(&self.room.path).await.is(200).data().clone()
    }

    /// Polls the meeting until `wanted` holds for it, and returns it. Panics after 15 s.
    pub async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(15);
        loop {
            let details = self.details().await;
            if wanted(&details) {
                return details;
            }
            assert!(std::time::Instant::now() < deadline, "it never came to be: {details}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

/// Returns the name of the media room of a meeting: the meeting's id.
pub fn name_of(room: &TestMeeting) -> &str {
    room.path.trim_start_matches("/api/meetings/")
}

/// Requests credentials for the media room as `who`.
pub async fn credentials(room: &TestMeeting, who: &User) -> Answer {
    who.client.post(format!("{}/room-credentials", room.path)).await
}

/// Invites a project member in a role and accepts for them; `before` counts the invitations mailed to them so far.
pub async fn invited_as(server: &Server, room: &TestMeeting, who: &User, role: &str, before: usize) {
    ask_members(room, json!([{"userId": who.id, "role": role}])).await.is(201);
    let token = mailed(server, &who.email, before + 1).await;
    accept(&who.client, &token).await.is(200);
}

/// Returns the claims of the token in a response. Panics unless it verifies.
pub fn claims(issued: &Answer) -> Claims {
    TokenVerifier::with_api_key(KEY, SECRET).verify(&issued.text_of("token")).unwrap()
}

/// The grants that a token for a media room must have.
pub fn publishing(room: &str, may_publish: bool) -> VideoGrants {
    let sources = ["camera", "microphone", "screen_share", "screen_share_audio"].map(str::to_owned);
    VideoGrants {
        room_join: true,
        room: room.to_owned(),
        can_publish: Some(may_publish),
        can_subscribe: Some(true),
        can_publish_data: Some(may_publish),
        can_publish_sources: if may_publish { sources.to_vec() } else { Vec::new() },
        can_update_own_metadata: Some(false),
        ..VideoGrants::default()
    }
}
