//! One-time codes (S3): five tries, ten minutes, one use, for one registration.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::builders::{fresh_email, registered};
use crate::support::client::Request;
use crate::support::{Server, ServerSetup, World, outbox};

fn confirm(server: &Server, registration_id: &str, email: &str, code: &str) -> Request {
    let body = json!({"registrationId": registration_id, "email": email, "code": code});
    server.client().post("/api/auth/confirm-account").json(body)
}

/// Returns a different code of six digits.
fn wrong(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

on_both! {
    async fn a_code_has_five_tries(world: World) {
        let email = fresh_email();
        let (id, code) = registered(world.server, &email).await;
        for _ in 0..5 {
            confirm(world.server, &id, &email, &wrong(&code)).await.refused(422, "OtpInvalid");
        }
        confirm(world.server, &id, &email, &code).await.refused(422, "OtpInvalid");
    }

    async fn the_fifth_try_still_counts(world: World) {
        let email = fresh_email();
        let (id, code) = registered(world.server, &email).await;
        for other in [wrong(&code), "abc".to_owned(), "1".to_owned(), format!("{code}0")] {
            confirm(world.server, &id, &email, &other).await.refused(422, "OtpInvalid");
        }
        confirm(world.server, &id, &email, &code).await.is(200);
    }

    async fn tries_at_once_are_no_more_than_tries_one_by_one(world: World) {
        let email = fresh_email();
        let (id, code) = registered(world.server, &email).await;
        let guess = wrong(&code);
        let tries = (0..40).map(|_| confirm(world.server, &id, &email, &guess));
        join_all(tries.map(Request::served)).await;
        confirm(world.server, &id, &email, &code).await.refused(422, "OtpInvalid");
    }

    async fn a_code_is_good_once(world: World) {
        let email = fresh_email();
        let (id, code) = registered(world.server, &email).await;
        let tries = (0..100).map(|_| confirm(world.server, &id, &email, &code));
        let answers = join_all(tries.map(Request::served)).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 422)));
        let won = answers.iter().find(|answer| answer.status == 200).unwrap();
        let sessions = world.nobody.bearing(&won.text_of("accessToken")).get("/api/auth/sessions").await.is(200);
        assert_eq!(sessions.data()["totalCount"], 1, "one account, one session");
        confirm(world.server, &id, &email, &code).await.refused(422, "OtpInvalid");
    }

    async fn a_code_is_its_registrations_and_addresses_own(world: World) {
        let (email, other_email) = (fresh_email(), fresh_email());
        let (id, code) = registered(world.server, &email).await;
        let (other_id, other_code) = registered(world.server, &other_email).await;
        confirm(world.server, &other_id, &email, &code).await.refused(422, "OtpInvalid");
        confirm(world.server, &id, &other_email, &code).await.refused(422, "OtpInvalid");
        if code != other_code {
            confirm(world.server, &id, &email, &other_code).await.refused(422, "OtpInvalid");
        }
        confirm(world.server, &id, &email, &code).await.is(200);
        confirm(world.server, &other_id, &other_email, &other_code).await.is(200);
    }

    async fn a_code_that_was_sent_again_replaces_the_first(world: World) {
        let email = fresh_email();
        let (id, first) = registered(world.server, &email).await;
        let body = json!({"email": email, "purpose": "confirm_account"});
        world.nobody.post("/api/auth/otp/resend").json(body).await.is(200);
        let second = outbox::code_in(&outbox::wait_for(&world.server.data, &email, 2).await).unwrap();
        if first != second {
            confirm(world.server, &id, &email, &first).await.refused(422, "OtpInvalid");
        }
        confirm(world.server, &id, &email, &second).await.is(200);
    }

    async fn a_code_expires(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__ACCOUNTS__CODE_SECONDS", "1")]);
        let email = fresh_email();
        let (id, code) = registered(&server, &email).await;
        tokio::time::sleep(Duration::from_millis(1100)).await;
        confirm(&server, &id, &email, &code).await.refused(422, "OtpInvalid");
    }

    async fn nothing_of_a_code_or_a_token_is_in_the_database_or_the_log(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "trace")]);
        let email = fresh_email();
        let (id, code) = registered(&server, &email).await;
        let confirmed = confirm(&server, &id, &email, &code).await.is(200);
        let secrets = [
            confirmed.text_of("accessToken"),
            confirmed.text_of("refreshToken"),
            crate::support::builders::PASSWORD.to_owned(),
        ];
        let log = server.read_log();
        server.kill();
        let mut kept = log.into_bytes();
        for file in ["colloquy.sqlite", "colloquy.sqlite-wal"] {
            kept.extend(std::fs::read(setup.data.join(file)).unwrap_or_default());
        }
        for secret in secrets {
            let found = kept.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} of it is kept in clear", &secret[..8]);
        }
    }
}
