//! E-mails that are delivered, deferred, refused or cut off.

use serde_json::{Value, json};

use super::sink::{Sink, unsent, wait_for_error};
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::{Answer, Server, ServerSetup, outbox};

async fn register(server: &Server, email: &str) -> Answer {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
    server.client().post("/api/auth/register").json(body).await.is(201)
}

fn code_of(letter: &Value) -> String {
    outbox::code_in(letter["text"].as_str().unwrap()).unwrap()
}

on_sqlite! {
    async fn an_email_arrives_with_its_headers_and_bodies(setup: ServerSetup) {
        let Some(sink) = Sink::start(&[]) else { return };
        let server = setup.start(&sink.settings());
        let email = fresh_email();
        let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace", "language": "AR"});
        let call = server.client().post("/api/auth/register").header("x-request-id", "a-call-of-ada").json(body);
        let registration_id = call.await.is(201).text_of("registrationId");
        let letter = sink.wait_for(&email, 1).await.remove(0);
        assert_eq!(letter["from"], "post@colloquy.example");
        assert_eq!(letter["requestId"], "a-call-of-ada");
        assert_eq!(letter["autoSubmitted"], "auto-generated");
        assert!(letter["messageId"].as_str().unwrap().ends_with("@colloquy.example>"));
        assert!(letter["html"].as_str().unwrap().contains("dir=\"rtl\""));
        let confirmation = json!({"registrationId": registration_id, "email": email, "code": code_of(&letter)});
        server.client().post("/api/auth/confirm-account").json(confirmation).await.is(200);
        assert_eq!(unsent(&server).await, []);
    }

    async fn a_deferred_email_is_retried(setup: ServerSetup) {
        let Some(sink) = Sink::start(&[]) else { return };
        let server = setup.start(&sink.settings());
        let email = format!("later-{}", fresh_email());
        register(&server, &email).await;
        sink.wait_for(&email, 1).await;
        let tries = sink.received().await.into_iter().filter(|line| line.starts_with("RCPT")).count();
        assert_eq!(tries, 3);
    }

    async fn a_refused_email_is_not_retried_and_shows_in_the_metrics(setup: ServerSetup) {
        let Some(sink) = Sink::start(&[]) else { return };
        let server = setup.start(&sink.settings());
        let email = format!("refused-{}", fresh_email());
        register(&server, &email).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.contains("550") && for_good, "{error}");
        // An e-mail to another address is sent meanwhile.
        let other = fresh_email();
        register(&server, &other).await;
        sink.wait_for(&other, 1).await;
        let tries = sink.received().await.into_iter().filter(|line| *line == format!("RCPT {email}")).count();
        assert_eq!(tries, 1);
        let figures = server.operator().get("/metrics").await.is(200).text();
        assert!(figures.contains("colloquy_jobs_failed 1"), "{figures}");
    }

    async fn an_unacknowledged_email_is_sent_again_with_the_same_message_id(setup: ServerSetup) {
        let Some(sink) = Sink::start(&[]) else { return };
        let server = setup.start(&sink.settings());
        let email = format!("cut-{}", fresh_email());
        register(&server, &email).await;
        let letters = sink.wait_for(&email, 2).await;
        assert_eq!(letters[0]["messageId"], letters[1]["messageId"]);
        assert_eq!(letters[0]["raw"], letters[1]["raw"]);
    }
}
