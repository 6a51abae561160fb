//! Tests addProjectMember, previewProjectInvitation and acceptProjectInvitation.

use serde_json::json;

use super::{accept, link, members, membership, roles, seen_by};
use crate::support::builders::fresh_email;
use crate::support::{Role, World, outbox, shape};

on_both! {
    async fn an_invited_user_becomes_a_member_by_the_link_in_the_email(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let body = json!({"email": ben.email.to_uppercase(), "role": "analyst"});
        let asked = ada.client.post(members(&project)).json(body).await.is(201);
        let mut keys = shape::keys(asked.data());
        keys.sort_unstable();
        assert_eq!(keys, ["createdAt", "email", "expiresAt", "id", "invitedByName", "link", "role", "status"]);
        assert_eq!((asked.text_of("email"), asked.text_of("role")), (ben.email.clone(), "ANALYST".to_owned()));
        assert_eq!(asked.text_of("status"), "PENDING");
        let mail = outbox::wait_for(&world.server.data, &ben.email, 2).await;
        let text = &mail;
        assert!(text.contains("http://app.colloquy.test/invitations/project#token="), "{text}");
        assert!(text.contains(&asked.text_of("link")), "the link to be passed on is that of the mail");
        assert_eq!(seen_by(&ada, &project).await.len(), 1, "nobody is a member by being asked");
        ben.client.get(format!("/api/projects/{project}")).await.refused(403, "Forbidden");

        let token = outbox::token_in(&mail).unwrap();
        let joined = accept(&ben.client, &token).await.is(200);
        assert_eq!((joined.text_of("projectId"), joined.text_of("role")), (project.clone(), "ANALYST".to_owned()));
        assert_eq!((joined.text_of("userId"), joined.text_of("email")), (ben.id.clone(), ben.email.clone()));
        let member = seen_by(&ada, &project).await.remove(0);
        for (name, value) in member.as_object().unwrap() {
            assert_eq!(&joined.data()[name], value, "{name}");
        }
        assert_eq!(ben.client.get(format!("/api/projects/{project}")).await.is(200).text_of("myRole"), "ANALYST");
    }

    async fn a_preview_shows_the_least_and_uses_nothing_up(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Stakeholder).await;
        let mut expires_at = String::new();
        for _ in 0..3 {
            let preview = world.nobody.get(link(&token)).await.is(200);
            expires_at = preview.text_of("expiresAt");
            let masked = format!("{}***@example.org", &ben.email[..1]);
            assert_eq!(preview.data(), &json!({
                "projectName": "Clinic booking", "inviterName": "Ada Lovelace", "inviteeEmail": masked,
                "role": "STAKEHOLDER", "status": "PENDING", "expiresAt": expires_at,
            }));
            assert!(!preview.text().contains(&project) && !preview.text().contains(&ben.email));
        }
        accept(&ben.client, &token).await.is(200);
        let preview = world.nobody.get(link(&token)).await.is(200);
        assert_eq!((preview.text_of("status"), preview.text_of("expiresAt")), ("ACCEPTED".to_owned(), expires_at));
    }

    async fn only_the_invited_account_can_accept_and_accepting_again_changes_nothing(world: World) {
        let (ada, ben, eve) = (world.user().await, world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Manager).await;
        accept(&world.nobody, &token).await.refused(401, "Unauthorized");
        accept(&eve.client, &token).await.refused(403, "Forbidden");
        accept(&ada.client, &token).await.refused(403, "Forbidden");
        let joined = accept(&ben.client, &token).await.is(200);
        let path = membership(&ada, &project, &ben).await;
        ada.client.patch(path).json(json!({"role": "STAKEHOLDER"})).await.is(200);
        let again = accept(&ben.client, &token).await.is(200);
        assert_eq!((&again.data()["id"], &again.data()["role"]), (&joined.data()["id"], &json!("STAKEHOLDER")));
        accept(&eve.client, &token).await.refused(403, "Forbidden");
        assert_eq!(roles(&ada, &project).await.len(), 2);
    }

    async fn an_address_without_an_account_accepts_once_it_has_one(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let email = fresh_email();
        let token = world.server.invite(&ada.client, &project, &email, Role::Analyst).await;
        let ben = world.server.user_as(&email, "Ben", "EN").await;
        accept(&ben.client, &token).await.is(200);
        assert_eq!(seen_by(&ada, &project).await[0]["fullName"], "Ben");
    }

    async fn inviting_gets_the_same_response_with_or_without_an_account(world: World) {
        let (ada, known) = (world.user().await, world.user().await.email);
        let project = ada.project().await;
        let ask = |email: &str| ada.client.post(members(&project)).json(json!({"email": email, "role": "ANALYST"}));
        let unknown = fresh_email();
        let (to_known, to_unknown) = (ask(&known).await.is(201), ask(&unknown).await.is(201));
        let shown = |answer: &crate::support::Answer, email: &str| {
            // What every invitation has of its own.
            let own = ["id", "createdAt", "expiresAt", "link"].map(|name| answer.text_of(name));
            own.iter().fold(answer.text().replace(email, "EMAIL"), |text, own| text.replace(own, "OWN"))
        };
        assert_eq!(shown(&to_known, &known), shown(&to_unknown, &unknown));
        let names = |answer: &crate::support::Answer| answer.headers.keys().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(&to_known), names(&to_unknown));
        outbox::wait_for(&world.server.data, &unknown, 1).await;
        outbox::wait_for(&world.server.data, &known, 2).await;
    }

    async fn a_member_is_not_invited_again(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let member = world.member(&project, Role::Analyst).await;
        for email in [&member.email, &ada.email] {
            let body = json!({"email": email, "role": "ANALYST"});
            ada.client.post(members(&project)).json(body).await.refused(409, "Conflict");
        }
        assert_eq!(outbox::mails(&world.server.data, &ada.email).len(), 1);
    }

    async fn inviting_an_address_again_sends_a_new_link_and_invalidates_the_former(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let first = world.server.invite(&ada.client, &project, &ben.email, Role::Manager).await;
        let second = world.server.invite(&ada.client, &project, &ben.email, Role::Stakeholder).await;
        assert_ne!(first, second);
        world.nobody.get(link(&first)).await.refused(410, "Gone");
        accept(&ben.client, &first).await.refused(410, "Gone");
        assert_eq!(accept(&ben.client, &second).await.is(200).text_of("role"), "STAKEHOLDER");
        accept(&ben.client, &first).await.refused(410, "Gone");
        assert_eq!(roles(&ada, &project).await[1].1, "STAKEHOLDER");
        // An invitation of the same address to another project is independent.
        let other = ada.project().await;
        let third = world.server.invite(&ada.client, &other, &ben.email, Role::Analyst).await;
        accept(&ben.client, &third).await.is(200);
    }

    async fn a_manager_invites_only_to_roles_they_may_give_and_replaces_no_other_invitation(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let manager = world.member(&project, Role::Manager).await;
        let ask = |email: &str, role: &str| manager.client.post(members(&project)).json(json!({"email": email, "role": role}));
        let email = fresh_email();
        for role in ["MANAGER", "OWNER"] {
            ask(&email, role).await.refused(403, "Forbidden");
        }
        assert!(outbox::mails(&world.server.data, &email).is_empty());
        ask(&email, "STAKEHOLDER").await.is(201);
        outbox::wait_for(&world.server.data, &email, 1).await;
        // Nor do they replace an invitation whose role only an owner may give.
        let token = world.server.invite(&ada.client, &project, &email, Role::Manager).await;
        ask(&email, "STAKEHOLDER").await.refused(403, "Forbidden");
        world.nobody.get(link(&token)).await.is(200);
    }

    async fn an_invitation_is_gone_once_its_inviter_may_no_longer_invite(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for gone in [true, false] {
            let (manager, ben) = (world.member(&project, Role::Manager).await, world.user().await);
            let token = world.server.invite(&manager.client, &project, &ben.email, Role::Analyst).await;
            world.nobody.get(link(&token)).await.is(200);
            let path = membership(&ada, &project, &manager).await;
            if gone {
                ada.client.delete(path).await.is(200);
            } else {
                ada.client.patch(path).json(json!({"role": "ANALYST"})).await.is(200);
            }
            world.nobody.get(link(&token)).await.refused(410, "Gone");
            accept(&ben.client, &token).await.refused(410, "Gone");
            ben.client.get(format!("/api/projects/{project}")).await.refused(403, "Forbidden");
            // A member with the permission invites the address again.
            let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
            accept(&ben.client, &token).await.is(200);
        }
    }

    async fn a_used_link_does_not_restore_a_removed_member(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        accept(&ben.client, &token).await.is(200);
        ada.client.delete(membership(&ada, &project, &ben).await).await.is(200);
        accept(&ben.client, &token).await.refused(410, "Gone");
        ben.client.get(format!("/api/projects/{project}")).await.refused(403, "Forbidden");
    }

    async fn a_project_invitation_expires_after_seven_days(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        world.server.age_invitations(&project, 7 * 24 * 3600 - 60).await;
        world.nobody.get(link(&token)).await.is(200);
        world.server.age_invitations(&project, 61).await;
        world.nobody.get(link(&token)).await.refused(410, "Gone");
        accept(&ben.client, &token).await.refused(410, "Gone");
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        accept(&ben.client, &token).await.is(200);
    }

    async fn an_invitation_is_deleted_with_its_project(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        world.nobody.get(link(&token)).await.refused(404, "NotFound");
        accept(&ben.client, &token).await.refused(404, "NotFound");
    }

    async fn an_invalid_project_invitation_is_rejected_with_all_its_errors(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let ask = |body| ada.client.post(members(&project)).json(body);
        let fault = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        let both = [fault("email", "Required"), fault("role", "Required")];
        assert_eq!(ask(json!({})).await.is(422).faults(), both);
        let both = [fault("email", "InvalidValue"), fault("role", "InvalidValue")];
        assert_eq!(ask(json!({"email": "ada", "role": 3})).await.is(422).faults(), both);
        let unknown = json!({"email": fresh_email(), "role": "ANALYST", "message": "hello"});
        ask(unknown).await.refused(422, "UnknownKey");
    }

    async fn an_invitation_repeated_with_its_idempotency_key_is_mailed_once(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let email = fresh_email();
        let ask = || ada.client.post(members(&project)).key("once").json(json!({"email": email, "role": "ANALYST"}));
        let (first, again) = (ask().await.is(201), ask().await.is(201));
        assert_eq!(first.data(), again.data());
        let token = outbox::token_in(&outbox::wait_for(&world.server.data, &email, 1).await).unwrap();
        world.nobody.get(link(&token)).await.is(200);
        // The next e-mail proves that no second one was queued before it.
        let other = fresh_email();
        world.server.invite(&ada.client, &project, &other, Role::Analyst).await;
        assert_eq!(outbox::mails(&world.server.data, &email).len(), 1);
    }
}
