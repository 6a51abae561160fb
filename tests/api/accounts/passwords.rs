//! Which passwords are accepted (S2).

use serde_json::{Value, json};

use crate::support::builders::fresh_email;
use crate::support::{World, outbox};

on_sqlite! {
    async fn common_short_long_and_own_passwords_are_refused(world: World) {
        let own = "lovelace.ada@example.org";
        for password in ["short", "123456789", "1234567890", "password123", "qwertyuiop", "aaaaaaaaaaaa", "lovelace.ada",
            "AdaLovelace1", "lovelace.ada@example.org", &"x7".repeat(65)] {
            let body = json!({"email": own, "password": password, "fullName": "Ada Lovelace"});
            let answer = world.nobody.post("/api/auth/register").json(body).await.is(422);
            let reason = match password.chars().count() {
                0..10 => "TooShort",
                10..=128 => "PasswordRefused",
                _ => "TooLong",
            };
            assert_eq!(answer.faults(), [("password".to_owned(), reason.to_owned())], "{password}");
        }
        for password in [Value::Null, json!(1), json!(""), json!("x".repeat(1001))] {
            let body = json!({"email": own, "password": password, "fullName": "Ada"});
            assert_eq!(world.nobody.post("/api/auth/register").json(body).await.is(422).faults()[0].0, "password");
        }
        assert!(outbox::mails(&world.server.data, own).is_empty());
    }

    async fn passwords_may_be_any_unicode_and_need_no_mix_of_characters(world: World) {
        for password in ["пароль-из-слов-и-моря", "مفتاح البيت الأزرق", "🦀🦀 eats the evening 🦀", " leading and trailing ",
            "all lower case words here", "cafe\u{301} de la gare"] {
            let email = fresh_email();
            let body = json!({"email": email, "password": password, "fullName": "Ada"});
            let registered = world.nobody.post("/api/auth/register").json(body).await.is(201);
            let code = outbox::code_in(&outbox::wait_for(&world.server.data, &email, 1).await).unwrap();
            let body = json!({"registrationId": registered.text_of("registrationId"), "email": email, "code": code});
            world.nobody.post("/api/auth/confirm-account").json(body).await.is(200);
            let login = |password: &str| {
                world.nobody.post("/api/auth/login").json(json!({"email": email, "password": password}))
            };
            login(password).await.is(200);
            login(&password.replace("e\u{301}", "é")).await.is(200);
            login(&format!("{password}x")).await.refused(401, "InvalidCredentials");
        }
    }
}
