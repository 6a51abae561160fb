//! Tests who can subscribe to which topics, and the order of events.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{Role, Socket, World};

const NOWHERE: &str = "0198c7a0-0000-7000-8000-000000000000";

on_both! {
    async fn members_may_subscribe_and_other_users_may_not(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting(&project).await;
        let id = meeting["id"].as_str().unwrap();
        let (meeting_topic, project_topic) = (format!("meeting:{id}"), format!("project:{project}"));

        let stakeholder = world.member(&project, Role::Stakeholder).await;
        let mut socket = Socket::open(&stakeholder.client).await;
        let begun = socket.subscribe(&meeting_topic).await;
        assert_eq!((&begun["type"], &begun["offset"], &begun["recovered"]), (&json!("subscribed"), &json!(0), &json!(false)));
        let got = stakeholder.client.get(format!("/api/meetings/{id}")).await.is(200);
        for (name, value) in begun["snapshot"]["meeting"].as_object().unwrap() {
            assert_eq!(&got.data()[name], value, "{name}");
        }
        assert_eq!(begun["snapshot"]["participants"][0]["id"], meeting["hostParticipantId"]);
        assert_eq!(begun["snapshot"]["recordings"], json!([]));
        let begun = socket.subscribe(&project_topic).await;
        let (snapshot, got) = (&begun["snapshot"], stakeholder.client.get(format!("/api/projects/{project}")).await);
        for (name, value) in snapshot["project"].as_object().unwrap() {
            assert_eq!(&got.data()[name], value, "{name}");
        }
        assert_eq!((&snapshot["activeRuns"], &snapshot["activeExports"]), (&json!([]), &json!([])));

        let mut stranger = Socket::open(&world.user().await.client).await;
        for topic in [&meeting_topic, &project_topic] {
            let refused = stranger.subscribe(topic).await;
            assert_eq!((&refused["type"], &refused["topic"]), (&json!("error"), &json!(topic)));
            assert_eq!(refused["code"], "Forbidden");
        }
        for (topic, code) in [
            (format!("meeting:{NOWHERE}"), "MeetingNotFound"),
            (format!("project:{NOWHERE}"), "NotFound"),
            (format!("run:{NOWHERE}"), "NotFound"),
            ("meeting:1".to_owned(), "ValidationError"),
            ("weather:today".to_owned(), "ValidationError"),
        ] {
            let refused = stranger.subscribe(&topic).await;
            assert_eq!((&refused["topic"], &refused["code"]), (&json!(topic), &json!(code)));
        }
        stranger.send(json!({"type": "ping"})).await;
        assert_eq!(stranger.next().await, json!({"type": "pong"}), "a refusal is not the end of a socket");
    }

    async fn concurrent_changes_are_published_in_order_and_end_at_the_get_response(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = ada.meeting_path(&project).await;
        let topic = path.replace("/api/meetings/", "meeting:");
        let (mut one, mut other) = (Socket::open(&ada.client).await, Socket::open(&ada.client).await);
        let begun = one.subscribe(&topic).await;
        other.subscribe(&topic).await;
        let patches = (0..64).map(|number| {
            let patch = ada.client.patch(&path).header("x-request-id", format!("patch-{number}"));
            async move { patch.json(json!({"title": format!("Title {number}")})).served().await.is(200) }
        });
        let answers = join_all(patches).await;
        let mut state = begun["snapshot"]["meeting"].clone();
        for offset in 1..=64_u64 {
            let event = one.next().await;
            assert_eq!((&event["type"], &event["offset"]), (&json!("event"), &json!(offset)));
            assert_eq!((&event["topic"], &event["event"]), (&json!(topic), &json!("meeting.updated")));
            assert_eq!(event, other.next().await, "all hear the same");
            let answer = answers.iter().find(|answer| answer.header("x-request-id") == event["requestId"].as_str());
            assert_eq!(answer.expect("its request").data(), &event["data"], "an event is what its request was answered");
            state = event["data"].clone();
        }
        let got = ada.client.get(&path).await.is(200);
        for (name, value) in state.as_object().unwrap() {
            assert_eq!(&got.data()[name], value, "{name}");
        }
        assert_eq!(one.subscribe(&topic).await["offset"], 64);
    }

    async fn no_events_are_received_after_unsubscribing(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = ada.meeting_path(&project).await;
        let (meeting, project_topic) = (path.replace("/api/meetings/", "meeting:"), format!("project:{project}"));
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&meeting).await;
        socket.subscribe(&project_topic).await;
        socket.send(json!({"type": "unsubscribe", "topic": meeting})).await;
        socket.send(json!({"type": "ping"})).await;
        assert_eq!(socket.next().await["type"], "pong");
        ada.client.patch(&path).json(json!({"title": "Unheard"})).await.is(200);
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Heard"})).await.is(200);
        let event = socket.next().await;
        assert_eq!((&event["event"], &event["data"]["name"]), (&json!("project.updated"), &json!("Heard")));
        assert_eq!(socket.next_within(Duration::from_millis(200)).await, None);
    }

    async fn a_socket_has_a_hundred_subscriptions_at_most(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meetings = join_all((0..100).map(|_| ada.meeting(&project))).await;
        let mut socket = Socket::open(&ada.client).await;
        for meeting in &meetings {
            let begun = socket.subscribe(&format!("meeting:{}", meeting["id"].as_str().unwrap())).await;
            assert_eq!(begun["type"], "subscribed", "{begun}");
        }
        assert_eq!(socket.subscribe(&format!("project:{project}")).await["code"], "TooManyRequests");
    }
}
