//! Tests of getProjectGlossary and replaceProjectGlossary.

use std::future::IntoFuture;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Role, User, World};

/// Creates a project; returns the path of its glossary.
async fn glossary_of(user: &User) -> String {
    format!("/api/projects/{}/glossary", user.project().await)
}

/// Returns a body whose entries have nothing but these terms.
fn terms(terms: &[&str]) -> Value {
    json!({"entries": terms.iter().map(|term| json!({"term": term})).collect::<Vec<_>>()})
}

on_both! {
    async fn a_project_starts_without_a_glossary_and_its_entries_are_replaced_as_a_whole(world: World) {
        let ada = world.user().await;
        let path = glossary_of(&ada).await;
        let empty = ada.client.get(&path).await.is(200);
        assert_eq!((empty.data(), empty.etag()), (&json!({"version": 0, "entries": []}), "\"0\"".to_owned()));
        let body = json!({"entries": [
            {"term": "  OAuth ", "definition": " A protocol.\nFor access. ", "spellings": ["o auth", "  oath"]},
            {"term": "Cafe\u{301}", "definition": null, "spellings": null},
            {"term": "sprint", "definition": "", "spellings": ["Sprint"]},
        ]});
        let expected = json!({"version": 1, "entries": [
            {"term": "OAuth", "definition": "A protocol.\nFor access.", "spellings": ["o auth", "oath"]},
            {"term": "Café", "definition": null, "spellings": []},
            {"term": "sprint", "definition": "", "spellings": ["Sprint"]},
        ]});
        let replaced = ada.client.put(&path).if_match(0).json(body.clone()).await.is(200);
        assert_eq!((replaced.data(), replaced.etag()), (&expected, "\"1\"".to_owned()));
        let read = ada.client.get(&path).await.is(200);
        assert_eq!((read.data(), read.etag()), (&expected, "\"1\"".to_owned()));
        // The same entries again are no change.
        assert_eq!(ada.client.put(&path).json(body).await.is(200).data(), &expected);
        let second = ada.client.put(&path).json(terms(&["Café"])).await.is(200);
        let entry = json!({"term": "Café", "definition": null, "spellings": []});
        assert_eq!(second.data(), &json!({"version": 2, "entries": [entry]}));
        let none = ada.client.put(&path).json(terms(&[])).await.is(200);
        assert_eq!(none.data(), &json!({"version": 3, "entries": []}));
    }

    async fn a_client_that_has_the_glossary_gets_304(world: World) {
        let ada = world.user().await;
        let path = glossary_of(&ada).await;
        for version in 0..3 {
            let etag = ada.client.get(&path).await.is(200).etag();
            let known = ada.client.get(&path).header("if-none-match", &etag).await.is(304);
            assert_eq!((known.etag(), known.bytes.len()), (format!("\"{version}\""), 0));
            ada.client.put(&path).json(terms(&[&format!("Term {version}")])).await.is(200);
            ada.client.get(&path).header("if-none-match", &etag).await.is(200);
        }
    }

    async fn members_read_a_glossary_analysts_replace_it_and_strangers_get_neither(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}/glossary");
        for (role, status) in [(Role::Stakeholder, 403), (Role::Analyst, 200), (Role::Manager, 200), (Role::Owner, 200)] {
            let member = world.member(&project, role).await;
            member.client.put(&path).json(terms(&[role.name()])).await.is(status);
            member.client.get(&path).await.is(200);
        }
        assert_eq!(ada.client.get(&path).await.data()["version"], 3);
        let stranger = world.user().await;
        let own = glossary_of(&stranger).await;
        stranger.client.put(&own).json(terms(&["Own"])).await.is(200);
        stranger.client.get(&path).await.refused(403, "Forbidden");
        stranger.client.put(&path).json(terms(&["x"])).await.refused(403, "Forbidden");
        world.nobody.get(&path).await.refused(401, "Unauthorized");
        assert_eq!(ada.client.get(&path).await.data()["entries"][0]["term"], "OWNER");
        assert_eq!(stranger.client.get(&own).await.data()["entries"][0]["term"], "Own");
        let nowhere = "/api/projects/0189a0f0-0000-7000-8000-000000000000/glossary";
        ada.client.get(nowhere).await.refused(404, "NotFound");
        ada.client.put(nowhere).json(terms(&[])).await.refused(404, "NotFound");
    }

    async fn a_stale_replacement_is_412_and_changes_nothing(world: World) {
        let ada = world.user().await;
        let path = glossary_of(&ada).await;
        ada.client.put(&path).if_match(1).json(terms(&["Lost"])).await.refused(412, "PreconditionFailed");
        ada.client.put(&path).if_match(0).json(terms(&["One"])).await.is(200);
        // Also where it would change nothing.
        ada.client.put(&path).if_match(0).json(terms(&["One"])).await.refused(412, "PreconditionFailed");
        ada.client.put(&path).header("if-match", "W/\"1\"").json(terms(&["x"])).await.refused(400, "BadRequest");
        ada.client.put(&path).header("if-match", "*").json(terms(&["Two"])).await.is(200);
        ada.client.put(&path).if_match(1).json(terms(&["Lost"])).await.refused(412, "PreconditionFailed");
        let read = ada.client.get(&path).await.is(200);
        assert_eq!((&read.data()["entries"][0]["term"], read.etag()), (&json!("Two"), "\"2\"".to_owned()));
    }

    async fn of_two_replacements_of_one_version_exactly_one_wins(world: World) {
        let ada = world.user().await;
        let path = glossary_of(&ada).await;
        for version in 0..20 {
            let put = |name: &str| {
                let body = terms(&[&format!("{name} {version}")]);
                ada.client.put(&path).if_match(version).json(body).into_future()
            };
            let (one, other) = tokio::join!(put("One"), put("Other"));
            let (winner, loser) = if one.status == 200 { (one, other) } else { (other, one) };
            loser.refused(412, "PreconditionFailed");
            assert_eq!(ada.client.get(&path).await.data(), winner.is(200).data());
        }
    }

    async fn replacements_without_a_version_follow_each_other(world: World) {
        let ada = world.user().await;
        for _ in 0..5 {
            let path = glossary_of(&ada).await;
            let put = |name: &str| ada.client.put(&path).json(terms(&[name])).into_future();
            let (one, other) = tokio::join!(put("One"), put("Other"));
            let mut versions = [one.is(200).etag(), other.is(200).etag()];
            versions.sort();
            assert_eq!(versions, ["\"1\"", "\"2\""]);
        }
    }

    async fn each_field_at_fault_is_422_and_named(world: World) {
        let ada = world.user().await;
        let path = glossary_of(&ada).await;
        let long = |count: usize| "x".repeat(count);
        let cases: Vec<(Value, &[(&str, &str)])> = vec![
            (json!({}), &[("entries", "Required")]),
            (json!({"entries": null}), &[("entries", "Required")]),
            (json!({"entries": {}}), &[("entries", "InvalidValue")]),
            (json!({"entries": [1]}), &[("entries[0]", "InvalidValue")]),
            (json!({"entries": [], "version": 1}), &[("version", "UnknownKey")]),
            (json!({"entries": [{}]}), &[("entries[0].term", "Required")]),
            (json!({"entries": [{"term": "a", "id": 1}]}), &[("entries[0].id", "UnknownKey")]),
            (
                json!({"entries": [{"term": "a"}, {"term": " ", "definition": long(1001), "spellings": ["", long(101), 1, "a\tb"]}]}),
                &[
                    ("entries[1].definition", "TooLong"),
                    ("entries[1].spellings[0]", "TooShort"),
                    ("entries[1].spellings[1]", "TooLong"),
                    ("entries[1].spellings[2]", "InvalidValue"),
                    ("entries[1].spellings[3]", "InvalidValue"),
                    ("entries[1].term", "TooShort"),
                ],
            ),
            (
                json!({"entries": [{"term": long(101)}, {"term": "a\u{7}", "definition": "a\u{7}"}, {"term": "a\nb"}, {"term": 1}]}),
                &[
                    ("entries[0].term", "TooLong"),
                    ("entries[1].definition", "InvalidValue"),
                    ("entries[1].term", "InvalidValue"),
                    ("entries[2].term", "InvalidValue"),
                    ("entries[3].term", "InvalidValue"),
                ],
            ),
            (json!({"entries": [{"term": "a", "spellings": "b"}]}), &[("entries[0].spellings", "InvalidValue")]),
            // A name occurs once, in any letter case and normalization.
            (terms(&["Café", "OAuth", "CAFE\u{301}"]), &[("entries[2].term", "Repeated")]),
            (
                json!({"entries": [
                    {"term": "OAuth", "spellings": ["oauth", "oath", "Oath"]},
                    {"term": "oath"},
                    {"term": "Kanban", "spellings": ["can ban", "OAUTH"]},
                    {"term": "can ban", "spellings": ["x"], "definition": 1},
                ]}),
                &[
                    ("entries[0].spellings[2]", "Repeated"),
                    ("entries[1].term", "Repeated"),
                    ("entries[2].spellings[1]", "Repeated"),
                    ("entries[3].definition", "InvalidValue"),
                    ("entries[3].term", "Repeated"),
                ],
            ),
        ];
        for (body, expected) in cases {
            let faults = ada.client.put(&path).json(body.clone()).await.is(422).faults();
            let faults: Vec<(&str, &str)> = faults.iter().map(|(field, why)| (field.as_str(), why.as_str())).collect();
            assert_eq!(faults, expected, "{body}");
        }
        assert_eq!(ada.client.get(&path).await.data()["version"], 0);
    }

    async fn a_glossary_has_a_thousand_entries_of_twenty_spellings(world: World) {
        let ada = world.user().await;
        let path = glossary_of(&ada).await;
        let entries = |count: usize| {
            let entry = |number| json!({"term": format!("Term {number}"), "definition": "d".repeat(900)});
            json!({"entries": (0..count).map(entry).collect::<Vec<_>>()})
        };
        let many = ada.client.put(&path).json(entries(1000)).await.is(200);
        let read = ada.client.get(&path).await.is(200);
        assert_eq!((read.data()["entries"].as_array().unwrap().len(), read.data()), (1000, many.data()));
        let faults = ada.client.put(&path).json(entries(1001)).await.is(422).faults();
        assert_eq!(faults, [("entries".to_owned(), "TooLong".to_owned())]);
        ada.client.put(&path).json(entries(1200)).await.refused(413, "PayloadTooLarge");
        let spelled = |count: usize| {
            let spellings: Vec<String> = (0..count).map(|number| format!("{number:0100}")).collect();
            json!({"entries": [{"term": "é".repeat(100), "definition": "€".repeat(1000), "spellings": spellings}]})
        };
        ada.client.put(&path).json(spelled(20)).await.is(200);
        let faults = ada.client.put(&path).json(spelled(21)).await.is(422).faults();
        assert_eq!(faults, [("entries[0].spellings".to_owned(), "TooLong".to_owned())]);
    }

    async fn an_archived_project_keeps_its_glossary_as_it_is(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}/glossary");
        ada.client.put(&path).json(terms(&["One"])).await.is(200);
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        ada.client.put(&path).json(terms(&["Two"])).await.refused(409, "ProjectArchived");
        ada.client.put(&path).if_match(0).json(terms(&["Two"])).await.refused(412, "PreconditionFailed");
        assert_eq!(ada.client.get(&path).await.is(200).data()["entries"][0]["term"], "One");
    }

    async fn a_glossary_goes_with_its_project(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}/glossary");
        ada.client.put(&path).json(terms(&["One"])).await.is(200);
        assert!(world.server.tables_containing(&project).await.contains(&"glossaries".to_owned()));
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        ada.client.get(&path).await.refused(404, "NotFound");
        ada.client.put(&path).json(terms(&["Two"])).await.refused(404, "NotFound");
        for _ in 0..200 {
            if !world.server.tables_containing(&project).await.contains(&"glossaries".to_owned()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the glossary of a deleted project is still stored");
    }
}
