//! Resetting a forgotten password (S3, S5, S10): a code by e-mail, a token for the code, a new password for the token.

use std::time::{Duration, Instant};

use actors::time::Time;
use colloquy::db::schema::reset_tokens;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use serde_json::json;

use crate::support::builders::{PASSWORD, fresh_email, registered};
use crate::support::client::{Answer, Request};
use crate::support::{Server, ServerSetup, Socket, World, outbox, shape};

const NEW: &str = "a better horse battery staple";

fn forgot(server: &Server, email: &str) -> Request {
    server.client().post("/api/auth/password/forgot").json(json!({"email": email}))
}

fn verify(server: &Server, email: &str, code: &str) -> Request {
    server.client().post("/api/auth/password/verify-otp").json(json!({"email": email, "code": code}))
}

fn reset(server: &Server, token: &str, password: &str) -> Request {
    server.client().post("/api/auth/password/reset").json(json!({"resetToken": token, "newPassword": password}))
}

fn login(server: &Server, email: &str, password: &str) -> Request {
    server.client().post("/api/auth/login").json(json!({"email": email, "password": password}))
}

/// Requests a reset and returns the code from the e-mail.
pub async fn request_code(server: &Server, email: &str) -> String {
    let before = outbox::mails(&server.data, email).len();
    forgot(server, email).await.is(200);
    outbox::code_in(&outbox::wait_for(&server.data, email, before + 1).await).unwrap()
}

/// Requests a reset and returns the reset token for its code.
pub async fn allowed(server: &Server, email: &str) -> String {
    let code = request_code(server, email).await;
    verify(server, email, &code).await.is(200).text_of("resetToken")
}

/// Returns a different code of six digits.
fn wrong(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

on_both! {
    async fn a_forgotten_password_is_replaced_and_everything_that_the_former_one_opened_ends(world: World) {
        let server = world.server;
        let ada = world.user().await;
        let project = ada.project().await;
        let other = login(server, &ada.email, PASSWORD).await.is(200);
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        let bystander = world.user().await;

        let code = request_code(server, &ada.email).await;
        let verified = verify(server, &ada.email.to_uppercase(), &code).await.is(200);
        assert_eq!(shape::keys(verified.data()), ["expiresIn", "resetToken"]);
        assert_eq!(verified.data()["expiresIn"], 600);
        let token = verified.text_of("resetToken");
        assert_eq!(token.len(), 43);
        verify(server, &ada.email, &code).await.refused(422, "OtpInvalid");
        ada.client.get("/api/projects").await.is(200);

        assert_eq!(reset(server, &token, NEW).await.is(200).data(), &json!({}));
        let ended = Instant::now();
        assert_eq!(socket.closed().await.0, Some(1008));
        assert!(ended.elapsed() < Duration::from_secs(1), "{:?}", ended.elapsed());
        ada.client.get("/api/projects").await.refused(401, "Unauthorized");
        for token in [&ada.refresh_token, &other.text_of("refreshToken")] {
            let refresh = world.nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": token})).await;
            refresh.refused(401, "InvalidRefreshToken");
        }
        login(server, &ada.email, PASSWORD).await.refused(401, "InvalidCredentials");
        login(server, &ada.email, NEW).await.is(200);
        bystander.client.get("/api/projects").await.is(200);
        let mail = outbox::wait_for(&server.data, &ada.email, 3).await;
        assert!(mail.contains("Your password was changed"), "{mail}");
    }

    async fn the_token_is_good_once_for_one_account_and_for_its_time(world: World) {
        let server = world.server;
        let (ada, ben) = (world.user().await, world.user().await);
        let used = allowed(server, &ada.email).await;
        reset(server, &used, NEW).await.is(200);
        reset(server, &used, PASSWORD).await.refused(422, "OtpInvalid");
        // A newer token replaces an older one.
        let (older, newer) = (allowed(server, &ben.email).await, allowed(server, &ben.email).await);
        reset(server, &older, NEW).await.refused(422, "OtpInvalid");
        for no_token in ["x", "🦀", &"x".repeat(43), &older[1..], &format!("{newer}A"), ada.client.token()] {
            reset(server, no_token, NEW).await.refused(422, "OtpInvalid");
        }
        login(server, &ben.email, PASSWORD).await.is(200);
        reset(server, &newer, NEW).await.is(200);
        login(server, &ben.email, NEW).await.is(200);
    }

    async fn the_token_expires(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let token = allowed(&server, &ada.email).await;
        server.db().await.write(|conn| Box::pin(async move {
            let past = Time::from_millis(1_600_000_000_000).unwrap();
            diesel::update(reset_tokens::table).set(reset_tokens::expires_at.eq(past)).execute(conn).await?;
            Ok::<_, DbError>(())
        })).await.unwrap();
        reset(&server, &token, NEW).await.refused(422, "OtpInvalid");
        ada.client.get("/api/projects").await.is(200);
    }

    async fn nothing_of_the_token_is_in_the_database_or_the_log(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "trace")]);
        let ada = server.user().await;
        let token = allowed(&server, &ada.email).await;
        let kept: Vec<String> = server.db().await.read(|conn| Box::pin(async move {
            Ok::<_, DbError>(reset_tokens::table.select(reset_tokens::token_hash).load(conn).await?)
        })).await.unwrap();
        assert!(kept.len() == 1 && kept[0].len() == 64 && !kept[0].contains(&token), "{kept:?}");
        reset(&server, &token, NEW).await.is(200);
        let log = server.read_log();
        assert!(!log.contains(&token) && !log.contains(NEW));
    }

    async fn a_password_that_is_refused_leaves_the_token_good(world: World) {
        let server = world.server;
        let ada = world.user().await;
        let token = allowed(server, &ada.email).await;
        let own = ada.email.clone();
        for refused in ["short", "password123", &own, &"x7".repeat(65)] {
            let answer = reset(server, &token, refused).await.refused(422, "ValidationError");
            let reason = match refused.chars().count() {
                0..10 => "TooShort",
                10..=128 => "PasswordRefused",
                _ => "TooLong",
            };
            assert_eq!(answer.faults(), [("newPassword".to_owned(), reason.to_owned())]);
        }
        // Without a valid token the response says nothing about the password.
        reset(server, "x", "short").await.refused(422, "OtpInvalid");
        reset(server, &token, NEW).await.is(200);
    }

    async fn the_code_is_of_its_purpose_and_has_five_tries(world: World) {
        let server = world.server;
        let ada = world.user().await;
        let waiting = fresh_email();
        let (id, confirming) = registered(server, &waiting).await;
        verify(server, &waiting, &confirming).await.refused(422, "OtpInvalid");
        let code = request_code(server, &ada.email).await;
        let body = json!({"registrationId": id, "email": ada.email, "code": code});
        server.client().post("/api/auth/confirm-account").json(body).await.refused(422, "OtpInvalid");
        let guess = wrong(&code);
        join_all((0..40).map(|_| verify(server, &ada.email, &guess).served())).await;
        verify(server, &ada.email, &code).await.refused(422, "OtpInvalid");
        let again = json!({"email": ada.email, "purpose": "RESET_PASSWORD"});
        server.client().post("/api/auth/otp/resend").json(again).await.is(200);
        let code = outbox::code_in(&outbox::wait_for(&server.data, &ada.email, 3).await).unwrap();
        verify(server, &ada.email, &code).await.is(200);
    }

    async fn an_address_without_an_account_gets_no_mail_and_the_same_answers(world: World) {
        let server = world.server;
        let (known, unknown) = (world.user().await.email, fresh_email());
        let said = |answer: Answer| (answer.status, answer.text());
        assert_eq!(said(forgot(server, &known).await), said(forgot(server, &unknown).await));
        outbox::wait_for(&server.data, &known, 2).await;
        assert_eq!(said(verify(server, &known, "00000x").await), said(verify(server, &unknown, "00000x").await));
        assert!(outbox::mails(&server.data, &unknown).is_empty());
    }

    async fn of_a_hundred_resets_with_one_token_one_counts(world: World) {
        let server = world.server;
        let ada = world.user().await;
        let token = allowed(server, &ada.email).await;
        let passwords: Vec<String> = (0..100).map(|number| format!("{NEW} number {number}")).collect();
        let rush = join_all(passwords.iter().map(|password| reset(server, &token, password).served())).await;
        let won: Vec<usize> = (0..100).filter(|number| rush[*number].status == 200).collect();
        assert_eq!(won.len(), 1, "one effect");
        for lost in rush.into_iter().filter(|answer| answer.status != 200) {
            lost.refused(422, "OtpInvalid");
        }
        login(server, &ada.email, &passwords[won[0]]).await.is(200);
        let mails = outbox::wait_for(&server.data, &ada.email, 3).await;
        assert!(mails.contains("Your password was changed"));
        assert_eq!(outbox::mails(&server.data, &ada.email).len(), 3, "told once");
    }

    async fn no_log_in_with_the_former_password_outlives_the_reset(world: World) {
        let server = world.server;
        for _ in 0..5 {
            let ada = world.user().await;
            let token = allowed(server, &ada.email).await;
            // Log-ins in flight while the password changes.
            let logins = join_all((0..20).map(|_| login(server, &ada.email, PASSWORD).served()));
            let (logins, done) = tokio::join!(logins, reset(server, &token, NEW).served());
            done.is(200);
            for answer in logins {
                if answer.status == 200 {
                    let thief = world.nobody.bearing(&answer.text_of("accessToken"));
                    thief.get("/api/projects").await.refused(401, "Unauthorized");
                } else {
                    answer.refused(401, "InvalidCredentials");
                }
            }
        }
    }
}
