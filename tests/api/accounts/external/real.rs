//! Log-in at a real OpenID provider (npm oidc-provider).

use actors::ids::{Id, User as UserId};
use actors::time::Time;
use colloquy::db::schema::{login_codes, users};
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Google, VERIFIER, begin, callback_result, error};
use crate::support::builders::{PASSWORD, fresh_email, registered};
use crate::support::client::Answer;
use crate::support::{Server, ServerSetup, outbox, shape};

fn people(ada: &str, eve: &str) -> Value {
    json!({
        "ada": {"email": ada, "email_verified": true, "name": "Ada L.", "locale": "ar"},
        "eve": {"email": eve, "email_verified": false, "name": "Eve"},
        "ben": {"email": fresh_email(), "email_verified": true},
    })
}

async fn login(server: &Server, email: &str, password: &str) -> Answer {
    server.client().post("/api/auth/login").json(json!({"email": email, "password": password})).await
}

/// A time in the past (September 2020).
fn past() -> Time {
    Time::from_millis(1_600_000_000_000).unwrap()
}

on_both! {
    async fn a_first_log_in_creates_an_account_without_a_password_found_again_by_the_subject(setup: ServerSetup) {
        let email = fresh_email();
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&email, "eve@example.org")) else { return };
        let mut browser = google.browser();
        let callback = google.to_callback(&mut browser, "ada", Some("/projects?tab=mine&x=1")).await;
        let kept = browser.of_application();
        assert_eq!(kept.len(), 1, "{kept:?}");
        let callback_result = callback_result(&mut browser, &callback).await;
        assert_eq!(callback_result["returnUrl"], "/projects?tab=mine&x=1");
        assert!(browser.of_application().is_empty(), "the cookie is dropped");

        let session = google.exchange(&callback_result["code"], VERIFIER).await.is(200).data().clone();
        let user = &session["user"];
        let expected = json!({
            "id": shape::id(&user["id"]), "email": email, "fullName": "Ada L.", "jobTitle": null, "language": "AR",
            "avatarUrl": null, "emailConfirmed": true, "hasPassword": false, "isOperator": false,
            "createdAt": user["createdAt"], "updatedAt": user["createdAt"],
        });
        assert_eq!(user, &expected);
        let ada = google.server.client().bearing(session["accessToken"].as_str().unwrap());
        ada.get("/api/projects").await.is(200);
        login(&google.server, &email, PASSWORD).await.refused(401, "InvalidCredentials");

        // At the provider her address changes and is no longer verified: the account stays the same.
        let moved = json!({"email": "new@example.org", "email_verified": false});
        google.control("/people/ada", &moved).await;
        assert_eq!(google.session_of("ada").await["user"], expected);
        // The account is found after a restart too.
        let Google { provider, server } = google;
        server.kill();
        let google = Google { server: Google::serve(&setup, &provider, "OPEN"), provider };
        assert_eq!(google.session_of("ada").await["user"], expected);
    }

    async fn by_invitation_a_first_log_in_is_for_who_was_invited(setup: ServerSetup) {
        let (ada, bo) = (fresh_email(), fresh_email());
        let person = |email: &str| json!({"email": email, "email_verified": true, "name": "Somebody"});
        let people = json!({"ada": person(&ada), "bo": person(&bo)});
        let Some(google) = Google::start(&setup, "oidc-provider", &people) else { return };
        let ada_here = google.session_of("ada").await["accessToken"].as_str().unwrap().to_owned();
        let Google { provider, server } = google;
        server.kill();
        let google = Google { server: Google::serve(&setup, &provider, "BY_INVITATION"), provider };
        google.session_of("ada").await;
        let refused = google.log_in_as(&mut google.browser(), "bo").await;
        assert_eq!(refused, error("RegistrationByInvitation"));
        let ada_here = google.server.client().bearing(&ada_here);
        let project = ada_here.post("/api/projects").json(json!({"name": "P"})).await.is(201).text_of("id");
        let members = format!("/api/projects/{project}/members");
        ada_here.post(members).json(json!({"email": bo, "role": "ANALYST"})).await.is(201);
        assert_eq!(google.session_of("bo").await["user"]["email"], bo);
        let Google { provider, server } = google;
        server.kill();
        let google = Google { server: Google::serve(&setup, &provider, "CLOSED"), provider };
        google.session_of("bo").await;
    }

    async fn an_account_is_linked_by_a_verified_address_alone(setup: ServerSetup) {
        let (ada, eve) = (fresh_email(), fresh_email());
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&ada, &eve)) else { return };
        for email in [&ada, &eve] {
            let (id, code) = registered(&google.server, email).await;
            let body = json!({"registrationId": id, "email": email, "code": code});
            google.server.client().post("/api/auth/confirm-account").json(body).await.is(200);
        }
        let own = login(&google.server, &ada, PASSWORD).await.is(200);
        let session = google.session_of("ada").await;
        assert_eq!(session["user"], own.data()["user"], "hers, with its password and name");
        login(&google.server, &ada, PASSWORD).await.is(200);
        let mail = outbox::wait_for(&google.server.data, &ada, 2).await;
        assert!(mail.contains("New sign-in method for your Colloquy account"), "{mail}");

        let refused = google.log_in_as(&mut google.browser(), "eve").await;
        assert_eq!(refused, error("EmailNotVerified"));
        login(&google.server, &eve, PASSWORD).await.is(200);
        assert_eq!(outbox::mails(&google.server.data, &eve).len(), 1, "nothing was linked");
    }

    async fn a_registration_that_nobody_confirmed_is_worth_nothing_after_the_owners_log_in(setup: ServerSetup) {
        let email = fresh_email();
        // In English: the code of an Arabic e-mail is in an encoded part.
        let people = json!({"ada": {"email": email, "email_verified": true, "name": "Ada L."}});
        let Some(google) = Google::start(&setup, "oidc-provider", &people) else { return };
        let (id, code) = registered(&google.server, &email).await;
        let session = google.session_of("ada").await;
        assert_eq!(session["user"]["hasPassword"], false);
        login(&google.server, &email, PASSWORD).await.refused(401, "InvalidCredentials");
        let body = json!({"registrationId": id, "email": email, "code": code});
        google.server.client().post("/api/auth/confirm-account").json(body).await.refused(422, "OtpInvalid");
        // A user who proves the address by e-mail may still choose a password.
        let client = google.server.client();
        client.post("/api/auth/password/forgot").json(json!({"email": email})).await.is(200);
        let code = outbox::code_in(&outbox::wait_for(&google.server.data, &email, 2).await).unwrap();
        client.post("/api/auth/password/verify-otp").json(json!({"email": email, "code": code})).await.is(200);
    }

    async fn a_log_in_is_its_browsers_own_and_good_once(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let invalid = error("LoginStateInvalid");
        let mut browser = google.browser();
        let callback = google.to_callback(&mut browser, "ada", None).await;
        assert_eq!(callback_result(&mut google.browser(), &callback).await, invalid, "another browser");
        let mut thief = google.browser().with_cookies_of(&browser);
        let forged = callback.replacen("state=", "state=x", 1);
        assert_ne!(forged, callback);
        assert_eq!(callback_result(&mut google.browser().with_cookies_of(&browser), &forged).await, invalid, "another state");
        let other = google.to_callback(&mut google.browser(), "ben", None).await;
        assert_eq!(callback_result(&mut google.browser().with_cookies_of(&browser), &other).await, invalid, "another's log-in");
        let bare = callback.split('?').next().unwrap().to_owned();
        assert_eq!(callback_result(&mut google.browser().with_cookies_of(&browser), &bare).await, invalid, "nothing");

        assert!(callback_result(&mut browser, &callback).await.contains_key("code"));
        assert_eq!(callback_result(&mut thief, &callback).await, invalid, "a second time");
        // A log-in of the same browser, with a code that the provider never issued.
        let fresh = google.to_callback(&mut browser, "ada", None).await;
        let start = fresh.find("code=").unwrap() + 5;
        let made_up = format!("{}made-up{}", &fresh[..start], &fresh[fresh[start..].find('&').unwrap() + start..]);
        assert_eq!(callback_result(&mut browser, &made_up).await, error("LoginRefused"));
    }

    async fn a_consent_refused_at_the_provider_is_reported(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let mut browser = google.browser();
        assert_eq!(google.log_in_as(&mut browser, "denied").await, error("LoginRefused"));
        assert!(google.log_in_as(&mut browser, "ada").await.contains_key("code"));
    }

    async fn the_code_is_good_once_for_a_minute_and_for_its_application(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let code = || async { google.log_in_as(&mut google.browser(), "ada").await["code"].clone() };
        let refused = |answer: Answer| answer.refused(401, "LoginCodeInvalid");

        let wrong = code().await;
        refused(google.exchange(&wrong, &VERIFIER.replace('d', "e")).await);
        refused(google.exchange(&wrong, VERIFIER).await);
        refused(google.exchange("x", VERIFIER).await);
        refused(google.exchange(&"x".repeat(43), VERIFIER).await);
        google.exchange(&wrong, "short").await.refused(422, "InvalidValue");

        let late = code().await;
        google.server.db().await.write(|conn| Box::pin(async move {
            diesel::update(login_codes::table).set(login_codes::expires_at.eq(past())).execute(conn).await?;
            Ok::<_, DbError>(())
        })).await.unwrap();
        refused(google.exchange(&late, VERIFIER).await);

        let rushed = code().await;
        let rush = join_all((0..100).map(|_| google.exchange(&rushed, VERIFIER).served())).await;
        let (won, lost): (Vec<_>, Vec<_>) = rush.into_iter().partition(|answer| answer.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 99));
        lost.into_iter().for_each(|answer| drop(refused(answer)));
        let sessions = google.server.client().bearing(&won[0].text_of("accessToken")).get("/api/auth/sessions").await;
        assert_eq!(sessions.data()["totalCount"], 1, "one code, one session");

        // What is stored of it in the database does not reveal the code.
        let unused = code().await;
        let kept: Vec<String> = google.server.db().await.read(|conn| Box::pin(async move {
            Ok::<_, DbError>(login_codes::table.select(login_codes::code_hash).load(conn).await?)
        })).await.unwrap();
        assert!(!kept.is_empty() && kept.iter().all(|kept| kept.len() == 64 && !kept.contains(&unused)));
    }

    async fn two_first_log_ins_at_once_make_one_account(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let sessions = join_all((0..8).map(|_| google.session_of("ada"))).await;
        let ids: std::collections::BTreeSet<_> = sessions.iter().map(|session| session["user"]["id"].to_string()).collect();
        assert_eq!(ids.len(), 1);
    }

    async fn an_account_that_was_deleted_is_not_logged_in(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let session = google.session_of("ada").await;
        let waiting = google.log_in_as(&mut google.browser(), "ada").await["code"].clone();
        let id: Id<UserId> = session["user"]["id"].as_str().unwrap().parse().unwrap();
        // The row as deleting an account leaves it.
        google.server.db().await.write(move |conn| Box::pin(async move {
            let gone = (users::deleted_at.eq(Some(past())), users::email.eq(format!("deleted-{id}")));
            diesel::update(users::table.find(id)).set(gone).execute(conn).await?;
            Ok::<_, DbError>(())
        })).await.unwrap();
        google.exchange(&waiting, VERIFIER).await.refused(401, "LoginCodeInvalid");
        let anew = google.session_of("ada").await;
        assert_ne!(anew["user"]["id"], session["user"]["id"], "who comes again is somebody new");
    }

    async fn the_start_of_a_log_in_is_validated_and_its_cookie_is_http_only(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let client = google.server.client();
        let path = |url: &str| url.strip_prefix(crate::support::server::APP_URL).unwrap().to_owned();
        for elsewhere in ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "/\t/evil.example", "javascript:x"] {
            client.get(path(&begin(Some(elsewhere)))).await.refused(422, "InvalidValue");
        }
        client.get("/api/auth/google-login").await.refused(422, "Required");
        client.get("/api/auth/google-login?codeChallenge=short").await.refused(422, "InvalidValue");
        let begun = client.get(path(&begin(None))).await.is(302);
        let cookie = begun.header("set-cookie").unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Path=/api/auth/google-login; Max-Age=600"), "{cookie}");
        let query = begun.header("location").unwrap().split_once('?').unwrap().1.to_owned();
        let query: std::collections::BTreeMap<_, _> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        assert_eq!((&*query["response_type"], &*query["code_challenge_method"]), ("code", "S256"));
        assert_eq!(query["scope"], "openid email profile");
        assert_ne!(query["code_challenge"], begin(None).rsplit_once('=').unwrap().1, "ours is not the application's");
        for secret in ["state", "nonce"] {
            assert!(query[secret].len() >= 43 && !cookie.contains(&query[secret]), "{secret}");
        }
    }

    async fn an_unavailable_provider_affects_nothing_else(setup: ServerSetup) {
        let Some(mut google) = Google::start(&setup, "oidc-provider", &people(&fresh_email(), "eve@example.org")) else { return };
        let ada = google.server.user().await;
        let mut browser = google.browser();
        let callback = google.to_callback(&mut browser, "ada", Some("/projects")).await;
        google.provider.kill();
        let callback_result = callback_result(&mut browser, &callback).await;
        assert_eq!((&*callback_result["error"], &*callback_result["returnUrl"]), ("LoginProviderUnavailable", "/projects"));
        login(&google.server, &ada.email, PASSWORD).await.is(200);
        ada.client.get("/api/projects").await.is(200);
        // A server that never reached the provider says so.
        google.server.kill();
        let server = Google::serve(&setup, &google.provider, "OPEN");
        let challenge = begin(None).replace(crate::support::server::APP_URL, "");
        server.client().get(challenge).await.refused(503, "LoginProviderUnavailable");
        server.client().get("/health/ready").await.is(200);
    }

    async fn without_a_provider_there_is_no_such_log_in(setup: ServerSetup) {
        let server = setup.start(&[]);
        let begin = begin(None).replace(crate::support::server::APP_URL, "");
        server.client().get(begin).await.refused(503, "LoginProviderNotConfigured");
        server.client().get("/api/auth/google-login/callback?code=x&state=y").await.refused(503, "LoginProviderNotConfigured");
    }
}
