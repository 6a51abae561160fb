//! Project Lookup: members, invitations, stakeholders.

mod invitations;
mod letters;
mod limits;
mod live;
mod members;
mod races;
mod roles;
mod stakeholders;
mod tokens;

use serde_json::Value;

use crate::support::{Answer, Client, User};

pub fn members(project: &str) -> String {
    format!("/api/projects/{project}/members")
}

/// The path of a link that was mailed.
pub fn link(token: &str) -> String {
    format!("/api/project-invitations/{token}")
}

pub async fn accept(client: &Client, token: &str) -> Answer {
    client.post(format!("{}/accept", link(token))).served().await
}

/// All members, as somebody sees them.
pub async fn seen_by(user: &User, project: &str) -> Vec<Value> {
    let list = user.client.get(format!("{}?limit=100", members(project))).await.is(200);
    list.data()["items"].as_array().unwrap().clone()
}

/// The path of somebody's membership.
pub async fn membership(by: &User, project: &str, of: &User) -> String {
    let all = seen_by(by, project).await;
    let own = all.iter().find(|member| member["userId"] == of.id.as_str()).expect("a member");
    format!("{}/{}", members(project), own["id"].as_str().unwrap())
}

/// The roles of a project's members, by account, in the order in which they joined.
pub async fn roles(by: &User, project: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all = seen_by(by, project).await;
    all.reverse();
    all.iter().map(|member| (text(&member["userId"]), text(&member["role"]))).collect()
}
