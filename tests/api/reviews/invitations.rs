//! Tests createReviewInvitation, listReviewInvitations, resendReviewInvitation, revokeReviewInvitation,
//! previewReviewInvitation and acceptReviewInvitation.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::stakeholders::{DASHBOARD, DAY, Review, accept, age, analysed, ask, invitations, invite, link, listed};
use crate::support::builders::fresh_email;
use crate::support::server::APP_URL;
use crate::support::{Role, ServerSetup, World, outbox, shape};

/// Returns the number of whole days between two time fields of an invitation.
fn days_between(one: &Value, from: &str, to: &str) -> i64 {
    (shape::time(&one[to]) - shape::time(&one[from])).num_days()
}

on_both! {
    async fn several_people_are_invited_at_once_each_with_a_link_of_their_own(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (grace, alan) = (fresh_email(), fresh_email());
        let body = json!({
            "invitees": [{"email": grace.to_uppercase(), "fullName": "Grace", "organisation": "Navy"}, {"email": alan}],
            "permission": "commenter", "message": "Please look at https://evil.example by Friday.",
        });
        let made = ada.client.post(invitations(&project)).json(body).await.is(201);
        let items = made.data()["items"].as_array().unwrap();
        assert_eq!(items.len(), 2);
        let one = &items[0];
        assert_eq!(one, &json!({
            "id": one["id"], "projectId": project, "email": grace, "fullName": "Grace", "organisation": "Navy",
            "permission": "COMMENTER", "status": "PENDING", "runId": null, "scope": "ALL", "baselineId": null, "selectedCount": null,
            "message": "Please look at https://evil.example by Friday.", "expiresAt": one["expiresAt"],
            "acceptedAt": null, "revokedAt": null, "sendCount": 1, "createdAt": one["createdAt"], "link": one["link"],
        }));
        assert_eq!(days_between(one, "createdAt", "expiresAt"), 30);
        assert_eq!((&items[1]["fullName"], &items[1]["organisation"]), (&json!(null), &json!(null)));
        let mails = [outbox::wait_for(&world.server.data, &grace, 1).await, outbox::wait_for(&world.server.data, &alan, 1).await];
        for mail in &mails {
            assert!(mail.starts_with("Ada Lovelace invited you to review the requirements of “Clinic booking”"), "{mail}");
            assert!(mail.contains("https[:]//evil[.]example"), "{mail}");
            let token = outbox::token_in(mail).unwrap();
            assert!(token.len() == 43 && mail.contains(&format!("{APP_URL}/review#token={token}\r\n")), "{mail}");
        }
        assert_ne!(outbox::token_in(&mails[0]), outbox::token_in(&mails[1]));
        // The inviter can pass the links on, but is told them once.
        for (mail, item) in mails.iter().zip(items) {
            assert_eq!(item["link"], format!("{APP_URL}/review#token={}", outbox::token_in(mail).unwrap()));
        }
        let listed = ada.client.get(invitations(&project)).await.is(200);
        assert!(listed.data()["items"].as_array().unwrap().iter().all(|item| item["link"].is_null()));
    }

    async fn all_are_invited_or_none(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (_, pending, _) = invite(world.server, &ada, &project, "VIEWER").await;
        let new = fresh_email();
        let post = |body: Value| ada.client.post(invitations(&project)).json(body);
        let all = |invitees: Value| json!({"invitees": invitees, "permission": "VIEWER"});
        let refused = post(all(json!([{"email": new}, {"email": pending}]))).await.refused(409, "Conflict");
        assert_eq!(refused.faults(), [("invitees[1].email".to_owned(), "Conflict".to_owned())]);
        let refused = post(all(json!([{"email": new}, {"email": new.to_uppercase()}]))).await.is(422);
        assert_eq!(refused.faults(), [("invitees[1].email".to_owned(), "Repeated".to_owned())]);
        let refused = post(all(json!([{"email": "xyz"}, {"email": new, "role": "HOST"}, {"fullName": ""}]))).await.is(422);
        let fault = |field: &str, reason: &str| (field.to_owned(), reason.to_owned());
        assert_eq!(refused.faults(), [
            fault("invitees[0].email", "InvalidValue"), fault("invitees[1].role", "UnknownKey"),
            fault("invitees[2].email", "Required"), fault("invitees[2].fullName", "TooShort"),
        ]);
        post(all(json!([]))).await.refused(422, "TooShort");
        let many: Vec<Value> = (0..101).map(|number| json!({"email": format!("p{number}@example.org")})).collect();
        post(all(json!(many))).await.refused(422, "TooLong");
        post(json!({"invitees": [{"email": new}], "permission": "KING"})).await.refused(422, "InvalidValue");
        for (at, seconds) in [("past", -60), ("too late", 91 * 86_400)] {
            let time = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()) + chrono::Duration::seconds(seconds);
            let body = json!({"invitees": [{"email": new}], "permission": "VIEWER", "expiresAt": time.to_rfc3339()});
            let refused = post(body).await.is(422);
            assert_eq!(refused.faults(), [("expiresAt".to_owned(), "InvalidValue".to_owned())], "{at}");
        }
        assert_eq!(ada.client.get(invitations(&project)).await.is(200).data()["totalCount"], 1);
        assert!(outbox::mails(&world.server.data, &new).is_empty());
    }

    async fn the_run_must_be_one_of_the_project_with_a_result(world: World) {
        let ada = world.user().await;
        let (project, other) = (analysed(&ada).await, analysed(&ada).await);
        let run_of = async |project: &str| {
            ada.client.get(format!("/api/projects/{project}/ai/runs")).await.is(200).data()["items"][0]["id"].clone()
        };
        let nowhere = json!("0189a0f0-0000-7000-8000-000000000000");
        for run in [run_of(&other).await, nowhere] {
            let body = json!({"invitees": [{"email": fresh_email()}], "permission": "VIEWER", "runId": run});
            let refused = ada.client.post(invitations(&project)).json(body).await.is(422);
            assert_eq!(refused.faults(), [("runId".to_owned(), "InvalidValue".to_owned())]);
        }
        let own = run_of(&project).await;
        let body = json!({"invitees": [{"email": fresh_email()}], "permission": "VIEWER", "runId": own});
        let made = ada.client.post(invitations(&project)).json(body).await.is(201);
        assert_eq!(made.data()["items"][0]["runId"], own);
    }

    async fn one_address_is_invited_once_however_many_ask_at_once(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let email = fresh_email();
        let body = json!({"invitees": [{"email": email}], "permission": "VIEWER"});
        let post = || ada.client.apart().post(invitations(&project)).json(body.clone()).served();
        let answers = join_all((0..10).map(|_| post())).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        assert!(answers.iter().all(|answer| answer.status == 201 || answer.codes() == ["Conflict"]));
        // The same request twice, with a key, is one.
        let body = json!({"invitees": [{"email": fresh_email()}, {"email": fresh_email()}], "permission": "VIEWER"});
        let keyed = || ada.client.apart().post(invitations(&project)).key("once").json(body.clone()).served();
        let answers = join_all((0..20).map(|_| keyed())).await;
        let mut made = answers.iter().filter(|answer| answer.status == 201);
        let first = made.next().expect("one of them made it");
        assert!(made.all(|answer| answer.body == first.body));
        assert_eq!(ada.client.get(invitations(&project)).await.is(200).data()["totalCount"], 3);
    }

    async fn invitations_are_listed_newest_first_and_found_by_status_permission_and_words(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (open, open_email, _) = invite(world.server, &ada, &project, "VIEWER").await;
        let accepted = Review::of(world.server, &ada, &project, "APPROVER").await;
        let (revoked, ..) = invite(world.server, &ada, &project, "COMMENTER").await;
        ada.client.delete(format!("{}/{}", invitations(&project), revoked["id"].as_str().unwrap())).await.is(200);
        let (expired, ..) = invite(world.server, &ada, &project, "VIEWER").await;
        age(world.server, expired["id"].as_str().unwrap(), 30 * DAY + 1).await;
        let found = async |query: &str| {
            let list = ada.client.get(format!("{}?{query}", invitations(&project))).await.is(200);
            let items = list.data()["items"].as_array().unwrap().clone();
            assert_eq!(list.data()["totalCount"], items.len(), "{query}");
            items.into_iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
        };
        let accepted = json!(accepted.invitation);
        assert_eq!(found("").await, [&expired["id"], &revoked["id"], &accepted, &open["id"]].map(Value::clone));
        for (status, expected) in [
            ("pending", &open["id"]),
            ("ACCEPTED", &accepted),
            ("EXPIRED", &expired["id"]),
            ("REVOKED", &revoked["id"]),
        ] {
            assert_eq!(found(&format!("status={status}")).await, std::slice::from_ref(expected), "{status}");
        }
        assert_eq!(found("permission=APPROVER").await, [accepted]);
        assert_eq!(found(&format!("search={open_email}")).await, [open["id"].clone()]);
        ada.client.get(format!("{}?status=KING", invitations(&project))).await.refused(422, "InvalidValue");
    }

    async fn a_preview_of_a_review_shows_the_least_and_uses_nothing_up(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (invitation, _, token) = invite(world.server, &ada, &project, "COMMENTER").await;
        for _ in 0..3 {
            let preview = world.nobody.get(link(&token)).await.is(200);
            assert_eq!(preview.data(), &json!({
                "projectName": "Clinic booking", "inviterName": "Ada Lovelace", "permission": "COMMENTER",
                "status": "PENDING", "expiresAt": invitation["expiresAt"],
            }));
            assert_eq!((preview.header("cache-control"), preview.header("referrer-policy")), (Some("no-store"), Some("no-referrer")));
        }
        assert_eq!(listed(&ada, &project, invitation["id"].as_str().unwrap()).await["status"], "PENDING");
        accept(&world.nobody, &token).await.is(200);
        assert_eq!(world.nobody.get(link(&token)).await.is(200).text_of("status"), "ACCEPTED");
        for wrong in ["x".to_owned(), "A".repeat(43), token.to_lowercase(), format!("{token}A")] {
            world.nobody.get(link(&wrong)).await.refused(404, "NotFound");
            accept(&world.nobody, &wrong).await.refused(404, "NotFound");
        }
    }

    async fn accepting_gives_a_review_token_once_and_again_another_one(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (invitation, _, token) = invite(world.server, &ada, &project, "COMMENTER").await;
        let path = format!("{}/accept", link(&token));
        let first = world.nobody.post(&path).json(json!({"fullName": "Grace Hopper"})).key("a-key").await.is(200);
        let review_token = first.text_of("reviewToken");
        assert_eq!(first.data(), &json!({
            "reviewToken": review_token, "permission": "COMMENTER", "status": "ACTIVE", "projectName": "Clinic booking",
            "expiresAt": invitation["expiresAt"],
        }));
        assert_eq!(review_token.len(), 43);
        assert_eq!(first.header("cache-control"), Some("no-store"));
        let one = listed(&ada, &project, invitation["id"].as_str().unwrap()).await;
        assert_eq!((&one["status"], &one["fullName"]), (&json!("ACCEPTED"), &json!("Grace Hopper")));
        world.nobody.reviewing(&review_token).get(DASHBOARD).await.is(200);
        // The key is ignored: no answer with a token is stored.
        let second = world.nobody.post(&path).json(json!({"fullName": "Grace Hopper"})).key("a-key").await.is(200);
        assert_ne!(second.text_of("reviewToken"), review_token);
        world.nobody.reviewing(&review_token).get(DASHBOARD).await.refused(401, "Unauthorized");
        world.nobody.reviewing(&second.text_of("reviewToken")).get(DASHBOARD).await.is(200);
        assert_eq!(listed(&ada, &project, one["id"].as_str().unwrap()).await["acceptedAt"], one["acceptedAt"]);
        world.nobody.post(&path).json(json!({"fullName": ""})).await.refused(422, "TooShort");
    }

    async fn of_many_accepts_at_once_one_review_token_is_left(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (_, _, token) = invite(world.server, &ada, &project, "VIEWER").await;
        let clients: Vec<_> = (0..10).map(|_| world.nobody.apart()).collect();
        let answers = join_all(clients.iter().map(|client| accept(client, &token))).await;
        let mut good = 0;
        for answer in answers {
            let token = answer.is(200).text_of("reviewToken");
            let status = world.nobody.reviewing(&token).get(DASHBOARD).await.status;
            assert!([200, 401].contains(&status), "{status}");
            good += usize::from(status == 200);
        }
        assert_eq!(good, 1);
    }

    async fn a_review_invitation_that_is_resent_has_a_new_link_and_the_former_is_gone(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (invitation, email, first) = invite(world.server, &ada, &project, "VIEWER").await;
        let id = invitation["id"].as_str().unwrap();
        let path = format!("{}/{id}/resend", invitations(&project));
        let early = ada.client.post(&path).await.refused(429, "TooManyRequests");
        assert!((1..=60).contains(&early.header("retry-after").unwrap().parse::<u64>().unwrap()));
        age(world.server, id, 61).await;
        let sent = ada.client.post(&path).await.is(200);
        assert_eq!((&sent.data()["sendCount"], sent.text_of("status")), (&json!(2), "PENDING".to_owned()));
        let second = outbox::token_in(&outbox::wait_for(&world.server.data, &email, 2).await).unwrap();
        assert_eq!(sent.text_of("link"), format!("{APP_URL}/review#token={second}"));
        world.nobody.get(link(&first)).await.refused(410, "Gone");
        accept(&world.nobody, &first).await.refused(410, "Gone");
        let review_token = accept(&world.nobody, &second).await.is(200).text_of("reviewToken");
        // Also once it is accepted: the access goes on beside the new link.
        age(world.server, id, 61).await;
        assert_eq!(ada.client.post(&path).await.is(200).text_of("status"), "ACCEPTED");
        world.nobody.reviewing(&review_token).get(DASHBOARD).await.is(200);
        accept(&world.nobody, &second).await.refused(410, "Gone");
        let third = outbox::token_in(&outbox::wait_for(&world.server.data, &email, 3).await).unwrap();
        accept(&world.nobody, &third).await.is(200);
        world.nobody.reviewing(&review_token).get(DASHBOARD).await.refused(401, "Unauthorized");
        for count in 4..=6 {
            age(world.server, id, 61).await;
            assert_eq!(ada.client.post(&path).await.is(200).data()["sendCount"], count);
        }
        age(world.server, id, 61).await;
        ada.client.post(&path).await.refused(409, "InvalidState");
    }

    async fn an_expired_review_invitation_is_gone_until_it_is_resent(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (invitation, email, token) = invite(world.server, &ada, &project, "VIEWER").await;
        let id = invitation["id"].as_str().unwrap();
        age(world.server, id, 30 * DAY + 1).await;
        world.nobody.get(link(&token)).await.refused(410, "Gone");
        accept(&world.nobody, &token).await.refused(410, "Gone");
        ada.client.delete(format!("{}/{id}", invitations(&project))).await.refused(409, "InvalidState");
        // It counts for nobody as pending, so that the address can be invited again; then this one can't be resent.
        let newer = ask(&ada, &project, &email, "VIEWER").await.is(201).data()["items"][0]["id"].clone();
        let resend = format!("{}/{id}/resend", invitations(&project));
        ada.client.post(&resend).await.refused(409, "Conflict");
        ada.client.delete(format!("{}/{}", invitations(&project), newer.as_str().unwrap())).await.is(200);
        let sent = ada.client.post(&resend).await.is(200);
        assert_eq!(sent.text_of("status"), "PENDING");
        let token = outbox::token_in(&outbox::wait_for(&world.server.data, &email, 3).await).unwrap();
        accept(&world.nobody, &token).await.is(200);
    }

    async fn a_revoked_review_invitation_is_gone(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (invitation, _, token) = invite(world.server, &ada, &project, "VIEWER").await;
        let id = invitation["id"].as_str().unwrap();
        let path = format!("{}/{id}", invitations(&project));
        assert_eq!(ada.client.delete(&path).await.is(200).data(), &json!({}));
        world.nobody.get(link(&token)).await.refused(410, "Gone");
        accept(&world.nobody, &token).await.refused(410, "Gone");
        let revoked_at = listed(&ada, &project, id).await["revokedAt"].clone();
        assert!(revoked_at.is_string());
        ada.client.delete(&path).await.is(200);
        assert_eq!(listed(&ada, &project, id).await["revokedAt"], revoked_at);
        age(world.server, id, 61).await;
        ada.client.post(format!("{path}/resend")).await.refused(409, "InvalidState");
        let other = ada.project().await;
        for path in [format!("{}/{id}", invitations(&other)), format!("{}/{id}/resend", invitations(&other))] {
            let method = if path.ends_with("resend") { reqwest::Method::POST } else { reqwest::Method::DELETE };
            ada.client.request(method, path).await.refused(404, "NotFound");
        }
    }

    async fn accepting_and_revoking_at_once_leaves_no_access(world: World) {
        for _ in 0..10 {
            let ada = world.user().await;
            let project = ada.project().await;
            let (invitation, _, token) = invite(world.server, &ada, &project, "VIEWER").await;
            let path = format!("{}/{}", invitations(&project), invitation["id"].as_str().unwrap());
            let client = world.nobody.apart();
            let (accepted, revoked) = tokio::join!(accept(&client, &token), ada.client.delete(&path).served());
            revoked.is(200);
            if accepted.status == 200 {
                world.nobody.reviewing(&accepted.text_of("reviewToken")).get(DASHBOARD).await.refused(410, "Gone");
            } else {
                accepted.refused(410, "Gone");
            }
        }
    }

    async fn an_archived_project_takes_no_review_invitations(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (open, _, token) = invite(world.server, &ada, &project, "VIEWER").await;
        let id = open["id"].as_str().unwrap();
        age(world.server, id, 61).await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        ask(&ada, &project, &fresh_email(), "VIEWER").await.refused(409, "ProjectArchived");
        let path = format!("{}/{id}", invitations(&project));
        ada.client.post(format!("{path}/resend")).await.refused(409, "ProjectArchived");
        ada.client.delete(&path).await.refused(409, "ProjectArchived");
        accept(&world.nobody, &token).await.refused(409, "ProjectArchived");
        world.nobody.get(link(&token)).await.is(200);
        assert_eq!(listed(&ada, &project, id).await["status"], "PENDING");
    }

    async fn review_invitations_share_the_limits_of_invitation_mails(setup: ServerSetup) {
        let server = setup.start(&[
            ("COLLOQUY__LIMITS__INVITATION_MAILS__MOST", "5"), ("COLLOQUY__LIMITS__INVITATION_MAILS_OF_ADDRESS__MOST", "2"),
        ]);
        let ada = server.user().await;
        let (one, other) = (ada.project().await, ada.project().await);
        let email = fresh_email();
        server.invite(&ada.client, &one, &email, Role::Analyst).await;
        ask(&ada, &one, &email, "VIEWER").await.is(201);
        ask(&ada, &other, &email, "VIEWER").await.refused(429, "TooManyRequests");
        let five: Vec<Value> = (0..5).map(|_| json!({"email": fresh_email()})).collect();
        let body = json!({"invitees": five, "permission": "VIEWER"});
        ada.client.post(invitations(&other)).json(body).await.refused(429, "TooManyRequests");
        assert_eq!(ada.client.get(invitations(&other)).await.is(200).data()["totalCount"], 0);
    }
}
