//! A mail server that is away delays letters and nothing else (R12); what waits, waits sealed (S3, S14).

use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::json;

use super::sink::{Sink, unsent, wait_for_error};
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::documents::sample;
use crate::support::dump::dump;
use crate::support::{Place, Server, User, outbox};

async fn register(server: &Server, email: &str) -> String {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
    server.client().post("/api/auth/register").json(body).await.is(201).text_of("registrationId")
}

/// Somebody who has an account and a project, made before mail went astray.
async fn settled(place: &Place) -> (User, String) {
    let server = place.start(&[]);
    let ada = server.user().await;
    let project = ada.client.post("/api/projects").json(json!({"name": "Clinic"})).await.is(201).text_of("id");
    server.kill();
    (ada, project)
}

/// What needs no mail answers as ever: documents are read, people register, the server is ready.
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

on_both! {
    async fn a_code_waits_sealed_through_an_outage_and_a_restart(place: Place) {
        let Some(mut sink) = Sink::start(&[]) else { return };
        sink.kill();
        let server = place.start(&sink.settings());
        let email = fresh_email();
        let registration_id = register(&server, &email).await;
        wait_for_error(&server).await;
        let dumped = dump(&server).await;
        assert!(dumped.contains(&email) && dumped.contains("sealed"));
        server.kill();

        let server = place.start(&sink.settings());
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

    async fn nothing_else_waits_for_a_mail_server_that_is_down(place: Place) {
        let Some(mut sink) = Sink::start(&[]) else { return };
        sink.kill();
        let (ada, project) = settled(&place).await;
        let server = place.start(&sink.settings());
        all_else_works(&server, &ada, &project).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.starts_with("connecting") && !for_good, "{error}");
    }

    async fn nothing_else_waits_for_a_mail_server_that_never_answers(place: Place) {
        let Some(sink) = Sink::start(&[("SILENT", "yes")]) else { return };
        let (ada, project) = settled(&place).await;
        let server = place.start(&sink.settings());
        all_else_works(&server, &ada, &project).await;
        sink.wait_for_calls(1).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.contains("no answer within 5s") && !for_good, "{error}");
    }

    async fn a_code_that_has_expired_is_not_sent_any_more(place: Place) {
        let Some(mut sink) = Sink::start(&[]) else { return };
        sink.kill();
        let server = place.start(&[&sink.settings()[..], &[("COLLOQUY__ACCOUNTS__CODE_SECONDS", "1")]].concat());
        let email = fresh_email();
        register(&server, &email).await;
        wait_for_error(&server).await;
        let deadline = Instant::now() + Duration::from_secs(30);
        while !unsent(&server).await.iter().all(|(_, for_good)| *for_good) {
            assert!(Instant::now() < deadline, "{:?}", unsent(&server).await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(unsent(&server).await, [(Some("it is too late for this letter".to_owned()), true)]);
        server.kill();
        sink.again();
        let server = place.start(&sink.settings());
        let other = fresh_email();
        register(&server, &other).await;
        sink.wait_for(&other, 1).await;
        assert!(sink.letters(&email).await.is_empty());
    }
}
