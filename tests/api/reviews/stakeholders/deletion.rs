//! Tests what becomes of reviews when accounts and projects are deleted.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{DASHBOARD, Review, accept, analysed, ask, feedback_of, link};
use crate::accounts::profile::deletion::delete;
use crate::support::{Role, ServerSetup, World, outbox};

on_both! {
    async fn a_deleted_account_leaves_its_comments_and_neither_name_nor_address(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let eve = world.member(&project, Role::Analyst).await;
        let before = outbox::mails(&world.server.data, &eve.email).len();
        ask(&ada, &project, &eve.email, "COMMENTER").await.is(201);
        let token = outbox::token_in(&outbox::wait_for(&world.server.data, &eve.email, before + 1).await).unwrap();
        let review_token = accept(&world.nobody, &token).await.is(200).text_of("reviewToken");
        let reviewer = world.nobody.reviewing(&review_token);
        let body = |comment: &str| json!({"targetType": "SUMMARY", "comment": comment});
        reviewer.post("/api/project-review/feedback").json(body("As a reviewer.")).await.is(201);
        eve.client.post(feedback_of(&project)).json(body("As a member.")).await.is(201);
        delete(&eve).await.is(200);
        reviewer.get(DASHBOARD).await.refused(401, "Unauthorized");
        world.nobody.get(link(&token)).await.refused(404, "NotFound");
        let left = ada.client.get(feedback_of(&project)).await.is(200);
        let items = left.data()["items"].as_array().unwrap();
        let comments: Vec<_> = items.iter().map(|one| one["comment"].as_str().unwrap()).collect();
        assert_eq!(comments, ["As a member.", "As a reviewer."]);
        assert!(items.iter().all(|one| one["author"] == json!({"name": "Deleted account", "email": null})), "{}", left.text());
        // Decided all the same; nobody is written to.
        let id = items[0]["id"].as_str().unwrap();
        for status in ["IN_PROGRESS", "RESOLVED"] {
            ada.client.patch(format!("{}/{id}", feedback_of(&project))).json(json!({"status": status})).await.is(200);
        }
    }

    async fn of_a_deleted_project_no_review_is_left(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(&server, &ada, &project, "COMMENTER").await;
        review.comment("Well.").await;
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let left = [&review.invitation, &project].map(|id| server.tables_containing(id));
            let left = futures_util::future::join_all(left).await;
            // The project is noted for a moment longer, so that the search forgets it.
            if left.iter().all(Vec::is_empty) {
                break;
            }
            assert!(Instant::now() < deadline, "{left:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        review.client.get(DASHBOARD).await.refused(401, "Unauthorized");
    }
}
