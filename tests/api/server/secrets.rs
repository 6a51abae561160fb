//! Secrets are neither in the most verbose log nor in the metrics (S26): one is planted wherever one is accepted.

use serde_json::json;

use crate::support::builders::{PASSWORD, fresh_email, registered};
use crate::support::{ServerSetup, outbox};

/// The planted secrets, each with the name of its source.
struct Planted(Vec<(&'static str, String)>);

impl Planted {
    fn plant(&mut self, source: &'static str, secret: impl Into<String>) -> String {
        let secret = secret.into();
        assert!(secret.len() >= 6, "{source}: {secret:?} would be found by chance");
        self.0.push((source, secret.clone()));
        secret
    }

    fn found_in<'a>(&'a self, text: &'a str) -> Vec<&'a str> {
        let found = self.0.iter().filter(|(_, secret)| {
            let is_code = secret.len() == 6;
            // Six digits also occur within times and ids; a leaked code would stand alone.
            let alone = |at: usize| {
                let sides = (text[..at].chars().next_back(), text[at + 6..].chars().next());
                ![sides.0, sides.1]
                    .iter()
                    .flatten()
                    .any(|sign| sign.is_ascii_alphanumeric() || *sign == '-' || *sign == '.')
            };
            text.match_indices(secret.as_str()).any(|(at, _)| !is_code || alone(at))
        });
        found.map(|(source, _)| *source).collect()
    }
}

on_both! {
    async fn more_than_twenty_planted_secrets_are_neither_in_the_log_nor_in_the_metrics(setup: ServerSetup) {
        let mut planted = Planted(Vec::new());
        let google = planted.plant("google.client_secret", "planted-client-secret-of-the-provider");
        let smtp = planted.plant("mail.password", "planted-password-of-the-mail-server");
        let server = setup.start(&[
            ("COLLOQUY__LOG__FILTER", "trace"),
            ("COLLOQUY__GOOGLE__CLIENT_ID", "client"),
            ("COLLOQUY__GOOGLE__CLIENT_SECRET", &google),
            // Nothing listens there: each call fails, and the failure is logged.
            ("COLLOQUY__GOOGLE__DISCOVERY_URL", "http://127.0.0.1:9/.well-known/openid-configuration"),
            ("COLLOQUY__MAIL__PASSWORD", &smtp),
            ("COLLOQUY__MAIL__USER", "colloquy"),
        ]);
        for key in std::fs::read_dir(server.data.join("keys")).unwrap() {
            planted.plant("a key file", std::fs::read_to_string(key.unwrap().path()).unwrap().trim());
        }
        if let Some(password) = setup.url.as_deref().and_then(|url| url::Url::parse(url).ok()?.password().map(str::to_owned)) {
            planted.plant("the database's password", password);
        }
        let nobody = server.client();

        // Accounts: passwords, codes and tokens, right and wrong ones.
        let email = fresh_email();
        let (id, code) = registered(&server, &email).await;
        planted.plant("password", PASSWORD);
        planted.plant("a code", &code);
        let body = json!({"registrationId": id, "email": email, "code": planted.plant("a wrong code", "wrong-code-planted")});
        nobody.post("/api/auth/confirm-account").json(body).await.refused(422, "OtpInvalid");
        let body = json!({"registrationId": id, "email": email, "code": code});
        let confirmed = nobody.post("/api/auth/confirm-account").json(body).await.is(200);
        let access = planted.plant("an access token", confirmed.text_of("accessToken"));
        let refresh = planted.plant("a refresh token", confirmed.text_of("refreshToken"));
        let ada = nobody.bearing(&access);
        let wrong = planted.plant("a wrong password", "planted wrong password 1");
        nobody.post("/api/auth/login").json(json!({"email": email, "password": wrong})).await.is(401);
        let weak = planted.plant("a refused password", "planted-own@example.org");
        let body = json!({"email": "planted-own@example.org", "password": weak, "fullName": "Planted Own"});
        nobody.post("/api/auth/register").json(body).await.is(422);
        let refreshed = nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": refresh})).await.is(200);
        planted.plant("the next refresh token", refreshed.text_of("refreshToken"));
        let forged = planted.plant("a forged refresh token", format!("{}planted", &refresh[..refresh.len() - 7]));
        nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": forged})).await.is(401);

        // A password reset, by code and token.
        nobody.post("/api/auth/password/forgot").json(json!({"email": email})).await.is(200);
        let mail = outbox::wait_for(&server.data, &email, 2).await;
        let code = planted.plant("a reset code", outbox::code_in(&mail).unwrap());
        let verified = nobody.post("/api/auth/password/verify-otp").json(json!({"email": email, "code": code})).await.is(200);
        let reset = planted.plant("a reset token", verified.text_of("resetToken"));
        let chosen = planted.plant("a chosen password", "planted seven green lamps");
        let body = json!({"resetToken": reset, "newPassword": chosen});
        nobody.post("/api/auth/password/reset").json(body).await.is(200);
        let login = nobody.post("/api/auth/login").json(json!({"email": email, "password": chosen})).await.is(200);
        let ada = ada.bearing(&planted.plant("another access token", login.text_of("accessToken")));
        let changed = planted.plant("a changed password", "planted eight green lamps");
        let body = json!({"currentPassword": chosen, "newPassword": changed});
        ada.request(reqwest::Method::PUT, "/api/profile/change-password").json(body).await.is(200);

        // Secrets in URLs and headers.
        let ticket = planted.plant("a ticket", ada.post("/api/ws/tickets").await.is(201).text_of("ticket"));
        nobody.get(format!("/api/ws?ticket={ticket}")).await;
        let project = ada.post("/api/projects").json(json!({"name": "Planted"})).await.is(201).text_of("id");
        let invited = fresh_email();
        let body = json!({"email": invited, "role": "ANALYST"});
        ada.post(format!("/api/projects/{project}/members")).json(body).await.is(201);
        let mail = outbox::wait_for(&server.data, &invited, 1).await;
        let token = planted.plant("an invitation's token", outbox::token_in(&mail).unwrap());
        nobody.get(format!("/api/project-invitations/{token}")).await.is(200);
        ada.post(format!("/api/project-invitations/{token}/accept")).await.is(403);
        let guess = planted.plant("a guessed token", "planted-guess-of-a-token-0123456789");
        nobody.get(format!("/api/project-invitations/{guess}")).await.is(404);
        let login_code = planted.plant("a log-in code", "planted-login-code");
        let verifier = planted.plant("a PKCE verifier", "planted-verifier-0123456789-0123456789-0123456789");
        let body = json!({"code": login_code, "codeVerifier": verifier});
        nobody.post("/api/auth/google-login/exchange").json(body).await.is(401);
        nobody.get("/api/auth/google-login?codeChallenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").await;
        let provider_code = planted.plant("a provider's code", "planted-provider-code");
        let state = planted.plant("a state", "planted-state");
        nobody.get(format!("/api/auth/google-login/callback?code={provider_code}&state={state}")).await.is(302);
        let basic = planted.plant("a Basic header", "cGxhbnRlZDpwYXNzd29yZA==");
        nobody.get("/api/projects").header("authorization", format!("Basic {basic}")).await.is(401);
        let cookie = planted.plant("a cookie", "planted-cookie-value");
        nobody.get("/api/projects").header("cookie", format!("session={cookie}")).await.is(401);
        let review = planted.plant("a review token", "planted-review-token");
        nobody.get("/api/projects").header("x-review-token", &review).await.is(401);
        let in_query = planted.plant("a token in a query", "planted-in-a-query");
        nobody.get(format!("/api/projects?token={in_query}")).await.is(401);
        ada.get(format!("/api/projects?token={in_query}")).await.is(200);
        let playback = planted.plant("a signature of a playback link", "planted-playback-signature");
        nobody.get(format!("/api/recordings/{project}/content?playback={playback}")).await.is(401);
        let in_path = planted.plant("a token in a path that is none", "planted-in-a-path");
        nobody.get(format!("/nowhere/{in_path}")).await.is(404);
        let malformed = planted.plant("a password in malformed JSON", "planted in malformed");
        nobody.post("/api/auth/login").body("application/json", format!("{{\"password\":\"{malformed}\",")).await.is(400);
        let unknown = planted.plant("a password under another key", "planted under another key");
        nobody.post("/api/auth/login").json(json!({"email": email, "passwort": unknown})).await.is(422);

        assert!(planted.0.len() > 20, "{}", planted.0.len());
        let figures = server.operator().get("/metrics").await.text();
        assert_eq!(planted.found_in(&figures), Vec::<&str>::new(), "in the figures");
        let said = server.read_log();
        assert!(said.lines().count() > 100, "the log says little at this filter");
        assert_eq!(planted.found_in(&said), Vec::<&str>::new(), "in the log");
    }
}
