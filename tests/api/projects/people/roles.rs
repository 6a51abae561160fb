//! Tests changeProjectMemberRole and removeProjectMember: who is allowed to, what stays, which events are published.

use serde_json::json;

use super::{accept, link, members, membership, roles, seen_by};
use crate::support::{Role, Socket, User, World};

/// Changes the role of a membership, given its path.
async fn make(by: &User, path: &str, role: &str) -> crate::support::Answer {
    by.client.patch(path).json(json!({"role": role})).await
}

on_both! {
    async fn a_manager_handles_analysts_and_stakeholders_and_an_owner_everybody(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let stakeholder = world.member(&project, Role::Stakeholder).await;
        let analyst = world.member(&project, Role::Analyst).await;
        let (manager, other) = (world.member(&project, Role::Manager).await, world.member(&project, Role::Manager).await);
        let of = async |user: &User| membership(&ada, &project, user).await;
        let (owners, own, others) = (of(&ada).await, of(&manager).await, of(&other).await);
        let (analysts, stakeholders) = (of(&analyst).await, of(&stakeholder).await);

        for path in [&owners, &own, &others] {
            for role in ["STAKEHOLDER", "ANALYST", "MANAGER", "OWNER"] {
                make(&manager, path, role).await.refused(403, "Forbidden");
            }
        }
        for role in ["MANAGER", "OWNER"] {
            make(&manager, &analysts, role).await.refused(403, "Forbidden");
        }
        for path in [&owners, &others] {
            manager.client.delete(path).await.refused(403, "Forbidden");
        }
        for weak in [&stakeholder, &analyst] {
            make(weak, &stakeholders, "ANALYST").await.refused(403, "Forbidden");
            weak.client.delete(&others).await.refused(403, "Forbidden");
        }
        let changed = make(&manager, &stakeholders, "analyst").await.is(200);
        assert_eq!((&changed.data()["role"], &changed.data()["email"]), (&json!("ANALYST"), &json!(stakeholder.email)));
        assert_eq!(changed.data(), &seen_by(&ada, &project).await[3]);
        make(&manager, &analysts, "STAKEHOLDER").await.is(200);
        manager.client.delete(&analysts).await.is(200);

        make(&ada, &others, "OWNER").await.is(200);
        make(&other, &own, "ANALYST").await.is(200);
        other.client.delete(&own).await.is(200);
        let left = [(&ada, "OWNER"), (&stakeholder, "ANALYST"), (&other, "OWNER")];
        let left = left.map(|(user, role)| (user.id.clone(), role.to_owned()));
        assert_eq!(roles(&ada, &project).await, left);
    }

    async fn the_next_request_after_a_demotion_is_refused(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let analyst = world.member(&project, Role::Analyst).await;
        let write = || {
            let body = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00.000Z"});
            analyst.client.post(format!("/api/projects/{project}/meetings")).json(body)
        };
        write().await.is(201);
        let path = membership(&ada, &project, &analyst).await;
        make(&ada, &path, "STAKEHOLDER").await.is(200);
        write().await.refused(403, "Forbidden");
        analyst.client.get(format!("/api/projects/{project}")).await.is(200);
        make(&ada, &path, "ANALYST").await.is(200);
        write().await.is(201);
    }

    async fn the_last_owner_stays_an_owner_and_a_member(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = membership(&ada, &project, &ada).await;
        world.member(&project, Role::Manager).await;
        for role in ["STAKEHOLDER", "ANALYST", "MANAGER"] {
            make(&ada, &path, role).await.refused(409, "LastOwner");
        }
        ada.client.delete(&path).await.refused(409, "LastOwner");
        make(&ada, &path, "OWNER").await.is(200);
        assert_eq!(roles(&ada, &project).await[0], (ada.id.clone(), "OWNER".to_owned()));
    }

    async fn when_the_named_owner_loses_the_role_the_earliest_other_owner_is_named(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let analyst = world.member(&project, Role::Analyst).await;
        let (first, second) = (world.member(&project, Role::Owner).await, world.member(&project, Role::Owner).await);
        let details = format!("/api/projects/{project}");
        let mut socket = Socket::open(&analyst.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        let owner = async || analyst.client.get(&details).await.is(200);

        // When another owner loses the role, the named owner stays the same.
        let before = owner().await;
        let path = membership(&ada, &project, &second).await;
        make(&ada, &path, "MANAGER").await.is(200);
        assert_eq!(socket.next().await["event"], "member.changed");
        make(&ada, &path, "OWNER").await.is(200);
        assert_eq!(socket.next().await["event"], "member.changed");
        assert_eq!(owner().await.data()["ownerId"], json!(ada.id));

        make(&first, &membership(&first, &project, &ada).await, "ANALYST").await.is(200);
        let frame = socket.next().await;
        assert_eq!((&frame["event"], &frame["data"]["role"]), (&json!("member.changed"), &json!("ANALYST")));
        let frame = socket.next().await;
        assert_eq!((&frame["event"], &frame["data"]["ownerId"]), (&json!("project.updated"), &json!(first.id)));
        let after = owner().await;
        assert_eq!(after.data()["ownerId"], json!(first.id));
        assert_eq!(after.etag(), before.etag(), "nobody's edit is stale by that");
        for (name, value) in frame["data"].as_object().unwrap() {
            assert_eq!(&after.data()[name], value, "{name}");
        }
        first.client.delete(membership(&first, &project, &first).await).await.is(200);
        assert_eq!(owner().await.data()["ownerId"], json!(second.id));
        second.client.delete(membership(&second, &project, &second).await).await.refused(409, "LastOwner");
    }

    async fn any_member_may_leave_and_has_no_access_from_then_on(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for role in [Role::Stakeholder, Role::Analyst, Role::Manager, Role::Owner] {
            let member = world.member(&project, role).await;
            let path = membership(&member, &project, &member).await;
            member.client.delete(&path).await.is(200);
            member.client.get(format!("/api/projects/{project}")).await.refused(403, "Forbidden");
            member.client.delete(&path).await.refused(403, "Forbidden");
            assert_eq!(member.client.get("/api/projects").await.data()["totalCount"], 0);
        }
        assert_eq!(seen_by(&ada, &project).await.len(), 1);
    }

    async fn a_membership_of_another_project_is_not_found(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let (hers, his) = (ada.project().await, ben.project().await);
        let member = world.member(&his, Role::Analyst).await;
        let path = membership(&ben, &his, &member).await.replace(&his, &hers);
        make(&ada, &path, "STAKEHOLDER").await.refused(404, "NotFound");
        ada.client.delete(&path).await.refused(404, "NotFound");
        // Nor may the member do it, who is not a member of that other project.
        member.client.delete(&path).await.refused(403, "Forbidden");
        assert_eq!(roles(&ben, &his).await.len(), 2);
    }

    async fn a_role_change_is_published_without_addresses_and_an_unchanged_role_is_not(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (watching, member) = (world.member(&project, Role::Stakeholder).await, world.user().await);
        let mut socket = Socket::open(&watching.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        world.server.join(&project, &member, Role::Stakeholder).await;
        let path = membership(&ada, &project, &member).await;
        let id = path.rsplit('/').next().unwrap();
        make(&ada, &path, "STAKEHOLDER").await.is(200);
        make(&ada, &path, "MANAGER").await.is(200);
        ada.client.delete(&path).await.is(200);
        for role in [json!("STAKEHOLDER"), json!("MANAGER"), json!(null)] {
            let frame = socket.next().await;
            assert_eq!(frame["event"], "member.changed");
            assert_eq!(frame["data"], json!({"id": id, "userId": member.id, "role": role}));
        }
    }

    async fn an_archived_project_keeps_its_members_as_they_are(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let member = world.member(&project, Role::Analyst).await;
        let invited = world.user().await;
        let token = world.server.invite(&ada.client, &project, &invited.email, Role::Analyst).await;
        let path = membership(&ada, &project, &member).await;
        let archive = |status: &str| ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": status}));
        archive("ARCHIVED").await.is(200);
        make(&ada, &path, "STAKEHOLDER").await.refused(409, "ProjectArchived");
        ada.client.delete(&path).await.refused(409, "ProjectArchived");
        member.client.delete(&path).await.refused(409, "ProjectArchived");
        let asked = json!({"email": "grace@example.org", "role": "ANALYST"});
        ada.client.post(members(&project)).json(asked).await.refused(409, "ProjectArchived");
        world.nobody.get(link(&token)).await.is(200);
        accept(&invited.client, &token).await.refused(409, "ProjectArchived");
        assert_eq!(roles(&member, &project).await.len(), 2, "reading goes on");
        archive("ACTIVE").await.is(200);
        accept(&invited.client, &token).await.is(200);
    }

    async fn an_invalid_role_is_rejected_and_changes_nothing(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let member = world.member(&project, Role::Analyst).await;
        let path = membership(&ada, &project, &member).await;
        ada.client.patch(&path).json(json!({})).await.refused(422, "Required");
        ada.client.patch(&path).json(json!({"role": null})).await.refused(422, "Required");
        ada.client.patch(&path).json(json!({"role": "KING"})).await.refused(422, "InvalidValue");
        ada.client.patch(&path).json(json!({"role": "OWNER", "userId": ada.id})).await.refused(422, "UnknownKey");
        assert_eq!(roles(&ada, &project).await[1].1, "ANALYST");
    }
}
