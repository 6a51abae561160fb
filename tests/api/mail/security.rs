//! TLS and passwords: nothing secret is sent in clear text, and errors delay e-mails but lose none.

use serde_json::json;

use super::sink::{Sink, wait_for_error};
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::certificates::{self, Certificates};
use crate::support::{Kind, Server, ServerSetup};

const SECRET: &str = "0071-a-password-of-post";

async fn register(server: &Server, email: &str) {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
    server.client().post("/api/auth/register").json(body).await.is(201);
}

/// Starts a mail server that requires TLS and a password. `None`: no Node or no openssl on this machine.
fn guarded(setup: &ServerSetup, security: &str) -> Option<(Sink, Certificates)> {
    let made = certificates::make(&setup.data.join("certificates"))?;
    let (key, certificate) = (made.key.to_str().unwrap(), made.certificate.to_str().unwrap());
    let settings =
        [("SECURITY", security), ("KEY", key), ("CERT", certificate), ("USER", "post"), ("PASSWORD", SECRET)];
    Some((Sink::start(&settings)?, made))
}

async fn arrives_secured(setup: ServerSetup, security: &'static str) {
    let Some((sink, made)) = guarded(&setup, security) else { return };
    let mut settings = sink.secured(security, &made.ca);
    settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", SECRET)]);
    settings.push(("COLLOQUY__LOG__FILTER", "trace"));
    let server = setup.start(&settings);
    let email = fresh_email();
    register(&server, &email).await;
    let letter = sink.wait_for(&email, 1).await.remove(0);
    assert_eq!((&letter["secure"], &letter["user"]), (&json!(true), &json!("post")));
    let received = sink.received().await;
    assert_eq!(received[..3], ["CONNECT", "AUTH secure", "MAIL secure"]);
    assert!(!server.read_log().contains(SECRET));
}

on_sqlite! {
    async fn an_email_is_sent_over_starttls_with_a_password(setup: ServerSetup) {
        arrives_secured(setup, "STARTTLS").await;
    }

    async fn an_email_is_sent_over_tls_with_a_password(setup: ServerSetup) {
        arrives_secured(setup, "TLS").await;
    }

    async fn where_starttls_is_not_offered_nothing_is_sent_in_clear_text(setup: ServerSetup) {
        let Some(made) = certificates::make(&setup.data.join("certificates")) else { return };
        let Some(sink) = Sink::start(&[("USER", "post"), ("PASSWORD", SECRET)]) else { return };
        let mut settings = sink.secured("STARTTLS", &made.ca);
        settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", SECRET)]);
        let server = setup.start(&settings);
        register(&server, &fresh_email()).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.contains("STARTTLS") && !for_good, "{error}");
        let received = sink.received().await;
        assert!(received.iter().all(|line| line == "CONNECT"), "{received:?}");
    }

    async fn nothing_is_sent_to_an_untrusted_certificate(setup: ServerSetup) {
        let Some((sink, _)) = guarded(&setup, "TLS") else { return };
        let Some(other) = certificates::make(&setup.data.join("other")) else { return };
        let mut settings = sink.secured("TLS", &other.ca);
        settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", SECRET)]);
        let server = setup.start(&settings);
        register(&server, &fresh_email()).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.starts_with("connecting") && !for_good, "{error}");
        assert!(!sink.received().await.iter().any(|line| line.starts_with("AUTH")));
    }

    async fn a_wrong_password_loses_no_email_and_is_not_in_the_log(setup: ServerSetup) {
        let Some((sink, made)) = guarded(&setup, "TLS") else { return };
        let email = fresh_email();
        let wrong = "0070-no-password-of-post";
        let with = |password: &'static str| {
            let mut settings = sink.secured("TLS", &made.ca);
            settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", password)]);
            settings.push(("COLLOQUY__LOG__FILTER", "trace"));
            setup.start(&settings)
        };
        let server = with(wrong);
        register(&server, &email).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.starts_with("AUTH") && error.contains("535") && !for_good, "{error}");
        assert!(!server.read_log().contains(wrong));
        server.kill();
        let _server = with(SECRET);
        sink.wait_for(&email, 1).await;
    }
}

#[test]
fn invalid_mail_settings_are_reported_at_start() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let (status, said) = setup.refused(&[
        ("COLLOQUY__MAIL__HOST", "mail.example"),
        ("COLLOQUY__MAIL__FROM", "nobody"),
        ("COLLOQUY__MAIL__SECURITY", "NONE"),
        ("COLLOQUY__MAIL__USER", "post"),
        ("COLLOQUY__MAIL__PASSWORD", SECRET),
        ("COLLOQUY__MAIL__PORT", "0"),
        ("COLLOQUY__MAIL__TIMEOUT_SECONDS", "0"),
    ]);
    assert_eq!(status.code(), Some(2));
    insta::assert_snapshot!(said, @"
    The settings are invalid:
      mail.from: this must be an address, such as Name <a@b.example>
      mail.port: this must be 1 to 65535
      mail.timeout_seconds: this must be at least 1
      mail.security: with NONE, the password would be sent unencrypted
    ");
    let (status, said) =
        setup.refused(&[("COLLOQUY__MAIL__HOST", "mail.example"), ("COLLOQUY__MAIL__CA_FILE", "/nowhere/ca.pem")]);
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("mail.ca_file: /nowhere/ca.pem: No such file"), "{said}");
}
