//! Tests that losing a membership (S11) rejects the next request and ends the subscriptions within a second.

use std::time::{Duration, Instant};

use serde_json::json;

use super::membership;
use crate::support::{Role, Socket, World};

const NOTE: &[u8] = b"# Booking\n\nThe system must let a patient cancel an appointment.\n";

on_both! {
    async fn a_removed_member_loses_subscriptions_to_the_project_its_meetings_and_runs_within_a_second(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE).await;
        let meeting = ada.meeting_path(&project).await.replace("/api/meetings/", "meeting:");
        let run = ada.client.post(format!("/api/projects/{project}/ai/runs")).json(json!({})).await.is(202).text_of("id");
        let topics = [format!("project:{project}"), meeting, format!("run:{run}")];
        let (taken_out, leaving) = (world.member(&project, Role::Manager).await, world.member(&project, Role::Stakeholder).await);
        let staying = world.member(&project, Role::Stakeholder).await;
        let run_path = format!("/api/projects/{project}/ai/runs/{run}");
        while !matches!(ada.client.get(&run_path).await.is(200).text_of("status").as_str(), "COMPLETED" | "PARTIAL") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for (gone, by) in [(&taken_out, &ada), (&leaving, &leaving)] {
            let path = membership(&ada, &project, gone).await;
            let mut sockets = Vec::new();
            for topic in &topics {
                let mut socket = Socket::open(&gone.client).await;
                assert_eq!(socket.subscribe(topic).await["type"], "subscribed", "{topic}");
                sockets.push(socket);
            }
            let mut others = Socket::open(&staying.client).await;
            others.subscribe(&topics[0]).await;
            by.client.delete(path).await.is(200);
            let taken = Instant::now();
            gone.client.get(format!("/api/projects/{project}")).await.refused(403, "Forbidden");
            for (socket, topic) in sockets.iter_mut().zip(&topics) {
                let mut ended = socket.next().await;
                if ended["event"] == "member.changed" {
                    ended = socket.next().await;
                }
                let expected = (&json!("error"), &json!(topic), &json!("Forbidden"));
                assert_eq!((&ended["type"], &ended["topic"], &ended["code"]), expected);
                assert!(taken.elapsed() < Duration::from_secs(1), "{:?}", taken.elapsed());
            }
            // No later event is received, and the sockets stay open for other topics.
            ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": taken_out.id})).await.is(200);
            for (socket, topic) in sockets.iter_mut().zip(&topics) {
                assert_eq!(socket.subscribe(topic).await["code"], "Forbidden");
            }
            assert_eq!(others.next().await["event"], "member.changed", "who stays hears on");
            ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": gone.id})).await.is(200);
            while others.next().await["data"]["name"] != json!(gone.id) {}
        }
    }

    async fn a_demotion_keeps_the_subscriptions_that_every_member_may_have(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let analyst = world.member(&project, Role::Analyst).await;
        let mut socket = Socket::open(&analyst.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        let path = membership(&ada, &project, &analyst).await;
        ada.client.patch(path).json(json!({"role": "STAKEHOLDER"})).await.is(200);
        assert_eq!(socket.next().await["data"]["role"], "STAKEHOLDER");
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Heard"})).await.is(200);
        assert_eq!(socket.next().await["data"]["name"], "Heard");
    }
}
