//! Tests of signed approvals.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Reviewed, named};
use crate::support::World;
use crate::support::builders::PASSWORD;

fn approval(signature: Value) -> Value {
    json!({"workflowStatus": "APPROVED", "signature": signature})
}

async fn asking_for_signatures(world: &World) -> Reviewed {
    let reviewed = Reviewed::new(world.server).await;
    let project = format!("/api/projects/{}", reviewed.project);
    let edited = reviewed.ada.client.patch(project).json(json!({"signedApprovals": true})).await.is(200);
    assert_eq!(edited.data()["signedApprovals"], true);
    reviewed
}

on_both! {
    async fn where_a_project_asks_for_it_an_approval_is_signed(world: World) {
        let reviewed = asking_for_signatures(&world).await;
        let (story, requirement) = reviewed.story().await;
        let missing = |field: &str, reason: &str| [(field.to_owned(), reason.to_owned())];
        let unsigned = reviewed.judge(&story, json!({"workflowStatus": "APPROVED"})).await.is(422);
        assert_eq!(unsigned.faults(), missing("signature", "Required"));
        let no_password = reviewed.judge(&story, approval(json!({"meaning": "APPROVAL"}))).await.is(422);
        assert_eq!(no_password.faults(), missing("signature.password", "Required"));
        let wrong = approval(json!({"meaning": "APPROVAL", "password": "not the password"}));
        reviewed.judge(&story, wrong).await.refused(422, "WrongPassword");
        let edit = json!({"title": "A list", "workflowStatus": "APPROVED"});
        let unsigned = reviewed.ada.client.patch(reviewed.path(&requirement)).json(edit).await.is(422);
        assert_eq!(unsigned.faults(), missing("signature", "Required"));
        let items = json!([{"targetType": "USER_STORY", "id": story["id"]}]);
        let bulk = json!({"items": items, "workflowStatus": "APPROVED"});
        let unsigned = reviewed.ada.client.post(reviewed.at("items/status")).json(bulk).await.is(422);
        assert_eq!(unsigned.faults(), missing("signature", "Required"));
        assert_eq!(reviewed.trail("").await, Vec::<Value>::new());
        let rejected = json!({"workflowStatus": "REJECTED", "comment": "Not needed."});
        reviewed.judge(&requirement, rejected).await.is(200);
        reviewed.judge(&story, approval(json!({"meaning": "RESPONSIBILITY", "password": PASSWORD}))).await.is(200);
        let event = reviewed.trail("action=APPROVE").await.pop().unwrap();
        let name = reviewed.ada.client.get("/api/profile").await.is(200).text_of("fullName");
        assert_eq!(
            event["signature"],
            json!({"meaning": "RESPONSIBILITY", "method": "PASSWORD", "printedName": name})
        );
        assert_eq!(reviewed.verification().await["valid"], true);
    }

    async fn an_account_without_a_password_signs_by_a_recent_sign_in(world: World) {
        let reviewed = asking_for_signatures(&world).await;
        let (story, _) = reviewed.story().await;
        world.server.without_password(&reviewed.ada).await;
        reviewed.judge(&story, approval(json!({"meaning": "REVIEW"}))).await.is(200);
        let event = reviewed.trail("").await.pop().unwrap();
        assert_eq!(named(&event["signature"], &["meaning", "method"]), json!({"meaning": "REVIEW", "method": "PROVIDER"}));
        reviewed.judge(&story, json!({"workflowStatus": "NEEDS_REVIEW"})).await.is(200);
        world.server.log_in_long_ago(&reviewed.ada, Duration::from_secs(3600)).await;
        reviewed.judge(&story, approval(json!({"meaning": "REVIEW"}))).await.refused(403, "RecentLoginRequired");
    }
}
