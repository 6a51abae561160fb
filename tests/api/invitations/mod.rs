//! Invitations to meetings: asking, answering, guests and what they may, sending again, taking back, calendars.

mod answering;
mod asking;
mod calendar;
mod guests;
mod hearing;
mod sending;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::participants::Room;
use crate::support::builders::fresh_email;
use crate::support::{Answer, Client, Server, outbox};

/// Somebody who was let in without an account.
pub struct Guest {
    /// Calls with the guest token.
    pub client: Client,
    pub email: String,
    /// Of the link.
    pub token: String,
    pub invitation: String,
    pub participant: String,
}

pub fn link(token: &str) -> String {
    format!("/api/meeting-invitations/{token}")
}

pub async fn accept(client: &Client, token: &str) -> Answer {
    client.post(format!("{}/accept", link(token))).json(json!({})).served().await
}

pub async fn ask_guests(room: &Room, invitees: Value) -> Answer {
    room.ada.client.post(format!("{}/invitations/guests", room.path)).json(json!({"invitees": invitees})).await
}

pub async fn ask_members(room: &Room, invitees: Value) -> Answer {
    let path = format!("{}/invitations/participants", room.path);
    room.ada.client.post(path).json(json!({"invitees": invitees})).await
}

/// The token of the newest invitation that was mailed to an address, once there are so many.
pub async fn mailed(server: &Server, email: &str, count: usize) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mails = outbox::mails(&server.data, email);
        let mut tokens: Vec<String> = mails.iter().filter_map(|mail| outbox::invitation_in(mail)).collect();
        if tokens.len() >= count {
            return tokens.pop().unwrap();
        }
        assert!(Instant::now() < deadline, "{} of {count} invitations to {email} came", tokens.len());
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

/// Asks one guest: the invitation's id, the address, the token of the link.
pub async fn asked(server: &Server, room: &Room) -> (String, String, String) {
    let email = fresh_email();
    let made = ask_guests(room, json!([{"email": email, "displayName": "Gus Guest"}])).await.is(201);
    let id = made.data()["items"][0]["id"].as_str().unwrap().to_owned();
    let token = mailed(server, &email, 1).await;
    (id, email, token)
}

impl Guest {
    pub async fn of(server: &Server, room: &Room) -> Self {
        let (invitation, email, token) = asked(server, room).await;
        let accepted = accept(&server.client(), &token).await.is(200);
        let client = server.client().bearing(&accepted.text_of("guestToken"));
        let participant = accepted.data()["participant"]["id"].as_str().unwrap().to_owned();
        Self { client, email, token, invitation, participant }
    }

    pub async fn join(&self, room: &Room) -> Answer {
        self.client.post(format!("{}/join", room.path)).await
    }
}

/// An invitation as ada's list has it.
pub async fn listed(room: &Room, id: &str) -> Value {
    let all = room.ada.client.get(format!("{}/invitations?limit=100", room.path)).await.is(200);
    let items = all.data()["items"].as_array().unwrap().clone();
    items.into_iter().find(|one| one["id"] == id).unwrap()
}
