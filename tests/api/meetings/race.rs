//! Tests concurrent changes of one meeting.

use std::collections::BTreeSet;
use std::future::IntoFuture;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::World;

on_both! {
    async fn two_updates_of_different_fields_both_survive(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for round in 0..20 {
            let meeting = ada.meeting_path(&project).await;
            let title = ada.client.patch(&meeting).json(json!({"title": format!("Title {round}")})).into_future();
            let description = json!({"description": format!("Description {round}")});
            let description = ada.client.patch(&meeting).json(description).into_future();
            let (title, description) = tokio::join!(title, description);
            assert_ne!(title.is(200).etag(), description.is(200).etag());
            let read = ada.client.get(&meeting).await.is(200);
            assert_eq!(read.data()["title"], format!("Title {round}"));
            assert_eq!(read.data()["description"], format!("Description {round}"));
            assert_eq!(read.etag(), "\"3\"");
        }
    }

    async fn every_acknowledged_write_of_sixty_four_writers_has_its_own_version(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let write = |writer: usize| {
            let (client, meeting) = (ada.client.apart(), &meeting);
            async move {
                let mut versions = Vec::new();
                for write in 0..5 {
                    let body = json!({"description": format!("{writer} {write}")});
                    let answer = client.patch(meeting).json(body).served().await.is(200);
                    assert_eq!(answer.data()["description"], format!("{writer} {write}"));
                    versions.push(answer.etag().trim_matches('"').parse::<u64>().unwrap());
                }
                assert!(versions.is_sorted(), "{versions:?}");
                versions
            }
        };
        let versions: Vec<u64> = join_all((0..64).map(write)).await.into_iter().flatten().collect();
        let different: BTreeSet<_> = versions.iter().copied().collect();
        assert_eq!(different, (2..=64 * 5 + 1).collect(), "each answered write has a version of its own");
        assert_eq!(ada.client.get(&meeting).await.etag(), format!("\"{}\"", 64 * 5 + 1));
    }

    async fn of_sixty_four_writers_with_one_version_exactly_one_wins(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let write = |writer: usize| {
            let patch = ada.client.patch(&meeting).if_match(1).json(json!({"title": format!("Writer {writer}")}));
            patch.served()
        };
        let answers = join_all((0..64).map(write)).await;
        let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(won.len(), 1);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 412)));
        let read = ada.client.get(&meeting).await.is(200);
        assert_eq!((&read.data()["title"], read.etag()), (&won[0].data()["title"], "\"2\"".to_owned()));
    }
}
