//! Rooms at the media server: who is let in, what the media server tells and what it is told, and what becomes of meetings
//! while it is away. The media server is a fake that checks each call; what LiveKit's own SDK says is in `sdk`.

mod away;
mod credentials;
mod errands;
mod hints;
mod sdk;
mod shuffled;

use actors::ids::{self, Id};
use colloquy::db::schema::participants;
use colloquy::db::{Failed, Key, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::Value;

use crate::participants::Room;
use crate::support::livekit::LiveKit;
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

/// Makes somebody an observer, as an invitation would. What is written beside a meeting is read at its next start.
pub async fn observes(server: &Server, participant: &str) {
    let id: Id<ids::Participant> = participant.parse().unwrap();
    let db = server.db().await;
    let written = db.write(move |conn| {
        Box::pin(async move {
            let row = participants::table.find(Key(id));
            diesel::update(row).set(participants::role.eq("OBSERVER")).execute(conn).await?;
            Ok::<_, Failed>(())
        })
    });
    written.await.unwrap();
}
