//! Tests who can open a socket: tickets, origins, and the limit per account.

use std::time::Duration;

use crate::support::{Role, ServerSetup, Socket, World};

on_both! {
    async fn a_ticket_opens_one_socket(world: World) {
        let ada = world.user().await;
        let issued = ada.client.post("/api/ws/tickets").await.is(201);
        assert_eq!(issued.data()["expiresIn"], 30);
        let query = format!("?ticket={}", issued.text_of("ticket"));
        let Ok(mut socket) = Socket::tried(&world.nobody, &query, &[]).await else { panic!("no socket") };
        assert_eq!(socket.subscribe("project:0198c7a0-0000-7000-8000-000000000000").await["code"], "NotFound");
        let (status, body) = Socket::tried(&world.nobody, &query, &[]).await.err().expect("it is spent");
        assert_eq!((status, &body["errors"][0]["code"]), (401, &"Unauthorized".into()), "{body}");
        let (status, _) = Socket::tried(&world.nobody, "?ticket=forged", &[]).await.err().unwrap();
        assert_eq!(status, 401);
        world.nobody.post("/api/ws/tickets").await.refused(401, "Unauthorized");
        world.nobody.get("/api/ws").await.refused(401, "Unauthorized");
        ada.client.get("/api/ws").await.refused(400, "BadRequest");
    }

    async fn a_repeated_idempotency_key_gives_another_ticket(world: World) {
        let ada = world.user().await;
        let first = ada.client.post("/api/ws/tickets").key("again").await.is(201).text_of("ticket");
        let second = ada.client.post("/api/ws/tickets").key("again").await.is(201).text_of("ticket");
        assert_ne!(first, second, "what has a token in it is not kept");
    }

    async fn a_ticket_expires_and_is_in_no_log_line(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__SOCKETS__TICKET_SECONDS", "1"), ("COLLOQUY__LOG__FILTER", "debug")]);
        let ada = server.user().await;
        let ticket = ada.client.post("/api/ws/tickets").await.is(201).text_of("ticket");
        let spent = ada.client.post("/api/ws/tickets").await.is(201).text_of("ticket");
        assert!(Socket::tried(&server.client(), &format!("?ticket={spent}"), &[]).await.is_ok());
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let late = Socket::tried(&server.client(), &format!("?ticket={ticket}"), &[]).await;
        assert_eq!(late.err().expect("too late").0, 401);
        let said = server.read_log();
        assert!(said.contains("/api/ws"), "the log has the route");
        assert!(!said.contains(&ticket) && !said.contains(&spent), "the log has no ticket");
    }

    async fn a_ticket_of_an_ended_session_is_rejected(world: World) {
        let ada = world.user().await;
        let ticket = ada.client.post("/api/ws/tickets").await.is(201).text_of("ticket");
        ada.client.post("/api/auth/logout").await.is(200);
        let late = Socket::tried(&world.nobody, &format!("?ticket={ticket}"), &[]).await;
        assert_eq!(late.err().expect("no session").0, 401);
    }

    async fn pages_of_other_origins_open_no_sockets(world: World) {
        let ada = world.user().await;
        let evil = Socket::tried(&ada.client, "", &[("origin", "https://evil.example")]).await;
        let (status, body) = evil.err().expect("refused");
        assert_eq!((status, &body["errors"][0]["code"]), (403, &"Forbidden".into()), "{body}");
        let own = ada.client.base().to_owned();
        assert!(Socket::tried(&ada.client, "", &[("origin", &own)]).await.is_ok());
    }

    async fn the_sockets_per_account_are_limited(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__SOCKETS__PER_ACCOUNT", "2")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let other = server.member(&project, Role::Stakeholder).await;
        let first = Socket::open(&ada.client).await;
        let _second = Socket::open(&ada.client).await;
        let (status, body) = Socket::tried(&ada.client, "", &[]).await.err().expect("too many");
        assert_eq!((status, &body["errors"][0]["code"]), (429, &"TooManyRequests".into()), "{body}");
        let _another_accounts = Socket::open(&other.client).await;
        drop(first);
        let freed = async {
            while Socket::tried(&ada.client, "", &[]).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), freed).await.expect("a place is free again");
    }
}
