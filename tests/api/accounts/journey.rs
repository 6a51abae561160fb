//! An account from its registration to a log-out.

use serde_json::json;

use crate::support::builders::{PASSWORD, fresh_email, registered};
use crate::support::{World, outbox, shape};

on_both! {
    async fn a_registration_is_confirmed_by_the_mailed_code_and_a_log_out_ends_its_session(world: World) {
        let email = fresh_email();
        let body = json!({"email": email.to_uppercase(), "password": PASSWORD, "fullName": " Ada Lovelace ", "language": "it"});
        let registered = world.nobody.post("/api/auth/register").json(body).await.is(201);
        let expected = json!({
            "registrationId": shape::id(&registered.data()["registrationId"]), "email": email, "codeExpiresIn": 600,
        });
        assert_eq!(registered.data(), &expected);
        let credentials = json!({"email": email, "password": PASSWORD});
        world.nobody.post("/api/auth/login").json(credentials.clone()).await.refused(403, "AccountNotConfirmed");

        let mail = outbox::wait_for(&world.server.data, &email, 1).await;
        let code = outbox::code_in(&mail).unwrap();
        let body = json!({"registrationId": registered.text_of("registrationId"), "email": email, "code": code});
        let confirmed = world.nobody.post("/api/auth/confirm-account").json(body).await.is(200);
        let auth = confirmed.data();
        assert_eq!(shape::keys(auth), ["accessToken", "expiresIn", "refreshExpiresIn", "refreshToken", "tokenType", "user"]);
        assert_eq!((&auth["tokenType"], &auth["expiresIn"]), (&json!("Bearer"), &json!(900)));
        assert_eq!(auth["refreshExpiresIn"], 2_592_000);
        let user = &auth["user"];
        let expected = json!({
            "id": shape::id(&user["id"]), "email": email, "fullName": "Ada Lovelace", "jobTitle": null, "language": "IT",
            "avatarUrl": null, "emailConfirmed": true, "hasPassword": true, "isOperator": false,
            "createdAt": user["createdAt"], "updatedAt": user["createdAt"],
        });
        assert_eq!(user, &expected);
        shape::time(&user["createdAt"]);

        let login = world.nobody.post("/api/auth/login").json(credentials).await.is(200);
        assert_eq!(login.data()["user"], expected);
        let refreshed = world.nobody.post("/api/auth/refresh-token");
        let refreshed = refreshed.json(json!({"refreshToken": login.text_of("refreshToken")})).await.is(200);
        assert_eq!(refreshed.data()["user"], expected);
        let ada = world.nobody.bearing(&refreshed.text_of("accessToken"));
        ada.get("/api/projects").await.is(200);
        assert_eq!(ada.post("/api/auth/logout").await.is(200).data(), &json!({}));
        ada.get("/api/projects").await.refused(401, "Unauthorized");
        let refresh = json!({"refreshToken": refreshed.text_of("refreshToken")});
        world.nobody.post("/api/auth/refresh-token").json(refresh).await.refused(401, "InvalidRefreshToken");
        let other = world.nobody.bearing(&confirmed.text_of("accessToken"));
        other.get("/api/projects").await.is(200);
    }

    async fn a_registration_reports_all_field_errors_at_once(world: World) {
        let answer = world.nobody.post("/api/auth/register").json(json!({"role": "ADMIN", "language": "XX"})).await.is(422);
        let fields: Vec<_> = answer.faults().into_iter().map(|fault| fault.0).collect();
        assert_eq!(fields, ["email", "fullName", "language", "password", "role"]);
        for email in ["", "ada", "ada@", "@example.org", "ada@example", "a b@example.org", "ada@example.org, ben@example.org",
            "Ada <ada@example.org>", "ada@example.org\nbcc: x@example.org", &format!("{}@example.org", "x".repeat(250))] {
            let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada"});
            let answer = world.nobody.post("/api/auth/register").json(body).await.is(422);
            let reason = match email.chars().count() {
                0..3 => "TooShort",
                3..=254 => "InvalidValue",
                _ => "TooLong",
            };
            assert_eq!(answer.faults(), [("email".to_owned(), reason.to_owned())], "{email}");
        }
    }

    async fn a_new_registration_of_an_unconfirmed_address_replaces_the_older_one(world: World) {
        let email = fresh_email();
        let (first, first_code) = registered(world.server, &email).await;
        let (second, second_code) = registered(world.server, &email).await;
        let confirm = |id: &str, code: &str| {
            let body = json!({"registrationId": id, "email": email, "code": code});
            world.nobody.post("/api/auth/confirm-account").json(body)
        };
        confirm(&first, &first_code).await.refused(422, "OtpInvalid");
        confirm(&first, &second_code).await.refused(422, "OtpInvalid");
        confirm(&second, &second_code).await.is(200);
    }

    async fn logging_out_of_all_sessions_ends_each_and_nobody_elses(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let login = json!({"email": ada.email, "password": PASSWORD});
        let second = world.nobody.post("/api/auth/login").json(login).await.is(200);
        ada.client.post("/api/auth/logout").json(json!({"allSessions": true})).await.is(200);
        for token in [ada.client.token(), &second.text_of("accessToken")] {
            world.nobody.bearing(token).get("/api/projects").await.refused(401, "Unauthorized");
        }
        for token in [&ada.refresh_token, &second.text_of("refreshToken")] {
            let refresh = world.nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": token}));
            refresh.await.refused(401, "InvalidRefreshToken");
        }
        ben.client.get("/api/projects").await.is(200);
    }

    async fn no_response_with_a_token_is_stored_under_an_idempotency_key(world: World) {
        let ada = world.user().await;
        let login = || {
            let body = json!({"email": ada.email, "password": PASSWORD});
            world.nobody.post("/api/auth/login").key("same").json(body)
        };
        assert_ne!(login().await.text_of("refreshToken"), login().await.text_of("refreshToken"));
    }
}
