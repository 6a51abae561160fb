//! Tests participants of meetings: joining and leaving, the list, removal and presence.

mod crowd;
mod join;
mod list;
mod presence;
mod remove;
mod snapshot;

use serde_json::{Value, json};

use crate::support::{Answer, Role, Server, Socket, User};

/// A meeting whose creator and host is `ada`, in a project of her own.
pub struct TestMeeting {
    pub ada: User,
    pub project: String,
    /// `/api/meetings/{id}`.
    pub path: String,
}

impl TestMeeting {
    /// Makes a new account, a project and a live meeting.
    pub async fn open(server: &Server) -> Self {
        Self::of(server, json!({})).await
    }

    /// As [`TestMeeting::open`], with additional fields in the body of createMeeting.
    pub async fn of(server: &Server, more: Value) -> Self {
        let room = Self::scheduled(server, more).await;
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        room
    }

    /// As [`TestMeeting::of`], but the meeting is not started.
    pub async fn scheduled(server: &Server, more: Value) -> Self {
        let ada = server.user().await;
        let project = ada.project().await;
        let mut body = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00.000Z"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = ada.client.post(format!("/api/projects/{project}/meetings")).json(body).await.is(201);
        let path = format!("/api/meetings/{}", made.text_of("id"));
        Self { ada, project, path }
    }

    /// Returns the topic of the meeting's events.
    pub fn topic(&self) -> String {
        self.path.replace("/api/meetings/", "meeting:")
    }

    /// Makes a new account that is a member of the project.
    pub async fn member(&self, server: &Server, role: Role) -> User {
        server.member(&self.project, role).await
    }

    /// Sends joinMeeting and returns the response, whatever its status.
    pub async fn join(&self, who: &User) -> Answer {
        who.client.post(format!("{}/join", self.path)).await
    }

    /// Sends leaveMeeting and returns the response, whatever its status.
    pub async fn leave(&self, who: &User) -> Answer {
        who.client.post(format!("{}/leave", self.path)).await
    }

    /// Joins the meeting as `who` and returns the participant's id. Panics unless the status is 200.
    pub async fn joined(&self, who: &User) -> String {
        self.join(who).await.is(200).text_of("id")
    }

    /// Sends saveRecordingConsent for a participant and returns the response, whatever its status.
    pub async fn consents(&self, who: &User, participant: &str, body: Value) -> Answer {
        who.client.post(format!("{}/participants/{participant}/consent", self.path)).json(body).await
    }

    /// Returns the version of the current consent wording.
    pub async fn wording(&self) -> String {
        let details = self.ada.client.get(&self.path).await.is(200);
        details.data()["consentWording"]["version"].as_str().unwrap().to_owned()
    }

    /// Returns the first 100 participants as ada sees them, sorted by id.
    pub async fn people(&self) -> Vec<Value> {
        let listed = self.ada.client.get(format!("{}/participants?limit=100", self.path)).await.is(200);
        let mut people = listed.data()["items"].as_array().unwrap().clone();
        people.sort_by_key(|one| one["id"].as_str().unwrap().to_owned());
        people
    }

    /// Returns a participant as ada sees it. Panics when there is none with this id.
    pub async fn person(&self, id: &str) -> Value {
        self.people().await.into_iter().find(|one| one["id"] == id).unwrap()
    }

    /// Waits until a participant satisfies `wanted` and returns it. Panics after 15 s.
    pub async fn until(&self, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(15);
        loop {
            let person = self.person(id).await;
            if wanted(&person) {
                return person;
            }
            assert!(std::time::Instant::now() < deadline, "it never came to be: {person}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Opens a socket as `who` that is subscribed to the meeting's topic. Panics when the subscription is rejected.
    pub async fn listening(&self, who: &User) -> Socket {
        let mut socket = Socket::open(&who.client).await;
        assert_eq!(socket.subscribe(&self.topic()).await["type"], "subscribed");
        socket
    }
}
