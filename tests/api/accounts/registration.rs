//! Who may register: everybody, who was invited, or nobody.

use serde_json::{Value, json};

use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::{Answer, Server, ServerSetup, outbox};

const BY_INVITATION: (&str, &str) = ("COLLOQUY__ACCOUNTS__REGISTRATION", "BY_INVITATION");

async fn register(server: &Server, email: &str, token: Value) -> Answer {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Bo Diddley", "invitationToken": token});
    server.client().post("/api/auth/register").json(body).await
}

fn token_of(invitation: &Answer) -> String {
    invitation.text_of("link").rsplit_once('=').unwrap().1.to_owned()
}

on_both! {
    async fn by_invitation_the_link_admits_its_own_address_as_long_as_it_is_good(setup: ServerSetup) {
        let open = setup.start(&[]);
        let ada = open.user().await;
        let project = ada.project().await;
        drop(open);
        let server = setup.start(&[BY_INVITATION]);
        let ada = ada.client.moved_to(&server);
        let invite = async |email: &str| {
            let members = format!("/api/projects/{project}/members");
            ada.post(members).json(json!({"email": email, "role": "ANALYST"})).await.is(201)
        };
        let (bo, eve) = (fresh_email(), fresh_email());
        let made = invite(&bo).await;
        let token = token_of(&made);
        // Strangers are told the same whether or not somebody was invited.
        for (email, token) in [(&bo, json!(null)), (&eve, json!(null)), (&eve, json!(token)), (&bo, json!("nonsense"))] {
            register(&server, email, token).await.refused(403, "RegistrationByInvitation");
        }
        assert!(outbox::mails(&server.data, &eve).is_empty());
        let registered = register(&server, &bo, json!(token)).await.is(201);
        let mail = outbox::wait_for(&server.data, &bo, 2).await;
        let code = outbox::code_in(&mail).unwrap();
        let confirm = json!({"registrationId": registered.text_of("registrationId"), "email": bo, "code": code});
        let session = server.client().post("/api/auth/confirm-account").json(confirm).await.is(200);
        let bo = server.client().bearing(&session.text_of("accessToken"));
        bo.post(format!("/api/project-invitations/{token}/accept")).await.is(200);
        // A link that was used or revoked admits nobody.
        register(&server, &eve, json!(token)).await.refused(403, "RegistrationByInvitation");
        let made = invite(&eve).await;
        ada.delete(format!("/api/projects/{project}/invitations/{}", made.text_of("id"))).await.is(200);
        register(&server, &eve, json!(token_of(&made))).await.refused(403, "RegistrationByInvitation");
    }

    async fn a_closed_server_opens_no_account(setup: ServerSetup) {
        let open = setup.start(&[]);
        let ada = open.user().await;
        let project = ada.project().await;
        drop(open);
        let server = setup.start(&[("COLLOQUY__ACCOUNTS__REGISTRATION", "CLOSED")]);
        let email = fresh_email();
        let members = format!("/api/projects/{project}/members");
        let invite = ada.client.moved_to(&server).post(members).json(json!({"email": email, "role": "ANALYST"}));
        let made = invite.await.is(201);
        register(&server, &email, json!(token_of(&made))).await.refused(403, "RegistrationClosed");
        let login = json!({"email": ada.email, "password": PASSWORD});
        server.client().post("/api/auth/login").json(login).await.is(200);
    }

    async fn without_the_setting_a_server_with_a_public_url_admits_by_invitation(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__ACCOUNTS__REGISTRATION", "")]);
        register(&server, &fresh_email(), json!(null)).await.refused(403, "RegistrationByInvitation");
    }
}
