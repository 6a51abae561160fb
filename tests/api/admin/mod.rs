//! Tests of the commands `colloquy admin …`, with and without a running server.

mod runs_and_jobs;
mod trail;

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::{Client, Server, ServerSetup, Socket};

/// The exit code of a command and its output.
pub struct CommandOutput {
    code: Option<i32>,
    out: String,
    pub err: String,
}

/// Runs `colloquy admin` on the data of a server.
pub fn admin(setup: &ServerSetup, arguments: &[&str], input: &str) -> CommandOutput {
    let command =
        admin_command(setup, arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = command.unwrap();
    // A command that reads no input may have exited already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    CommandOutput::of(child.wait_with_output().unwrap())
}

/// Returns what a command of `colloquy admin` lists.
pub fn listed(setup: &ServerSetup, arguments: &[&str]) -> Vec<Value> {
    let out = admin(setup, &[arguments, &["--json"]].concat(), "").done();
    serde_json::from_str::<Value>(&out).unwrap().as_array().unwrap().clone()
}

/// Returns the command `colloquy admin …` for a setup.
pub fn admin_command(setup: &ServerSetup, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLOQUY__"));
    own.for_each(|(name, _)| {
        command.env_remove(name);
    });
    command.env_remove("DATABASE_URL").env("COLLOQUY__ACCOUNTS__ARGON2_MEMORY_KIB", "64");
    if let Some(url) = &setup.url {
        command.env("DATABASE_URL", url);
    }
    command.arg("admin").args(arguments).arg("--data").arg(&setup.data);
    command
}

impl CommandOutput {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }

    /// Panics unless the command failed with this code and a sentence on standard error, which is returned.
    #[track_caller]
    pub fn refused(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.out.is_empty() && self.err.trim_end().ends_with(['.', '\'', ')']), "{}{}", self.out, self.err);
        self.err
    }
}

pub fn generated_password(out: &str) -> String {
    out.lines().find_map(|line| line.strip_prefix("Password: ")).unwrap_or_else(|| panic!("{out}")).to_owned()
}

async fn login(server: &Server, email: &str, password: &str) -> crate::support::Answer {
    server.client().post("/api/auth/login").json(json!({"email": email, "password": password})).await
}

pub async fn signed_in(server: &Server, email: &str, password: &str) -> Client {
    let answer = login(server, email, password).await.is(200);
    server.client().bearing(&answer.text_of("accessToken"))
}

/// Checks that a client is refused and its socket closed with 1008, within a second.
async fn ends_within_a_second(client: &Client, socket: Socket, since: Instant) {
    assert_eq!(socket.closed().await.0, Some(1008));
    client.get("/api/profile").await.refused(401, "Unauthorized");
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
}

on_both! {
    async fn an_account_is_made_with_and_without_a_server(setup: ServerSetup) {
        let email = fresh_email();
        let made = admin(&setup, &["create-user", "--email", &email, "--name", "Grace Hopper", "--language", "ar"], "").done();
        assert!(made.starts_with("Created the account ") && made.contains(&format!(" for {email}.")), "{made}");
        let server = setup.start(&[]);
        let grace = signed_in(&server, &email, &generated_password(&made)).await;
        let profile = grace.get("/api/profile").await.is(200).data().clone();
        assert_eq!(
            (&profile["fullName"], &profile["language"], &profile["emailConfirmed"]),
            (&json!("Grace Hopper"), &json!("AR"), &json!(true))
        );
        let beside = fresh_email();
        let asked = ["create-user", "--email", &beside, "--name", "Ida", "--job-title", "Engineer", "--password-stdin"];
        let made = admin(&setup, &asked, &format!("{PASSWORD}\n")).done();
        assert!(!made.contains("Password"), "one that was given is not printed: {made}");
        let ida = signed_in(&server, &beside, PASSWORD).await;
        assert_eq!(ida.get("/api/profile").await.is(200).data()["jobTitle"], "Engineer");
        let again = admin(&setup, &asked, PASSWORD).refused(1);
        assert!(again.contains("already has an account"), "{again}");
    }

    async fn an_account_becomes_an_operator_and_no_longer_is_one(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let set = |more: &[&str]| admin(&setup, &[&["set-operator", "--email", &ada.email], more].concat(), "").done();
        assert_eq!(set(&[]), format!("{} is now an operator.\n", ada.email));
        assert_eq!(set(&[]), format!("{} was already an operator.\n", ada.email));
        assert_eq!(ada.client.get("/api/profile").await.is(200).data()["isOperator"], true);
        ada.client.get("/api/operator/overview").await.is(200);
        assert_eq!(set(&["--revoke"]), format!("{} is now no operator.\n", ada.email));
        ada.client.get("/api/operator/overview").await.refused(403, "Forbidden");
        assert_eq!(set(&["--revoke"]), format!("{} was not an operator.\n", ada.email));
        let listed: Value = serde_json::from_str(&admin(&setup, &["list-users", "--json"], "").done()).unwrap();
        assert_eq!(listed[0]["isOperator"], false);
        let nobody = admin(&setup, &["set-operator", "--email", "nobody@example.org"], "").refused(1);
        assert!(nobody.contains("has no account"), "{nobody}");
    }

    async fn a_password_is_reset_and_a_running_server_refuses_the_sessions_within_a_second(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let socket = Socket::open(&ada.client).await;
        let reset = admin(&setup, &["reset-password", "--email", &ada.email.to_uppercase()], "").done();
        let since = Instant::now();
        assert!(reset.contains("1 session ended"), "{reset}");
        ends_within_a_second(&ada.client, socket, since).await;
        login(&server, &ada.email, PASSWORD).await.refused(401, "InvalidCredentials");
        login(&server, &ada.email, &generated_password(&reset)).await.is(200);
        server.kill();
        let asked = ["reset-password", "--email", &ada.email, "--password-stdin"];
        admin(&setup, &asked, "an orchard of late pears\r\n").done();
        let server = setup.start(&[]);
        login(&server, &ada.email, "an orchard of late pears").await.is(200);
    }

    async fn sessions_are_revoked_with_and_without_a_server(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (ada, ben) = (server.user().await, server.user().await);
        let socket = Socket::open(&ada.client).await;
        let other = signed_in(&server, &ada.email, PASSWORD).await;
        let revoked = admin(&setup, &["revoke-sessions", "--email", &ada.email], "").done();
        let since = Instant::now();
        assert!(revoked.contains("2 sessions ended"), "{revoked}");
        ends_within_a_second(&ada.client, socket, since).await;
        // A running server learns of the revoked sessions one by one; the second is the limit for all of them.
        while other.get("/api/profile").await.status != 401 {
            assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
        }
        let refresh = json!({"refreshToken": ada.refresh_token});
        server.client().post("/api/auth/refresh-token").json(refresh).await.refused(401, "InvalidRefreshToken");
        ben.client.get("/api/profile").await.is(200);
        let again = admin(&setup, &["revoke-sessions", "--email", &ada.email], "").done();
        assert!(again.contains("no active session"), "{again}");
        server.kill();
        admin(&setup, &["revoke-sessions", "--email", &ben.email], "").done();
        let server = setup.start(&[]);
        ben.at(&server).client.get("/api/profile").await.refused(401, "Unauthorized");
    }

    async fn accounts_are_listed_and_deleted_ones_are_not(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (ada, ben, eve) = (server.user().await, server.user().await, server.user().await);
        eve.client.delete("/api/profile").json(json!({"password": PASSWORD})).await.is(200);
        ben.client.post("/api/auth/logout").await.is(200);
        let table = admin(&setup, &["list-users"], "").done();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].starts_with("ID") && lines.len() == 3, "{table}");
        assert!(lines[1].starts_with(&ada.id) && lines[1].ends_with(&format!("{}, Ada Lovelace", ada.email)), "{table}");
        assert!(lines[2].starts_with(&ben.id) && !table.contains("eleted"), "{table}");
        let listed: Value = serde_json::from_str(&admin(&setup, &["list-users", "--json"], "").done()).unwrap();
        let listed = listed.as_array().unwrap();
        let sessions: Vec<_> = listed.iter().map(|one| (one["email"].clone(), one["sessions"].clone())).collect();
        assert_eq!(sessions, [(json!(ada.email), json!(1)), (json!(ben.email), json!(0))]);
    }

    async fn wrong_use_is_reported_in_a_sentence_and_changes_nothing(setup: ServerSetup) {
        let email = fresh_email();
        let create = ["create-user", "--email", &email, "--name", "Ada", "--password-stdin"];
        for (asked, input) in [
            (&["create-user", "--email", "nobody", "--name", "Ada"][..], ""),
            (&["create-user", "--email", &email, "--name", " "][..], ""),
            (&["create-user", "--email", &email, "--name", "Ada", "--language", "XX"][..], ""),
            (&create[..], ""),
            (&create[..], "short\n"),
            (&create[..], "1234567890\n"),
            (&["create-user", "--email", &email][..], ""),
            (&["reset-password"][..], ""),
            (&["dance"][..], ""),
        ] {
            admin(&setup, asked, input).refused(2);
        }
        let known = admin(&setup, &["list-users", "--json"], "");
        assert!(known.code == Some(1) || serde_json::from_str::<Value>(&known.out).unwrap() == json!([]), "{}", known.out);
        let server = setup.start(&[]);
        for task in ["reset-password", "revoke-sessions"] {
            let refused = admin(&setup, &[task, "--email", &email], "").refused(1);
            assert!(refused.contains(&format!("{email} has no account")), "{refused}");
        }
        drop(server);
    }
}
