//! `colloquy admin login-link`: a link that signs in once.

use std::collections::BTreeMap;
use std::time::Duration;

use actors::time::{Clock, SystemClock};
use colloquy::db::schema::login_codes;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::ExpressionMethods;
use futures_util::future::join_all;
use serde_json::json;

use crate::admin::admin;
use crate::support::dump::dump;
use crate::support::{Answer, Server, ServerSetup, User};

/// Makes a link and returns what its fragment has.
fn link(setup: &ServerSetup, user: &User, more: &[&str]) -> BTreeMap<String, String> {
    let printed = admin(setup, &[&["login-link", "--email", &user.email], more].concat(), "").done();
    let (page, fragment) = printed.trim_end().split_once('#').unwrap();
    assert!(page.starts_with("http://127.0.0.1:") && page.ends_with("/login/callback"), "{printed}");
    url::form_urlencoded::parse(fragment.as_bytes()).into_owned().collect()
}

async fn exchange(server: &Server, code: &str) -> Answer {
    server.client().post("/api/auth/login-link/exchange").json(json!({"code": code})).await
}

/// Ages all codes, so that they have just expired.
async fn expire(server: &Server) {
    let past = SystemClock.now() - Duration::from_secs(1);
    let db = server.db().await;
    let aged = db.write(move |conn| {
        Box::pin(async move {
            diesel::update(login_codes::table).set(login_codes::expires_at.eq(past)).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    aged.await.unwrap();
}

on_both! {
    async fn a_link_signs_in_once_and_leaves_its_code_nowhere(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "debug")]);
        let ada = server.user().await;
        let made = link(&setup, &ada, &["--return-url", "/projects/1?tab=2"]);
        assert_eq!(made["returnUrl"], "/projects/1?tab=2");
        let code = &made["link"];
        assert!(!dump(&server).await.contains(code), "only its hash is stored");
        let session = exchange(&server, code).await.is(200);
        assert_eq!(session.data()["user"]["email"], ada.email);
        let client = server.client().bearing(&session.text_of("accessToken"));
        assert_eq!(client.get("/api/profile").await.is(200).data()["id"], ada.id);
        exchange(&server, code).await.refused(401, "LoginCodeInvalid");
        assert!(!server.read_log().contains(code), "the log has the code");
        assert_eq!(link(&setup, &ada, &[]).keys().collect::<Vec<_>>(), ["link"]);
    }

    /// A key would give the same session to whoever repeats the request.
    async fn of_many_exchanges_one_signs_in_whatever_key_they_have(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let code = link(&setup, &ada, &[])["link"].clone();
        let body = json!({"code": code});
        let calls = (0..8).map(|_| {
            let call = server.client().post("/api/auth/login-link/exchange").header("idempotency-key", "the same");
            std::future::IntoFuture::into_future(call.json(body.clone()))
        });
        let mut statuses: Vec<u16> = join_all(calls).await.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401, 401, 401, 401, 401, 401, 401]);
    }

    async fn a_link_that_expired_or_was_made_up_is_refused_and_counted(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__TOKEN_FAILURES_OF_CLIENT__MOST", "4")]);
        let ada = server.user().await;
        let expired = link(&setup, &ada, &[])["link"].clone();
        expire(&server).await;
        // The code of a link is no code of a log-in at a provider.
        let code = link(&setup, &ada, &[])["link"].clone();
        let other = json!({"code": code, "codeVerifier": "v".repeat(43)});
        server.client().post("/api/auth/google-login/exchange").json(other).await.refused(401, "LoginCodeInvalid");
        for wrong in [&expired, "x", &"A".repeat(43), &expired] {
            exchange(&server, wrong).await.refused(401, "LoginCodeInvalid");
        }
        exchange(&server, &code).await.refused(429, "TooManyRequests");
    }

    async fn a_link_is_worth_nothing_once_the_password_was_changed_or_the_account_deleted(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (ada, ben) = (server.user().await, server.user().await);
        let codes = [&ada, &ben].map(|user| link(&setup, user, &[])["link"].clone());
        admin(&setup, &["reset-password", "--email", &ada.email], "").done();
        let password = json!({"password": crate::support::builders::PASSWORD});
        ben.client.delete("/api/profile").json(password).await.is(200);
        for code in &codes {
            exchange(&server, code).await.refused(401, "LoginCodeInvalid");
        }
    }

    async fn a_link_ends_with_all_sessions(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (ada, ben, grace) = (server.user().await, server.user().await, server.user().await);
        let codes = [&ada, &ben, &grace].map(|user| link(&setup, user, &[])["link"].clone());
        admin(&setup, &["revoke-sessions", "--email", &ada.email], "").done();
        ben.client.post("/api/auth/logout").json(json!({"allSessions": true})).await.is(200);
        grace.client.post("/api/auth/logout").json(json!({})).await.is(200);
        exchange(&server, &codes[0]).await.refused(401, "LoginCodeInvalid");
        exchange(&server, &codes[1]).await.refused(401, "LoginCodeInvalid");
        // One session that ends is not all of them.
        exchange(&server, &codes[2]).await.is(200);
    }

    async fn a_link_leads_to_no_other_host_and_needs_an_account(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        for evil in ["https://evil.example", "//evil.example", "projects"] {
            admin(&setup, &["login-link", "--email", &ada.email, "--return-url", evil], "").refused(2);
        }
        let unknown = admin(&setup, &["login-link", "--email", "nobody@example.org"], "").refused(1);
        assert!(unknown.contains("has no account"), "{unknown}");
    }
}
