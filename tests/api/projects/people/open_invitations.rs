//! Tests listProjectInvitations, resendProjectInvitation and revokeProjectInvitation.

use std::time::Duration;

use actors::ids::Id;
use actors::time::{Clock, SystemClock};
use colloquy::db::schema::{idempotency_keys, project_invitations};
use colloquy::db::{DbError, RunQueryDsl};
use colloquy::projects::people::model::InvitationToProject;
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::{accept, link, members, membership};
use crate::support::builders::fresh_email;
use crate::support::{Answer, Role, Server, User, World, outbox};

fn invitations(project: &str) -> String {
    format!("/api/projects/{project}/invitations")
}

async fn invite(by: &User, project: &str, email: &str, role: &str) -> Value {
    let body = json!({"email": email, "role": role});
    by.client.post(members(project)).json(body).await.is(201).data().clone()
}

async fn open(by: &User, project: &str) -> Vec<Value> {
    by.client.get(invitations(project)).await.is(200).data()["items"].as_array().unwrap().clone()
}

fn id_of(invitation: &Value) -> &str {
    invitation["id"].as_str().unwrap()
}

fn token_of(invitation: &Value) -> String {
    invitation["link"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned()
}

async fn resend(by: &User, project: &str, id: &str) -> Answer {
    by.client.post(format!("{}/{id}/resend", invitations(project))).await
}

/// Lets an invitation have been made so long ago.
async fn made_ago(server: &Server, id: &str, seconds: u64) {
    let id: Id<InvitationToProject> = id.parse().unwrap();
    let then = SystemClock.now() - Duration::from_secs(seconds);
    let week = then + Duration::from_secs(7 * 24 * 3600);
    let db = server.db().await;
    let aged = db.write(move |conn| {
        Box::pin(async move {
            let own = diesel::update(project_invitations::table.find(id));
            let times = (project_invitations::created_at.eq(then), project_invitations::expires_at.eq(week));
            Ok::<_, DbError>(own.set(times).execute(conn).await?)
        })
    });
    assert_eq!(aged.await.unwrap(), 1);
}

on_both! {
    async fn who_was_invited_is_listed_until_they_come(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let first = invite(&ada, &project, &ben.email, "ANALYST").await;
        let second = invite(&ada, &project, &fresh_email(), "STAKEHOLDER").await;
        let listed = open(&ada, &project).await;
        let ids: Vec<&str> = listed.iter().map(id_of).collect();
        assert_eq!(ids, [id_of(&second), id_of(&first)], "newest first");
        for (one, made) in listed.iter().zip([&second, &first]) {
            let mut made = made.clone();
            made["link"] = Value::Null;
            assert_eq!(one, &made, "the link is shown to who makes it alone");
        }
        assert_eq!(listed[0]["invitedByName"], "Ada Lovelace");
        accept(&ben.client, &token_of(&first)).await.is(200);
        assert_eq!(open(&ada, &project).await.len(), 1);
        // Pages, as of every list.
        let page = ada.client.get(format!("{}?limit=1", invitations(&project))).await.is(200);
        assert_eq!((&page.data()["totalCount"], &page.data()["nextCursor"]), (&json!(1), &Value::Null));
    }

    async fn an_invitation_that_is_sent_again_has_another_link(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let first = invite(&ada, &project, &ben.email, "ANALYST").await;
        resend(&ada, &project, id_of(&first)).await.refused(429, "TooManyRequests");
        // A week later nobody can accept it any longer.
        made_ago(world.server, id_of(&first), 8 * 24 * 3600).await;
        assert_eq!(open(&ada, &project).await[0]["status"], "EXPIRED");
        accept(&ben.client, &token_of(&first)).await.refused(410, "Gone");
        let again = resend(&ada, &project, id_of(&first)).await.is(200).data().clone();
        assert_eq!((&again["email"], &again["role"], &again["status"]), (&first["email"], &first["role"], &json!("PENDING")));
        assert_ne!((id_of(&again), &again["link"]), (id_of(&first), &first["link"]));
        let mail = outbox::wait_for(&world.server.data, &ben.email, 3).await;
        assert!(mail.contains(again["link"].as_str().unwrap()), "{mail}");
        world.nobody.get(link(&token_of(&first))).await.refused(410, "Gone");
        assert_eq!(open(&ada, &project).await.len(), 1, "it takes the place of the former one");
        resend(&ada, &project, id_of(&first)).await.refused(409, "InvalidState");
        accept(&ben.client, &token_of(&again)).await.is(200);
        made_ago(world.server, id_of(&again), 61).await;
        resend(&ada, &project, id_of(&again)).await.refused(409, "Conflict");
    }

    /// The server may have been killed after it sent the invitation, and before it answered.
    async fn a_repeated_resend_is_one(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let made = invite(&ada, &project, &fresh_email(), "ANALYST").await;
        made_ago(world.server, id_of(&made), 61).await;
        let path = format!("{}/{}/resend", invitations(&project), id_of(&made));
        let first = ada.client.post(&path).key("again").await.is(200);
        let again = ada.client.post(&path).key("again").await.is(200);
        assert_eq!(first.body, again.body);
        assert_eq!(open(&ada, &project).await.len(), 1);
    }

    async fn a_revoked_invitation_leads_nowhere(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let made = invite(&ada, &project, &ben.email, "ANALYST").await;
        let path = format!("{}/{}", invitations(&project), id_of(&made));
        ada.client.delete(&path).await.is(200);
        ada.client.delete(&path).await.is(200);
        assert!(open(&ada, &project).await.is_empty());
        accept(&ben.client, &token_of(&made)).await.refused(410, "Gone");
        made_ago(world.server, id_of(&made), 61).await;
        resend(&ada, &project, id_of(&made)).await.refused(409, "InvalidState");
        // What was accepted is a membership now.
        let made = invite(&ada, &project, &ben.email, "ANALYST").await;
        accept(&ben.client, &token_of(&made)).await.is(200);
        ada.client.delete(format!("{}/{}", invitations(&project), id_of(&made))).await.refused(409, "InvalidState");
    }

    async fn who_may_not_give_a_role_may_not_handle_invitations_to_it(world: World) {
        let (ada, ben, other) = (world.user().await, world.user().await, world.user().await);
        let project = ada.project().await;
        world.server.join(&project, &ben, Role::Manager).await;
        let (manager, analyst) =
            (invite(&ada, &project, &fresh_email(), "MANAGER").await, invite(&ada, &project, &fresh_email(), "ANALYST").await);
        for one in [&manager, &analyst] {
            made_ago(world.server, id_of(one), 61).await;
        }
        let path = |id: &str| format!("{}/{id}", invitations(&project));
        ben.client.delete(path(id_of(&manager))).await.refused(403, "Forbidden");
        resend(&ben, &project, id_of(&manager)).await.refused(403, "Forbidden");
        resend(&ben, &project, id_of(&analyst)).await.is(200);
        // An id of another project is none of this one.
        let own = other.project().await;
        let theirs = invite(&other, &own, &fresh_email(), "ANALYST").await;
        ada.client.delete(path(id_of(&theirs))).await.refused(404, "NotFound");
        resend(&ada, &project, id_of(&theirs)).await.refused(404, "NotFound");
        // Who invited may leave: the invitation is worth nothing then, and is listed as such.
        let membership = membership(&ada, &project, &ben).await;
        ada.client.delete(membership).await.is(200);
        let listed = open(&ada, &project).await;
        let statuses: Vec<&Value> = listed.iter().map(|one| &one["status"]).collect();
        assert_eq!(statuses, ["REVOKED", "PENDING"]);
    }

    async fn a_repeated_request_gets_the_same_link_and_the_database_does_not_hold_it(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let body = json!({"email": fresh_email(), "role": "ANALYST"});
        let ask = || ada.client.post(members(&project)).key("once").json(body.clone());
        let (first, again) = (ask().await.is(201), ask().await.is(201));
        assert_eq!(first.body, again.body);
        let token = token_of(first.data());
        let db = world.server.db().await;
        let stored = db.read(|conn| {
            Box::pin(async move { Ok::<_, DbError>(idempotency_keys::table.select(idempotency_keys::body).load(conn).await?) })
        });
        let stored: Vec<Option<String>> = stored.await.unwrap();
        let stored: Vec<String> = stored.into_iter().flatten().collect();
        assert!(!stored.is_empty() && stored.iter().all(|one| !one.contains('{') && !one.contains(&token)), "{stored:?}");
    }
}
