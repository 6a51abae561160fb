//! Tests the members, invitations and stakeholders of projects.

mod invitation_emails;
mod invitations;
mod limits;
mod members;
mod open_invitations;
mod races;
mod roles;
mod stakeholders;
mod subscriptions;
mod tokens;

use serde_json::Value;

use crate::support::{Answer, Client, User};

/// Returns the path of a project's members.
pub fn members(project: &str) -> String {
    format!("/api/projects/{project}/members")
}

/// Returns the path of a project invitation, given the token of the mailed link.
pub fn link(token: &str) -> String {
    format!("/api/project-invitations/{token}")
}

/// Accepts a project invitation. Repeats the request while the server answers 503.
pub async fn accept(client: &Client, token: &str) -> Answer {
    client.post(format!("{}/accept", link(token))).served().await
}

/// Returns the first 100 members of a project as `user` sees them, newest first. Panics unless the status is 200.
pub async fn seen_by(user: &User, project: &str) -> Vec<Value> {
    let list = user.client.get(format!("{}?limit=100", members(project))).await.is(200);
    list.data()["items"].as_array().unwrap().clone()
}

/// Returns the path of `of`'s membership. Panics when `by` finds no such member among the first 100.
pub async fn membership(by: &User, project: &str, of: &User) -> String {
    let all = seen_by(by, project).await;
    let own = all.iter().find(|member| member["userId"] == of.id.as_str()).expect("a member");
    format!("{}/{}", members(project), own["id"].as_str().unwrap())
}

/// Returns the account id and role of each member of a project, in the order in which they joined.
pub async fn roles(by: &User, project: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all = seen_by(by, project).await;
    all.reverse();
    all.iter().map(|member| (text(&member["userId"]), text(&member["role"]))).collect()
}
