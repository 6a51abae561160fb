//! Rooms at the media server: who is let in, what the media server tells and what it is told, and what becomes of meetings
//! while it is away. The media server is a fake that checks each call; what LiveKit's own SDK says is in `sdk`.

mod away;
mod credentials;
mod errands;
mod hints;
mod membership;
mod roles;
mod sdk;
mod shuffled;

use livekit_api::access_token::{Claims, TokenVerifier, VideoGrants};
use serde_json::{Value, json};

use crate::invitations::{accept, ask_members, mailed};
use crate::participants::Room;
use crate::support::livekit::{KEY, LiveKit, SECRET};
use crate::support::{Answer, Client, Place, Server, User};

/// A live meeting at a server that has a media server.
pub struct Stage {
    pub media: LiveKit,
    pub server: Server,
    pub room: Room,
}

impl Stage {
    pub async fn open(place: &Place, settings: &[(&str, &str)]) -> Self {
        let media = LiveKit::start();
        let server = place.start(&[&media.settings()[..], settings].concat());
        let room = Room::open(&server).await;
        Self { media, server, room }
    }

    /// What the room is called.
    pub fn name(&self) -> &str {
        name_of(&self.room)
    }

    pub async fn credentials(&self, who: &User) -> Answer {
        credentials(&self.room, who).await
    }

    /// Somebody's place, once they joined and the room is there.
    pub async fn entered(&self, who: &User) -> String {
        let own = self.room.joined(who).await;
        self.credentials(who).await.is(200);
        own
    }

    /// As the media server calls.
    pub fn caller(&self) -> Client {
        self.server.client()
    }

    pub async fn details(&self) -> Value {
        self.room.ada.client.get(&self.room.path).await.is(200).data().clone()
    }

    /// Waits until the meeting is as wanted.
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

pub fn name_of(room: &Room) -> &str {
    room.path.trim_start_matches("/api/meetings/")
}

pub async fn credentials(room: &Room, who: &User) -> Answer {
    who.client.post(format!("{}/room-credentials", room.path)).await
}

/// Asks a member of the project in as that, and lets them accept; they were asked so often before.
pub async fn invited_as(server: &Server, room: &Room, who: &User, role: &str, before: usize) {
    ask_members(room, json!([{"userId": who.id, "role": role}])).await.is(201);
    let token = mailed(server, &who.email, before + 1).await;
    accept(&who.client, &token).await.is(200);
}

/// What a token says.
pub fn claims(issued: &Answer) -> Claims {
    TokenVerifier::with_api_key(KEY, SECRET).verify(&issued.text_of("token")).unwrap()
}

/// What a token of a room grants.
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
