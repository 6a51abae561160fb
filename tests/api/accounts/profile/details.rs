//! Tests of getProfileDetails and editProfile.

use std::future::IntoFuture;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{World, shape};

on_both! {
    async fn a_profile_is_what_its_owner_may_know_of_it(world: World) {
        let ada = world.user().await;
        let read = ada.client.get("/api/profile").await.is(200);
        let profile = read.data();
        shape::time(&profile["createdAt"]);
        shape::time(&profile["updatedAt"]);
        let mut expected = json!({
            "id": ada.id, "email": ada.email, "fullName": "Ada Lovelace", "jobTitle": null, "language": "EN",
            "avatarUrl": null, "emailConfirmed": true, "hasPassword": true, "isOperator": false,
        });
        for time in ["createdAt", "updatedAt"] {
            expected[time] = profile[time].clone();
        }
        assert_eq!(profile, &expected);
        let ben = world.user().await;
        assert_ne!(ben.client.get("/api/profile").await.is(200).data()["id"], profile["id"], "each one their own");
    }

    async fn an_edit_changes_what_it_names_and_clears_what_is_null(world: World) {
        let ada = world.user().await;
        let put = |body: Value| ada.client.put("/api/profile").json(body);
        let all = json!({"fullName": "  Ada King ", "jobTitle": "Countess", "language": "ar"});
        let edited = put(all).await.is(200).data().clone();
        assert_eq!((&edited["fullName"], &edited["jobTitle"], &edited["language"]), (&json!("Ada King"), &json!("Countess"), &json!("AR")));
        assert!(shape::time(&edited["updatedAt"]) > shape::time(&edited["createdAt"]));
        let name_alone = put(json!({"fullName": "Ada King"})).await.is(200).data().clone();
        assert_eq!(name_alone, edited, "what is absent stays, and what does not differ is no edit");
        for cleared in [json!(null), json!("  ")] {
            put(json!({"fullName": "Ada King", "jobTitle": "Countess"})).await.is(200);
            let answer = put(json!({"fullName": "Ada King", "jobTitle": cleared})).await.is(200);
            assert_eq!(answer.data()["jobTitle"], Value::Null);
        }
        let read = ada.client.get("/api/profile").await.is(200);
        assert_eq!((&read.data()["jobTitle"], &read.data()["language"]), (&Value::Null, &json!("AR")));
    }

    async fn an_invalid_edit_reports_all_field_errors_at_once_and_changes_nothing(world: World) {
        let ada = world.user().await;
        let before = ada.client.get("/api/profile").await.data().clone();
        let wrong = json!({"fullName": "", "jobTitle": "x".repeat(121), "language": "XX", "email": "eve@example.org"});
        let refused = ada.client.put("/api/profile").json(wrong).await.is(422);
        let fields: Vec<_> = refused.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["email", "fullName", "jobTitle", "language"]);
        for wrong in [json!({}), json!({"fullName": null}), json!({"fullName": "A\nB"}), json!({"fullName": "Ada", "language": null}),
            json!({"fullName": "Ada", "jobTitle": "A\nB"}), json!({"fullName": "A\u{7}"})] {
            ada.client.put("/api/profile").json(wrong).await.is(422);
        }
        assert_eq!(ada.client.get("/api/profile").await.data(), &before);
    }

    async fn of_two_edits_at_once_both_fields_survive(world: World) {
        let ada = world.user().await;
        let put = |body: Value| ada.client.apart().put("/api/profile").json(body).into_future();
        for round in 0..10 {
            let (title, language) = (format!("Title {round}"), if round % 2 == 0 { "DE" } else { "FR" });
            let edits = [json!({"fullName": "Ada", "jobTitle": title}), json!({"fullName": "Ada", "language": language})];
            for answer in join_all(edits.map(put)).await {
                answer.is(200);
            }
            let after = ada.client.get("/api/profile").await.is(200).data().clone();
            assert_eq!((&after["jobTitle"], &after["language"]), (&json!(title), &json!(language)));
        }
    }

    async fn a_new_name_does_not_change_display_names_in_existing_meetings(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting(&ada.project().await).await;
        ada.client.put("/api/profile").json(json!({"fullName": "Ada King"})).await.is(200);
        let mut socket = crate::support::Socket::open(&ada.client).await;
        let subscribed = socket.subscribe(&format!("meeting:{}", meeting["id"].as_str().unwrap())).await;
        assert_eq!(subscribed["snapshot"]["participants"][0]["displayName"], "Ada Lovelace");
    }
}
