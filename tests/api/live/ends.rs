//! Tests what closes sockets and ends subscriptions.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Role, ServerSetup, Socket, World};

on_both! {
    async fn a_session_that_ends_ends_its_sockets_within_a_second(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let other = world.member(&project, Role::Stakeholder).await;
        let topic = format!("project:{project}");
        let ticket = ada.client.post("/api/ws/tickets").await.is(201).text_of("ticket");
        let by_ticket = Socket::tried(&world.nobody, &format!("?ticket={ticket}"), &[]).await.ok().unwrap();
        let mut by_header = Socket::open(&ada.client).await;
        by_header.subscribe(&topic).await;
        let mut others = Socket::open(&other.client).await;
        others.subscribe(&topic).await;
        ada.client.post("/api/auth/logout").await.is(200);
        let ended = Instant::now();
        assert_eq!(by_header.closed().await.0, Some(1008));
        assert_eq!(by_ticket.closed().await.0, Some(1008));
        assert!(ended.elapsed() < Duration::from_secs(1), "{:?}", ended.elapsed());
        others.send(json!({"type": "ping"})).await;
        assert_eq!(others.next().await["type"], "pong");
    }

    async fn a_server_that_stops_closes_its_sockets_and_ends(setup: ServerSetup) {
        let mut server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        let begun = Instant::now();
        server.terminate();
        assert_eq!(socket.closed().await.0, Some(1012));
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        let status = server.wait(Duration::from_secs(8)).expect("it ends");
        assert!(status.success(), "{status}");
    }

    async fn a_deleted_project_ends_the_subscriptions_to_it_and_its_meetings(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await.replace("/api/meetings/", "meeting:");
        let topic = format!("project:{project}");
        let (mut to_project, mut to_meeting) = (Socket::open(&ada.client).await, Socket::open(&ada.client).await);
        to_project.subscribe(&topic).await;
        to_meeting.subscribe(&meeting).await;
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        let deleted = Instant::now();
        assert_eq!(to_project.next().await["event"], "project.deleted");
        let ended = to_project.next().await;
        assert_eq!((&ended["type"], &ended["topic"], &ended["code"]), (&json!("error"), &json!(topic), &json!("NotFound")));
        let ended = to_meeting.next().await;
        assert_eq!((&ended["type"], &ended["topic"]), (&json!("error"), &json!(meeting)), "{ended}");
        assert!(deleted.elapsed() < Duration::from_secs(1), "{:?}", deleted.elapsed());
        to_meeting.send(json!({"type": "ping"})).await;
        assert_eq!(to_meeting.next().await["type"], "pong", "the socket stays");
    }
}
