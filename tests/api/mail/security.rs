//! TLS and passwords: nothing is said in clear that is not to be, and what is wrong delays letters and loses none.

use serde_json::json;

use super::sink::{Sink, wait_for_error};
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::certificates::{self, Certificates};
use crate::support::{Kind, Place, Server};

const SECRET: &str = "0071-a-password-of-post";

async fn register(server: &Server, email: &str) {
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
    server.client().post("/api/auth/register").json(body).await.is(201);
}

/// A mail server that wants TLS and a password.
fn guarded(place: &Place, security: &str) -> Option<(Sink, Certificates)> {
    let made = certificates::make(&place.data.join("certificates"))?;
    let (key, certificate) = (made.key.to_str().unwrap(), made.certificate.to_str().unwrap());
    let settings =
        [("SECURITY", security), ("KEY", key), ("CERT", certificate), ("USER", "post"), ("PASSWORD", SECRET)];
    Some((Sink::start(&settings)?, made))
}

async fn arrives_secured(place: Place, security: &'static str) {
    let Some((sink, made)) = guarded(&place, security) else { return };
    let mut settings = sink.secured(security, &made.ca);
    settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", SECRET)]);
    settings.push(("COLLOQUY__LOG__FILTER", "trace"));
    let server = place.start(&settings);
    let email = fresh_email();
    register(&server, &email).await;
    let letter = sink.wait_for(&email, 1).await.remove(0);
    assert_eq!((&letter["secure"], &letter["user"]), (&json!(true), &json!("post")));
    let heard = sink.heard().await;
    assert_eq!(heard[..3], ["CONNECT", "AUTH secure", "MAIL secure"]);
    assert!(!server.said().contains(SECRET));
}

on_both! {
    async fn a_letter_goes_through_starttls_with_a_password(place: Place) {
        arrives_secured(place, "STARTTLS").await;
    }

    async fn a_letter_goes_through_tls_with_a_password(place: Place) {
        arrives_secured(place, "TLS").await;
    }

    async fn where_starttls_is_not_offered_nothing_is_said_in_clear(place: Place) {
        let Some(made) = certificates::make(&place.data.join("certificates")) else { return };
        let Some(sink) = Sink::start(&[("USER", "post"), ("PASSWORD", SECRET)]) else { return };
        let mut settings = sink.secured("STARTTLS", &made.ca);
        settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", SECRET)]);
        let server = place.start(&settings);
        register(&server, &fresh_email()).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.contains("STARTTLS") && !for_good, "{error}");
        let heard = sink.heard().await;
        assert!(heard.iter().all(|line| line == "CONNECT"), "{heard:?}");
    }

    async fn a_certificate_that_nobody_trusts_is_not_spoken_to(place: Place) {
        let Some((sink, _)) = guarded(&place, "TLS") else { return };
        let Some(other) = certificates::make(&place.data.join("other")) else { return };
        let mut settings = sink.secured("TLS", &other.ca);
        settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", SECRET)]);
        let server = place.start(&settings);
        register(&server, &fresh_email()).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.starts_with("connecting") && !for_good, "{error}");
        assert!(!sink.heard().await.iter().any(|line| line.starts_with("AUTH")));
    }

    async fn a_wrong_password_loses_no_letter_and_is_not_in_the_log(place: Place) {
        let Some((sink, made)) = guarded(&place, "TLS") else { return };
        let email = fresh_email();
        let wrong = "0070-no-password-of-post";
        let with = |password: &'static str| {
            let mut settings = sink.secured("TLS", &made.ca);
            settings.extend([("COLLOQUY__MAIL__USER", "post"), ("COLLOQUY__MAIL__PASSWORD", password)]);
            settings.push(("COLLOQUY__LOG__FILTER", "trace"));
            place.start(&settings)
        };
        let server = with(wrong);
        register(&server, &email).await;
        let (error, for_good) = wait_for_error(&server).await;
        assert!(error.starts_with("AUTH") && error.contains("535") && !for_good, "{error}");
        assert!(!server.said().contains(wrong));
        server.kill();
        let _server = with(SECRET);
        sink.wait_for(&email, 1).await;
    }
}

#[test]
fn settings_of_mail_that_can_t_be_are_told_at_start() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let (status, said) = place.refused(&[
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
    The settings can't be used:
      mail.from: this must be an address, such as Name <a@b.example>
      mail.port: this must be 1 to 65535
      mail.timeout_seconds: this must be at least 1
      mail.security: the password would go over the network in clear
    ");
    let (status, said) =
        place.refused(&[("COLLOQUY__MAIL__HOST", "mail.example"), ("COLLOQUY__MAIL__CA_FILE", "/nowhere/ca.pem")]);
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("mail.ca_file: /nowhere/ca.pem: No such file"), "{said}");
}
