//! Account deletion at the same time as something else.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;

use super::deletion::delete;
use crate::support::chance::Chance;
use crate::support::full::rounds;
use crate::support::{Role, ServerSetup, World};

on_both! {
    async fn of_two_deletions_at_once_one_deletes(world: World) {
        for _ in 0..5 {
            let ada = world.user().await;
            ada.project().await;
            let answers = join_all((0..4).map(|_| {
                let apart = ada.client.apart();
                apart.delete("/api/profile").json(json!({"password": crate::support::builders::PASSWORD})).into_future()
            }));
            let answers = answers.await;
            assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
            for answer in answers.into_iter().filter(|answer| answer.status != 200) {
                answer.refused(401, "Unauthorized");
            }
        }
    }

    async fn of_two_owners_who_leave_at_once_one_stays_for_the_others(world: World) {
        for _ in 0..5 {
            let ada = world.user().await;
            let project = ada.project().await;
            let (ben, eve) = (world.member(&project, Role::Analyst).await, world.member(&project, Role::Analyst).await);
            world.server.become_owner(&project, &ben).await;
            let (one, other) = tokio::join!(delete(&ada).into_future(), delete(&ben).into_future());
            let (stays, refused) = if one.status == 200 { (&ben, other) } else { (&ada, one) };
            refused.refused(409, "LastOwner");
            let read = eve.client.get(format!("/api/projects/{project}")).await.is(200);
            assert_eq!((&read.data()["ownerId"], &read.data()["counts"]["members"]), (&json!(stays.id), &json!(2)));
        }
    }

    async fn a_project_that_is_made_while_its_owner_is_deleted_goes_or_is_never_made(world: World) {
        for _ in 0..5 {
            let ada = world.user().await;
            let makes = join_all((0..8).map(|number| {
                ada.client.apart().post("/api/projects").json(json!({"name": format!("P{number}")})).into_future()
            }));
            let (deleted, made) = tokio::join!(delete(&ada).into_future(), makes);
            deleted.is(200);
            for answer in made.into_iter().filter(|answer| answer.status != 201) {
                answer.refused(401, "Unauthorized");
            }
            assert_eq!(world.server.tables_containing(&ada.id).await, ["users"]);
        }
    }

    /// The result is consistent in any case: the account exists and can be deleted again, or it is gone.
    async fn a_server_that_is_killed_in_a_deletion_leaves_an_account_or_none(setup: ServerSetup) {
        let mut chance = Chance::new();
        let mut server = setup.start(&[]);
        for _ in 0..rounds(3, 8) {
            let ada = server.user().await;
            for _ in 0..3 {
                ada.project().await;
            }
            let pause = chance.millis(0, 40);
            let killing = async {
                tokio::time::sleep(pause).await;
                server.kill();
            };
            let (answered, ()) = tokio::join!(delete(&ada).tried(), killing);
            let answered = answered.ok().map(|answer| answer.is(200));
            server = setup.start(&[]);
            let ada = ada.at(&server);
            match ada.client.get("/api/profile").await.status {
                200 => {
                    assert!(answered.is_none(), "what was answered stands");
                    delete(&ada).await.is(200);
                }
                status => assert_eq!(status, 401),
            }
            // The contents of projects are deleted page by page: by a job, if the kill came in between.
            let deadline = Instant::now() + Duration::from_secs(20);
            loop {
                let left = server.tables_containing(&ada.id).await;
                if left.iter().all(|table| table == "users" || table == "events") {
                    break;
                }
                assert!(Instant::now() < deadline, "{left:?}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}
