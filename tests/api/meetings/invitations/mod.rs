//! Tests invitations to meetings: inviting, answering, permissions of guests, resending, revoking, calendar entries.

mod answering;
mod calendar;
mod events;
mod guests;
mod inviting;
mod sending;

use serde_json::{Value, json};

use crate::meetings::participants::TestMeeting;
use crate::support::builders::fresh_email;
use crate::support::patience::Patience;
use crate::support::{Answer, Client, Server, outbox};

/// A guest: a participant without an account, who has accepted an invitation.
pub struct Guest {
    /// Sends requests with the guest token.
    pub client: Client,
    pub email: String,
    /// The token of the mailed link.
    pub token: String,
    /// The invitation's id.
    pub invitation: String,
    /// The participant's id.
    pub participant: String,
}

/// Returns the path of an invitation, given the token of the mailed link.
pub fn link(token: &str) -> String {
    format!("/api/meeting-invitations/{token}")
}

/// Accepts an invitation. Repeats the request while the server answers 503.
pub async fn accept(client: &Client, token: &str) -> Answer {
    client.post(format!("{}/accept", link(token))).json(json!({})).served().await
}

/// Sends inviteGuests as ada and returns the response, whatever its status.
pub async fn ask_guests(room: &TestMeeting, invitees: Value) -> Answer {
    room.ada.client.post(format!("{}/invitations/guests", room.path)).json(json!({"invitees": invitees})).await
}

/// Sends inviteParticipants as ada and returns the response, whatever its status.
pub async fn ask_members(room: &TestMeeting, invitees: Value) -> Answer {
    let path = format!("{}/invitations/participants", room.path);
    room.ada.client.post(path).json(json!({"invitees": invitees})).await
}

/// Waits until `count` invitations have been mailed to an address and returns the token of the newest. Panics after
/// 20 s.
pub async fn mailed(server: &Server, email: &str, count: usize) -> String {
    let patience = Patience::of_seconds(20);
    loop {
        let mails = outbox::mails(&server.data, email);
        let mut tokens: Vec<String> = mails.iter().filter_map(|mail| outbox::invitation_in(mail)).collect();
        if tokens.len() >= count {
            return tokens.pop().unwrap();
        }
        patience.pause(|| format!("{} of {count} invitations to {email} came", tokens.len())).await;
    }
}

/// Invites one guest with a new address. Returns the invitation's id, the address and the token of the link.
pub async fn invite_guest(server: &Server, room: &TestMeeting) -> (String, String, String) {
    let email = fresh_email();
    let made = ask_guests(room, json!([{"email": email, "displayName": "Gus Guest"}])).await.is(201);
    let id = made.data()["items"][0]["id"].as_str().unwrap().to_owned();
    let token = mailed(server, &email, 1).await;
    (id, email, token)
}

impl Guest {
    /// Invites a guest and accepts the invitation. The guest has not joined the meeting.
    pub async fn of(server: &Server, room: &TestMeeting) -> Self {
        let (invitation, email, token) = invite_guest(server, room).await;
        let accepted = accept(&server.client(), &token).await.is(200);
        let client = server.client().bearing(&accepted.text_of("guestToken"));
        let participant = accepted.data()["participant"]["id"].as_str().unwrap().to_owned();
        Self { client, email, token, invitation, participant }
    }

    /// Sends joinMeeting and returns the response, whatever its status.
    pub async fn join(&self, room: &TestMeeting) -> Answer {
        self.client.post(format!("{}/join", room.path)).await
    }
}

/// Returns an invitation from ada's list of the meeting's invitations. Panics when it is not among the first 100.
pub async fn listed(room: &TestMeeting, id: &str) -> Value {
    let all = room.ada.client.get(format!("{}/invitations?limit=100", room.path)).await.is(200);
    let items = all.data()["items"].as_array().unwrap().clone();
    items.into_iter().find(|one| one["id"] == id).unwrap()
}
