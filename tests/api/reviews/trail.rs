//! Tests of the approval trail: many writers make one chain, and each kind of tampering is found.

use actors::ids::{self, Id};
use colloquy::db::schema::{approval_events, approval_trails};
use colloquy::db::{Conn, DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};

use super::Reviewed;
use crate::support::builders::PASSWORD;
use crate::support::{Role, Server, World};

/// Changes the tables, as somebody with access to the database would.
async fn tamper(
    server: &Server,
    with: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<usize, diesel::result::Error>> + Send + 'static,
) {
    let db = server.db().await;
    let changed = db.write(move |conn| Box::pin(async move { Ok::<_, DbError>(with(conn).await?) })).await.unwrap();
    assert!(changed > 0, "nothing was changed");
}

/// A project with a trail of six events.
async fn decided(server: &Server) -> (Reviewed, Id<ids::Project>) {
    let reviewed = Reviewed::new(server).await;
    let (story, requirement) = reviewed.story().await;
    for item in [&story, &requirement] {
        reviewed.approve(item).await;
        reviewed.judge(item, json!({"workflowStatus": "NEEDS_REVIEW"})).await.is(200);
        let rejected = json!({"workflowStatus": "REJECTED", "comment": "Not in this release."});
        reviewed.judge(item, rejected).await.is(200);
    }
    let project = reviewed.project.parse().unwrap();
    let verification = reviewed.verification().await;
    assert_eq!((&verification["valid"], &verification["count"]), (&json!(true), &json!(6)));
    (reviewed, project)
}

/// The state of an event's row, so that it can be brought back.
type Sealed = (String, String);

async fn sealed(server: &Server, project: Id<ids::Project>, number: i64) -> Sealed {
    let db = server.db().await;
    let read = db.read(move |conn| {
        Box::pin(async move {
            let own = approval_events::table
                .filter(approval_events::project_id.eq(project))
                .filter(approval_events::number.eq(number));
            Ok::<_, DbError>(own.select((approval_events::sealed, approval_events::hash)).first(conn).await?)
        })
    });
    read.await.unwrap()
}

macro_rules! event {
    ($project:expr, $number:expr) => {
        approval_events::table
            .filter(approval_events::project_id.eq($project))
            .filter(approval_events::number.eq($number))
    };
}

async fn is_broken_at(reviewed: &Reviewed, number: i64) {
    let verification = reviewed.verification().await;
    assert_eq!((&verification["valid"], &verification["brokenAt"]), (&json!(false), &json!(number)), "{verification}");
}

on_both! {
    async fn an_edited_event_is_found_whatever_was_edited(world: World) {
        let (reviewed, project) = decided(world.server).await;
        let (text, hash) = sealed(world.server, project, 3).await;
        assert!(text.contains("Not in this release."));
        let edited = text.replace("Not in this release.", "Agreed by all.");
        tamper(world.server, move |conn| {
            async move { diesel::update(event!(project, 3)).set(approval_events::sealed.eq(edited)).execute(conn).await }.boxed()
        }).await;
        is_broken_at(&reviewed, 3).await;
        let edited = text.replace("Not in this release.", "Agreed by all.");
        let (_, previous) = sealed(world.server, project, 2).await;
        let anew = colloquy::analysis::trail::seal::hash(&previous, &edited);
        tamper(world.server, move |conn| {
            async move { diesel::update(event!(project, 3)).set(approval_events::hash.eq(anew)).execute(conn).await }.boxed()
        }).await;
        // Its own hash fits now; that of the next event does not.
        is_broken_at(&reviewed, 4).await;
        tamper(world.server, move |conn| {
            async move {
                diesel::update(event!(project, 3))
                    .set((approval_events::sealed.eq(text), approval_events::hash.eq(hash)))
                    .execute(conn)
                    .await
            }.boxed()
        }).await;
        assert_eq!(reviewed.verification().await["valid"], true);
        tamper(world.server, move |conn| {
            async move { diesel::update(event!(project, 2)).set(approval_events::actor_name.eq("Eve")).execute(conn).await }.boxed()
        }).await;
        is_broken_at(&reviewed, 2).await;
        tamper(world.server, move |conn| {
            async move { diesel::update(event!(project, 1)).set(approval_events::action.eq("REJECT")).execute(conn).await }.boxed()
        }).await;
        is_broken_at(&reviewed, 1).await;
    }

    async fn a_deleted_a_missing_last_and_an_inserted_event_are_found(world: World) {
        let (reviewed, project) = decided(world.server).await;
        let (other, another) = decided(world.server).await;
        let (third, _) = decided(world.server).await;
        let third_id: Id<ids::Project> = third.project.parse().unwrap();
        tamper(world.server, move |conn| {
            async move { diesel::delete(event!(project, 4)).execute(conn).await }.boxed()
        }).await;
        is_broken_at(&reviewed, 4).await;
        tamper(world.server, move |conn| {
            async move { diesel::delete(event!(another, 6)).execute(conn).await }.boxed()
        }).await;
        is_broken_at(&other, 6).await;
        let (text, hash) = sealed(world.server, third_id, 6).await;
        tamper(world.server, move |conn| {
            async move {
                diesel::insert_into(approval_events::table)
                    .values((
                        approval_events::id.eq(Id::<()>::generate()),
                        approval_events::project_id.eq(third_id),
                        approval_events::number.eq(7),
                        approval_events::target_type.eq("REQUIREMENT"),
                        approval_events::target_id.eq(Id::<()>::generate()),
                        approval_events::action.eq("APPROVE"),
                        approval_events::actor_id.eq(Id::<ids::User>::generate()),
                        approval_events::actor_salt.eq(""),
                        approval_events::sealed.eq(text),
                        approval_events::hash.eq(hash),
                    ))
                    .execute(conn)
                    .await
            }.boxed()
        }).await;
        is_broken_at(&third, 7).await;
    }

    async fn reordered_and_swapped_events_and_another_head_are_found(world: World) {
        let (reviewed, project) = decided(world.server).await;
        for (from, to) in [(2, 100), (3, 2), (100, 3)] {
            tamper(world.server, move |conn| {
                async move { diesel::update(event!(project, from)).set(approval_events::number.eq(to)).execute(conn).await }.boxed()
            }).await;
        }
        is_broken_at(&reviewed, 2).await;
        // The trails of two projects, each whole, in each other's place.
        let (one, first) = decided(world.server).await;
        let (two, second) = decided(world.server).await;
        for (from, to, by) in [(first, second, 100), (second, first, 0), (second, second, -100)] {
            tamper(world.server, move |conn| {
                async move {
                    let own = approval_events::table.filter(approval_events::project_id.eq(from));
                    let these = match by {
                        -100 => own.filter(approval_events::number.gt(100)).filter(approval_events::number.lt(1000)),
                        _ => own.filter(approval_events::number.gt(0)).filter(approval_events::number.lt(100)),
                    };
                    diesel::update(these)
                        .set((approval_events::project_id.eq(to), approval_events::number.eq(approval_events::number + by)))
                        .execute(conn)
                        .await
                }.boxed()
            }).await;
        }
        is_broken_at(&one, 1).await;
        is_broken_at(&two, 1).await;
        let (last, id) = decided(world.server).await;
        tamper(world.server, move |conn| {
            async move {
                let head = "f".repeat(64);
                diesel::update(approval_trails::table.find(id)).set(approval_trails::head.eq(head)).execute(conn).await
            }.boxed()
        }).await;
        is_broken_at(&last, 6).await;
    }

    async fn sixty_four_writers_make_one_chain(world: World) {
        let mut text = String::from("# Desk\n\n");
        for number in 0..70 {
            text.push_str(&format!("The desk number {number} must print the list of ward {}.\n\n", number * 7 + 3));
        }
        let reviewed = Reviewed::of(world.server, &text).await;
        let items = reviewed.items("requirements").await;
        let count = 64;
        assert!(items.len() >= count, "{}", items.len());
        // Each item is approved once: a second approval of the same one would be refused.
        join_all(items.iter().take(count).map(|item| reviewed.approve(item))).await;
        let verification = reviewed.verification().await;
        assert_eq!((&verification["valid"], &verification["count"]), (&json!(true), &json!(count)));
        let trail = reviewed.trail("").await;
        let numbers: Vec<i64> = trail.iter().map(|event| event["number"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..=i64::try_from(count).unwrap()).collect::<Vec<_>>());
        for pair in trail.windows(2) {
            assert_eq!(pair[1]["previousHash"], pair[0]["hash"]);
        }
        assert_eq!((&trail[0]["previousHash"], &trail[count - 1]["hash"]), (&json!("0".repeat(64)), &verification["head"]));
    }

    async fn the_name_of_a_deleted_account_goes_and_the_chain_holds(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let ben = world.member(&reviewed.project, Role::Analyst).await;
        let path = format!("{}/status", reviewed.path(&story));
        ben.client.patch(path).json(json!({"workflowStatus": "APPROVED"})).await.is(200);
        let name = reviewed.trail("").await[0]["actor"]["name"].clone();
        assert_ne!(name, "Deleted account");
        ben.client.delete("/api/profile").json(json!({"password": PASSWORD})).await.is(200);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let event = reviewed.trail("").await.remove(0);
            if event["actor"] == json!({"id": ben.id, "name": "Deleted account"}) {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "it still names {event}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(reviewed.verification().await["valid"], true);
        let by_ben = reviewed.trail(&format!("actorId={}", ben.id)).await;
        assert_eq!(by_ben.len(), 1);
    }

    async fn a_trail_is_empty_before_anything_is_decided(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        assert_eq!(reviewed.verification().await, json!({"valid": true, "count": 0, "head": "0".repeat(64), "brokenAt": null}));
        assert_eq!(reviewed.trail("").await, Vec::<Value>::new());
    }
}
