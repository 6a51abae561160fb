//! Rate limits on codes, log-ins and resets (S4, S5, S20); the counters in the database survive a restart.

use futures_util::future::join_all;
use serde_json::json;

use super::resets::{allowed, request_code};
use crate::support::builders::{PASSWORD, fresh_email, registered};
use crate::support::client::Request;
use crate::support::{Answer, Server, ServerSetup};

async fn register(server: &Server, email: &str, forwarded: &str) -> Answer {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada"});
    server.client().post("/api/auth/register").header("x-forwarded-for", forwarded).json(body).await
}

async fn resend(server: &Server, email: &str) -> Answer {
    let body = json!({"email": email, "purpose": "CONFIRM_ACCOUNT"});
    server.client().post("/api/auth/otp/resend").json(body).await
}

fn login(server: &Server, email: &str, password: &str, from: &str) -> Request {
    let body = json!({"email": email, "password": password});
    server.client().post("/api/auth/login").header("x-forwarded-for", from).json(body)
}

fn verify(server: &Server, email: &str, code: &str, from: &str) -> Request {
    let body = json!({"email": email, "code": code});
    server.client().post("/api/auth/password/verify-otp").header("x-forwarded-for", from).json(body)
}

fn reset(server: &Server, token: &str, from: &str) -> Request {
    let body = json!({"resetToken": token, "newPassword": "a better horse battery staple"});
    server.client().post("/api/auth/password/reset").header("x-forwarded-for", from).json(body)
}

fn seconds(answer: &Answer) -> u64 {
    answer.header("retry-after").unwrap().parse().unwrap()
}

const PROXY: (&str, &str) = ("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.0.1");
const HERE: &str = "198.51.100.1";
const THERE: &str = "198.51.100.2";
const WRONG: &str = "wrong horse battery staple";

on_both! {
    async fn an_address_gets_a_code_a_minute_also_across_a_restart(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__CODE_PAUSE__MOST", "1")];
        let server = setup.start(&settings);
        let email = fresh_email();
        register(&server, &email, "192.0.2.1").await.is(201);
        let refused = resend(&server, &email).await.refused(429, "TooManyRequests");
        assert!((50..=60).contains(&seconds(&refused)), "{}", seconds(&refused));
        register(&server, &email, "192.0.2.1").await.refused(429, "TooManyRequests");
        server.kill();
        let server = setup.start(&settings);
        resend(&server, &email).await.refused(429, "TooManyRequests");
        register(&server, &fresh_email(), "192.0.2.1").await.is(201);
    }

    async fn an_address_gets_so_many_codes_an_hour_whether_it_is_known_or_not(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__CODE_MAILS__MOST", "3")]);
        let known = server.user().await.email;
        register(&server, &known, "192.0.2.1").await.is(201);
        resend(&server, &known).await.is(200);
        let refused = resend(&server, &known).await.refused(429, "TooManyRequests");
        assert!((3500..=3600).contains(&seconds(&refused)), "{}", seconds(&refused));
        let forgot = json!({"email": known});
        server.client().post("/api/auth/password/forgot").json(forgot).await.refused(429, "TooManyRequests");
        let unknown = fresh_email();
        for _ in 0..3 {
            resend(&server, &unknown).await.is(200);
        }
        resend(&server, &unknown).await.refused(429, "TooManyRequests");
    }

    async fn a_client_gets_so_many_codes_an_hour_whatever_address_it_claims_to_come_from(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__CODE_MAILS_OF_CLIENT__MOST", "3")];
        let server = setup.start(&settings);
        for last in 1..=3 {
            register(&server, &fresh_email(), &format!("198.51.100.{last}")).await.is(201);
        }
        register(&server, &fresh_email(), "198.51.100.4").await.refused(429, "TooManyRequests");
        server.kill();
        let server = setup.start(&settings);
        register(&server, &fresh_email(), "198.51.100.5").await.refused(429, "TooManyRequests");
    }

    async fn behind_a_trusted_proxy_the_client_is_who_it_says(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__CODE_MAILS_OF_CLIENT__MOST", "1"), PROXY]);
        register(&server, &fresh_email(), HERE).await.is(201);
        register(&server, &fresh_email(), HERE).await.refused(429, "TooManyRequests");
        register(&server, &fresh_email(), &format!("203.0.113.7, {HERE}")).await.refused(429, "TooManyRequests");
        register(&server, &fresh_email(), THERE).await.is(201);
    }

    async fn an_account_is_tried_so_many_times_a_minute_from_one_client_also_across_a_restart(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__LOGINS__MOST", "5"), PROXY];
        let server = setup.start(&settings);
        let (ada, ben) = (server.user().await, server.user().await);
        for _ in 0..4 {
            login(&server, &ada.email, WRONG, HERE).await.refused(401, "InvalidCredentials");
        }
        login(&server, &ada.email, PASSWORD, HERE).await.is(200);
        // Not even the right password: a guessing client must not learn that it is right.
        let refused = login(&server, &ada.email.to_uppercase(), PASSWORD, HERE).await.refused(429, "TooManyRequests");
        assert!((1..=60).contains(&seconds(&refused)));
        login(&server, &ben.email, PASSWORD, HERE).await.is(200);
        login(&server, &ada.email, PASSWORD, THERE).await.is(200);
        server.kill();
        let server = setup.start(&settings);
        login(&server, &ada.email, PASSWORD, HERE).await.refused(429, "TooManyRequests");
        ada.at(&server).client.get("/api/projects").await.is(200);
    }

    async fn wrong_passwords_lock_out_who_gave_them_and_not_the_owner(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__LOGIN_FAILURES__MOST", "3"), PROXY];
        let server = setup.start(&settings);
        let ada = server.user().await;
        for _ in 0..5 {
            login(&server, &ada.email, PASSWORD, HERE).await.is(200);
        }
        let unknown = fresh_email();
        for email in [&ada.email, &unknown] {
            for _ in 0..3 {
                login(&server, email, WRONG, HERE).await.refused(401, "InvalidCredentials");
            }
            let refused = login(&server, email, PASSWORD, HERE).await.refused(429, "TooManyRequests");
            assert!((800..=900).contains(&seconds(&refused)), "{}", seconds(&refused));
        }
        server.kill();
        let server = setup.start(&settings);
        login(&server, &ada.email, PASSWORD, HERE).await.refused(429, "TooManyRequests");
        login(&server, &ada.email, PASSWORD, THERE).await.is(200);
        // A client that proves the mailbox has forgotten the password and not guessed another user's.
        let token = allowed(&server, &ada.email).await;
        reset(&server, &token, HERE).await.is(200);
        login(&server, &ada.email, "a better horse battery staple", HERE).await.is(200);
    }

    async fn wrong_passwords_at_once_are_no_more_than_one_by_one(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__LOGIN_FAILURES__MOST", "3")]);
        let ada = server.user().await;
        let rush = join_all((0..100).map(|_| login(&server, &ada.email, WRONG, HERE).served())).await;
        let looked_at = rush.iter().filter(|answer| answer.status == 401).count();
        assert_eq!((looked_at, rush.iter().filter(|answer| answer.status == 429).count()), (3, 97));
    }

    async fn a_client_that_tries_many_accounts_is_locked_out_of_all(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__LOGIN_FAILURES_OF_CLIENT__MOST", "3"), PROXY]);
        let ada = server.user().await;
        for _ in 0..3 {
            login(&server, &fresh_email(), WRONG, HERE).await.refused(401, "InvalidCredentials");
        }
        login(&server, &ada.email, PASSWORD, HERE).await.refused(429, "TooManyRequests");
        login(&server, &ada.email, PASSWORD, THERE).await.is(200);
    }

    async fn wrong_codes_lock_further_tries_and_new_codes_for_who_gave_them(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__CODE_FAILURES__MOST", "3"), PROXY];
        let server = setup.start(&settings);
        let (ada, unknown) = (server.user().await, fresh_email());
        let code = request_code(&server, &ada.email).await;
        for email in [&ada.email, &unknown] {
            for _ in 0..3 {
                verify(&server, email, "00000x", HERE).await.refused(422, "OtpInvalid");
            }
            let refused = verify(&server, email, &code, HERE).await.refused(429, "TooManyRequests");
            assert!((3500..=3600).contains(&seconds(&refused)), "{}", seconds(&refused));
            let forgot = json!({"email": email});
            let forgot = server.client().post("/api/auth/password/forgot").header("x-forwarded-for", HERE).json(forgot);
            forgot.await.refused(429, "TooManyRequests");
        }
        server.kill();
        let server = setup.start(&settings);
        verify(&server, &ada.email, &code, HERE).await.refused(429, "TooManyRequests");
        verify(&server, &ada.email, &code, THERE).await.is(200);
    }

    async fn wrong_codes_of_others_leave_the_right_code_its_own_five_tries(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__CODE_FAILURES__MOST", "10"), PROXY]);
        let ada = server.user().await;
        let waiting = fresh_email();
        for email in [&ada.email, &waiting] {
            for from in [HERE, THERE] {
                for _ in 0..10 {
                    verify(&server, email, "00000x", from).await.refused(422, "OtpInvalid");
                }
                verify(&server, email, "00000x", from).await.refused(429, "TooManyRequests");
            }
        }
        let code = request_code(&server, &ada.email).await;
        for last in 1..=4 {
            verify(&server, &ada.email, "00000x", &format!("203.0.113.{last}")).await.refused(422, "OtpInvalid");
        }
        let token = verify(&server, &ada.email, &code, "203.0.113.5").await.is(200).text_of("resetToken");
        reset(&server, &token, "203.0.113.5").await.is(200);
        let (id, code) = registered(&server, &waiting).await;
        let body = json!({"registrationId": id, "email": waiting, "code": code});
        server.client().post("/api/auth/confirm-account").json(body).await.is(200);
    }

    async fn who_gave_wrong_codes_is_locked_out_again_when_the_password_is_chosen(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__CODE_FAILURES__MOST", "3"), PROXY]);
        let ada = server.user().await;
        let token = allowed(&server, &ada.email).await;
        for _ in 0..3 {
            verify(&server, &ada.email, "00000x", HERE).await.refused(422, "OtpInvalid");
        }
        reset(&server, &token, HERE).await.refused(429, "TooManyRequests");
        ada.client.get("/api/projects").await.is(200);
        login(&server, &ada.email, PASSWORD, HERE).await.is(200);
        reset(&server, &token, THERE).await.is(200);
    }

    async fn wrong_tokens_lock_out_who_gave_them(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__TOKEN_FAILURES_OF_CLIENT__MOST", "3"), PROXY]);
        let ada = server.user().await;
        let token = allowed(&server, &ada.email).await;
        let rush = join_all((0..50).map(|_| reset(&server, "x", HERE).served())).await;
        assert_eq!(rush.iter().filter(|answer| answer.status == 422).count(), 3);
        reset(&server, &token, HERE).await.refused(429, "TooManyRequests");
        reset(&server, &token, THERE).await.is(200);
    }
}
