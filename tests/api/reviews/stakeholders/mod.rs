//! Tests what stakeholders without an account may do and until when, and what the tests of their invitations, their dashboard and
//! their feedback share.

mod access;
mod deletion;

use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use colloquy::db::schema::review_invitations;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use crate::analysis::NOTE;
use crate::support::builders::fresh_email;
use crate::support::{Answer, Client, Server, User, outbox};

pub const DAY: u64 = 24 * 3600;
pub const DASHBOARD: &str = "/api/project-review/dashboard";
pub const OWN_FEEDBACK: &str = "/api/project-review/feedback";

/// The review of a project by somebody without an account.
pub struct Review {
    /// Sends requests with the review token.
    pub client: Client,
    pub email: String,
    /// The invitation's id.
    pub invitation: String,
    /// The token of the mailed link.
    pub link_token: String,
    pub review_token: String,
}

/// Returns the path of a project's review invitations.
pub fn invitations(project: &str) -> String {
    format!("/api/projects/{project}/review-invitations")
}

/// Returns the path of an invitation, given the token of the mailed link.
pub fn link(token: &str) -> String {
    format!("/api/review-invitations/{token}")
}

/// Returns the path of a project's feedback.
pub fn feedback_of(project: &str) -> String {
    format!("/api/projects/{project}/feedback")
}

/// Sends createReviewInvitation for one address and returns the response, whatever its status.
pub async fn ask(by: &User, project: &str, email: &str, permission: &str) -> Answer {
    let body = json!({"invitees": [{"email": email}], "permission": permission});
    by.client.post(invitations(project)).json(body).await
}

/// Invites a new address. Returns the invitation, the address and the token of the link.
pub async fn invite(server: &Server, by: &User, project: &str, permission: &str) -> (Value, String, String) {
    let email = fresh_email();
    let made = ask(by, project, &email, permission).await.is(201);
    let mail = outbox::wait_for(&server.data, &email, 1).await;
    (made.data()["items"][0].clone(), email, outbox::token_in(&mail).unwrap())
}

/// Accepts an invitation and returns the response, whatever its status.
pub async fn accept(client: &Client, token: &str) -> Answer {
    client.post(format!("{}/accept", link(token))).served().await
}

impl Review {
    /// Invites a new address and accepts the invitation.
    pub async fn of(server: &Server, by: &User, project: &str, permission: &str) -> Self {
        let (invitation, email, link_token) = invite(server, by, project, permission).await;
        let review_token = accept(&server.client(), &link_token).await.is(200).text_of("reviewToken");
        let client = server.client().reviewing(&review_token);
        let invitation = invitation["id"].as_str().unwrap().to_owned();
        Self { client, email, invitation, link_token, review_token }
    }

    /// Invites a new approver to what `shown` says in the request, and accepts the invitation.
    pub async fn showing(server: &Server, by: &User, project: &str, shown: Value) -> Self {
        let email = fresh_email();
        let mut body = json!({"invitees": [{"email": email}], "permission": "APPROVER"});
        body.as_object_mut().unwrap().extend(shown.as_object().unwrap().clone());
        let made = by.client.post(invitations(project)).json(body).await.is(201);
        let invitation = made.data()["items"][0].clone();
        let link_token = invitation["link"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
        let review_token = accept(&server.client(), &link_token).await.is(200).text_of("reviewToken");
        let client = server.client().reviewing(&review_token);
        let invitation = invitation["id"].as_str().unwrap().to_owned();
        Self { client, email, invitation, link_token, review_token }
    }

    pub async fn dashboard(&self) -> Value {
        self.client.get(DASHBOARD).await.is(200).data().clone()
    }

    /// Sends submitFeedback and returns the response, whatever its status.
    pub async fn say(&self, body: Value) -> Answer {
        self.client.post(OWN_FEEDBACK).json(body).await
    }

    /// Leaves a comment on the summary; returns the feedback.
    pub async fn comment(&self, comment: &str) -> Value {
        let said = self.say(json!({"targetType": "SUMMARY", "comment": comment})).await.is(201);
        said.data().clone()
    }
}

/// Makes a project of a user with a run over the note. Returns the project's id.
pub async fn analysed(ada: &User) -> String {
    let project = ada.project().await;
    ada.read(&project, "note.md", NOTE.as_bytes()).await;
    let (run, _) = ada.run(&project).await;
    assert_eq!(ada.over(&run).await["status"], "COMPLETED");
    project
}

/// Returns an invitation from the list of a project. Panics when it is not among the first 100.
pub async fn listed(by: &User, project: &str, id: &str) -> Value {
    let all = by.client.get(format!("{}?limit=100", invitations(project))).await.is(200);
    let items = all.data()["items"].as_array().unwrap().clone();
    items.into_iter().find(|one| one["id"] == id).unwrap()
}

/// Moves the times of an invitation, of its last sending and its expiry, into the past by `seconds`.
pub async fn age(server: &Server, id: &str, seconds: u64) {
    let id: Id<()> = id.parse().unwrap();
    let db = server.db().await;
    let aged = db.write(move |conn| {
        Box::pin(async move {
            let row = review_invitations::table.find(id);
            let times = (review_invitations::last_sent_at, review_invitations::expires_at);
            let (sent_at, expires_at): (Time, Time) = row.select(times).first(conn).await?;
            let earlier = |at: Time| at - Duration::from_secs(seconds);
            let set = (
                review_invitations::last_sent_at.eq(earlier(sent_at)),
                review_invitations::expires_at.eq(earlier(expires_at)),
            );
            diesel::update(row).set(set).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    aged.await.unwrap();
}
