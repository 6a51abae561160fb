//! A mail server that is unavailable delays e-mails and nothing else (R12); waiting e-mails are encrypted (S3, S14).

use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::json;

use super::sink::{Sink, unsent, wait_for_error};
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::documents::sample;
use crate::support::dump::dump;
use crate::support::{Server, ServerSetup, User, outbox};

async fn register(server: &Server, email: &str) -> String {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
    server.client().post("/api/auth/register").json(body).await.is(201).text_of("registrationId")
}

/// Creates a user with a project, before the mail server fails.
async fn settled(setup: &ServerSetup) -> (User, String) {
    let server = setup.start(&[]);
    let ada = server.user().await;
    let project = ada.client.post("/api/projects").json(json!({"name": "Clinic"})).await.is(201).text_of("id");
    server.kill();
    (ada, project)
}

/// Asserts that what needs no delivery works as usual: users register, documents are read, the server is ready.
async fn all_else_works(server: &Server, ada: &User, project: &str) {
    for _ in 0..4 {
        let began = Instant::now();
        register(server, &fresh_email()).await;
        assert!(began.elapsed() < Duration::from_secs(2), "a request waited for the mail server");
    }
    server.client().get("/health/ready").await.is(200);
    let ada = User { client: ada.client.moved_to(server), ..ada.clone() };
    ada.read(project, "note.md", &sample("product-note.md")).await;
    server.client().get("/health/ready").await.is(200);
}

on_sqlite! {
    async fn a_code_waits_encrypted_through_an_outage_and_a_restart(setup: ServerSetup) {
        let Some(mut sink) = Sink::start(&[]) else { return };
        sink.kill();
        let server = setup.start(&sink.settings());
        let email = fresh_email();
        let registration_id = register(&server, &email).await;
        wait_for_error(&server).await;
        let dumped = dump(&server).await;
        assert!(dumped.contains(&email) && dumped.contains("sealed"));
        server.kill();

        let server = setup.start(&sink.settings());
        sink.again();
        let letter = sink.wait_for(&email, 1).await.remove(0);
        let code = outbox::code_in(letter["text"].as_str().unwrap()).unwrap();
        let alone = Regex::new(&format!(r"\b{code}\b")).unwrap();
        assert!(!alone.is_match(&dumped), "the code is in the database");
        let subject = letter["subject"].as_str().unwrap();
        assert!(!dumped.contains(subject) && !dump(&server).await.contains(subject));
        let confirmation = json!({"registrationId": registration_id, "email": email, "code": code});
        server.client().post("/api/auth/confirm-account").json(confirmation).await.is(200);
    }

    async fn nothing_else_waits_for_a_mail_server_that_is_down(setup: ServerSetup) {
        let Some(mut sink) = Sink::start(&[]) else { return };
        sink.kill();
        let (ada, project) = settled(&setup).await;
        let server = setup.start(&sink.settings());
        all_else_works(&server, &ada, &project).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.starts_with("connecting") && !for_good, "{error}");
    }

    async fn nothing_else_waits_for_a_mail_server_that_never_answers(setup: ServerSetup) {
        let Some(sink) = Sink::start(&[("SILENT", "yes")]) else { return };
        let (ada, project) = settled(&setup).await;
        let server = setup.start(&sink.settings());
        all_else_works(&server, &ada, &project).await;
        sink.wait_for_calls(1).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.contains("no answer within 5s") && !for_good, "{error}");
    }

    async fn a_code_that_has_expired_is_not_sent_any_more(setup: ServerSetup) {
        let Some(mut sink) = Sink::start(&[]) else { return };
        sink.kill();
        let server = setup.start(&[&sink.settings()[..], &[("COLLOQUY__ACCOUNTS__CODE_SECONDS", "1")]].concat());
        let email = fresh_email();
        register(&server, &email).await;
        wait_for_error(&server).await;
        let deadline = Instant::now() + Duration::from_secs(30);
        while !unsent(&server).await.iter().all(|(_, for_good)| *for_good) {
            assert!(Instant::now() < deadline, "{:?}", unsent(&server).await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(unsent(&server).await, [(Some("the e-mail has expired".to_owned()), true)]);
        server.kill();
        sink.again();
        let server = setup.start(&sink.settings());
        let other = fresh_email();
        register(&server, &other).await;
        sink.wait_for(&other, 1).await;
        assert!(sink.letters(&email).await.is_empty());
    }
}
