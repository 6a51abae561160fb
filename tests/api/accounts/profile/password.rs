//! Tests of changePassword (S2, S10).

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::builders::PASSWORD;
use crate::support::client::Request;
use crate::support::{ServerSetup, Socket, User, World, outbox};

const NEW: &str = "an orchard of late pears";

fn change(user: &User, current: &str, new: &str) -> Request {
    let body = json!({"currentPassword": current, "newPassword": new});
    user.client.put("/api/profile/change-password").json(body)
}

fn login(world: &World, user: &User, password: &str) -> Request {
    world.nobody.post("/api/auth/login").json(json!({"email": user.email, "password": password}))
}

on_both! {
    async fn a_new_password_ends_every_other_session_and_socket_within_a_second_and_this_one_stays(world: World) {
        let ada = world.user().await;
        let mut others = Vec::new();
        for _ in 0..3 {
            let answer = login(&world, &ada, PASSWORD).await.is(200);
            let client = world.nobody.bearing(&answer.text_of("accessToken"));
            let socket = Socket::open(&client).await;
            others.push((client, answer.text_of("refreshToken"), socket));
        }
        let mut own = Socket::open(&ada.client).await;
        let mails = outbox::mails(&world.server.data, &ada.email).len();
        let changed = change(&ada, PASSWORD, NEW).await.is(200);
        assert_eq!(changed.data()["hasPassword"], true);
        let began = Instant::now();
        for (client, refresh_token, socket) in others {
            client.get("/api/profile").await.refused(401, "Unauthorized");
            let refresh = world.nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": refresh_token}));
            refresh.await.refused(401, "InvalidRefreshToken");
            assert_eq!(socket.closed().await.0, Some(1008));
        }
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        own.send(json!({"type": "ping"})).await;
        assert_eq!(own.next().await["type"], "pong");
        ada.client.get("/api/profile").await.is(200);
        let refresh = world.nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": ada.refresh_token}));
        refresh.await.is(200);
        login(&world, &ada, PASSWORD).await.refused(401, "InvalidCredentials");
        login(&world, &ada, NEW).await.is(200);
        let mail = outbox::wait_for(&world.server.data, &ada.email, mails + 1).await;
        assert!(mail.contains("Your password was changed"), "{mail}");
    }

    async fn who_does_not_know_the_password_changes_nothing(world: World) {
        let ada = world.user().await;
        let refused = change(&ada, "some other password", NEW).await.is(422);
        assert_eq!(refused.faults(), [("currentPassword".to_owned(), "WrongPassword".to_owned())]);
        let absent = ada.client.put("/api/profile/change-password").json(json!({"newPassword": NEW})).await.is(422);
        assert_eq!(absent.faults(), [("currentPassword".to_owned(), "Required".to_owned())]);
        login(&world, &ada, PASSWORD).await.is(200);
        let mails = outbox::mails(&world.server.data, &ada.email);
        assert!(!mails.iter().any(|mail| mail.contains("Your password was changed")));
    }

    async fn a_password_that_may_not_be_chosen_is_refused_here_too(world: World) {
        let ada = world.user().await;
        for new in ["short", "1234567890", "password123", "AdaLovelace1", &ada.email, &"x7".repeat(65)] {
            let refused = change(&ada, PASSWORD, new).await.is(422);
            let reason = match new.chars().count() {
                0..10 => "TooShort",
                10..=128 => "PasswordRefused",
                _ => "TooLong",
            };
            assert_eq!(refused.faults(), [("newPassword".to_owned(), reason.to_owned())], "{new}");
        }
        change(&ada, PASSWORD, "пароль-из-слов-и-моря").await.is(200);
        login(&world, &ada, "пароль-из-слов-и-моря").await.is(200);
    }

    async fn of_many_changes_at_once_one_counts(world: World) {
        let ada = world.user().await;
        let news: Vec<String> = (0..8).map(|number| format!("{NEW} number {number}")).collect();
        let changes = news.iter().map(|new| {
            let body = json!({"currentPassword": PASSWORD, "newPassword": new});
            ada.client.apart().put("/api/profile/change-password").json(body).into_future()
        });
        let answers = join_all(changes).await;
        let counted: Vec<usize> = (0..news.len()).filter(|number| answers[*number].status == 200).collect();
        assert_eq!(counted.len(), 1, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            answer.clone().refused(422, "WrongPassword");
        }
        for (number, new) in news.iter().enumerate() {
            let status = if counted == [number] { 200 } else { 401 };
            login(&world, &ada, new).await.is(status);
        }
    }

    async fn a_stolen_token_is_no_way_to_guess_the_password(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__LOGIN_FAILURES__MOST", "5")]);
        let ada = server.user().await;
        for _ in 0..3 {
            change(&ada, "some other password", NEW).await.is(422);
        }
        let delete = |password: &str| ada.client.delete("/api/profile").json(json!({"password": password}));
        for _ in 0..2 {
            delete("some other password").await.refused(422, "WrongPassword");
        }
        // Not even the right one: a guessing client must not learn that it is right.
        change(&ada, PASSWORD, NEW).await.refused(429, "TooManyRequests");
        delete(PASSWORD).await.refused(429, "TooManyRequests");
        let login = json!({"email": ada.email, "password": PASSWORD});
        server.client().post("/api/auth/login").json(login).await.is(200);
    }

    async fn an_account_without_a_password_chooses_its_first_soon_after_a_log_in(world: World) {
        let ada = world.user().await;
        world.server.without_password(&ada).await;
        let own = ada.client.get("/api/profile").await.is(200);
        assert_eq!(own.data()["hasPassword"], false);
        let put = |body: Value| ada.client.put("/api/profile/change-password").json(body);
        put(json!({"currentPassword": "whatever it is", "newPassword": NEW})).await.refused(422, "WrongPassword");
        world.server.log_in_long_ago(&ada, Duration::from_secs(601)).await;
        put(json!({"newPassword": NEW})).await.refused(403, "RecentLoginRequired");
        world.server.log_in_long_ago(&ada, Duration::from_secs(590)).await;
        let chosen = put(json!({"newPassword": NEW})).await.is(200);
        assert_eq!(chosen.data()["hasPassword"], true);
        login(&world, &ada, NEW).await.is(200);
        put(json!({"newPassword": PASSWORD})).await.refused(422, "Required");
    }
}
