//! Tests that a client resumes a subscription without missing an event, or gets a new snapshot.

use std::time::Duration;

use colloquy::db::{DbError, RunQueryDsl, schema::events};
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{ServerSetup, Socket, World};

on_both! {
    async fn resumed_subscriptions_receive_every_event_once_and_in_order(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = ada.meeting_path(&project).await;
        let topic = path.replace("/api/meetings/", "meeting:");
        let mut socket = Socket::open(&ada.client).await;
        let begun = socket.subscribe(&topic).await;
        let epoch = begun["epoch"].clone();
        let writing = async {
            for round in 0..40 {
                join_all((0..4).map(|number| {
                    let title = format!("Title {round} {number}");
                    let patch = ada.client.patch(&path).json(json!({"title": title}));
                    async move { patch.await.is(200) }
                }))
                .await;
            }
        };
        let listening = async {
            let (mut offset, mut drops) = (0_u64, 0);
            let mut last = Value::Null;
            while offset < 160 {
                let event = socket.next().await;
                offset += 1;
                assert_eq!(event["offset"], offset, "after {drops} drops");
                last = event["data"].clone();
                if offset % 7 == 0 {
                    drops += 1;
                    socket = Socket::open(&ada.client).await;
                    let begun = socket.resume(&topic, &epoch, offset).await;
                    assert_eq!((&begun["recovered"], &begun["offset"]), (&json!(true), &json!(offset)));
                    assert_eq!((&begun["epoch"], &begun["snapshot"]), (&epoch, &Value::Null));
                }
            }
            last
        };
        let ((), last) = tokio::join!(writing, listening);
        let got = ada.client.get(&path).await.is(200);
        assert_eq!(got.data()["title"], last["title"]);
        let mut anew = Socket::open(&ada.client).await;
        let begun = anew.subscribe(&topic).await;
        assert_eq!((&begun["offset"], &begun["snapshot"]["meeting"]), (&json!(160), &last));
    }

    async fn resuming_from_a_huge_offset_gets_a_new_snapshot(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let topic = ada.meeting_path(&project).await.replace("/api/meetings/", "meeting:");
        let mut socket = Socket::open(&ada.client).await;
        let epoch = socket.subscribe(&topic).await["epoch"].clone();
        for offset in [1_u64 << 63, (1 << 63) - 1, u64::MAX] {
            let mut anew = Socket::open(&ada.client).await;
            let begun = anew.resume(&topic, &epoch, offset).await;
            assert_eq!((&begun["type"], &begun["recovered"]), (&json!("subscribed"), &json!(false)), "{offset}: {begun}");
        }
    }

    async fn resuming_from_an_unknown_epoch_or_a_deleted_or_future_offset_gets_a_new_snapshot(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = ada.meeting_path(&project).await;
        let topic = path.replace("/api/meetings/", "meeting:");
        let mut socket = Socket::open(&ada.client).await;
        let epoch = socket.subscribe(&topic).await["epoch"].clone();
        for number in 1..=3 {
            ada.client.patch(&path).json(json!({"title": format!("Title {number}")})).await.is(200);
        }
        let other = json!("0198c7a0-0000-7000-8000-000000000000");
        for (epoch, offset) in [(&other, 1), (&json!("?"), 1), (&epoch, 4)] {
            let mut socket = Socket::open(&ada.client).await;
            let begun = socket.resume(&topic, epoch, offset).await;
            assert_eq!((&begun["recovered"], &begun["offset"]), (&json!(false), &json!(3)), "{epoch} {offset}");
            assert_eq!(begun["snapshot"]["meeting"]["title"], "Title 3");
        }
        // The first two events are deleted, as if they had expired.
        let of = topic.clone();
        let db = world.server.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                diesel::delete(events::table.filter(events::topic.eq(of)).filter(events::position.le(2)))
                    .execute(conn)
                    .await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
        for (offset, recovered) in [(0, false), (1, false), (2, true), (3, true)] {
            let mut socket = Socket::open(&ada.client).await;
            let begun = socket.resume(&topic, &epoch, offset).await;
            assert_eq!(begun["recovered"], recovered, "{offset}");
        }
    }

    async fn no_event_is_missed_across_a_restart(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}");
        let topic = format!("project:{project}");
        let mut socket = Socket::open(&ada.client).await;
        let epoch = socket.subscribe(&topic).await["epoch"].clone();
        for number in 1..=300 {
            ada.client.patch(&path).json(json!({"name": format!("Name {number}")})).await.is(200);
        }
        server.kill();
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        let mut socket = Socket::open(&ada.client).await;
        let begun = socket.resume(&topic, &epoch, 1).await;
        assert_eq!(begun["recovered"], true);
        ada.client.patch(&path).json(json!({"name": "Name 301"})).await.is(200);
        for offset in 2..=301 {
            let event = socket.next().await;
            assert_eq!((&event["offset"], &event["data"]["name"]), (&json!(offset), &json!(format!("Name {offset}"))));
        }
        assert_eq!(socket.next_within(Duration::from_millis(100)).await, None);
    }
}
