//! How often one may try (S4, S20), and that a restart changes nothing of what is counted in the store.

use serde_json::json;

use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::{Answer, Place, Server};

async fn register(server: &Server, email: &str, forwarded: &str) -> Answer {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada"});
    server.client().post("/api/auth/register").header("x-forwarded-for", forwarded).json(body).await
}

async fn resend(server: &Server, email: &str) -> Answer {
    let body = json!({"email": email, "purpose": "CONFIRM_ACCOUNT"});
    server.client().post("/api/auth/otp/resend").json(body).await
}

fn seconds(answer: &Answer) -> u64 {
    answer.header("retry-after").unwrap().parse().unwrap()
}

on_both! {
    async fn an_address_gets_a_code_a_minute_also_across_a_restart(place: Place) {
        let settings = [("COLLOQUY__LIMITS__CODE_PAUSE_SECONDS", "60")];
        let server = place.start(&settings);
        let email = fresh_email();
        register(&server, &email, "192.0.2.1").await.is(201);
        let refused = resend(&server, &email).await.refused(429, "TooManyRequests");
        assert!((50..=60).contains(&seconds(&refused)), "{}", seconds(&refused));
        register(&server, &email, "192.0.2.1").await.refused(429, "TooManyRequests");
        server.kill();
        let server = place.start(&settings);
        resend(&server, &email).await.refused(429, "TooManyRequests");
        register(&server, &fresh_email(), "192.0.2.1").await.is(201);
    }

    async fn an_address_gets_so_many_codes_an_hour_whether_it_is_known_or_not(place: Place) {
        let server = place.start(&[("COLLOQUY__LIMITS__CODES_PER_HOUR", "3")]);
        let known = server.user().await.email;
        register(&server, &known, "192.0.2.1").await.is(201);
        resend(&server, &known).await.is(200);
        let refused = resend(&server, &known).await.refused(429, "TooManyRequests");
        assert!((3500..=3600).contains(&seconds(&refused)), "{}", seconds(&refused));
        let unknown = fresh_email();
        for _ in 0..3 {
            resend(&server, &unknown).await.is(200);
        }
        resend(&server, &unknown).await.refused(429, "TooManyRequests");
    }

    async fn a_client_gets_so_many_codes_an_hour_whatever_address_it_claims_to_come_from(place: Place) {
        let settings = [("COLLOQUY__LIMITS__CODES_PER_HOUR_AND_CLIENT", "3")];
        let server = place.start(&settings);
        for last in 1..=3 {
            register(&server, &fresh_email(), &format!("198.51.100.{last}")).await.is(201);
        }
        register(&server, &fresh_email(), "198.51.100.4").await.refused(429, "TooManyRequests");
        server.kill();
        let server = place.start(&settings);
        register(&server, &fresh_email(), "198.51.100.5").await.refused(429, "TooManyRequests");
    }

    async fn behind_a_trusted_proxy_the_client_is_who_it_says(place: Place) {
        let settings = [("COLLOQUY__LIMITS__CODES_PER_HOUR_AND_CLIENT", "1"), ("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.0.1")];
        let server = place.start(&settings);
        register(&server, &fresh_email(), "198.51.100.1").await.is(201);
        register(&server, &fresh_email(), "198.51.100.1").await.refused(429, "TooManyRequests");
        register(&server, &fresh_email(), "203.0.113.7, 198.51.100.1").await.refused(429, "TooManyRequests");
        register(&server, &fresh_email(), "198.51.100.2").await.is(201);
    }

    async fn an_account_is_tried_so_many_times_a_minute(place: Place) {
        let server = place.start(&[("COLLOQUY__LIMITS__LOGINS_PER_MINUTE", "5")]);
        let (ada, ben) = (server.user().await, server.user().await);
        let login = |email: &str, password: &str| {
            server.client().post("/api/auth/login").json(json!({"email": email, "password": password}))
        };
        for _ in 0..5 {
            login(&ada.email, "wrong horse battery").await.refused(401, "InvalidCredentials");
        }
        // Not even the right password: who guesses must not learn that it is right.
        let refused = login(&ada.email.to_uppercase(), PASSWORD).await.refused(429, "TooManyRequests");
        assert!((1..=60).contains(&seconds(&refused)));
        login(&ben.email, PASSWORD).await.is(200);
        ada.client.get("/api/projects").await.is(200);
    }
}
