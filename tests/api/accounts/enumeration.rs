//! Whether an address has an account is revealed to its owner only (S6).

use serde_json::json;

use crate::support::builders::{PASSWORD, fresh_email, registered};
use crate::support::{Answer, World, outbox};

/// Returns what a client could tell two responses apart by, without ids and times: status, headers and body.
fn looks(answer: &Answer) -> (u16, Vec<(String, String)>, serde_json::Value) {
    let changing = ["date", "x-request-id"];
    let mut headers: Vec<_> = answer
        .headers
        .iter()
        .filter(|(name, _)| !changing.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    let mut body = answer.body.clone();
    for name in ["registrationId", "email"] {
        if let Some(value) = body["data"].get_mut(name) {
            *value = json!("some");
        }
    }
    (answer.status, headers, body)
}

/// Returns an address with an account, one with a pending registration, and one with neither; all of the same length.
async fn addresses(world: &World) -> [String; 3] {
    let known = world.user().await.email;
    let waiting = loop {
        let email = fresh_email();
        if email.len() == known.len() {
            break email;
        }
    };
    registered(world.server, &waiting).await;
    let unknown = loop {
        let email = fresh_email();
        if email.len() == known.len() {
            break email;
        }
    };
    [known, waiting, unknown]
}

on_both! {
    async fn registering_answers_alike(world: World) {
        let addresses = addresses(&world).await;
        let mut answers = Vec::new();
        for email in &addresses {
            let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada"});
            answers.push(looks(&world.nobody.post("/api/auth/register").json(body).await.is(201)));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
        let mail = outbox::wait_for(&world.server.data, &addresses[0], 2).await;
        assert!(mail.contains("You already have a Colloquy account") && outbox::code_in(&mail).is_none(), "{mail}");
    }

    async fn logging_in_with_a_wrong_password_answers_alike(world: World) {
        let mut answers = Vec::new();
        for email in addresses(&world).await {
            let body = json!({"email": email, "password": "wrong horse battery staple"});
            let answer = world.nobody.post("/api/auth/login").json(body).await.refused(401, "InvalidCredentials");
            answers.push(looks(&answer));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
    }

    async fn registering_and_logging_in_tells_nobody_which_addresses_have_an_account(world: World) {
        let chosen = "a better horse battery staple";
        let addresses = addresses(&world).await;
        let mut answers = Vec::new();
        for email in &addresses {
            let body = json!({"email": email, "password": chosen, "fullName": "Eve"});
            world.nobody.post("/api/auth/register").json(body).await.is(201);
            let login = json!({"email": email, "password": chosen});
            let known = world.nobody.post("/api/auth/login").json(login).await.refused(403, "AccountNotConfirmed");
            let login = json!({"email": email, "password": "wrong horse battery staple"});
            let wrong = world.nobody.post("/api/auth/login").json(login).await.refused(401, "InvalidCredentials");
            answers.push((looks(&known), looks(&wrong)));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
        let login = json!({"email": addresses[0], "password": PASSWORD});
        world.nobody.post("/api/auth/login").json(login).await.is(200);
    }

    async fn a_registration_with_the_address_of_an_account_mails_no_code(world: World) {
        let ada = world.user().await;
        let body = json!({"email": ada.email, "password": "a better horse battery staple", "fullName": "Eve"});
        let id = world.nobody.post("/api/auth/register").json(body).await.is(201).text_of("registrationId");
        let again = json!({"email": ada.email, "purpose": "CONFIRM_ACCOUNT"});
        world.nobody.post("/api/auth/otp/resend").json(again).await.is(200);
        outbox::wait_for(&world.server.data, &ada.email, 3).await;
        let mails = outbox::mails(&world.server.data, &ada.email);
        assert!(mails.iter().skip(1).all(|mail| outbox::code_in(mail).is_none()), "{mails:#?}");
        let guessed = json!({"registrationId": id, "email": ada.email, "code": "000000"});
        world.nobody.post("/api/auth/confirm-account").json(guessed).await.refused(422, "OtpInvalid");
    }

    async fn asking_for_a_code_again_answers_alike(world: World) {
        for purpose in ["CONFIRM_ACCOUNT", "RESET_PASSWORD"] {
            let mut answers = Vec::new();
            for email in addresses(&world).await {
                let body = json!({"email": email, "purpose": purpose});
                answers.push(looks(&world.nobody.post("/api/auth/otp/resend").json(body).await.is(200)));
            }
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
        }
    }

    async fn confirming_with_a_wrong_code_answers_alike(world: World) {
        let mut answers = Vec::new();
        for email in addresses(&world).await {
            let id = "0189a0f0-0000-7000-8000-000000000000";
            let body = json!({"registrationId": id, "email": email, "code": "000000"});
            let answer = world.nobody.post("/api/auth/confirm-account").json(body).await.refused(422, "OtpInvalid");
            answers.push(looks(&answer));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
    }
}
