//! Tests listProjectStakeholders: the list combines several tables and has each person once.

use serde_json::{Value, json};

use super::membership;
use crate::support::builders::fresh_email;
use crate::support::{Role, User, World, shape};

fn stakeholders(project: &str) -> String {
    format!("/api/projects/{project}/stakeholders")
}

/// Returns the stakeholders that match a query. Panics when `totalCount` is not their number.
async fn found(by: &User, project: &str, query: &str) -> Vec<Value> {
    let list = by.client.get(format!("{}?{query}", stakeholders(project))).await.is(200);
    let items = list.data()["items"].as_array().unwrap().clone();
    assert_eq!(list.data()["totalCount"], items.len(), "{query}");
    items
}

fn emails(found: &[Value]) -> Vec<&str> {
    found.iter().map(|one| one["email"].as_str().unwrap()).collect()
}

on_both! {
    async fn members_with_that_role_and_guests_are_listed_newest_first_and_each_person_once(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (first, second) = (ada.meeting(&project).await, ada.meeting(&project).await);
        let (first, second) = (first["id"].as_str().unwrap(), second["id"].as_str().unwrap());
        let member = world.member(&project, Role::Stakeholder).await;
        let analyst = world.member(&project, Role::Analyst).await;
        let (grace, alan) = (fresh_email(), fresh_email());
        let server = world.server;
        let graces = server.guest(first, "Grace", Some(&grace), Some("2026-03-02T09:00:00Z"), None).await;
        server.guest(first, "Alan", Some(&alan), None, None).await;
        server.guest(second, "Grace H.", Some(&grace), Some("2026-03-03T09:00:00Z"), Some("2026-03-03T09:30:00Z")).await;
        // Guests with the address of a member count as that member: the first is listed as a member, the second is not
        // a stakeholder.
        server.guest(first, "Member", Some(&member.email), None, None).await;
        server.guest(first, "Analyst", Some(&analyst.email), None, None).await;
        // A guest of another project.
        let elsewhere = ada.meeting(&ada.project().await).await;
        server.guest(elsewhere["id"].as_str().unwrap(), "Elsewhere", Some(&grace), Some("2026-05-01T09:00:00Z"), None).await;

        let all = found(&analyst, &project, "").await;
        assert_eq!(emails(&all), [&alan, &grace, &member.email]);
        let keys = ["email", "fullName", "id", "lastSeenAt", "organisation", "origin", "userId"];
        assert!(all.iter().all(|one| {
            let mut own = shape::keys(one);
            own.sort_unstable();
            own == keys
        }));
        assert_eq!(all[1], json!({
            "id": graces, "fullName": "Grace", "email": grace, "organisation": null, "userId": null,
            "origin": "MEETING_GUEST", "lastSeenAt": "2026-03-03T09:30:00.000Z",
        }));
        assert_eq!(all[0]["lastSeenAt"], json!(null), "never seen");
        assert_eq!((&all[2]["origin"], &all[2]["userId"]), (&json!("MEMBER"), &json!(member.id)));
        assert!(all[2]["lastSeenAt"].is_string());
        let own = membership(&ada, &project, &member).await;
        assert!(own.ends_with(all[2]["id"].as_str().unwrap()), "a member's id is the membership's");

        assert_eq!(emails(&found(&ada, &project, "origin=member").await), [&member.email]);
        assert_eq!(emails(&found(&ada, &project, "origin=MEETING_GUEST").await), [&alan, &grace]);
        assert!(found(&ada, &project, "origin=REVIEW_INVITATION").await.is_empty());
        assert_eq!(emails(&found(&ada, &project, "search=gRACE").await), [&grace]);
        assert_eq!(emails(&found(&ada, &project, &format!("search={alan}")).await), [&alan]);
        ada.client.get(format!("{}?origin=KING", stakeholders(&project))).await.refused(422, "InvalidValue");
        member.client.get(stakeholders(&project)).await.refused(403, "Forbidden");
    }

    async fn pages_go_through_all_sources_once(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting(&project).await["id"].as_str().unwrap().to_owned();
        let mut expected = Vec::new();
        for number in 0..3 {
            expected.push(world.member(&project, Role::Stakeholder).await.email);
            for _ in 0..2 {
                let email = fresh_email();
                world.server.guest(&meeting, &format!("Guest {number}"), Some(&email), None, None).await;
                expected.push(email);
            }
        }
        // Guests without an address are listed separately, because they can't be recognized as the same person.
        for _ in 0..2 {
            world.server.guest(&meeting, "Nameless", None, None, None).await;
        }
        expected.reverse();
        for limit in [1, 2, 4, 11] {
            let mut seen = Vec::new();
            let mut path = format!("{}?limit={limit}", stakeholders(&project));
            loop {
                let page = ada.client.get(&path).await.is(200);
                assert_eq!(page.data()["totalCount"], 11);
                seen.extend(page.data()["items"].as_array().unwrap().clone());
                match page.data()["nextCursor"].as_str() {
                    Some(cursor) => path = format!("{}?limit={limit}&cursor={cursor}", stakeholders(&project)),
                    None => break,
                }
            }
            assert!(seen[..2].iter().all(|one| one["email"].is_null()));
            assert_eq!(emails(&seen[2..]), expected, "{limit}");
        }
    }
}
